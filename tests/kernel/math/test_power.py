"""Oracle: mpmath for accuracy, NumPy for special values and whole numbers."""

import itertools
from functools import cache

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.power import integer_power, power, power_constant
from tests.kernel.math.expansions import (
    FLOATS,
    any_bits,
    compiled,
    differing,
    exact_values,
    special_floats,
)
from tests.kernel.math.ulp import largest_error

EXPONENTS = (0.0, 1.0, 2.0, 3.0, 4.0, 0.5, -1.0, -2.0, 1.5, -3.0, 0.25, 7.0, np.inf, np.nan)


def inputs(dtype):
    """Positive bases and exponents: ordinary, near one, and with results near both ends."""
    rng, n = np.random.default_rng(8), 2000
    x = [10 ** rng.uniform(-30, 30, n), rng.uniform(0, 2, n), rng.lognormal(0, 0.01, n)]
    y = [rng.uniform(-1, 1, n), rng.uniform(-40, 40, n), rng.uniform(-8000, 8000, n)]
    x = np.concatenate([*x, np.abs(any_bits(rng, dtype, n))]).astype(dtype)
    y = np.concatenate([*y, rng.uniform(-1, 1, n)]).astype(dtype)
    ordinary = (x > 0) & (x != 1) & np.isfinite(x)
    x, y = x[ordinary], y[ordinary]
    ends = [np.finfo(dtype).maxexp, np.finfo(dtype).minexp, np.finfo(dtype).minexp - 20]
    edge = rng.choice(ends, x.size) + rng.uniform(-1, 1, x.size)
    near = rng.random(x.size) < 0.3
    return x, np.where(near, edge / np.log2(x.astype(float)), y).astype(dtype)


@pytest.mark.parametrize("kind", FLOATS)
def test_power_is_within_one_ulp(kind):
    x, y = inputs(FLOATS[kind])
    got = compiled(power, (kind, kind), kind)(x, y)
    error, where = largest_error(got, lambda a, b: a**b, [x, y])
    assert error < 1.0, where


@pytest.mark.parametrize("kind", FLOATS)
def test_power_has_every_special_value_of_numpy(kind):
    special = special_floats(FLOATS[kind])
    x, y = np.array(list(itertools.product(special, special)), FLOATS[kind]).T
    got = compiled(power, (kind, kind), kind)(x, y)
    assert differing(got, exact_values(np.power, got, x, y), x, y) == []
    with np.errstate(all="ignore"):
        assert np.array_equal(np.signbit(got), np.signbit(np.power(x, y)) & ~np.isnan(got))


@pytest.mark.parametrize("kind", FLOATS)
def test_one_to_any_power_and_anything_to_the_power_of_zero_are_one(kind):
    special = special_floats(FLOATS[kind])
    f = compiled(power, (kind, kind), kind)
    assert np.all(f(np.ones_like(special), special) == 1)
    assert np.all(f(special, np.zeros_like(special)) == 1)


@pytest.mark.parametrize("kind", FLOATS)
def test_negative_bases_have_the_magnitude_of_positive_ones(kind):
    rng = np.random.default_rng(9)
    x, y = rng.lognormal(0, 1, 1000), rng.integers(-20, 20, 1000)
    f = compiled(power, (kind, kind), kind)
    assert differing(f(-x, y), f(x, y) * (1 - 2 * (y % 2)).astype(FLOATS[kind])) == []


@cache
def to_the(exponent):
    def expand(k, x):
        return power_constant(k, x, exponent)

    return expand


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("kind", FLOATS)
def test_a_constant_exponent_has_the_special_values_of_numpy(kind, exponent):
    x = special_floats(FLOATS[kind])
    got = compiled(to_the(exponent), (kind,))(x)
    assert differing(got, exact_values(lambda v: np.power(v, v.dtype.type(exponent)), got, x)) == []


@pytest.mark.parametrize("exponent", [e for e in EXPONENTS if np.isfinite(e) and e])
@pytest.mark.parametrize("kind", FLOATS)
def test_a_constant_exponent_is_within_two_ulp(kind, exponent):
    x = inputs(FLOATS[kind])[0][::7]
    got = compiled(to_the(exponent), (kind,))(x)
    error, where = largest_error(got, lambda v: v ** mp.mpf(exponent), [x])
    assert error < 2.0, where


def test_a_constant_exponent_of_the_general_case_has_the_bits_of_a_variable_one():
    x = inputs(np.float64)[0]
    general = compiled(power, ("f64", "f64"), "f64")(x, np.full(x.size, 1.8))
    assert differing(compiled(to_the(1.8), ("f64",))(x), general) == []


@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_whole_powers_wrap_as_in_numpy(kind):
    rng, dtype = np.random.default_rng(10), np.dtype(kind.replace("i", "int"))
    x, y = rng.integers(-50, 50, 500).astype(dtype), rng.integers(0, 70, 500).astype(dtype)
    assert differing(compiled(integer_power, (kind, kind), kind)(x, y), x**y, x, y) == []


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 10, 13])
def test_whole_powers_of_a_known_exponent_are_those_of_numpy(exponent):
    def expand(k, x):
        return integer_power(k, x, k.const(exponent, x.type))

    x = np.arange(-40, 40)
    assert differing(compiled(expand, ("i64",))(x), x**exponent, x) == []
