"""Rows that are made of others. Oracle: the row's own NumPy meaning."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from runmat_jit.core.types import TensorType
from runmat_jit.ops.spec import canonical_params
from runmat_jit.ops.table import ROWS
from tests.ops.calls import CALLED, calls
from tests.ops.operands import describe, same_bits, specials
from tests.ops.test_calls import ask_numpy, covered

DECOMPOSED = [row for row in CALLED if row.decompose is not None]


@dataclass(frozen=True)
class Computed:
    """A value of a graph that is computed at once."""

    type: TensorType
    value: Any


def make(name, args, params, kind):
    row = ROWS[name]
    operands = tuple(arg.type for arg in args)
    assert row.decompose is None or name == "sum", f"{name} is no primitive row"
    if row.result is not None:
        result = row.result(operands, params)
        assert result is not None, f"{name} does not cover {operands}"
        assert result.type == kind, f"{name} gives {result.type}, not {kind}"
        assert result.operand_dtypes == tuple(o.dtype for o in operands), f"{name} wants a cast"
    extra = {"type": kind} if row.kind == "structure" else {}
    value = np.asarray(row.numpy(*(arg.value for arg in args), **params, **extra))
    assert (value.dtype, value.shape) == (kind.dtype, kind.shape), name
    return Computed(kind, value)


def decomposed(row, bound, result):
    operands = tuple(map(describe, bound.operands))
    args = []
    for value, dtype in zip(bound.operands, result.operand_dtypes, strict=True):
        cast = np.asarray(value).astype(dtype)
        args.append(Computed(TensorType(dtype, cast.shape), cast))
    params = canonical_params(row, bound.params, operands)
    found = row.decompose(make, tuple(args), params, result.type)
    assert found.type == result.type
    return found.value


@pytest.mark.parametrize("row", DECOMPOSED, ids=lambda row: row.name)
def test_a_row_equals_what_it_is_made_of(row):
    seen = 0
    for function, args, kwargs in calls(row):
        bound = row.bind(args, kwargs)
        result = covered(row, bound)
        if result is not None and (row.parts is None or result.type.dtype.kind != "c"):
            seen += 1
            expected = ask_numpy(function, args, kwargs)
            with np.errstate(all="ignore"):
                value = decomposed(row, bound, result)
            assert row.name.startswith("empty") or same_bits(value, expected), (args, kwargs)
    assert seen > 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_a_clip_has_the_bits_of_numpy_for_all_special_values(dtype):
    row, values = ROWS["clip"], specials(dtype)
    numbers = [None, *values[::3]]
    for low in numbers:
        for high in numbers:
            bound = row.bind((values, low, high), {})
            if bound is None:
                assert low is None
                assert high is None
                continue
            found = decomposed(row, bound, covered(row, bound))
            assert same_bits(found, np.clip(values, low, high)), (low, high)


def test_the_mean_of_many_float32_divides_by_the_exact_count():
    x = np.ones((1 << 24) + 1, np.float32)
    x[0] = 3
    row = ROWS["mean"]
    bound = row.bind((x,), {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same_bits(decomposed(row, bound, covered(row, bound)), x.mean())


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [((5,), (), ()), ((5,), (1,), (1,)), ((1,), (1,), (1,)), ((), (), ()), ((5, 4), (5, 1), ())],
)
@pytest.mark.parametrize("signs", list(np.ndindex(2, 2, 2)), ids=str)
def test_a_clip_of_zeros_takes_the_zero_of_numpy(value, low, high, signs):
    row = ROWS["clip"]
    zeros = (np.float32(0.0), np.float32(-0.0))
    shapes = (value, low, high)
    operands = [np.full(shape, zeros[s]) for shape, s in zip(shapes, signs, strict=True)]
    bound = row.bind(tuple(operands), {})
    found = decomposed(row, bound, covered(row, bound))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.clip(*operands)))


@pytest.mark.parametrize(
    ("subscripts", "largest"),
    [
        ("ij,i->j", 0),
        ("ij,j->i", 0),
        ("ijk,ik->j", 0),
        ("ij,ij->j", 0),
        ("i,ij->j", 1),
        ("i,ji->j", 1),
    ],
)
def test_elements_are_multiplied_as_the_largest_operand_lies(subscripts, largest):
    """Sums along another axis are fast; a transpose would be read with gaps."""
    extents = {"i": 3, "j": 4, "k": 5}
    letters = subscripts.partition("->")[0].split(",")
    operands = [np.ones([extents[letter] for letter in each]) for each in letters]
    seen = []

    def noting(name, args, params, kind):
        if name == "multiply":
            seen.append([arg.value is operands[largest] for arg in args])
        return make(name, args, params, kind)

    row, types = ROWS["contract"], tuple(map(describe, operands))
    params = canonical_params(row, {"subscripts": subscripts}, types)
    args = tuple(Computed(TensorType(x.dtype, x.shape), x) for x in operands)
    row.decompose(noting, args, params, row.result(types, params).type)
    assert [sum(each) for each in seen] == [1]
