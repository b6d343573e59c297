"""Oracle: exact Python integers for integer classes, NumPy for the others."""

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend import matrices
from matlab_frontend.engine import NumpyEngine
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import ARITHMETIC, COMPARISONS, arithmetic, compare, negate
from matlab_frontend.values.array import Array, kind_of
from matlab_frontend.values.make import from_numpy
from matlab_frontend.values.read import known

ENGINE = NumpyEngine()
EXACT = {"+": operator.add, "-": operator.sub, ".*": operator.mul}


def rounded(number):
    """Half away from zero."""
    whole = abs(number) + Fraction(1, 2)
    return int(whole) if number >= 0 else -int(whole)


def integers(kind):
    limits = np.iinfo(kind)
    return st.integers(int(limits.min), int(limits.max))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
@given(data=st.data(), symbol=st.sampled_from(["+", "-", ".*", "./"]))
def test_integer_arithmetic_is_exact_then_rounded_then_saturated(kind, data, symbol):
    x, y = data.draw(integers(kind)), data.draw(integers(kind))
    limits = np.iinfo(kind)
    if symbol == "./":
        if y == 0:
            return
        exact = rounded(Fraction(x, y))
    else:
        exact = EXACT[symbol](x, y)
    made = arithmetic(
        ENGINE, ARITHMETIC[symbol], *(Array(kind, np.full((1, 1), v, kind)) for v in (x, y))
    )
    assert known(ENGINE, made).item() == min(max(exact, int(limits.min)), int(limits.max))


doubles = st.floats(-1e20, 1e20) | st.integers(-(2**40), 2**40).map(float) | st.sampled_from([0.5])


@pytest.mark.parametrize("kind", ["int64", "uint64"])
@given(data=st.data(), symbol=st.sampled_from(["+", "-", ".*", "./"]), y=doubles)
def test_integers_of_64_bits_are_exact_beside_doubles(kind, data, symbol, y):
    x = data.draw(integers(kind) | st.integers(0, 2**33))
    if symbol == "./" and y == 0:
        return
    exact = {**EXACT, "./": operator.truediv}[symbol](Fraction(x), Fraction(y))
    limits = np.iinfo(kind)
    made = arithmetic(ENGINE, ARITHMETIC[symbol], Array(kind, np.full((1, 1), x, kind)), y)
    wanted = min(max(rounded(exact), int(limits.min)), int(limits.max))
    assert known(ENGINE, made).item() == wanted


shapes = st.sampled_from([(1, 1), (2, 1), (1, 3), (2, 3), (2, 3, 4), (1, 1, 4)])


@given(a=shapes, b=shapes, symbol=st.sampled_from(["+", "-", ".*"]))
def test_implicit_expansion_aligns_the_first_dimensions(a, b, symbol):
    x = np.arange(1.0, 1 + np.prod(a)).reshape(a, order="F")
    y = np.arange(2.0, 2 + np.prod(b)).reshape(b, order="F")
    rank = max(x.ndim, y.ndim)
    wide = [v.reshape(v.shape + (1,) * (rank - v.ndim)) for v in (x, y)]
    made = known(ENGINE, arithmetic(ENGINE, ARITHMETIC[symbol], from_numpy(x), from_numpy(y)))
    expected = EXACT[symbol](*wide)
    assert np.array_equal(made.reshape(expected.shape), expected)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("double", "single", "single"),
        ("single", "logical", "single"),
        ("logical", "logical", "double"),
        ("char", "double", "double"),
        ("int8", "double", "int8"),
        ("logical", "int16", "int16"),
    ],
)
def test_the_class_of_a_sum_follows_both_classes(left, right, kind):
    dtypes = {"double": "f8", "single": "f4", "logical": "?", "char": "u2"}
    a, b = (Array(k, np.ones((1, 1), dtypes.get(k, k))) for k in (left, right))
    assert kind_of(arithmetic(ENGINE, ARITHMETIC["+"], a, b)) == kind


def test_two_integer_classes_do_not_mix():
    a, b = (Array(k, np.ones((1, 1), k)) for k in ("int8", "int16"))
    with pytest.raises(MatlabError, match="same class"):
        arithmetic(ENGINE, ARITHMETIC["+"], a, b)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(MatlabError) as caught:
        arithmetic(ENGINE, ARITHMETIC["+"], from_numpy(np.ones(2)), from_numpy(np.ones(3)))
    assert caught.value.identifier == "MATLAB:sizeDimensionsMustMatch"


@given(x=st.floats(), y=st.floats(), symbol=st.sampled_from(list(COMPARISONS)))
def test_scalars_compare_as_arrays_do(x, y, symbol):
    op = COMPARISONS[symbol]
    boxed = [Array("double", np.full((1, 1), v)) for v in (x, y)]
    assert compare(ENGINE, op, x, y) is compare(ENGINE, op, *boxed)


def test_the_negative_of_the_lowest_integer_saturates():
    made = negate(ENGINE, Array("int8", np.full((1, 1), -128, np.int8)))
    assert known(ENGINE, made).item() == 127


def test_negative_numbers_to_fractional_powers_are_complex():
    made = arithmetic(ENGINE, ARITHMETIC[".^"], -8.0, 1 / 3)
    assert np.allclose(known(ENGINE, made), 1 + 1.7320508j)


def test_products_and_quotients_of_matrices_are_numpys():
    rng = np.random.default_rng(0)
    a, b = rng.random((3, 3)), rng.random((3, 2))
    x, y = from_numpy(a), from_numpy(b)
    assert np.allclose(known(ENGINE, matrices.multiply(ENGINE, x, y)), a @ b)
    assert np.allclose(known(ENGINE, matrices.left_divide(ENGINE, x, y)), np.linalg.solve(a, b))
    quotient = matrices.divide(ENGINE, from_numpy(b.T), x)
    assert np.allclose(known(ENGINE, quotient) @ a, b.T)
