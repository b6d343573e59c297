"""Powers of floats and of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import for_adapters
from runmat_jit.kernel.math.coefficients import EXP2
from runmat_jit.kernel.math.double_word import Pair, two_product
from runmat_jit.kernel.math.formats import (
    bits_of,
    is_positive_normal,
    not_,
    sign_bit,
    xor_sign,
)
from runmat_jit.kernel.math.logarithm_parts import (
    log2_pair,
    scaled_to_normal,
    significand_and_exponent,
)
from runmat_jit.kernel.math.polynomial import horner
from runmat_jit.kernel.math.rounding import clamp

# Exponents of two beyond which results are 0 or infinite.
_LIMIT = {"f32": 160.0, "f64": 1100.0}


def power(k: Builder, x: Value, y: Value) -> Value:
    """``x**y`` of floats with every special value of C's ``pow`` (as NumPy's ``power``)."""
    return _guarded(k, x, y, is_positive_normal(k, bits_of(k, x)), x)


def power_constant(k: Builder, x: Value, y: float) -> Value:
    """``x**y`` for an exponent known now; small whole ones and 1/2 need no logarithm.

    At most 2 ULP for those (2, 1, 0, -1 and 1/2 are correctly rounded). Zero is no rare base here:
    what was clamped from below is often zero.
    """
    if y == 0.0:
        return k.const(1.0, x.type)
    if y in _DIRECT:
        return _DIRECT[y](k, x)
    exponent = k.const(y, x.type)
    if not math.isfinite(y):
        return power(k, x, exponent)
    is_zero = k.eq(x, 0.0)
    usual = is_positive_normal(k, bits_of(k, x)) | is_zero
    result = _guarded(k, x, exponent, usual, k.select(is_zero, 1.0, x))
    return k.select(is_zero, _power_of_zero(k, x, y), result)


def _guarded(k: Builder, x: Value, y: Value, usual: Value, base: Value) -> Value:
    """``x**y`` by ``base``, which is positive and normal, where ``usual``; else the rare way."""
    log2 = log2_pair(k, *significand_and_exponent(k, bits_of(k, base)))
    high, low = _times(k, log2, y)
    result = _exp2(k, high, low)
    if for_adapters.is_short(k, x) and y.literal is not None:
        rare = not_(k, usual) | k.beyond(high, _LIMIT["f32"])  # NaN is not usual
    else:
        rare = not_(k, usual & (k.prim("abs", high) < _LIMIT[x.type]))  # NaN: not bounded
    with k.if_any(rare, [result]) as unusual:
        (special,) = k.call(f"power_rare_{x.type}", (x, y), (x.type,), _rare)
        unusual.yield_(k.select(rare, special, unusual.carry[0]))
    return unusual.out[0]


def _power_of_zero(k: Builder, x: Value, y: float) -> Value:
    """``0**y``: 0 or infinity, with the sign of the zero for odd whole exponents."""
    zero_or_infinity = k.const(0.0 if y > 0 else math.inf, x.type)
    return k.prim("copysign", zero_or_infinity, x) if y % 2.0 == 1.0 else zero_or_infinity


def _square_of_reciprocal(_: Builder, x: Value) -> Value:
    reciprocal = 1.0 / x  # squared last: x * x would overflow where the result does not vanish
    return reciprocal * reciprocal


def _fourth(_: Builder, x: Value) -> Value:
    square = x * x
    return square * square


_DIRECT: dict[float, Callable[[Builder, Value], Value]] = {
    1.0: lambda _, x: x,
    2.0: lambda _, x: x * x,
    3.0: lambda _, x: x * x * x,
    4.0: _fourth,
    0.5: lambda k, x: k.prim("sqrt", x),  # NaN at -inf, unlike pow, but like NumPy
    -1.0: lambda _, x: 1.0 / x,
    -2.0: _square_of_reciprocal,
}


def _times(k: Builder, pair: Pair, y: Value) -> Pair:
    high, error = two_product(k, pair[0], y)
    return high, k.fma(pair[1], y, error)


def _exp2(k: Builder, high: Value, low: Value) -> Value:
    """``2**(high + low)`` for a small low part."""
    if for_adapters.has_exp2(k, high):
        return for_adapters.exp2_of_sum(k, high, low)
    n = k.prim("nearest", high)
    r = (high - n) + low
    return k.prim("scale2", k.fma(r, horner(k, r, EXP2[high.type]), 1.0), n)


def _rare(k: Builder, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    """All of ``pow``: any base, any exponent."""
    x, y = arguments
    base = k.prim("abs", x)
    result = _magnitude(k, base, y)
    whole = k.eq(k.prim("rint", y), y)
    half = y * 0.5
    odd = whole & k.ne(k.prim("rint", half), half)
    result = xor_sign(k, result, k.select(odd, sign_bit(k, x), 0))
    undefined = (x < 0.0) & (base < math.inf) & not_(k, whole)
    unknown = k.prim("isnan", x) | k.prim("isnan", y) | undefined
    result = k.select(unknown, math.nan, result)
    return (k.select(k.eq(x, 1.0) | k.eq(y, 0.0), 1.0, result),)


def _magnitude(k: Builder, base: Value, y: Value) -> Value:
    """``base**y`` for a base that is not negative and not NaN."""
    limit = {"f32": 2.0**100, "f64": 2.0**1000}[base.type]  # as good as infinite, and even
    bounded = clamp(k, y, limit)
    scaled, shift = scaled_to_normal(k, base)
    m, e = significand_and_exponent(k, bits_of(k, scaled))
    high, low = _times(k, log2_pair(k, m, e - shift), bounded)
    inside = k.prim("abs", high) < _LIMIT[base.type]
    result = _exp2(k, clamp(k, high, _LIMIT[base.type]), k.select(inside, low, 0.0))
    at_infinity = k.eq(base, math.inf)
    extreme = at_infinity | k.eq(base, 0.0)
    grows = k.prim("xor", at_infinity, y < 0.0)
    return k.select(extreme, k.select(grows, k.const(math.inf, base.type), 0.0), result)


def integer_power(k: Builder, x: Value, y: Value) -> Value:
    """``x**y`` of whole numbers, wrapping, for exponents of at least 0, by squaring."""
    width = {"i32": 32, "i64": 64}[x.type]
    if y.literal is not None:
        return _integer_power_constant(k, x, int(y.literal))
    first = k.select(k.eq(y & 1, 1), x, 1)
    with k.loop(1, width, (first, x * x, k.prim("lshr", y, 1))) as squaring:
        result, base, rest = squaring.carry
        factor = k.select(k.eq(rest & 1, 1), base, 1)
        squaring.yield_(result * factor, base * base, k.prim("lshr", rest, 1))
    return squaring.out[0]


def _integer_power_constant(k: Builder, x: Value, y: int) -> Value:
    assert y >= 0, "a whole power has an exponent of at least 0"
    result = None
    base = x
    while y:
        if y & 1:
            result = base if result is None else result * base
        y >>= 1
        if y:
            base = base * base
    return k.const(1, x.type) if result is None else result
