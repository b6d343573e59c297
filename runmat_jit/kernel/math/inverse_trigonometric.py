"""Angles from ratios."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import ARCTAN, PI_PAIR
from runmat_jit.kernel.math.formats import bits_of
from runmat_jit.kernel.math.polynomial import horner


def arctan(k: Builder, x: Value) -> Value:
    """The angle between ``-pi / 2`` and ``pi / 2`` whose tangent is ``x``."""
    magnitude = k.prim("abs", x)
    steep = magnitude > 1.0
    angle = _arctan_of_fraction(k, k.select(steep, 1.0 / magnitude, magnitude))
    return k.prim("copysign", k.select(steep, _minus(0.5, angle), angle), x)


def arctan2(k: Builder, y: Value, x: Value) -> Value:
    """The angle between ``-pi`` and ``pi`` of the point (x, y), signs of zeros respected."""
    rise, run = k.prim("abs", y), k.prim("abs", x)
    steep = rise > run
    smaller, larger = k.select(steep, run, rise), k.select(steep, rise, run)
    # Both infinite or both zero: the quotient is NaN, the angle that of 1 or of 0.
    ratio = k.select(k.eq(smaller, larger), 1.0, smaller / larger)
    ratio = k.select(k.eq(rise + run, 0.0), 0.0, ratio)
    angle = _arctan_of_fraction(k, ratio)
    angle = k.select(steep, _minus(0.5, angle), angle)
    angle = k.select(bits_of(k, x) < 0, _minus(1.0, angle), angle)
    return k.prim("copysign", angle, y)


def _arctan_of_fraction(k: Builder, t: Value) -> Value:
    """The angle of a tangent between 0 and 1."""
    z = t * t
    return k.fma(horner(k, z, ARCTAN[t.type]) * z, t, t)


def _minus(turn: float, angle: Value) -> Value:
    """``turn pi - angle``."""
    high, low = (part * turn for part in PI_PAIR[angle.type])
    return high - (angle - low)
