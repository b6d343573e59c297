"""Logarithms: -inf at 0, NaN below."""

from __future__ import annotations

import math
from collections.abc import Callable

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import LN2, LOG10_2, LOG_F32, LOG_F64
from runmat_jit.kernel.math.double_word import multiply, two_sum
from runmat_jit.kernel.math.formats import bits_of, format_of, is_positive_normal, not_
from runmat_jit.kernel.math.logarithm_parts import (
    log2_pair,
    normalized_subnormal,
    significand_and_exponent,
)
from runmat_jit.kernel.math.polynomial import horner

OfParts = Callable[[Builder, Value, Value], Value]
"""The logarithm of ``m 2**e``, given m and e."""


def log(k: Builder, x: Value) -> Value:
    """Natural logarithm."""
    return _logarithm(k, x, "log", _log_of_parts)


def log2(k: Builder, x: Value) -> Value:
    """Logarithm to base 2, rounded once from twice the digits: exact for powers of two."""
    return _logarithm(k, x, "log2", _log2_of_parts)


def log10(k: Builder, x: Value) -> Value:
    """Logarithm to base 10, rounded once from twice the digits: exact for powers of ten."""
    return _logarithm(k, x, "log10", _log10_of_parts)


def log1p(k: Builder, x: Value) -> Value:
    """``log(1 + x)``, with what the sum lost as a correction."""
    total, lost = two_sum(k.const(1.0, x.type), x)
    ordinary = (total > 0.0) & (total < math.inf)
    correction = k.select(ordinary, lost / total, 0.0)
    return k.select(k.eq(total, 1.0), x, log(k, total) + correction)


def _logarithm(k: Builder, x: Value, name: str, of_parts: OfParts) -> Value:
    def of_subnormal(k: Builder, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
        scaled, shift = normalized_subnormal(k, arguments[0])
        m, e = significand_and_exponent(k, bits_of(k, scaled))
        return (of_parts(k, m, e - shift),)

    bits = bits_of(k, x)
    result = of_parts(k, *significand_and_exponent(k, bits))
    rare = not_(k, is_positive_normal(k, bits))
    with k.if_any(rare, [result]) as unusual:
        zero_or_nan = k.select(k.eq(x, 0.0), k.const(-math.inf, x.type), math.nan)
        limit = k.select(k.eq(x, math.inf), x, zero_or_nan)
        subnormal = (bits > 0) & (bits < format_of(x).smallest_normal_bits)
        with k.if_any(subnormal, [limit]) as tiny:
            tiny.yield_(*k.call(f"{name}_subnormal_{x.type}", (x,), (x.type,), of_subnormal))
        unusual.yield_(*tiny.out)
    return unusual.out[0]


def _log2_of_parts(k: Builder, m: Value, e: Value) -> Value:
    high, low = log2_pair(k, m, e)
    return high + low


def _log10_of_parts(k: Builder, m: Value, e: Value) -> Value:
    ratio, ratio_low = (k.const(part, m.type) for part in LOG10_2[m.type])
    high, low = multiply(k, log2_pair(k, m, e), (ratio, ratio_low))
    return high + low


def _log_of_parts(k: Builder, m: Value, e: Value) -> Value:
    """``log(m) + e log(2)``."""
    f = m - 1.0
    return (_log_f32 if m.type == "f32" else _log_f64)(k, f, e)


def _log_f32(k: Builder, f: Value, e: Value) -> Value:
    """``log(1 + f) = f - f**2 / 2 + f**3 P(f)``."""
    high, low = LN2["f32"]
    square = f * f
    tail = k.fma(horner(k, f, LOG_F32["f32"]), f * square, e * low)
    return k.fma(e, high, k.fma(square, -0.5, tail) + f)


def _log_f64(k: Builder, f: Value, e: Value) -> Value:
    """``log(1 + f) = 2 atanh(s) = f - (f**2 / 2 - s (f**2 / 2 + z P(z)))``.

    ``s = f / (f + 2)``, ``z = s**2``: one division for a polynomial of a third of the terms.
    """
    high, low = LN2["f64"]
    s, half = f / (f + 2.0), f * f * 0.5
    z = s * s
    series = k.fma(z, horner(k, z, LOG_F64["f64"]), half)
    return k.fma(e, high, f - (half - k.fma(s, series, e * low)))
