"""Which Python numbers fit a dtype. Oracle: whether NumPy adds them without a word."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.core.types import COMPILED_DTYPES, TensorType
from runmat_jit.ops.promotion import broadcast, fits, kind_of, loop_dtypes, promote
from runmat_jit.ops.spec import Weak

NUMERIC = [dtype for dtype in COMPILED_DTYPES if dtype.kind != "b"]
EDGES = [2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1]
EDGES += [2**128, 10**400, -(10**400), 0, 3.4028234663852886e38, 3.5e38, 1e300, math.inf, -0.0]


def accepts(value, dtype):
    """Whether NumPy turns the number into the dtype without an error or a warning."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        try:
            np.zeros(1, dtype) + np.asarray(dtype.type(value))
            np.zeros(1, dtype) + value
        except (OverflowError, FloatingPointError):
            return False
    return True


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
@pytest.mark.parametrize("value", EDGES)
def test_a_number_at_an_edge_fits_if_numpy_takes_it(dtype, value):
    if isinstance(value, float) and dtype.kind == "i":
        return  # NumPy promotes the array instead: see the next test
    assert fits(value, dtype) == accepts(value, dtype)


@given(st.integers() | st.integers(-(2**70), 2**70))
def test_integers_fit_as_numpy_says(value):
    for dtype in NUMERIC:
        assert fits(value, dtype) == accepts(value, dtype)


@given(st.floats(allow_nan=False))
def test_floats_fit_where_no_finite_one_becomes_infinite(value):
    for dtype in (np.dtype("float32"), np.dtype("float64")):
        assert fits(value, dtype) == accepts(value, dtype)


def test_floats_that_fill_integers_fit_where_the_integer_holds_them():
    int32 = np.dtype("int32")
    assert [fits(v, int32) for v in (2.5, 2147483647.5, -2147483648.0)] == [True, True, True]
    assert [fits(v, int32) for v in (2147483648.0, math.inf, math.nan)] == [False, False, False]


def test_complex_numbers_never_fit():
    assert not fits(1j, np.dtype("float64"))


def test_dtypes_that_kernels_do_not_know_have_no_loop():
    float64 = np.dtype("float64")
    assert loop_dtypes(np.add, (float64, np.dtype("float16"))) is None
    assert loop_dtypes(np.add, (float64, complex)) is None
    assert loop_dtypes(np.add, (float64, np.dtype(">f8"))) is None
    assert promote((float64, np.dtype("uint8"))) is None


def test_a_python_bool_is_no_weak_number():
    assert kind_of(Weak(bool)) == np.dtype(bool)
    assert kind_of(Weak(int)) is int
    float64 = np.dtype("float64")
    assert broadcast((TensorType(float64, (2, 1)), Weak(int), TensorType(float64, (3,)))) == (2, 3)
