"""Oracle: mpmath for accuracy, NumPy for special values."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.tangent import tan
from tests.accuracy.hunt import closest_angles
from tests.kernel.math.expansions import (
    FLOATS,
    any_bits,
    compiled,
    differing,
    exact_values,
    special_floats,
)
from tests.kernel.math.ulp import largest_error


def inputs(dtype):
    rng = np.random.default_rng(22)
    quarters = rng.integers(-(2**14), 2**14, 1000) * (np.pi / 4)
    x = [any_bits(rng, dtype, 1000), rng.uniform(-1, 1, 1000), rng.uniform(-50, 50, 1000)]
    x += [quarters, rng.uniform(-(2**20), 2**20, 1000)]
    x = np.concatenate([part.astype(dtype) for part in x])
    return x[np.isfinite(x) & (x != 0)]


@pytest.mark.parametrize("kind", FLOATS)
def test_tan_is_within_its_bound(kind):
    x = inputs(FLOATS[kind])
    error, where = largest_error(compiled(tan, (kind,))(x), mp.tan, [x])
    assert error < 1.5, where


@pytest.mark.parametrize("kind", FLOATS)
def test_poles_and_zeros_are_as_accurate_as_all_else(kind):
    """Angles of all exponents that lie closest to multiples of pi / 2, and some around them."""
    (x,) = closest_angles("tan", np.dtype(FLOATS[kind]).name, np.random.default_rng(23))
    x = x[np.isfinite(x)][:: max(1, x.size // 3000)]
    with mp.workprec(1400):
        error, where = largest_error(compiled(tan, (kind,))(x), mp.tan, [x])
    assert error < 1.5, where


@pytest.mark.parametrize("kind", FLOATS)
def test_tan_has_the_special_values_of_numpy(kind):
    x = special_floats(FLOATS[kind])
    got = compiled(tan, (kind,))(x)
    assert differing(got, exact_values(np.tan, got, x), x) == []
    tiny = np.finfo(FLOATS[kind]).smallest_subnormal * np.arange(-50, 50).astype(FLOATS[kind])
    assert differing(compiled(tan, (kind,))(tiny), tiny) == []
