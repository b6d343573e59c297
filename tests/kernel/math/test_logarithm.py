"""Oracle: mpmath for accuracy, NumPy for special values, float64 for the sweep of float32."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.logarithm import log
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
    rng = np.random.default_rng(2)
    limits = np.finfo(dtype)
    edges = [1, np.sqrt(0.5), np.sqrt(2), 0.5, 2, limits.tiny, limits.max]
    x = [any_bits(rng, dtype, 3000), rng.lognormal(0, 0.3, 2000), 1 + rng.normal(0, 1e-4, 1000)]
    x = np.concatenate([*(part.astype(dtype) for part in x), around(edges, dtype)])
    return x[(x > 0) & np.isfinite(x)]


@pytest.mark.parametrize("kind", FLOATS)
def test_log_is_within_one_ulp(kind):
    x = inputs(FLOATS[kind])
    error, where = largest_error(compiled(log, (kind,))(x), mp.log, [x])
    assert error < 1.0, where


@pytest.mark.parametrize("kind", FLOATS)
def test_log_has_the_special_values_of_numpy(kind):
    x = special_floats(FLOATS[kind])
    got = compiled(log, (kind,))(x)
    assert differing(got, exact_values(np.log, got, x), x) == []


@pytest.mark.slow
def test_log_is_accurate_over_all_of_float32():
    assert worst_of_sweep(compiled(log, ("f32",)), np.log) < 1.0
