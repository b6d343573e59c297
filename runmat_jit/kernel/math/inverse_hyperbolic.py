"""Inverse hyperbolic functions."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import ARCTANH, LN2
from runmat_jit.kernel.math.double_word import fast_two_sum, two_product
from runmat_jit.kernel.math.formats import bits_of, float_of, format_of
from runmat_jit.kernel.math.logarithm import log1p_of_pair
from runmat_jit.kernel.math.polynomial import horner

# Below, the cube of the argument is less than a quarter of its last place.
_TINY = {"f32": 2.0**-13, "f64": 2.0**-28}

# From here on, 1 is lost in a sum with the square; up to here the square does not overflow.
_LARGE = {"f32": 2.0**14, "f64": 2.0**30}

# Bits of 1 / x are nearly this number less those of x: to 6 %.
_RECIPROCAL = {"f32": 0x7EF4FB9D, "f64": 0x7FDE9F73AABB2400}

# Multiples of 1/256 that the difference of two logarithms to base 2 is short of a whole number by
# where the power of two becomes another one.
_SHORT_OF_WHOLE = 64


def arcsinh(k: Builder, x: Value) -> Value:
    """Inverse hyperbolic sine, as ``log1p(|x| + x**2 / (1 + sqrt(1 + x**2)))``.

    The sum's error is known; that of the second term counts for little beside the first.
    """
    magnitude = k.prim("abs", x)
    tiny, large = magnitude < _TINY[x.type], magnitude > _LARGE[x.type]
    counted = k.select(tiny | large, 1.0, magnitude)  # else squares are subnormal, or infinite
    square = counted * counted
    high, low = fast_two_sum(counted, square / (1.0 + k.prim("sqrt", square + 1.0)))
    result = log1p_of_pair(k, k.select(large, magnitude, high), low, large)
    result = k.select(tiny, magnitude, k.select(magnitude < math.inf, result, magnitude))
    return k.prim("copysign", result, x)


def arccosh(k: Builder, x: Value) -> Value:
    """Inverse hyperbolic cosine, as ``log1p(d + sqrt(d (x + 1)))`` with ``d = x - 1``.

    ``d`` is exact. Next to 1 the result is the root, which therefore has twice the digits.
    """
    large = x > _LARGE[x.type]
    counted = k.select(large, 2.0, x)
    d = counted - 1.0
    above, above_low = fast_two_sum(counted, k.const(1.0, x.type))
    product, product_low = two_product(k, d, above)
    root = k.prim("sqrt", product)
    rest = k.fma(-root, root, product) + k.fma(d, above_low, product_low)
    reciprocal = float_of(k, _RECIPROCAL[x.type] - bits_of(k, root))
    high, low = fast_two_sum(root, d)
    low = k.fma(rest * 0.5, reciprocal, low)
    result = log1p_of_pair(k, k.select(large, x, high), low, large)
    limit = k.select(x > 1.0, x, math.nan)
    return k.select((x >= 1.0) & (x < math.inf), result, limit)


def arctanh(k: Builder, x: Value) -> Value:
    """Inverse hyperbolic tangent, by :func:`half_log_ratio` of ``b = 1 - |x|`` and what it lost."""
    magnitude = k.prim("abs", x)
    tiny = magnitude < _TINY[x.type]
    a = k.select(tiny, 0.0, magnitude)
    b = 1.0 - a
    result = half_log_ratio(k, a + 1.0, b, (1.0 - b) - a, 0.0)
    limit = k.select(k.eq(magnitude, 1.0), k.const(math.inf, x.type), math.nan)
    result = k.select(tiny, magnitude, k.select(magnitude < 1.0, result, limit))
    return k.prim("copysign", result, x)


def half_log_ratio(k: Builder, above: Value, b: Value, lost: Value, shift: float | Value) -> Value:
    """``log(above / (b + lost)) / 2 + shift log(2) / 2`` where ``above`` is ``2 - b - lost``.

    As ``arctanh(s) + e log(2) / 2``: the ratio is ``2**e (1 + s) / (1 - s)``, with numerator and
    denominator of s rounded once each. Of ``b`` close to 1, s is ``1 - b - lost``, exactly.
    """
    form, one = format_of(b), k.const(1.0, b.type)
    short = _SHORT_OF_WHOLE << (form.fraction - 8)
    e = (bits_of(k, above) - bits_of(k, b) + short) >> form.fraction
    power = float_of(k, bits_of(k, one) + (e << form.fraction))
    larger = power + 1.0
    numerator = k.fma(-lost, larger, k.fma(-b, larger, 2.0))
    s = numerator / k.fma(b, power - 1.0, 2.0)
    z = s * s
    high, low = (part / 2 for part in LN2[b.type])
    turns = k.convert("sitofp", e, b.type) + shift
    tail = k.fma(horner(k, z, ARCTANH[b.type]) * z, s, turns * low)
    return k.fma(turns, high, s + tail)
