"""Oracle: NumPy on x86-64, bit for bit, and its own warning for numbers that a type lacks."""

import itertools

import numpy as np
import pytest

from runmat_jit.kernel.math.casts import cast
from tests.kernel.math.expansions import any_bits, compiled, differing, special_floats

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "i1": np.bool_}


def values(kind):
    rng, dtype = np.random.default_rng(13), DTYPES[kind]
    if kind == "i1":
        return np.array([True, False])
    if kind[0] == "i":
        return np.concatenate([any_bits(rng, dtype, 5000), np.arange(-5, 5)]).astype(dtype)
    edges = [s * (2.0**e + d) for s in (1, -1) for e in (31, 32, 63) for d in (-1, -0.5, 0, 0.5, 1)]
    spread = rng.normal(0, 1, 3000) * 2.0 ** rng.uniform(0, 70, 3000)
    parts = [any_bits(rng, dtype, 2000), spread, edges, special_floats(dtype)]
    return np.concatenate([np.asarray(part, dtype) for part in parts])


@pytest.mark.parametrize(("source", "to"), list(itertools.product(DTYPES, DTYPES)))
def test_casts_have_the_bits_of_numpy(source, to):
    def expand(k, x):
        return cast(k, x, to)

    x = values(source)
    with np.errstate(all="ignore"):
        expected = x.astype(DTYPES[to])
    assert differing(compiled(expand, (source,), to)(x), expected, x) == []


def test_a_large_whole_number_becomes_a_float32_by_one_rounding():
    def expand(k, x):
        return cast(k, x, "f32")

    # Rounded to float64 first, the lowest bit would be lost and the tie would go the other way.
    x = np.array([2**60 + 2**36 + 1, 2**60 + 2**36, -(2**60) - 2**36 - 1])
    assert compiled(expand, ("i64",), "f32")(x).astype(int).tolist() == [
        2**60 + 2**37,
        2**60,
        -(2**60) - 2**37,
    ]
