"""Oracle: mpmath for accuracy, NumPy for special values. All of float32: ``tests/accuracy``."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.cube_root import cbrt
from tests.kernel.math.expansions import (
    FLOATS,
    any_bits,
    compiled,
    differing,
    exact_values,
    special_floats,
)
from tests.kernel.math.ulp import largest_error


def exact(x):
    return mp.sign(x) * mp.cbrt(abs(x))


@pytest.mark.parametrize("kind", FLOATS)
def test_the_root_is_within_0_95_ulp(kind):
    rng, dtype = np.random.default_rng(22), FLOATS[kind]
    x = np.concatenate([any_bits(rng, dtype, 3000), rng.normal(0, 10, 3000).astype(dtype)])
    x = x[np.isfinite(x) & (x != 0)]
    error, where = largest_error(compiled(cbrt, (kind,))(x), exact, [x])
    assert error < 0.95, where


@pytest.mark.parametrize("kind", FLOATS)
def test_roots_of_cubes_are_whole(kind):
    n = np.arange(-200, 201)
    assert differing(compiled(cbrt, (kind,))(n**3.0), n.astype(FLOATS[kind])) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_roots_of_subnormal_numbers_are_exact_where_they_can_be(kind):
    limits = np.finfo(FLOATS[kind])
    exponents = np.arange((limits.minexp - limits.nmant) // 3 + 1, limits.maxexp // 3)
    powers = np.ldexp(FLOATS[kind](1), 3 * exponents)
    assert differing(compiled(cbrt, (kind,))(powers), np.ldexp(FLOATS[kind](1), exponents)) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_special_values_are_those_of_numpy(kind):
    x = special_floats(FLOATS[kind])
    got = compiled(cbrt, (kind,))(x)
    assert differing(got, exact_values(np.cbrt, got, x), x) == []
