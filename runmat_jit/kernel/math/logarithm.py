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
from runmat_jit.kernel.math.double_word import two_sum
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

_MARGIN = 2.0**60
"""Multiples of the smallest normal number from which on no part of a product is subnormal."""

_SQRT2_LESS_ONE = 0.41421354
"""The larger one of the ends between which a fraction lies, and a number of both formats."""

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


def times_log(k: Builder, factor: Value, x: Value) -> Value:
    """``factor log(x)``, the logarithm as a sum of two."""

    def of_subnormal(k: Builder, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
        scaled, shift = normalized_subnormal(k, arguments[0])
        m, e = significand_and_exponent(k, bits_of(k, scaled))
        return _log_pair(k, m - 1.0, e - shift)

    bits = bits_of(k, x)
    m, e = significand_and_exponent(k, bits)
    high, low = _log_pair(k, m - 1.0, e)
    with k.if_any(not_(k, is_positive_normal(k, bits)), [high, low]) as unusual:
        zero_or_nan = k.select(k.eq(x, 0.0), k.const(-math.inf, x.type), math.nan)
        limit = k.select(k.eq(x, math.inf), x, zero_or_nan)
        subnormal = (bits > 0) & (bits < format_of(x).smallest_normal_bits)
        with k.if_any(subnormal, [limit, k.const(0.0, x.type)]) as tiny:
            tiny.yield_(*k.call(f"log_pair_{x.type}", (x,), (x.type,) * 2, of_subnormal))
        unusual.yield_(*tiny.out)
    return _product(k, factor, *unusual.out)


def times_log1p(k: Builder, factor: Value, x: Value) -> Value:
    """``factor log(1 + x)``, the logarithm as a sum of two."""
    tiny = k.prim("abs", x) < _TINY[x.type]
    counted = k.select(tiny, 0.0, x)
    form, one = format_of(x), k.const(1.0, x.type)
    bits = bits_of(k, counted + 1.0)
    m, e = significand_and_exponent(k, bits)
    large = bits >= (form.bias + _LARGE_EXPONENT) << form.fraction
    shrink = float_of(k, bits_of(k, m) - bits + bits_of(k, one))
    f = k.select(large, m - 1.0, k.fma(counted, shrink, shrink - 1.0))
    f_low = k.select(large, 0.0, k.fma(counted, shrink, (shrink - 1.0) - f))
    high, low = _log_pair(k, f, e, f_low)
    pole_or_nan = k.select(k.eq(x, -1.0), k.const(-math.inf, x.type), math.nan)
    limit = k.select(k.eq(x, math.inf), x, pole_or_nan)
    usual = (x > -1.0) & (x < math.inf)
    high = k.select(tiny, x, k.select(usual, high, limit))
    return _product(k, factor, high, k.select(usual & not_(k, tiny), low, 0.0))


def _product(k: Builder, factor: Value, high: Value, low: Value) -> Value:
    """``factor (high + low)``, rounded nearly once where it is not subnormal."""
    product = factor * high
    rest = k.select(k.prim("abs", factor) < math.inf, factor * low, 0.0)
    least = format_of(factor).smallest_normal * _MARGIN  # adapters lose digits of what is smaller
    small = k.select(k.eq(rest, 0.0), product, product + rest)
    return k.select(k.prim("abs", product) > least, k.fma(factor, high, rest), small)


def _log_pair(k: Builder, f: Value, e: Value, f_low: Value | None = None) -> tuple[Value, Value]:
    """``log(1 + f + f_low) + e log(2)``: the larger part exactly, and what remains."""
    leading, low = LN2[f.type]
    high, lost = two_sum(e * leading, f)
    rest = k.fma(e, low, lost)
    if f_low is not None:
        rest = rest + k.fma(-f, f_low, f_low)
    return high, _log_less_fraction(k, f) + rest


def log1p_of_pair(k: Builder, x: Value, low: Value, large: Value) -> Value:
    """``log(1 + x + low)`` of a sum that is not negative, and ``log(2 x)`` where ``large``.

    The low part is less than a unit of ``x``. Infinity and NaN are the caller's business.
    """
    bits = bits_of(k, k.select(large, x, x + 1.0))
    m, e = significand_and_exponent(k, bits)
    shrink = float_of(k, bits_of(k, m) - bits + bits_of(k, k.const(1.0, x.type)))
    f = k.select(large, m - 1.0, k.fma(x, shrink, shrink - 1.0))
    e = k.select(large, e + 1.0, e)
    return _log_of_fraction(k, f, e, k.select(large, 0.0, low * shrink))


def log1p_of_fraction(k: Builder, t: Value, low: Value) -> Value:
    """``log(1 + t + low)`` of a sum from 0 to 1."""
    return _log_of_fraction(k, *_halved(k, t, low))


def log2_1p_of_fraction(k: Builder, t: Value, low: Value) -> Value:
    """``log2(1 + t + low)`` of a sum from 0 to 1."""
    f, e, f_low = _halved(k, t, low)
    high, rest = LOG2_E[t.type]
    correction = k.fma(k.fma(-f, f_low, f_low), high, f * rest)
    return e + k.fma(f, high, k.fma(_log_less_fraction(k, f), high, correction))


def _halved(k: Builder, t: Value, low: Value) -> tuple[Value, Value, Value]:
    """``(f, e, f_low)`` with ``1 + t + low = 2**e (1 + f + f_low)``, e being 0 or 1."""
    large = t > _SQRT2_LESS_ONE
    half = k.fma(t, 0.5, -0.5)
    lost = k.fma(low, 0.5, k.fma(t, 0.5, -0.5 - half))
    e = k.select(large, k.const(1.0, t.type), 0.0)
    return k.select(large, half, t), e, k.select(large, lost, low)


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


def _log_of_fraction(k: Builder, f: Value, e: Value, f_low: Value | None = None) -> Value:
    """``log(1 + f + f_low) + e log(2)`` for a low part of less than a unit of the high one."""
    high, low = LN2[f.type]
    rest = e * low
    if f_low is not None:  # over 1 + f, to a sixth
        rest = rest + k.fma(-f, f_low, f_low)
    return k.fma(e, high, (_log1p_f32 if f.type == "f32" else _log1p_f64)(k, f, rest))


def _log1p_f32(k: Builder, f: Value, rest: Value) -> Value:
    """``log(1 + f) + rest``, by ``f - f**2 / 2 + f**3 P(f)``."""
    square = f * f
    tail = k.fma(horner(k, f, LOG_F32["f32"]), f * square, rest)
    return k.fma(square, -0.5, tail) + f


def _log1p_f64(k: Builder, f: Value, rest: Value) -> Value:
    """``log(1 + f) + rest``, by ``2 atanh(s) = f - (f**2 / 2 - s (f**2 / 2 + z P(z)))``.

    ``s = f / (f + 2)``, ``z = s**2``: one division for a polynomial of a third of the terms.
    """
    s, half, series = _series(k, f)
    return f - (half - k.fma(s, series, rest))


def _series(k: Builder, f: Value) -> tuple[Value, Value, Value]:
    """``(s, f**2 / 2, f**2 / 2 + z P(z))``."""
    s, half = f / (f + 2.0), f * f * 0.5
    z = s * s
    return s, half, k.fma(z, horner(k, z, LOG_F64["f64"]), half)
