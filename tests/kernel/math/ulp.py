"""Errors against mpmath, in units in the last place of the exact result."""

import mpmath as mp
import numpy as np

PRECISION = 200  # bits


def largest_error(got, exact, inputs):
    """The largest error and its input. ``exact`` maps numbers of mpmath to one of mpmath.

    An infinite result counts as the first power of two that the format does not hold.
    """
    limits = np.finfo(got.dtype)
    least, digits = int(limits.minexp), int(limits.nmant)
    worst, where = -1.0, None
    with mp.workprec(PRECISION):
        overflow = mp.ldexp(1, int(limits.maxexp))
        for result, *arguments in zip(got, *inputs, strict=True):
            value = exact(*(mp.mpf(float(a)) for a in arguments))
            unit = mp.ldexp(1, max(mp.frexp(value)[1] - 1, least) - digits)
            number = mp.mpf(float(result))
            if mp.isinf(number):
                number = overflow * mp.sign(number)
                value = min(max(value, -overflow), overflow)
            error = float(abs(number - value) / unit)
            if not error <= worst:  # NaN counts
                worst, where = error, arguments
    return worst, where
