"""Oracle: mpmath for accuracy, NumPy for special values. All of float32: ``tests/accuracy``."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.hyperbolic import cosh, sinh, tanh
from tests.kernel.math.expansions import (
    FLOATS,
    any_bits,
    around,
    compiled,
    differing,
    exact_values,
    special_floats,
)
from tests.kernel.math.ulp import largest_error


def inputs(dtype):
    rng = np.random.default_rng(3)
    edges = [*(np.log(2) / 2 * np.arange(1, 8)), 9, 9.1, 10, 19, 19.1, 20]
    x = [any_bits(rng, dtype, 1000), rng.normal(0, 1, 2000), rng.uniform(-1, 1, 2000)]
    x = [*x, rng.uniform(-20, 20, 1000), around(edges, dtype), np.log(2) / 2 * rng.random(1000)]
    x = np.concatenate([part.astype(dtype) for part in x])
    return x[np.abs(x) < 100]


@pytest.mark.parametrize("kind", FLOATS)
def test_tanh_is_within_1_5_ulp(kind):
    x = inputs(FLOATS[kind])
    error, where = largest_error(compiled(tanh, (kind,))(x), mp.tanh, [x])
    assert error < 1.5, where


@pytest.mark.parametrize("kind", FLOATS)
def test_tanh_has_the_special_values_of_numpy(kind):
    x = special_floats(FLOATS[kind])
    got = compiled(tanh, (kind,))(x)
    assert differing(got, exact_values(np.tanh, got, x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_tanh_of_a_subnormal_number_is_that_number(kind):
    x = np.finfo(FLOATS[kind]).smallest_subnormal * np.arange(-50, 50).astype(FLOATS[kind])
    assert differing(compiled(tanh, (kind,))(x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_tanh_never_exceeds_one(kind):
    x = np.random.default_rng(4).uniform(5, 25, 100_000)
    assert compiled(tanh, (kind,))(x).max() == 1.0


FUNCTIONS = {"sinh": (sinh, mp.sinh, 1.7), "cosh": (cosh, mp.cosh, 1.1)}


def wide_inputs(dtype):
    rng, edge = np.random.default_rng(17), np.log(np.finfo(dtype).max)
    x = [inputs(dtype), rng.uniform(-edge, edge, 2000), edge + rng.uniform(-1, 1, 1000)]
    return np.concatenate([part.astype(dtype) for part in x])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_sinh_and_cosh_are_within_their_bounds(kind, name):
    expand, exact, bound = FUNCTIONS[name]
    x = wide_inputs(FLOATS[kind])
    x = x[x != 0]
    error, where = largest_error(compiled(expand, (kind,))(x), exact, [x])
    assert error < bound, where


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_sinh_and_cosh_have_the_special_values_of_numpy(kind, name):
    x = special_floats(FLOATS[kind])
    got = compiled(FUNCTIONS[name][0], (kind,))(x)
    assert differing(got, exact_values(getattr(np, name), got, x), x) == []
