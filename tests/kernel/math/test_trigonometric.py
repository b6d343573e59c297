"""Oracle: mpmath for accuracy, NumPy for special values. All of float32: ``tests/accuracy``."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.trigonometric import cos, sin
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

FUNCTIONS = {"sin": (sin, mp.sin, np.sin), "cos": (cos, mp.cos, np.cos)}

# Floats that lie closest to multiples of pi / 2 (Muller, Elementary Functions, section 11.3).
CLOSEST_F64 = (
    6381956970095103.0 * 2.0**797,
    5.319372648326541416707296656673541083813475031793921822e255,
)
CLOSEST_F32 = (16367173.0 * 2.0**72, 12522895.0 * 2.0**-7, 13253590.0 * 2.0**10)


def inputs(dtype):
    rng = np.random.default_rng(5)
    quarters = np.pi / 2 * np.concatenate([np.arange(1, 20), rng.integers(1, 10**6, 500)])
    closest = np.array(CLOSEST_F32 if dtype == np.float32 else CLOSEST_F64)
    limits = [2.0**16, 2.0**20, np.finfo(dtype).max, 1]
    x = [any_bits(rng, dtype, 2000), rng.uniform(-100, 100, 2000), rng.uniform(-4, 4, 2000)]
    x = [*x, closest, -closest, quarters, np.pi / 2 + rng.normal(0, 1e-3, 500)]
    x = np.concatenate([part.astype(dtype) for part in x])
    x = np.concatenate([x, around(quarters[:19], dtype, 5), around(limits, dtype)])
    return x[np.isfinite(x)]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_the_result_is_within_1_6_ulp_for_every_angle(kind, name):
    expand, exact, _ = FUNCTIONS[name]
    x = inputs(FLOATS[kind])
    with mp.workprec(1400):
        error, where = largest_error(compiled(expand, (kind,))(x), lambda v: _at(exact, v), [x])
    assert error < 1.6, where


def _at(exact, x):
    """The function with enough digits for the largest angle."""
    with mp.workprec(1400):
        return exact(x)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_special_values_are_those_of_numpy(kind, name):
    expand, _, numpy = FUNCTIONS[name]
    x = special_floats(FLOATS[kind])
    got = compiled(expand, (kind,))(x)
    assert differing(got, exact_values(numpy, got, x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_quarter_turns_give_exactly_one(kind):
    """A result above 1 would make arcsine and square roots of the user NaN."""
    one = np.ones(1, FLOATS[kind])
    step = 2.0**-23 if kind == "f32" else 2.0**-52
    near = np.array(np.pi / 2, FLOATS[kind]) + np.arange(-(2**20), 2**20) * step
    assert compiled(sin, (kind,))(near).max() == 1.0
    assert compiled(cos, (kind,))(np.linspace(-1e-3, 1e-3, 2**20)).max() == 1.0
    assert compiled(sin, (kind,))(one * np.pi / 2) == 1.0
    assert compiled(cos, (kind,))(one * 0) == 1.0
    assert compiled(cos, (kind,))(one * np.pi) == -1.0


@pytest.mark.parametrize("kind", FLOATS)
def test_sine_is_odd_and_cosine_even_to_the_bit(kind):
    x = any_bits(np.random.default_rng(6), FLOATS[kind], 5000)
    s, c = compiled(sin, (kind,)), compiled(cos, (kind,))
    assert differing(s(-x), -s(x), x) == []
    assert differing(c(-x), c(x), x) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_one_large_angle_does_not_change_its_neighbors(kind):
    x = np.random.default_rng(7).uniform(-100, 100, 256).astype(FLOATS[kind])
    mixed = x.copy()
    mixed[::7] = 1e30
    alone, beside = compiled(sin, (kind,))(x), compiled(sin, (kind,))(mixed)
    assert differing(np.delete(beside, np.s_[::7]), np.delete(alone, np.s_[::7])) == []
