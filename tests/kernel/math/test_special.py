"""Functions of SciPy. Oracle: mpmath for accuracy, SciPy for special values."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special

from runmat_jit.kernel.math import error_function, logistic
from tests.accuracy.functions import EXACT
from tests.kernel.math.expansions import (
    FLOATS,
    any_bits,
    compiled,
    differing,
    exact_values,
    special_floats,
)
from tests.kernel.math.ulp import largest_error

UNARY = {
    "expit": logistic.expit,
    "logit": logistic.logit,
    "entr": logistic.entr,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
}
BINARY = {"xlogy": logistic.xlogy, "xlog1py": logistic.xlog1py}
BOUND = 1.5
DIGITS = 300
"""Bits of exact values: next to 1/2, where ``logit`` is small, and far out, many are lost."""


def inputs(name, dtype):
    rng, n = np.random.default_rng(25), 600
    small = 10 ** rng.uniform(np.log10(np.finfo(dtype).smallest_subnormal), 0, n)
    x = [rng.uniform(0, 1, n), 0.5 + small / 2, 0.5 - small / 2, small, 1 - small]
    if name not in ("logit", "entr"):
        x += [-small, rng.uniform(-9, 9, n), rng.uniform(0, 27, n), rng.uniform(-720, 40, n)]
        x += [rng.uniform(0.7, 0.8, n)]
    if name == "entr":
        x += [rng.uniform(1, 9, n), 10 ** rng.uniform(0, 30, n)]
    x = np.concatenate([part.astype(dtype) for part in x])
    return x[(x != 0) & ((name != "logit") | ((x < 1) & (x != 0.5)))]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("kind", FLOATS)
def test_a_function_of_one_operand_is_within_its_bound(kind, name):
    x = inputs(name, FLOATS[kind])
    with mp.workprec(DIGITS):
        error, where = largest_error(compiled(UNARY[name], (kind,))(x), EXACT[name], [x])
    assert error < BOUND, where


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("kind", FLOATS)
def test_a_product_with_a_logarithm_is_within_its_bound(kind, name):
    rng, n, dtype = np.random.default_rng(26), 800, FLOATS[kind]
    y = [rng.uniform(0, 3, n), 10 ** rng.uniform(-30, 30, n), 1 + rng.normal(0, 0.01, n)]
    y += [np.abs(any_bits(rng, dtype, n))]
    y += [-(10 ** rng.uniform(-30, 0, n))] if name == "xlog1py" else []
    y = np.concatenate([part.astype(dtype) for part in y])
    y = y[np.isfinite(y) & (y != 0) & (y > -1) & ((y != 1) | (name != "xlogy"))]
    x = (rng.uniform(1, 2, y.size) * rng.choice([-1, 1, 1e5], y.size)).astype(dtype)
    with mp.workprec(DIGITS):
        got = compiled(BINARY[name], (kind, kind), kind)(x, y)
        error, where = largest_error(got, EXACT[name], [x, y])
    assert error < BOUND, where


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("kind", FLOATS)
def test_special_values_are_those_of_scipy(kind, name):
    x = special_floats(FLOATS[kind])
    got = compiled(UNARY[name], (kind,))(x)
    subnormal = (np.abs(got) > 0) & (np.abs(got) < np.finfo(got.dtype).tiny)  # where SciPy has 0
    got, x = got[~subnormal], x[~subnormal]
    assert differing(got, exact_values(getattr(scipy.special, name), got, x), x) == []


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("kind", FLOATS)
def test_products_have_the_special_values_of_scipy(kind, name):
    special = special_floats(FLOATS[kind])
    x, y = (side.ravel() for side in np.meshgrid(special, special))
    got = compiled(BINARY[name], (kind, kind), kind)(x, y)
    x, y = x.astype(got.dtype), y.astype(got.dtype)
    assert differing(got, exact_values(getattr(scipy.special, name), got, x, y), x, y) == []


@pytest.mark.parametrize("kind", FLOATS)
def test_the_tail_of_the_complement_reaches_the_subnormal_numbers(kind):
    x = np.array([{"f32": 9.5, "f64": 26.9}[kind]], FLOATS[kind])
    assert 0 < compiled(error_function.erfc, (kind,))(x)[0] < np.finfo(FLOATS[kind]).tiny
