"""Errors of a float32 function over its whole domain, against NumPy in float64."""

import numpy as np

STRIDE = 17  # odd: all exponents and all last bits are visited
CHUNK = 1 << 20
LARGEST = np.finfo(np.float32).max


def worst_of_sweep(function, exact):
    """The largest error in units in the last place over every 17th float32."""
    worst = 0.0
    for start in range(0, 2**32, CHUNK * STRIDE):
        bits = np.arange(start, min(start + CHUNK * STRIDE, 2**32), STRIDE, np.uint64)
        x = bits.astype(np.uint32).view(np.float32)
        worst = max(worst, _worst(function(x), x, exact))
    return worst


def _worst(got, x, exact):
    with np.errstate(all="ignore"):
        expected = exact(x.astype(np.float64))
        rounded = expected.astype(np.float32)
    assert np.array_equal(np.isnan(got), np.isnan(rounded))
    overflow = np.isinf(got) | np.isinf(rounded)
    assert np.all(np.abs(np.nan_to_num(got[overflow])) >= LARGEST)
    assert np.all(np.abs(np.nan_to_num(rounded[overflow])) >= LARGEST)
    kept = ~(overflow | np.isnan(got))
    unit = np.spacing(np.abs(expected[kept]).astype(np.float32)).astype(np.float64)
    return float(np.max(np.abs(got[kept] - expected[kept]) / unit, initial=0))
