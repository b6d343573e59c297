"""Oracle: mpmath for accuracy, NumPy for special values.

The unit is that of the largest of the result, the larger operand and what the other one adds to it.
"""

import itertools

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.log_sum import logaddexp, logaddexp2
from tests.accuracy.functions import EXACT, exact_error, largest_term
from tests.kernel.math.expansions import (
    FLOATS,
    any_bits,
    compiled,
    differing,
    exact_values,
    special_floats,
)

pytestmark = pytest.mark.sampled(2)

FUNCTIONS = {"logaddexp": logaddexp, "logaddexp2": logaddexp2}


def pairs(dtype):
    rng, n = np.random.default_rng(24), 500
    zeros, far = np.zeros(n), 10 ** rng.uniform(-3, 2, n)
    sides = [(zeros, -far), (far, -far), (rng.uniform(-1, 1, n), rng.uniform(-1, 1, n))]
    sides += [
        (rng.uniform(-20, 20, n), rng.uniform(-20, 20, n)),
        (10 ** rng.uniform(-30, 1, n), -far),
    ]
    found = [np.concatenate([pair[side] for pair in sides]).astype(dtype) for side in (0, 1)]
    wild = [any_bits(rng, dtype, n) for _ in range(2)]
    x, y = (np.concatenate(parts) for parts in zip(found, wild, strict=True))
    finite = np.isfinite(x) & np.isfinite(y)
    return x[finite], y[finite]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_the_result_is_within_two_units_of_the_largest_term(kind, name):
    x, y = pairs(FLOATS[kind])
    got = compiled(FUNCTIONS[name], (kind, kind), kind)(x, y)
    for result, *operands in zip(got, x, y, strict=True):
        assert exact_error(name, result, *operands) < 2.0, operands


@pytest.mark.parametrize("kind", FLOATS)
def test_what_nearly_cancels_is_as_good_as_the_definition_of_numpy(kind):
    """The terms are rounded: the unit is theirs, which the result's may be far below."""
    x = np.linspace(-0.8, -0.6, 301).astype(FLOATS[kind])
    got = compiled(logaddexp, (kind, kind), kind)(x, x)
    for result, value in zip(got, x, strict=True):
        exact = EXACT["logaddexp"](mp.mpf(float(value)), mp.mpf(float(value)))
        unit = np.spacing(FLOATS[kind](float(largest_term(exact, mp.mpf(float(value))))))
        assert abs(float(mp.mpf(float(result)) - exact)) <= 2 * abs(float(unit))
    assert differing(got, np.logaddexp(x, x), x) == []


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_special_values_are_those_of_numpy(kind, name):
    special = special_floats(FLOATS[kind])
    x, y = np.array(list(itertools.product(special, special))).T.copy()
    got = compiled(FUNCTIONS[name], (kind, kind), kind)(x, y)
    x, y = x.astype(got.dtype), y.astype(got.dtype)
    opposed = np.abs(np.maximum(x, y) + 1) < 1e-6  # what the other one adds: the terms cancel
    x, y, got = (v[~opposed] for v in (x, y, got))
    assert differing(got, exact_values(getattr(np, name), got, x, y), x, y) == []
    infinite = ~np.isfinite(x) | ~np.isfinite(y)
    with np.errstate(invalid="ignore"):
        expected = getattr(np, name)(x[infinite], y[infinite])
    finite = np.isfinite(expected)
    assert differing(got[infinite][finite], expected[finite]) == []
