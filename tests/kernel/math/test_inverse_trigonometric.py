"""Oracle: mpmath for accuracy, NumPy for special values."""

import itertools

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.inverse_trigonometric import arccos, arcsin, arctan, arctan2
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


@pytest.mark.parametrize("kind", FLOATS)
def test_arctan_is_within_1_9_ulp(kind):
    rng, dtype = np.random.default_rng(18), FLOATS[kind]
    x = [any_bits(rng, dtype, 2000), rng.normal(0, 1, 2000), rng.uniform(0.8, 1.2, 1000)]
    x = np.concatenate([*(part.astype(dtype) for part in x), around([1, -1], dtype)])
    x = x[np.isfinite(x)]
    error, where = largest_error(compiled(arctan, (kind,))(x), mp.atan, [x])
    assert error < 1.9, where


@pytest.mark.parametrize("kind", FLOATS)
def test_arctan2_is_within_1_6_ulp(kind):
    rng = np.random.default_rng(19)
    y, x = rng.normal(0, 1, (2, 3000)).astype(FLOATS[kind])
    error, where = largest_error(compiled(arctan2, (kind, kind), kind)(y, x), mp.atan2, [y, x])
    assert error < 1.6, where


@pytest.mark.parametrize("kind", FLOATS)
def test_arctan_has_the_special_values_of_numpy(kind):
    x = special_floats(FLOATS[kind])
    got = compiled(arctan, (kind,))(x)
    assert differing(got, exact_values(np.arctan, got, x), x) == []
    infinite = np.isinf(x)
    assert differing(got[infinite], np.arctan(x[infinite])) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_arctan2_knows_quadrants_zeros_and_infinities(kind):
    """At these points the angles are multiples of pi / 4, which NumPy rounds correctly."""
    values = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan], FLOATS[kind])
    y, x = np.array(list(itertools.product(values, values))).T.copy()
    got = compiled(arctan2, (kind, kind), kind)(y, x)
    expected = np.arctan2(y, x)
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    known = ~np.isnan(got)
    assert np.all(abs(got - expected)[known] <= np.spacing(abs(expected[known])))
    assert np.array_equal(np.signbit(got[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("kind", FLOATS)
def test_diagonals_and_axes_have_the_nearest_angles(kind):
    dtype = FLOATS[kind]
    limits = np.finfo(dtype)
    for size in (1.0, limits.tiny, limits.smallest_subnormal, limits.max, np.inf):
        y, x = np.array([0, 1, 1, 1, 0]) * size, np.array([1, 1, 0, -1, -1]) * size
        y[[0, 4]], x[2] = 0, 0  # also where infinity times zero is NaN
        got = compiled(arctan2, (kind, kind), kind)(y, x)
        assert differing(got, (np.arange(5) * (np.pi / 4)).astype(dtype), y, x) == []
    assert compiled(arctan, (kind,))([1.0])[0] == dtype(np.pi / 4)


SINES = {"arcsin": (arcsin, mp.asin, 1.3), "arccos": (arccos, mp.acos, 1.3)}


@pytest.mark.parametrize("name", SINES)
@pytest.mark.parametrize("kind", FLOATS)
def test_angles_of_sines_and_cosines_are_within_1_3_ulp(kind, name):
    rng, dtype = np.random.default_rng(21), FLOATS[kind]
    x = [rng.uniform(-1, 1, 3000), rng.normal(0, 1e-3, 500), 1 - 10 ** rng.uniform(-16, 0, 1000)]
    x = np.concatenate([*(part.astype(dtype) for part in x), around([0.5, -0.5], dtype)])
    x = x[(x != 1) & (x != 0)]
    expand, exact, bound = SINES[name]
    error, where = largest_error(compiled(expand, (kind,))(x), exact, [x])
    assert error < bound, where


@pytest.mark.parametrize("name", SINES)
@pytest.mark.parametrize("kind", FLOATS)
def test_they_have_the_special_values_of_numpy(kind, name):
    x = np.concatenate([special_floats(FLOATS[kind]), [-1, -0.0, 0.0, 1]]).astype(FLOATS[kind])
    got = compiled(SINES[name][0], (kind,))(x)
    assert differing(got, exact_values(getattr(np, name), got, x), x) == []
    ends = np.array([-1, 0, 1], FLOATS[kind])
    assert differing(compiled(SINES[name][0], (kind,))(ends), getattr(np, name)(ends)) == []
