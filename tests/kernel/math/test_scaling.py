"""Oracle: the product in the next wider format, which is exact, rounded once."""

import numpy as np
import pytest

from runmat_jit.kernel.math.scaling import times_power_of_two
from tests.accuracy.functions import EXTENDED
from tests.kernel.math.expansions import FLOATS, compiled, differing


def significands(dtype, size):
    """Numbers from 1/2 to 2: any digits, few digits (whose products are ties), and the ends."""
    rng = np.random.default_rng(21)
    x = rng.uniform(0.5, 2, size)
    few = rng.integers(128, 512, size) / 256
    ends = np.nextafter(np.array([0.5, 1, 1, 2]), [1, 0, 2, 0], dtype=dtype)
    x[::3] = few[::3]
    x[1::7] = ends[rng.integers(0, 4, x[1::7].size)]
    return x.astype(dtype)


@pytest.mark.parametrize("kind", FLOATS)
def test_products_are_rounded_once(kind):
    dtype = FLOATS[kind]
    if dtype == np.float64 and not EXTENDED:
        pytest.skip("no wider format to judge by")
    limits = np.finfo(dtype)
    least = limits.minexp - limits.nmant
    n = np.repeat(np.arange(least - 20, limits.maxexp + 20), 50)
    x = significands(dtype, n.size)
    wider = {"f32": np.float64, "f64": np.longdouble}[kind]
    with np.errstate(all="ignore"):
        expected = np.ldexp(x.astype(wider), n).astype(dtype)
    got = compiled(times_power_of_two, (kind, kind), kind)(x, n)
    assert differing(got, expected, x, n) == []
    assert (np.abs(expected) < limits.tiny).sum() > 1000


@pytest.mark.parametrize("kind", FLOATS)
def test_nan_passes(kind):
    assert np.isnan(compiled(times_power_of_two, (kind, kind), kind)([np.nan], [np.nan])).all()
