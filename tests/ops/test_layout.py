"""Memory order of new results. Oracle: the strides of NumPy's own result."""

import itertools

import numpy as np
import pytest

from runmat_jit.ops.spec import layout_of
from runmat_jit.ops.table import ROWS
from tests.ops.calls import CALLED, PRODUCTS

SHAPE = (2, 3, 4)
ORDERS = tuple(itertools.permutations(range(3)))


def laid_out(order, dtype="float64"):
    """An array whose axes lie in this order, outermost first."""
    memory = np.ones([SHAPE[axis] for axis in order], dtype)
    return memory.transpose(np.argsort(order))


def order_of(array):
    """The axes, outermost first."""
    return tuple(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))


def call(row, x):
    """The row's result for operands of one layout, and the parameters of the call."""
    if row.name in ("concatenate", "stack"):
        params = {"axis": 0}
    elif row.name == "array":
        params = {"shape": (2,), "dtype": None}
    elif row.name in ("cast", "zeros_like", "ones_like", "empty_like", "full_like"):
        params = {"dtype": "float32"}
    elif row.name in ("copy", "contiguous_copy"):
        params = row.bind((x,), {}).params
    elif row.kind == "scan":
        params = {"axis": 1, "dtype": None}
    elif row.name == "clip":
        return row.numpy(x, 0, 1, limits=("min", "max")), {}
    else:
        params = {}
    operands = (x, 1.0) if row.name == "full_like" else (x,) * (row.arity if row.arity > 0 else 2)
    return row.numpy(*operands, **params), params


ARRAYWISE = [
    r
    for r in CALLED
    if r.kind != "reduce"
    and r.name not in ("contract", "trace", "cov", *PRODUCTS)
    and (r.kind != "create" or "like" in r.name)
]


@pytest.mark.parametrize("row", ARRAYWISE, ids=lambda row: row.name)
def test_a_new_result_lies_as_the_row_says(row):
    integers = row.name.startswith("bitwise") or "shift" in row.name or row.name == "invert"
    for order in ORDERS:
        result, params = call(row, laid_out(order, "int64" if integers else "float64"))
        if row.name == "stack":
            assert layout_of(row, params) == "K"
            continue  # the new axis lies outermost or not: see the next test
        expected = (*range(result.ndim),) if layout_of(row, params) == "C" else order
        assert order_of(result) == expected


@pytest.mark.parametrize("row", [r for r in CALLED if r.kind == "reduce"], ids=lambda r: r.name)
def test_a_reduction_keeps_the_order_of_the_axes_that_are_left(row):
    for order in ORDERS:
        result = row.numpy(laid_out(order), axis=1, keepdims=False)
        left = tuple(axis - (axis > 1) for axis in order if axis != 1)
        assert order_of(result) == (left if layout_of(row, {}) == "K" else (0, 1))


@pytest.mark.parametrize("name", ["zeros", "ones", "full", "arange"])
def test_creations_are_in_c_order(name):
    assert layout_of(ROWS[name], {}) == "C"
