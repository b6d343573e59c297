"""Oracle: mpmath for accuracy, NumPy for special values, float64 for the sweep of float32."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.exponential import exp
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
    rng = np.random.default_rng(1)
    lowest, highest = (-104, 89) if dtype == np.float32 else (-746, 710)
    limits = np.finfo(dtype)
    edges = np.log(np.array([limits.max, limits.tiny, limits.smallest_subnormal, 0.5, 2]))
    x = [any_bits(rng, dtype, 1000), rng.uniform(lowest, highest, 3000), rng.normal(0, 1, 1000)]
    x = np.concatenate([*(part.astype(dtype) for part in x), around(edges, dtype)])
    return x[np.abs(x) < 1e4]


@pytest.mark.parametrize("kind", FLOATS)
def test_exp_is_within_one_ulp(kind):
    x = inputs(FLOATS[kind])
    error, where = largest_error(compiled(exp, (kind,))(x), mp.exp, [x])
    assert error < 1.0, where


@pytest.mark.parametrize("kind", FLOATS)
def test_exp_has_the_special_values_of_numpy(kind):
    x = special_floats(FLOATS[kind])
    got = compiled(exp, (kind,))(x)
    assert differing(got, exact_values(np.exp, got, x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_exp_of_zero_is_exactly_one(kind):
    assert np.all(compiled(exp, (kind,))([0.0, -0.0]) == 1)


@pytest.mark.slow
def test_exp_is_accurate_over_all_of_float32():
    assert worst_of_sweep(compiled(exp, ("f32",)), np.exp) < 1.0
