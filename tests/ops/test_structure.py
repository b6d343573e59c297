"""Constants and counters. Oracle: the number itself, and NumPy's own ``arange``."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.types import COMPILED_DTYPES, TensorType
from runmat_jit.ops.structure import constant_params, constant_value
from runmat_jit.ops.table import ROWS
from tests.ops.operands import same_bits, specials


@pytest.mark.parametrize("dtype", COMPILED_DTYPES, ids=str)
def test_a_constant_keeps_every_bit(dtype):
    for value in specials(dtype):
        params = constant_params(value, dtype)
        assert same_bits(constant_value(params["bits"], dtype), value)
        assert same_bits(ROWS["constant"].numpy(**params, type=TensorType(dtype, ())), value)


def test_constants_that_differ_by_the_sign_of_zero_differ():
    double = np.dtype("float64")
    assert constant_params(0.0, double) != constant_params(-0.0, double)
    assert math.isnan(constant_value(constant_params(math.nan, double)["bits"], double))


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(0.01, 10.0), st.sampled_from([1, -1]))
def test_arange_counts_as_numpy_counts(start, stop, step, sign):
    row = ROWS["arange"]
    for dtype in ("float32", "float64"):
        bound = row.bind((start, stop, sign * step), {"dtype": dtype})
        covered = row.result((), bound.params)
        if covered is None:  # it would begin at -0.0
            assert np.signbit(np.dtype(dtype).type(start))
            assert np.dtype(dtype).type(start) == 0
            continue
        kind = covered.type
        expected = np.arange(start, stop, sign * step, dtype)
        assert (kind.dtype, kind.shape) == (expected.dtype, expected.shape)
        found = row.decompose(
            lambda name, _args, params, kind: ROWS[name].numpy(**params, type=kind),
            (),
            row.canonical(bound.params, ()),
            kind,
        )
        assert same_bits(found, expected)


def test_what_the_caller_supplies_has_no_value_of_its_own():
    with pytest.raises(AssertionError, match="whoever runs the graph supplies it"):
        ROWS["input"].numpy()
