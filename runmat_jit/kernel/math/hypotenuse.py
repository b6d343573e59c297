"""The length of a vector of two components."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import bits_of, float_of, format_of


def hypot(k: Builder, x: Value, y: Value) -> Value:
    """``sqrt(x**2 + y**2)`` without overflow; infinite where either operand is, NaN or not.

    The squares are those of the operands times a power of two that brings the longer one to
    between 2 and 4.
    """
    form = format_of(x)
    a, b = k.prim("abs", x), k.prim("abs", y)
    longer, shorter = k.select(a > b, a, b), k.select(a > b, b, a)
    exponent = bits_of(k, longer) & form.infinity
    subnormal = exponent < form.smallest_normal_bits
    exponent = k.select(subnormal, k.const(form.smallest_normal_bits, form.integer), exponent)
    scale = float_of(k, form.infinity - exponent)
    long, short = longer * scale, shorter * scale
    root = k.prim("sqrt", k.fma(long, long, short * short))
    infinite = k.eq(a, math.inf) | k.eq(b, math.inf)
    return k.select(infinite, math.inf, root * 0.5 * float_of(k, exponent))
