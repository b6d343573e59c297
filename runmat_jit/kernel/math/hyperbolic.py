"""Hyperbolic functions."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import LN2, TANH
from runmat_jit.kernel.math.polynomial import horner

# From here on the result is 1.
_LIMIT = {"f32": 10.0, "f64": 20.0}


def tanh(k: Builder, x: Value) -> Value:
    """Hyperbolic tangent, as ``t / (t + 1)`` with ``t = (e**(2 |x|) - 1) / 2``.

    ``|x| = n log(2) / 2 + r`` with ``r >= 0`` gives ``t = 2**n h + (2**n - 1) / 2`` with
    ``h = (e**(2r) - 1) / 2``: a sum without cancellation. Where ``n`` is 0, ``t - t tanh`` loses
    less than the quotient.
    """
    kind, magnitude = x.type, k.prim("abs", x)
    magnitude = k.select(magnitude > _LIMIT[kind], _LIMIT[kind], magnitude)
    high, low = (part / 2 for part in LN2[kind])
    n = k.prim("floor", magnitude * (2 / math.log(2)))
    r = k.fma(n, -low, k.fma(n, -high, magnitude))
    h = k.fma(r * r, horner(k, r, TANH[kind]), r)
    power = k.prim("scale2", k.const(1.0, kind), n)
    t = k.fma(power, h, k.fma(power, 0.5, -0.5))
    quotient = t / (t + 1.0)
    result = k.select(k.eq(n, 0.0), k.fma(-t, quotient, t), quotient)
    return k.prim("copysign", result, x)
