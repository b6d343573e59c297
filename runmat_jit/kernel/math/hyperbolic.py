"""Hyperbolic functions."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import for_adapters
from runmat_jit.kernel.math.coefficients import LN2, TANH
from runmat_jit.kernel.math.exponential import expm1_parts
from runmat_jit.kernel.math.polynomial import horner

# Arguments from which on the tangent rounds to 1, and the others overflow.
_ONE_FROM = {"f32": 10.0, "f64": 20.0}
_INFINITE_FROM = {"f32": 128.0, "f64": 800.0}

# Below, no power of two is taken off a tangent's argument: a little less than log(2) / 2.
_SMALL = 0.34

# Below, the cube of the argument is less than a quarter of its last place.
_TINY = {"f32": 2.0**-13, "f64": 2.0**-28}


def tanh(k: Builder, x: Value) -> Value:
    """Hyperbolic tangent, as ``t / (t + 1)`` with ``t = (e**(2 |x|) - 1) / 2``.

    ``|x| = n log(2) / 2 + r`` gives ``t = 2**n h + (2**n - 1) / 2`` with ``h = (e**(2r) - 1) / 2``:
    a sum without cancellation. Small arguments have ``n = 0`` and ``h = r + r**2 + r**3 s``, and
    the quotient is ``r + r**3 (s - r s - 1) / (t + 1)``, a small correction of the argument.
    """
    if for_adapters.has_exp2(k, x):
        return for_adapters.tanh(k, x)
    magnitude = k.prim("abs", x)
    counted = k.select(magnitude < _TINY[x.type], 0.0, magnitude)  # else the cube is subnormal
    r, n = _reduced(k, counted, _ONE_FROM[x.type])
    h, series = _half_expm1(k, r)
    power = k.prim("scale2", k.const(1.0, x.type), n)
    t = k.fma(power, h, k.fma(power, 0.5, -0.5))
    small = magnitude < _SMALL
    correction = (r * r * r) * (series - k.fma(series, r, 1.0))
    quotient = k.select(small, correction, t) / (t + 1.0)
    return k.prim("copysign", k.select(small, magnitude + quotient, quotient), x)


def sinh(k: Builder, x: Value) -> Value:
    """Hyperbolic sine, as ``t + t / (2 t + 1)`` with ``t = (e**|x| - 1) / 2``.

    Where n is 0, the equal ``2 t - 2 t (t / (2 t + 1))`` loses less.
    """
    magnitude = k.prim("abs", x)
    r, n = _reduced(k, magnitude * 0.5, _INFINITE_FROM[x.type] / 2)
    h, _ = _half_expm1(k, r)
    # Scaled last: 2**n alone may overflow where the result does not.
    t = k.prim("scale2", h + (0.5 - k.prim("scale2", k.const(0.5, x.type), -n)), n)
    double = t + t
    quotient = t / (double + 1.0)
    result = k.select(k.eq(n, 0.0), k.fma(-double, quotient, double), t + quotient)
    result = k.select(k.eq(t, math.inf), t, result)
    # A subnormal t has lost its last bit; the sine is its argument long before.
    result = k.select(magnitude < _TINY[x.type], magnitude, result)
    return k.prim("copysign", result, x)


def cosh(k: Builder, x: Value) -> Value:
    """Hyperbolic cosine, as ``e + 1 / (4 e)`` with ``e = e**|x| / 2``."""
    h, n = expm1_parts(k, k.prim("abs", x))
    half = k.prim("scale2", k.fma(h, 0.5, 0.5), n)
    return half + 0.25 / half


def _reduced(k: Builder, x: Value, limit: float) -> tuple[Value, Value]:
    """``(r, n)`` with ``x = n log(2) / 2 + r``, for ``x >= 0``, ``r >= 0``.

    ``x`` counts as ``limit`` where it exceeds that.
    """
    x = k.select(x > limit, limit, x)
    high, low = (part / 2 for part in LN2[x.type])
    n = k.prim("nearest", k.fma(x, 2 / math.log(2), -0.5))
    return k.fma(n, -low, k.fma(n, -high, x)), n


def _half_expm1(k: Builder, r: Value) -> tuple[Value, Value]:
    """``(e**(2 r) - 1) / 2``, which is ``r + r**2 + r**3 s``, and ``s``."""
    series = horner(k, r, TANH[r.type])
    return k.fma(r * r, k.fma(series, r, 1.0), r), series
