"""Reduction of large angles modulo pi with as much of 1/pi as they need (Payne and Hanek, 1983).

A table holds, for each exponent, ``2**e / pi mod 2``: what lies above does not change the angle,
what lies below the last digit kept is below the last place of any result.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Table, Value
from runmat_jit.kernel.math.coefficients import PI_PAIR
from runmat_jit.kernel.math.double_word import Pair, fast_two_sum, two_product, two_sum
from runmat_jit.kernel.math.formats import FORMATS, bits_of, float_of, whole_bits, xor_sign

_FUNCTIONS = {"sin": 1, "cos": 1, "tan": 2}
"""Functions that angles are reduced for, and how many of their multiples make pi."""


def reduce_large(k: Builder, x: Value, *, cosine: bool) -> Value:
    """``(-1)**n r`` with ``x = n pi + r`` (``(n - 1/2) pi + r`` for the cosine), ``|r| <= pi / 2``.

    Its sine is that of ``x``, or the cosine. ``x`` is at least 1; infinity and NaN give a NaN. Out
    of line: rare, and 10 times the usual work.
    """

    def parts(k: Builder, high: Value, low: Value, n: Value) -> tuple[Value, ...]:
        return (xor_sign(k, high + low, n << (FORMATS[x.type].width - 1)),)

    return _reduced(k, x, "cos" if cosine else "sin", parts, 1)[0]


def reduce_large_for_tangent(k: Builder, x: Value) -> tuple[Value, Value, Value]:
    """``(r, r_low, n)`` with ``x = n pi / 2 + r + r_low``, of n no more than the lowest bit.

    It is a float. What holds for :func:`reduce_large` holds here.
    """

    def parts(k: Builder, high: Value, low: Value, n: Value) -> tuple[Value, ...]:
        return (*fast_two_sum(high, low), k.convert("sitofp", n & 1, x.type))

    r, low, odd = _reduced(k, x, "tan", parts, 3)
    return r, low, odd


def _reduced(
    k: Builder, x: Value, function: str, parts: Callable[..., tuple[Value, ...]], count: int
) -> tuple[Value, ...]:
    kind = x.type
    table = k.table(f"one_over_pi_{kind}", {"f32": "i32", "f64": "f64"}[kind])
    reduce = _reduce_words if kind == "f32" else _reduce_doubles

    def body(k: Builder, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
        (x,) = arguments
        first, *others = parts(k, *reduce(k, x, table, function))
        return (k.select(x < math.inf, first, math.nan), *others)

    return k.call(f"reduce_{function}_{kind}", (x,), (kind,) * count, body, (table,))


def _digits(k: Builder, bits: Value, table: Table) -> list[Value]:
    """The row of the table for the exponent of a float with these bits."""
    fraction, width = {"i32": (23, 3), "i64": (52, 4)}[bits.type]
    row = k.prim("lshr", bits, fraction) * width
    return [k.gather(table, row + j) for j in range(width)]


def _reduce_doubles(k: Builder, x: Value, table: Table, function: str) -> tuple[Value, ...]:
    """By products of doubles, their errors included."""
    cosine, parts = function == "cos", float(_FUNCTIONS[function])
    bits = bits_of(k, x)
    digits = _digits(k, bits, table)
    whole = (1023 + 52) << 52
    m = float_of(k, (bits & ((1 << 52) - 1)) | whole)  # the significand, a whole number
    p0, e0 = two_product(k, m, digits[0])
    p1, e1 = two_product(k, m, digits[1])
    p2, e2 = two_product(k, m, digits[2])
    turns, rest0 = two_sum(k.fma(k.prim("rint", p0 * 0.5), -2.0, p0), e0)
    turns, rest1 = two_sum(turns, p1)
    n = k.prim("rint", turns - 0.5) if cosine else k.prim("rint", turns * parts)
    whole_part = n + 0.5 if cosine else n * (1 / parts)
    a, a_low = two_sum(rest0, rest1)
    b, b_low = two_sum(e1, p2)
    rest, rest_low = two_sum(a, b)
    fraction, lost = two_sum(turns, -whole_part)  # the half of a cosine's takes digits off
    h, low = two_sum(fraction, rest)
    low = low + (lost + (rest_low + (a_low + b_low + k.fma(m, digits[3], e2))))
    pi, pi_low = PI_PAIR["f64"]
    product, error = two_product(k, h, k.const(pi, "f64"))
    r_low = k.fma(h, pi_low, k.fma(low, pi, error))
    return product, r_low, whole_bits(k, n, offset=int(cosine))


def _reduce_words(k: Builder, x: Value, table: Table, function: str) -> tuple[Value, ...]:
    """By 32-bit words in fixed point, so that float32 needs no float64."""
    cosine, parts = function == "cos", _FUNCTIONS[function]
    bits = bits_of(k, x)
    digits = _digits(k, bits, table)
    m = (bits & 0x7FFFFF) | 0x800000
    middle = m * digits[1]
    low = middle + k.prim("mulhi", m, digits[2])
    carry = k.convert("zext", k.prim("ult", low, middle), "i32")
    high = m * digits[0] + k.prim("mulhi", m, digits[1]) + carry
    # high.low / 2**63 is x / pi mod 2; the signed fraction of it (minus 1/2), or of twice of it, is
    # r / pi, or twice that.
    half = 0 if cosine else (1 << 30) // parts
    n = k.prim("lshr", high + half if half else high, 32 - parts) + int(cosine)
    fraction = (high << parts) | k.prim("lshr", low, 32 - parts)
    if cosine:
        fraction = fraction ^ FORMATS["f32"].sign
    r, r_low = _angle(k, fraction, low << parts, 1 / parts)
    return r, r_low, n


def _angle(k: Builder, high: Value, low: Value, unit: float) -> Pair:
    """``unit pi / 2**64`` times a signed number of two words, in two parts."""
    sign = high >> 31
    high, low = high ^ sign, low ^ sign  # off by one unit of the last place: 2**-64
    a = k.convert("sitofp", k.prim("lshr", high, 8), "f32") * 2.0**-24
    b = ((high & 0xFF) << 16) | k.prim("lshr", low, 16)
    c = k.convert("sitofp", low & 0xFFFF, "f32") * 2.0**-64
    h, rest = fast_two_sum(a, k.convert("sitofp", b, "f32") * 2.0**-48)
    pi, pi_low = (part * unit for part in PI_PAIR["f32"])
    product, error = two_product(k, h, k.const(pi, "f32"))
    r_low = k.fma(h, pi_low, k.fma(rest + c, pi, error))
    return xor_sign(k, product, sign), xor_sign(k, r_low, sign)
