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
    format_of,
    is_positive_normal,
    not_,
    sign_bit,
    xor_sign,
)
from runmat_jit.kernel.math.logarithm_parts import (
    log2_pair,
    normalized_subnormal,
    significand_and_exponent,
)
from runmat_jit.kernel.math.polynomial import horner
from runmat_jit.kernel.math.scaling import times_power_of_two

# Exponents of two beyond which results are 0 or infinite.
_LIMIT = {"f32": 160.0, "f64": 1100.0}

# Lost in the sum with any exponent that counts. Products with subnormals are slow on many machines.
_NEAR_ZERO = {"f32": 2.0**-62, "f64": 2.0**-140}


def power(k: Builder, x: Value, y: Value) -> Value:
    """``x**y`` of floats with every special value of C's ``pow`` (as NumPy's ``power``)."""
    return _guarded(k, x, y, is_positive_normal(k, bits_of(k, x)), k.prim("abs", x))


def power_constant(k: Builder, x: Value, y: float) -> Value:
    """``x**y`` for an exponent known now; small whole ones and 1/2 need no logarithm.

    At most 2 ULP for those (2, 1, 0, -1 and 1/2 are correctly rounded). No zero is a rare base, nor
    is a negative number where the exponent is whole.
    """
    if y == 0.0:
        return k.const(1.0, x.type)
    if y in _DIRECT:
        return _DIRECT[y](k, x)
    exponent = k.const(y, x.type)
    if not math.isfinite(y):
        return power(k, x, exponent)
    base = k.prim("abs", x) if y % 1.0 == 0.0 else x
    is_zero = k.eq(x, 0.0)
    usual = is_positive_normal(k, bits_of(k, base)) | is_zero
    result = _guarded(k, x, exponent, usual, k.select(is_zero, 1.0, base))
    result = k.select(is_zero, k.const(0.0 if y > 0 else math.inf, x.type), result)
    return k.prim("copysign", result, x) if y % 2.0 == 1.0 else result


def _guarded(k: Builder, x: Value, y: Value, usual: Value, base: Value) -> Value:
    """``x**y`` by ``base``, which is ``|x|``, positive and normal, where ``usual``; else rarer."""
    counted = y if y.literal is not None else y + _NEAR_ZERO[x.type]
    high, low = _times(k, log2_pair(k, *significand_and_exponent(k, bits_of(k, base))), counted)
    if for_adapters.is_short(k, x) and y.literal is not None:
        rare = not_(k, usual) | k.beyond(high, _LIMIT["f32"])  # NaN is not usual
        result = _exp2(k, high, low)
    else:
        bounded = k.prim("abs", high) < _LIMIT[x.type]  # false for NaN
        rare = not_(k, usual & bounded)
        result = _exp2(k, k.select(bounded, high, 0.0), low)
    with k.if_any(rare, [result]) as unusual:
        unusual.yield_(_unusual(k, x, y, high, unusual.carry[0]))
    return unusual.out[0]


def _unusual(k: Builder, x: Value, y: Value, log2: Value, result: Value) -> Value:
    """All of ``pow``: any base, any exponent.

    ``result``, and its ``log2``, are right but for a sign where the base's magnitude is normal, and
    ``log2`` is small.
    """
    base = k.prim("abs", x)
    extreme = k.eq(base, 0.0) | k.eq(base, math.inf)
    far = extreme | not_(k, k.prim("abs", log2) < _LIMIT[x.type])
    grows = k.prim("xor", base > 1.0, y < 0.0)
    result = k.select(far, k.select(grows, k.const(math.inf, x.type), 0.0), result)
    subnormal = (base < format_of(x).smallest_normal) & (base > 0.0)
    with k.if_any(subnormal, [result]) as tiny:
        tiny.yield_(*k.call(f"power_subnormal_{x.type}", (base, y), (x.type,), _of_subnormal))
    whole = k.eq(k.prim("rint", y), y)
    half = y * 0.5
    odd = whole & k.ne(k.prim("rint", half), half)
    # The base 1 counts as such for infinite exponents alone: the logarithm's product is NaN there.
    result = k.select(k.eq(base, 1.0), 1.0, tiny.out[0])
    result = xor_sign(k, result, k.select(odd, sign_bit(k, x), 0))
    undefined = (x < 0.0) & (base < math.inf) & not_(k, whole)
    result = k.select(k.prim("isnan", y) | undefined, math.nan, result)
    result = k.select(k.prim("isnan", x), x + y, result)
    return k.select(k.eq(x, 1.0) | k.eq(y, 0.0), 1.0, result)


def _of_subnormal(k: Builder, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    """``base**y`` of a positive subnormal base; NaN for NaN."""
    base, y = arguments
    # Whole numbers of the smallest one: bits to compute with, where subnormals are slow.
    scaled, shift = normalized_subnormal(k, base)
    m, e = significand_and_exponent(k, bits_of(k, scaled))
    high, low = _times(k, log2_pair(k, m, e - shift), y)
    inside = k.prim("abs", high) < _LIMIT[base.type]
    far_result = k.select(high > 0.0, k.const(math.inf, base.type), 0.0)
    high, low = k.select(inside, high, 0.0), k.select(inside, low, 0.0)
    result = k.prim("scale2", *_exp2_parts(k, high, low))
    return (k.select(inside, result, far_result),)


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
    return times_power_of_two(k, *_exp2_parts(k, high, low))


def _exp2_parts(k: Builder, high: Value, low: Value) -> tuple[Value, Value]:
    """``(m, n)`` with ``2**(high + low) = m 2**n``."""
    n = k.prim("nearest", high)
    r = (high - n) + low
    return k.fma(r, horner(k, r, EXP2[high.type]), 1.0), n


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
