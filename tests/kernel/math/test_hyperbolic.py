"""Oracle: mpmath for accuracy, NumPy for special values, float64 for the sweep of float32."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.hyperbolic import tanh
from tests.kernel.math.expansions import (
    FLOATS,
    any_bits,
    around,
    compiled,
    differing,
    exact_values,
    special_floats,
)
from tests.kernel.math.sweep import worst_of_sweep
from tests.kernel.math.ulp import largest_error


def inputs(dtype):
    rng = np.random.default_rng(3)
    edges = [*(np.log(2) / 2 * np.arange(1, 8)), 9, 9.1, 10, 19, 19.1, 20]
    x = [any_bits(rng, dtype, 1000), rng.normal(0, 1, 2000), rng.uniform(-1, 1, 2000)]
    x = [*x, rng.uniform(-20, 20, 1000), around(edges, dtype), np.log(2) / 2 * rng.random(1000)]
    x = np.concatenate([part.astype(dtype) for part in x])
    return x[np.abs(x) < 100]


@pytest.mark.parametrize("kind", FLOATS)
def test_tanh_is_within_1_9_ulp(kind):
    x = inputs(FLOATS[kind])
    error, where = largest_error(compiled(tanh, (kind,))(x), mp.tanh, [x])
    assert error < 1.9, where


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


@pytest.mark.slow
def test_tanh_is_accurate_over_all_of_float32():
    assert worst_of_sweep(compiled(tanh, ("f32",)), np.tanh) < 1.9
