"""The length of a vector of two components."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value


def hypot(k: Builder, x: Value, y: Value) -> Value:
    """``sqrt(x**2 + y**2)`` without overflow; infinite where either operand is, NaN or not."""
    a, b = k.prim("abs", x), k.prim("abs", y)
    longer, shorter = k.select(a > b, a, b), k.select(a > b, b, a)
    ratio = shorter / longer
    length = longer * k.prim("sqrt", k.fma(ratio, ratio, 1.0))
    length = k.select(k.eq(longer, 0.0), shorter, length)  # which is 0, or NaN
    infinite = k.eq(a, math.inf) | k.eq(b, math.inf)
    return k.select(infinite, math.inf, length)
