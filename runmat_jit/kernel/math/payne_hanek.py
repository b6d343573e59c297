"""Reduction of large angles modulo pi with as much of 1/pi as they need (Payne and Hanek, 1983).

A table holds, for each exponent, ``2**e / pi mod 2``: what lies above does not change the angle,
what lies below the last digit kept is below the last place of any result.
"""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Table, Value
from runmat_jit.kernel.math.coefficients import PI_PAIR
from runmat_jit.kernel.math.double_word import fast_two_sum, two_product, two_sum
from runmat_jit.kernel.math.formats import FORMATS, bits_of, float_of, whole_bits, xor_sign


def reduce_large(k: Builder, x: Value, *, cosine: bool) -> Value:
    """``(-1)**n r`` with ``x = n pi + r`` (``(n - 1/2) pi + r`` for the cosine), ``|r| <= pi / 2``.

    Its sine is that of ``x``, or the cosine. ``x`` is at least 1; infinity and NaN give a NaN. Out
    of line: rare, and 10 times the usual work.
    """
    kind, function = x.type, "cos" if cosine else "sin"
    element = {"f32": "i32", "f64": "f64"}[kind]
    table = k.table(f"one_over_pi_{kind}", element)
    reduce = _reduce_words if kind == "f32" else _reduce_doubles

    def body(k: Builder, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
        (x,) = arguments
        r, n = reduce(k, x, table, cosine=cosine)
        r = xor_sign(k, r, n << (FORMATS[kind].width - 1))
        return (k.select(x < math.inf, r, math.nan),)

    return k.call(f"reduce_{function}_{kind}", (x,), (kind,), body, (table,))[0]


def _digits(k: Builder, bits: Value, table: Table) -> list[Value]:
    """The row of the table for the exponent of a float with these bits."""
    fraction, width = {"i32": (23, 3), "i64": (52, 4)}[bits.type]
    row = k.prim("lshr", bits, fraction) * width
    return [k.gather(table, row + j) for j in range(width)]


def _reduce_doubles(k: Builder, x: Value, table: Table, *, cosine: bool) -> tuple[Value, Value]:
    """By products of doubles, their errors included."""
    bits = bits_of(k, x)
    digits = _digits(k, bits, table)
    whole = (1023 + 52) << 52
    m = float_of(k, (bits & ((1 << 52) - 1)) | whole)  # the significand, a whole number
    p0, e0 = two_product(k, m, digits[0])
    p1, e1 = two_product(k, m, digits[1])
    p2, e2 = two_product(k, m, digits[2])
    turns, rest0 = two_sum(k.fma(k.prim("rint", p0 * 0.5), -2.0, p0), e0)
    turns, rest1 = two_sum(turns, p1)
    n = k.prim("rint", turns - 0.5) if cosine else k.prim("rint", turns)
    whole_part = n + 0.5 if cosine else n
    a, a_low = two_sum(rest0, rest1)
    b, b_low = two_sum(e1, p2)
    rest, rest_low = two_sum(a, b)
    fraction, lost = two_sum(turns, -whole_part)  # the half of a cosine's takes digits off
    h, low = two_sum(fraction, rest)
    low = low + (lost + (rest_low + (a_low + b_low + k.fma(m, digits[3], e2))))
    pi, pi_low = PI_PAIR["f64"]
    product, error = two_product(k, h, k.const(pi, "f64"))
    r = product + k.fma(h, pi_low, k.fma(low, pi, error))
    return r, whole_bits(k, n, offset=int(cosine))


def _reduce_words(k: Builder, x: Value, table: Table, *, cosine: bool) -> tuple[Value, Value]:
    """By 32-bit words in fixed point, so that float32 needs no float64."""
    bits = bits_of(k, x)
    digits = _digits(k, bits, table)
    m = (bits & 0x7FFFFF) | 0x800000
    middle = m * digits[1]
    low = middle + k.prim("mulhi", m, digits[2])
    carry = k.convert("zext", k.prim("ult", low, middle), "i32")
    high = m * digits[0] + k.prim("mulhi", m, digits[1]) + carry
    # high.low / 2**63 is x / pi mod 2; the signed fraction of it (minus 1/2) is r / pi.
    n = k.prim("lshr", high if cosine else high + (1 << 30), 31) + int(cosine)
    fraction = (high << 1) | k.prim("lshr", low, 31)
    if cosine:
        fraction = fraction ^ FORMATS["f32"].sign
    return _angle(k, fraction, low << 1), n


def _angle(k: Builder, high: Value, low: Value) -> Value:
    """``pi / 2**64`` times a signed number of two words."""
    sign = high >> 31
    high, low = high ^ sign, low ^ sign  # off by one unit of the last place: 2**-64
    a = k.convert("sitofp", k.prim("lshr", high, 8), "f32") * 2.0**-24
    b = ((high & 0xFF) << 16) | k.prim("lshr", low, 16)
    c = k.convert("sitofp", low & 0xFFFF, "f32") * 2.0**-64
    h, rest = fast_two_sum(a, k.convert("sitofp", b, "f32") * 2.0**-48)
    pi, pi_low = PI_PAIR["f32"]
    product, error = two_product(k, h, k.const(pi, "f32"))
    r = product + k.fma(h, pi_low, k.fma(rest + c, pi, error))
    return float_of(k, bits_of(k, r) ^ (sign & FORMATS["f32"].sign))
