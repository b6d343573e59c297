"""The logistic function, its inverse, and products with logarithms that are 0 for a factor of 0."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.double_word import fast_two_sum
from runmat_jit.kernel.math.exponential import exp_of_difference
from runmat_jit.kernel.math.formats import format_of, not_
from runmat_jit.kernel.math.inverse_hyperbolic import half_log_ratio
from runmat_jit.kernel.math.logarithm import times_log, times_log1p

# What small probabilities are scaled by, an exponent of two.
_SHIFT = {"f32": 32, "f64": 128}


def expit(k: Builder, x: Value) -> Value:
    """``1 / (1 + e**-x)``, below 0 as ``e**x / (1 + e**x)``; one step with the remainder."""
    one = k.const(1.0, x.type)
    t, low = exp_of_difference(k, -k.prim("abs", x), one * 0.0)
    negative = x < 0.0
    numerator = k.select(negative, t, one)
    total, lost = fast_two_sum(one, t)
    quotient = numerator / total
    rest = k.fma(-quotient, total, numerator) + k.select(negative, low, 0.0)
    rest = k.fma(-quotient, lost + low, rest)
    return k.fma(rest, k.select(negative, 1.0 - quotient, quotient), quotient)


def logit(k: Builder, x: Value) -> Value:
    """``log(x / (1 - x))``; infinite at 0 and 1, NaN beyond."""
    shift = _SHIFT[x.type]
    upper = x >= 0.5
    smaller = k.select(upper, 1.0 - x, x)
    small = smaller < format_of(x).smallest_normal * 2.0**shift
    scaled = k.select(small, smaller * 2.0**shift, smaller)
    # Twice of 1 - x: as exact as x is next to 1/2, and 2 where x is small.
    zero = scaled * 0.0
    half = half_log_ratio(
        k, 2.0 - (scaled + scaled), scaled + scaled, zero, k.select(small, float(shift), zero)
    )
    result = k.select(upper, half + half, -(half + half))
    limit = k.select(k.eq(x, 0.0), k.const(-math.inf, x.type), math.nan)
    limit = k.select(k.eq(x, 1.0), math.inf, limit)
    return k.select((x > 0.0) & (x < 1.0), result, limit)


def xlogy(k: Builder, x: Value, y: Value) -> Value:
    """``x log(y)``; 0 where x is 0 and y is a number."""
    vanishes = k.eq(x, 0.0) & not_(k, k.prim("isnan", y))
    return k.select(vanishes, 0.0, times_log(k, x, y))


def xlog1py(k: Builder, x: Value, y: Value) -> Value:
    """``x log(1 + y)``; 0 where x is 0 and y is a number."""
    vanishes = k.eq(x, 0.0) & not_(k, k.prim("isnan", y))
    return k.select(vanishes, 0.0, times_log1p(k, x, y))


def entr(k: Builder, x: Value) -> Value:
    """``-x log(x)``; 0 at 0, -inf below."""
    result = times_log(k, -x, x)
    limit = k.select(k.eq(x, 0.0), k.const(0.0, x.type), -math.inf)
    return k.select(x <= 0.0, limit, result)
