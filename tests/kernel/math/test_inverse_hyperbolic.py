"""Oracle: mpmath for accuracy, NumPy for special values."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.inverse_hyperbolic import arccosh, arcsinh, arctanh
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

FUNCTIONS = {
    "arcsinh": (arcsinh, mp.asinh, 2.0),
    "arccosh": (arccosh, mp.acosh, 1.5),
    "arctanh": (arctanh, mp.atanh, 1.5),
}


def inputs(name, dtype):
    rng = np.random.default_rng(21)
    near = 10 ** rng.uniform(-16, 0, 1000)
    x = [any_bits(rng, dtype, 1000), rng.uniform(0, 1, 1000), rng.uniform(1, 20, 1000), near]
    x += [1 - near, 1 + near, 10 ** rng.uniform(0, 30, 1000), around([1, 2**14, 2**30], dtype)]
    x = np.concatenate([part.astype(dtype) for part in x])
    x = np.concatenate([x, -x])
    x = x[np.isfinite(x) & (x != 0)]
    return {"arcsinh": x, "arccosh": x[x > 1], "arctanh": x[np.abs(x) < 1]}[name]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_the_result_is_within_its_bound(kind, name):
    expand, exact, bound = FUNCTIONS[name]
    x = inputs(name, FLOATS[kind])
    error, where = largest_error(compiled(expand, (kind,))(x), exact, [x])
    assert error < bound, where


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_special_values_are_those_of_numpy(kind, name):
    x = special_floats(FLOATS[kind])
    got = compiled(FUNCTIONS[name][0], (kind,))(x)
    assert differing(got, exact_values(getattr(np, name), got, x), x) == []


@pytest.mark.parametrize("name", ["arcsinh", "arctanh"])
@pytest.mark.parametrize("kind", FLOATS)
def test_a_tiny_number_is_its_own_result(kind, name):
    x = np.finfo(FLOATS[kind]).smallest_subnormal * np.arange(-50, 50).astype(FLOATS[kind])
    assert differing(compiled(FUNCTIONS[name][0], (kind,))(x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_the_ends_of_domains_are_exact(kind):
    ends = np.array([1, -1, np.nextafter(FLOATS[kind](1), 2)], FLOATS[kind])
    assert compiled(arccosh, (kind,))(ends)[0] == 0
    assert list(compiled(arctanh, (kind,))(ends)[:2]) == [np.inf, -np.inf]
    assert np.isnan(compiled(arctanh, (kind,))(ends)[2])
