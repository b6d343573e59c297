"""Oracle: mpmath for accuracy, NumPy for special values. All of float32: ``tests/accuracy``."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.logarithm import log, log1p, log2, log10
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
    rng = np.random.default_rng(2)
    limits = np.finfo(dtype)
    edges = [1, np.sqrt(0.5), np.sqrt(2), 0.5, 2, limits.tiny, limits.max]
    x = [any_bits(rng, dtype, 3000), rng.lognormal(0, 0.3, 2000), 1 + rng.normal(0, 1e-4, 1000)]
    x = np.concatenate([*(part.astype(dtype) for part in x), around(edges, dtype)])
    return x[(x > 0) & np.isfinite(x)]


FUNCTIONS = {
    "log": (log, mp.log, 1.0),
    "log2": (log2, lambda v: mp.log(v, 2), 1.1),
    "log10": (log10, mp.log10, 1.0),
    "log1p": (log1p, mp.log1p, 1.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_the_result_is_within_its_bound(kind, name):
    expand, exact, bound = FUNCTIONS[name]
    x = inputs(FLOATS[kind])
    x = np.concatenate([x, -x[(x > 1e-30) & (x < 0.999)]]) if name == "log1p" else x[x != 1]
    error, where = largest_error(compiled(expand, (kind,))(x), exact, [x])
    assert error < bound, where


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_special_values_are_those_of_numpy(kind, name):
    x = special_floats(FLOATS[kind])
    got = compiled(FUNCTIONS[name][0], (kind,))(x)
    assert differing(got, exact_values(getattr(np, name), got, x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_logarithms_of_powers_of_their_base_are_whole(kind):
    form = np.finfo(FLOATS[kind])
    exponents = np.arange(form.minexp - form.nmant, form.maxexp)
    powers = np.ldexp(FLOATS[kind](1), exponents)
    assert np.array_equal(compiled(log2, (kind,))(powers), exponents)
    exponents = np.arange(0, 11 if kind == "f32" else 23)  # those that are numbers of the format
    powers = np.array([float(10 ** int(n)) for n in exponents])
    assert np.array_equal(compiled(log10, (kind,))(powers), exponents)


@pytest.mark.parametrize("kind", FLOATS)
def test_log1p_of_large_numbers_does_not_lose_the_one(kind):
    x = 2.0 ** np.arange(1, np.finfo(FLOATS[kind]).maxexp, 0.25)
    error, where = largest_error(compiled(log1p, (kind,))(x), mp.log1p, [x.astype(FLOATS[kind])])
    assert error < 1.0, where


@pytest.mark.parametrize("kind", FLOATS)
def test_log1p_of_a_tiny_number_is_that_number(kind):
    x = np.finfo(FLOATS[kind]).smallest_subnormal * np.arange(-50, 50).astype(FLOATS[kind])
    assert differing(compiled(log1p, (kind,))(x), x) == []
