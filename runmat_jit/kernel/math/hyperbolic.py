"""Hyperbolic functions."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import for_adapters
from runmat_jit.kernel.math.coefficients import COSH, LN2, SINH, TANH
from runmat_jit.kernel.math.polynomial import horner

# Arguments from which on the tangent rounds to 1, and the others overflow.
_ONE_FROM = {"f32": 10.0, "f64": 20.0}
_INFINITE_FROM = {"f32": 100.0, "f64": 800.0}

# From here on, ``4**-n`` is lost in a sum with 1.
_LOST_FROM = {"f32": 20.0, "f64": 40.0}

# Lost in the sum with any square that counts; smaller ones are subnormal, which is slow.
_NEAR_ZERO = {"f32": 2.0**-100, "f64": 2.0**-900}

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
    """Hyperbolic sine of ``n log(2) + r``, by the addition theorem."""
    n, r, square = _parts(k, k.prim("abs", x))
    minus, plus = 0.5 - square, 0.5 + square
    sine, cosine = _series(k, r)
    scaled = minus + k.fma(plus, r, k.fma(minus, cosine, plus * sine))
    return k.prim("copysign", k.prim("scale2", scaled, n), x)


def cosh(k: Builder, x: Value) -> Value:
    """Hyperbolic cosine of ``n log(2) + r``, by the addition theorem."""
    n, r, square = _parts(k, k.prim("abs", x))
    minus, plus = 0.5 - square, 0.5 + square
    sine, cosine = _series(k, r)
    scaled = 0.5 + k.fma(minus, r, k.fma(plus, cosine, k.fma(minus, sine, square)))
    return k.prim("scale2", scaled, n)


def _parts(k: Builder, x: Value) -> tuple[Value, Value, Value]:
    """``(n, r, 4**-n / 2)`` with ``x = n log(2) + r``.

    ``sinh(n log(2))`` is ``2**n (1/2 - 4**-n / 2)``, the cosine has the sum.
    """
    limit, lost = _INFINITE_FROM[x.type], _LOST_FROM[x.type]
    x = k.select(x > limit, limit, x)
    high, low = LN2[x.type]
    n = k.prim("nearest", x * (1 / math.log(2)))
    r = k.fma(n, -low, k.fma(n, -high, x))
    # What is lost in these sums would be subnormal for large n.
    square = k.prim("scale2", k.const(0.5, x.type), k.select(n > lost, lost, n) * -2.0)
    return n, r, square


def _series(k: Builder, r: Value) -> tuple[Value, Value]:
    """``(sinh(r) - r, cosh(r) - 1)`` for ``|r| <= log(2) / 2``."""
    z = k.fma(r, r, _NEAR_ZERO[r.type])
    return horner(k, z, SINH[r.type]) * z * r, horner(k, z, COSH[r.type]) * z


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
