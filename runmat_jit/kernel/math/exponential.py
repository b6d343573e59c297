"""Exponential functions."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import for_adapters
from runmat_jit.kernel.math.coefficients import EXP, EXP2, EXPM1, LN2
from runmat_jit.kernel.math.polynomial import horner
from runmat_jit.kernel.math.rounding import clamp
from runmat_jit.kernel.math.scaling import times_power_of_two

# Beyond these, results are 0 or infinite; within them, every intermediate stays finite.
_LIMIT = {"f32": 128.0, "f64": 800.0}
_ZERO_BELOW = {"f32": -104.0, "f64": -746.0}

# Lost in the sum with any argument that counts. Products with what it replaces are subnormal, which
# is slow on many machines.
_NEAR_ZERO = {"f32": 2.0**-100, "f64": 2.0**-900}


def exp(k: Builder, x: Value) -> Value:
    """``e**x``, by ``x = n log(2) + r`` and a polynomial for ``e**r``."""
    if for_adapters.has_exp2(k, x):
        return for_adapters.exp(k, x)
    high, low = LN2[x.type]
    x = k.select(x > _LIMIT[x.type], _LIMIT[x.type], x)
    x = k.select(x < _ZERO_BELOW[x.type], _ZERO_BELOW[x.type], x) + _NEAR_ZERO[x.type]
    n = k.prim("nearest", x * (1 / math.log(2)))
    r = k.fma(n, -low, k.fma(n, -high, x))
    return times_power_of_two(k, k.fma(r, horner(k, r, EXP[x.type]), 1.0), n)


def exp2(k: Builder, x: Value) -> Value:
    """``2**x``; exact where that is a whole power of two."""
    limit = 1.5 * _LIMIT[x.type]
    x = clamp(k, x, limit) + _NEAR_ZERO[x.type]
    n = k.prim("nearest", x)
    r = x - n
    return times_power_of_two(k, k.fma(r, horner(k, r, EXP2[x.type]), 1.0), n)


def expm1(k: Builder, x: Value) -> Value:
    """``e**x - 1``, accurate around 0, as ``2**n ((1 - 2**-n) + r + r**2 P(r))``."""
    high, low = LN2[x.type]
    limit = _LIMIT[x.type]
    bounded = k.select(x > limit, limit, k.select(x < -64.0, -64.0, x))
    n = k.prim("nearest", bounded * (1 / math.log(2)))
    r = k.fma(n, -low, k.fma(n, -high, bounded))
    # The sum with r is exact where it cancels. Scaled last: 2**n alone may overflow.
    first = r + (1.0 - k.prim("scale2", k.const(1.0, x.type), -n))
    scaled = k.fma(r * r, horner(k, r, EXPM1[x.type]), first)
    return k.prim("copysign", k.prim("scale2", scaled, n), x)  # -0.0


def exp_of_difference(k: Builder, x: Value, low: Value) -> tuple[Value, Value]:
    """``e**(x + low)`` as a sum of two, for ``x`` of at most 0 and a low part of less than a unit.

    The second part counts where the first one is no less than a few per mille.
    """
    return _scaled_pair(k, *exp_parts(k, x, low))


def exp2_of_difference(k: Builder, x: Value, low: Value) -> tuple[Value, Value]:
    """``2**(x + low)``, likewise."""
    limit = -1.5 * _LIMIT[x.type]
    x = k.select(x < limit, limit, x) + _NEAR_ZERO[x.type]
    n = k.prim("nearest", x)
    r = (x - n) + low
    return _scaled_pair(k, *_pair(k, r, horner(k, r, EXP2[x.type])), n)


def exp_parts(k: Builder, x: Value, low: Value) -> tuple[Value, Value, Value]:
    """``(h, l, n)`` with ``e**(x + low) = 2**n (h + l)``, for the same operands."""
    high, rest = LN2[x.type]
    x = k.select(x < _ZERO_BELOW[x.type], _ZERO_BELOW[x.type], x) + _NEAR_ZERO[x.type]
    n = k.prim("nearest", x * (1 / math.log(2)))
    r = k.fma(n, -rest, k.fma(n, -high, x)) + low
    return (*_pair(k, r, horner(k, r, EXP[x.type])), n)


def _pair(k: Builder, r: Value, series: Value) -> tuple[Value, Value]:
    """``1 + r series`` as a sum of two."""
    significand = k.fma(r, series, 1.0)
    return significand, k.fma(r, series, 1.0 - significand)


def _scaled_pair(k: Builder, significand: Value, lost: Value, n: Value) -> tuple[Value, Value]:
    """``2**n (significand + lost)`` as a sum of two, the second one to a tenth."""
    power = times_power_of_two(k, significand, n)
    return power, power * k.fma(1.0 - significand, lost, lost)
