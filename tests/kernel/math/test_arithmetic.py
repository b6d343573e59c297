"""Oracle: NumPy, bit for bit."""

import itertools

import numpy as np
import pytest

from runmat_jit.kernel.math import arithmetic
from tests.kernel.math.expansions import compiled, differing, special_floats

UNARY = ("negative", "absolute", "square", "reciprocal", "sign")


def values(kind):
    dtype = np.dtype({"f": "float", "i": "int"}[kind[0]] + kind[1:])
    if dtype.kind == "f":
        return special_floats(dtype)
    limits = np.iinfo(dtype)
    return np.array([0, 1, -1, 2, -2, 3, 40000, limits.min, limits.min + 1, limits.max], dtype)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("kind", ["f32", "f64", "i32", "i64"])
def test_functions_of_one_number_have_the_bits_of_numpy(kind, name):
    x = values(kind)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    assert differing(compiled(getattr(arithmetic, name), (kind,))(x), expected, x) == []


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", ["copysign", "heaviside"])
def test_functions_of_two_floats_have_the_bits_of_numpy(kind, name):
    x, y = np.array(list(itertools.product(values(kind), values(kind)))).T.copy()
    expected = getattr(np, name)(x, y)
    got = compiled(getattr(arithmetic, name), (kind, kind), kind)(x, y)
    assert differing(got, expected, x, y) == []


def test_square_roots_have_the_bits_of_numpy():
    x = values("f64")
    with np.errstate(invalid="ignore"):
        assert differing(compiled(arithmetic.sqrt, ("f64",))(x), np.sqrt(x), x) == []


@pytest.mark.parametrize("name", ["left_shift", "right_shift"])
@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_shifts_take_any_count(kind, name):
    counts = np.array([0, 1, 5, 31, 32, 33, 63, 64, 65, -1, -64], values(kind).dtype)
    x, count = np.array(list(itertools.product(values(kind), counts))).T.copy()
    expected = getattr(np, name)(x, count)
    got = compiled(getattr(arithmetic, name), (kind, kind), kind)(x, count)
    assert differing(got, expected, x, count) == []


@pytest.mark.parametrize("kind", ["i32", "i64", "i1"])
def test_invert_flips_bits_or_truth(kind):
    x = np.array([True, False]) if kind == "i1" else values(kind)
    assert differing(compiled(arithmetic.invert, (kind,))(x), ~x, x) == []
