"""Oracle: mpmath for accuracy, NumPy for special values. All of float32: ``tests/accuracy``."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.exponential import exp, exp2, expm1
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
    rng = np.random.default_rng(1)
    lowest, highest = (-104, 89) if dtype == np.float32 else (-746, 710)
    limits = np.finfo(dtype)
    edges = np.log(np.array([limits.max, limits.tiny, limits.smallest_subnormal, 0.5, 2]))
    x = [any_bits(rng, dtype, 1000), rng.uniform(lowest, highest, 3000), rng.normal(0, 1, 1000)]
    x += [10 ** rng.uniform(-30, 0, 500), -(10 ** rng.uniform(-30, 0, 500))]
    x = np.concatenate([*(part.astype(dtype) for part in x), around(edges, dtype)])
    return x[(np.abs(x) < 1e4) & (x != 0)]


FUNCTIONS = {
    "exp": (exp, mp.exp, 1.0),
    "exp2": (exp2, lambda v: mp.mpf(2) ** v, 1.0),
    "expm1": (expm1, mp.expm1, 1.6),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_the_result_is_within_its_bound(kind, name):
    expand, exact, bound = FUNCTIONS[name]
    x = inputs(FLOATS[kind])
    error, where = largest_error(compiled(expand, (kind,))(x), exact, [x])
    assert error < bound, where


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_special_values_are_those_of_numpy(kind, name):
    x = special_floats(FLOATS[kind])
    got = compiled(FUNCTIONS[name][0], (kind,))(x)
    assert differing(got, exact_values(getattr(np, name), got, x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_exp2_of_whole_numbers_is_exact(kind):
    x = np.arange(np.finfo(FLOATS[kind]).minexp - 30, np.finfo(FLOATS[kind]).maxexp)
    assert differing(compiled(exp2, (kind,))(x), np.ldexp(FLOATS[kind](1), x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_expm1_of_a_tiny_number_is_that_number(kind):
    x = np.finfo(FLOATS[kind]).smallest_subnormal * np.arange(-50, 50).astype(FLOATS[kind])
    assert differing(compiled(expm1, (kind,))(x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_exp_of_zero_is_exactly_one(kind):
    assert np.all(compiled(exp, (kind,))([0.0, -0.0]) == 1)
