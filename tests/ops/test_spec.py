"""Rows that contradict themselves are refused. Oracle: the sentence that the refusal must say."""

from dataclasses import replace

import numpy as np
import pytest

from runmat_jit.core.types import TensorType
from runmat_jit.ops.spec import RowError, canonical_params, check, layout_of
from runmat_jit.ops.table import ROWS, collect


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_every_row_of_the_table_passes_its_check(row):
    check(row)


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("add", {"name": "a b"}, "the name is an identifier"),
        ("add", {"doc": "sum"}, "the doc is a sentence"),
        ("add", {"expand": None}, "an elementwise row expands"),
        ("add", {"absorbs": (False,)}, "absorbs, one an operand"),
        ("transpose", {"expand": ROWS["add"].expand}, "only elementwise rows expand"),
        ("sum", {"reduction": None}, "a reduction says how it combines"),
        ("zeros", {"decompose": None}, "a creation decomposes"),
        ("exp", {"ulp": {}}, "ulp is missing"),
        ("exp", {"exactness": "bit-defined"}, "a bit-defined row has no ulp"),
        ("exp", {"ulp": {"float32": 2.5}}, "an ulp is above 2.0"),
        ("exp", {"gpu_ulp": {}}, "gpu_ulp is at least ulp"),
        ("exp", {"gpu_ulp": {"float32": 5.0, "float64": 2.0}}, "above 4.0 on GPUs"),
        ("add", {"ufunc": ""}, "events need the name NumPy's warnings use"),
        ("floor_divide", {"events": frozenset()}, "an event test needs events"),
        ("add", {"bind": None}, "calls need a reader"),
        ("add", {"result": None}, "calls need a result rule"),
        ("add", {"domain": (1.0, 1.0)}, "the domain is an interval"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(name, change, sentence):
    with pytest.raises(RowError, match=f"^row .*{sentence}"):
        check(replace(ROWS[name], **change))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"spellings": (), "methods": ()}, "name: add"),
        ({"name": "plus", "matlab": None}, "spelling: .*add"),
        ({"name": "plus", "spellings": ()}, "MATLAB name: plus"),
    ],
)
def test_two_rows_do_not_share_what_they_are_found_by(change, what):
    with pytest.raises(RowError, match=what):
        collect((ROWS["add"], replace(ROWS["add"], **change)))


def test_two_rows_do_not_share_a_method():
    with pytest.raises(RowError, match="method: sum"):
        collect((ROWS["sum"], replace(ROWS["sum"], name="total", spellings=(), matlab=None)))


def test_graphs_hold_axes_that_are_not_negative():
    x = TensorType(np.dtype("int32"), (2, 3, 4))
    params = {"axis": (-1, 0), "keepdims": None, "dtype": None}
    assert canonical_params(ROWS["sum"], params, (x,)) == {
        "axis": (0, 2),
        "keepdims": False,
        "dtype": "int64",
    }
    assert canonical_params(ROWS["add"], {}, (x, x)) == {}


def test_the_order_of_a_call_decides_the_layout_before_the_row_does():
    assert layout_of(ROWS["add"], {}) == "K"
    assert layout_of(ROWS["zeros"], {}) == "C"
    assert layout_of(ROWS["copy"], {"order": "C"}) == "C"
    assert layout_of(ROWS["copy"], {"order": "K"}) == "K"
