"""Oracle: mpmath for accuracy, NumPy for special values."""

import itertools

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.hypotenuse import hypot
from tests.kernel.math.expansions import (
    FLOATS,
    compiled,
    differing,
    exact_values,
    special_floats,
)
from tests.kernel.math.ulp import largest_error


@pytest.mark.parametrize("kind", FLOATS)
def test_hypot_is_within_1_1_ulp_and_does_not_overflow(kind):
    rng, top = np.random.default_rng(20), np.finfo(FLOATS[kind]).maxexp - 2
    x, y = rng.normal(0, 1, (2, 3000))
    scale = 2.0 ** rng.uniform(-top, top, 3000)
    x, y = ((v * scale).astype(FLOATS[kind]) for v in (x, y * rng.choice([1e-3, 1], 3000)))
    error, where = largest_error(compiled(hypot, (kind, kind), kind)(x, y), mp.hypot, [x, y])
    assert error < 1.1, where


@pytest.mark.parametrize("kind", FLOATS)
def test_hypot_has_the_special_values_of_numpy(kind):
    special = special_floats(FLOATS[kind])
    x, y = np.array(list(itertools.product(special, special))).T.copy()
    got = compiled(hypot, (kind, kind), kind)(x, y)
    x, y = x.astype(got.dtype), y.astype(got.dtype)
    assert differing(got, exact_values(np.hypot, got, x, y), x, y) == []
