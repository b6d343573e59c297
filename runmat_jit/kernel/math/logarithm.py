"""Logarithms: -inf at 0, NaN below."""

from __future__ import annotations

import math
from collections.abc import Callable

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import (
    LN2,
    LOG2_E,
    LOG10_2,
    LOG10_E,
    LOG_F32,
    LOG_F64,
)
from runmat_jit.kernel.math.formats import (
    bits_of,
    float_of,
    format_of,
    is_positive_normal,
    not_,
)
from runmat_jit.kernel.math.logarithm_parts import (
    normalized_subnormal,
    significand_and_exponent,
)
from runmat_jit.kernel.math.polynomial import horner

OfParts = Callable[[Builder, Value, Value], Value]
"""The logarithm of ``m 2**e``, given m and e."""

# Below, the square of the argument is less than a quarter of its last place.
_TINY = {"f32": 2.0**-25, "f64": 2.0**-54}

# From this power of two on, 1 is lost in a sum.
_LARGE_EXPONENT = 100


def log(k: Builder, x: Value) -> Value:
    """Natural logarithm."""
    return _logarithm(k, x, "log", _log_of_parts)


def log2(k: Builder, x: Value) -> Value:
    """Logarithm to base 2: exact for powers of two."""
    return _logarithm(k, x, "log2", _log2_of_parts)


def log10(k: Builder, x: Value) -> Value:
    """Logarithm to base 10: exact for powers of ten."""
    return _logarithm(k, x, "log10", _log10_of_parts)


def log1p(k: Builder, x: Value) -> Value:
    """``log(1 + x)``, as ``e log(2) + log(1 + f)`` with ``f = 2**-e x + (2**-e - 1)``.

    The exponent e is that of the rounded sum, but f is rounded once.
    """
    tiny = k.prim("abs", x) < _TINY[x.type]
    counted = k.select(tiny, 0.0, x)  # else the square is subnormal
    bits = bits_of(k, counted + 1.0)
    m, e = significand_and_exponent(k, bits)
    shrink = float_of(k, bits_of(k, m) - bits + bits_of(k, k.const(1.0, x.type)))
    result = _log_of_fraction(k, k.fma(counted, shrink, shrink - 1.0), e)
    form = format_of(x)
    rare = not_(k, k.prim("ult", bits - 1, (form.bias + _LARGE_EXPONENT) << form.fraction))
    with k.if_any(rare, [result]) as unusual:
        pole_or_nan = k.select(k.eq(x, -1.0), k.const(-math.inf, x.type), math.nan)
        limit = k.select(k.eq(x, math.inf), x, pole_or_nan)
        large = (x > 0.0) & (x < math.inf)
        unusual.yield_(k.select(large, _log_of_parts(k, m, e), limit))
    return k.select(tiny, x, unusual.out[0])


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
    return e + _scaled_log(k, m - 1.0, LOG2_E[m.type], None)


def _log10_of_parts(k: Builder, m: Value, e: Value) -> Value:
    high, low = LOG10_2[m.type]
    return k.fma(e, high, _scaled_log(k, m - 1.0, LOG10_E[m.type], e * low))


def _scaled_log(k: Builder, f: Value, scale: tuple[float, ...], low: Value | None) -> Value:
    """``log(1 + f)`` times a constant of two parts, plus ``low`` if that is given.

    ``f`` times the constant is rounded last, so that the product costs no digits.
    """
    high, rest = scale
    correction = f * rest if low is None else k.fma(f, rest, low)
    return k.fma(f, high, k.fma(_log_less_fraction(k, f), high, correction))


def _log_less_fraction(k: Builder, f: Value) -> Value:
    """``log(1 + f) - f``."""
    if f.type == "f32":
        return (f * f) * k.fma(horner(k, f, LOG_F32["f32"]), f, -0.5)
    s, half, series = _series(k, f)
    return k.fma(s, series, -half)


def _log_of_parts(k: Builder, m: Value, e: Value) -> Value:
    """``log(m) + e log(2)``."""
    return _log_of_fraction(k, m - 1.0, e)


def _log_of_fraction(k: Builder, f: Value, e: Value) -> Value:
    """``log(1 + f) + e log(2)``."""
    return (_log_f32 if f.type == "f32" else _log_f64)(k, f, e)


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
    s, half, series = _series(k, f)
    return k.fma(e, high, f - (half - k.fma(s, series, e * low)))


def _series(k: Builder, f: Value) -> tuple[Value, Value, Value]:
    """``(s, f**2 / 2, f**2 / 2 + z P(z))``."""
    s, half = f / (f + 2.0), f * f * 0.5
    z = s * s
    return s, half, k.fma(z, horner(k, z, LOG_F64["f64"]), half)
