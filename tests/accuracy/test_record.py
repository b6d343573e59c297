"""The errors that the documentation lists, measured again at and around the operands listed.

Oracle: mpmath. The record itself comes from searches that take minutes (``sweep`` and ``hunt``).
"""

import numpy as np
import pytest

from runmat_jit.ops.table import ROWS
from tests.accuracy import hunt
from tests.accuracy.functions import (
    ALL,
    DTYPES,
    EXTENDED,
    NAMES,
    UNARY,
    errors_of,
    exact_error,
    ours,
)
from tests.accuracy.record import record, worst_of
from tests.accuracy.sweep import sweep

pytestmark = pytest.mark.sampled(3)

RECORDED = [(name, dtype) for name in NAMES for dtype in DTYPES]
NEIGHBORS = 200


@pytest.mark.parametrize(("name", "dtype"), RECORDED)
def test_the_worst_operands_have_the_recorded_error(name, dtype):
    for found in worst_of(name, dtype):
        operands = [np.array([x], dtype) for x in found.operands]
        measured = exact_error(name, ours(name, *operands)[0], *(x[0] for x in operands))
        assert measured == pytest.approx(found.error, abs=1e-3), found


@pytest.mark.parametrize(("name", "dtype"), RECORDED)
def test_documented_bounds_cover_what_was_found(name, dtype):
    assert worst_of(name, dtype)[0].error <= ROWS[name].ulp[dtype]


@pytest.mark.parametrize(("name", "dtype"), RECORDED)
def test_neighbors_of_the_worst_operands_are_within_the_documented_bound(name, dtype):
    if dtype == "float64" and not EXTENDED:
        pytest.skip("no wider format to judge by")
    integer = np.dtype(f"i{np.dtype(dtype).itemsize}")
    steps = np.arange(-NEIGHBORS, NEIGHBORS + 1, dtype=integer)
    for found in worst_of(name, dtype):
        first, *others = (np.array([x], dtype) for x in found.operands)
        around = (first.view(integer) + steps).view(dtype)
        operands = [around, *(np.repeat(x, around.size) for x in others)]
        assert errors_of(name, *operands).max() <= ROWS[name].ulp[dtype]


def test_every_float32_was_tried_where_that_can_be_done():
    tried = {name: entry["float32"]["inputs"] for name, entry in record().items()}
    assert {name for name, inputs in tried.items() if inputs == ALL} == set(UNARY)


@pytest.mark.skipif(not EXTENDED, reason="no wider format to judge by")
@pytest.mark.parametrize(("name", "dtype"), RECORDED)
def test_a_short_search_finds_nothing_beyond_the_documented_bound(name, dtype):
    rng = np.random.default_rng(1)
    for source in (*hunt.SOURCES, hunt.closest_angles):
        operands = [x[:4000] for x in source(name, dtype, rng)]
        if operands:
            off = errors_of(name, *operands)
            assert off.max() <= ROWS[name].ulp[dtype], [x[off.argmax()] for x in operands]


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_every_seventeenth_float32_is_within_the_documented_bound(name):
    assert sweep(name, stride=17)[0].error <= ROWS[name].ulp["float32"]
