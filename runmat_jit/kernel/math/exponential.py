"""Exponential functions."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import EXP, LN2
from runmat_jit.kernel.math.polynomial import horner
from runmat_jit.kernel.math.rounding import clamp

# Beyond these, results are 0 or infinite; within them, every intermediate stays finite.
_LIMIT = {"f32": 128.0, "f64": 800.0}


def exp(k: Builder, x: Value) -> Value:
    """``e**x``, by ``x = n log(2) + r`` and a polynomial for ``e**r``."""
    high, low = LN2[x.type]
    x = clamp(k, x, _LIMIT[x.type])
    n = k.prim("rint", x * (1 / math.log(2)))
    r = k.fma(n, -low, k.fma(n, -high, x))
    return k.prim("scale2", k.fma(r, horner(k, r, EXP[x.type]), 1.0), n)
