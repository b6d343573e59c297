"""Oracle: NumPy, bit for bit."""

import numpy as np
import pytest

from runmat_jit.kernel.math import rounding
from tests.kernel.math.expansions import FLOATS, any_bits, compiled, differing, special_floats


def values(dtype):
    halves = np.arange(-40, 40) / 4
    x = [special_floats(dtype), any_bits(np.random.default_rng(14), dtype, 5000), halves]
    return np.concatenate([part.astype(dtype) for part in x])


@pytest.mark.parametrize("name", ["rint", "floor", "ceil", "trunc"])
@pytest.mark.parametrize("kind", FLOATS)
def test_rounding_has_the_bits_of_numpy(kind, name):
    x = values(FLOATS[kind])
    got = compiled(getattr(rounding, name), (kind,))(x)
    assert differing(got, getattr(np, name)(x), x) == []


@pytest.mark.parametrize("name", ["rint", "floor", "ceil", "trunc"])
def test_whole_numbers_are_whole(name):
    x = np.array([-3, 0, 2**62 + 1])
    assert differing(compiled(getattr(rounding, name), ("i64",))(x), x) == []


def test_clamp_passes_nan():
    def expand(k, x):
        return rounding.clamp(k, x, 2.0)

    x = np.array([-np.inf, -3, -2, -0.0, 1, 3, np.inf, np.nan])
    assert differing(compiled(expand, ("f64",))(x), np.clip(x, -2, 2)) == []
