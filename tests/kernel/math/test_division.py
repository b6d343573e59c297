"""Oracle: NumPy, bit for bit; ``math.fmod`` (exact by its definition) for single values."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.kernel.math.division import floor_divide, fmod, remainder
from tests.kernel.math.expansions import (
    FLOATS,
    any_bits,
    compiled,
    differing,
    special_floats,
)

FUNCTIONS = {
    "fmod": (fmod, np.fmod),
    "floor_divide": (floor_divide, np.floor_divide),
    "remainder": (remainder, np.remainder),
}


def float_pairs(dtype):
    rng, n, special = np.random.default_rng(11), 20_000, special_floats(dtype)
    pairs = [
        (any_bits(rng, dtype, n), any_bits(rng, dtype, n)),
        (rng.normal(0, 10, n), rng.normal(0, 1, n)),
        (rng.integers(-50, 50, n), rng.integers(-9, 9, n)),
        (rng.integers(-50, 50, n) * 0.1, rng.integers(-20, 20, n) * 0.1),
        tuple(zip(*itertools.product(special, special), strict=True)),
    ]
    columns = zip(*pairs, strict=True)
    return [np.concatenate([np.asarray(part, dtype) for part in column]) for column in columns]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_floats_have_the_bits_of_numpy(kind, name):
    expand, numpy = FUNCTIONS[name]
    a, b = float_pairs(FLOATS[kind])
    with np.errstate(all="ignore"):
        expected = numpy(a, b)
    assert differing(compiled(expand, (kind, kind), kind)(a, b), expected, a, b) == []


@given(a=st.floats(allow_nan=False, allow_infinity=False), b=st.floats(allow_nan=False))
def test_fmod_is_exact(a, b):
    if b:
        got = compiled(fmod, ("f64", "f64"), "f64")([a], [b])[0]
        assert got == math.fmod(a, b)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_whole_numbers_have_the_bits_of_numpy(kind, name):
    expand, numpy = FUNCTIONS[name]
    rng, dtype = np.random.default_rng(12), np.dtype(kind.replace("i", "int"))
    limits = np.iinfo(dtype)
    special = [0, 1, -1, 2, -2, 7, -7, limits.min, limits.min + 1, limits.max]
    a, b = np.array(list(itertools.product(special, special)), dtype).T
    a = np.concatenate([a, any_bits(rng, dtype, 5000), any_bits(rng, dtype, 5000)])
    b = np.concatenate([b, any_bits(rng, dtype, 5000), rng.integers(-20, 20, 5000)]).astype(dtype)
    with np.errstate(all="ignore"):
        expected = numpy(a, b)
    assert differing(compiled(expand, (kind, kind), kind)(a, b), expected, a, b) == []


@pytest.mark.parametrize("divisor", [3, -3, 0, -1, 1])
def test_whole_numbers_may_have_a_known_divisor(divisor):
    def expand(k, a):
        return floor_divide(k, a, k.const(divisor, a.type))

    a = np.array([-(2**63), -7, -6, -1, 0, 1, 6, 7, 2**63 - 1])
    with np.errstate(all="ignore"):
        expected = a // np.int64(divisor)
    assert differing(compiled(expand, ("i64",))(a), expected, a) == []
