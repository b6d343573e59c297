"""Logarithms."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import LN2, LOG_F32, LOG_F64
from runmat_jit.kernel.math.formats import (
    bits_of,
    float_of,
    format_of,
    is_positive_normal,
    not_,
)
from runmat_jit.kernel.math.polynomial import horner

_SQRT_HALF_BITS = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}


def log(k: Builder, x: Value) -> Value:
    """Natural logarithm: -inf at 0, NaN below."""
    bits = bits_of(k, x)
    result = _log_of_parts(k, *significand_and_exponent(k, bits))
    rare = not_(k, is_positive_normal(k, bits))
    with k.if_any(rare, [result]) as unusual:
        (special,) = k.call(f"log_rare_{x.type}", (x,), (x.type,), _rare)
        unusual.yield_(k.select(rare, special, unusual.carry[0]))
    return unusual.out[0]


def significand_and_exponent(k: Builder, bits: Value) -> tuple[Value, Value]:
    """A positive normal float as ``m 2**e``, ``sqrt(1/2) <= m < sqrt(2)``, with a float e."""
    kind = {"i32": "f32", "i64": "f64"}[bits.type]
    fraction = {"i32": 23, "i64": 52}[bits.type]
    e = (bits - _SQRT_HALF_BITS[kind]) >> fraction
    return float_of(k, bits - (e << fraction)), k.convert("sitofp", e, kind)


def scaled_to_normal(k: Builder, x: Value) -> tuple[Value, Value]:
    """A non-negative float times a power of two that makes subnormals normal, and its exponent."""
    format_ = format_of(x)
    shift = format_.fraction + 1
    tiny = x < format_.smallest_normal
    scaled = k.select(tiny, x * 2.0**shift, x)
    return scaled, k.select(tiny, k.const(float(shift), x.type), 0.0)


def _rare(k: Builder, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    (x,) = arguments
    scaled, shift = scaled_to_normal(k, x)
    m, e = significand_and_exponent(k, bits_of(k, scaled))
    result = _log_of_parts(k, m, e - shift)
    zero_or_nan = k.select(k.eq(x, 0.0), k.const(-math.inf, x.type), math.nan)
    result = k.select(x > 0.0, result, zero_or_nan)
    return (k.select(k.eq(x, math.inf), x, result),)


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
