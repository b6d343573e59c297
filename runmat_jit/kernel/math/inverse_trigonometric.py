"""Angles from ratios."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import ARCSIN, ARCTAN, ARCTAN_OF_HALF, PI_PAIR
from runmat_jit.kernel.math.formats import bits_of
from runmat_jit.kernel.math.polynomial import horner

# Lost in the sum with any square that counts; smaller ones are subnormal, which is slow.
_NEAR_ZERO = {"f32": 2.0**-100, "f64": 2.0**-900}


def arctan(k: Builder, x: Value) -> Value:
    """The angle between ``-pi / 2`` and ``pi / 2`` whose tangent is ``x``.

    Between 1/2 and 2 it is ``pi / 4`` plus that of ``(x - 1) / (x + 1)``, above less that of
    ``1 / x``. The difference is exact.
    """
    magnitude = k.prim("abs", x)
    steep, middle = magnitude > 2.0, magnitude > 0.5
    above = k.select(steep, k.const(-1.0, x.type), k.select(middle, magnitude - 1.0, magnitude))
    below = k.select(steep, magnitude, k.select(middle, magnitude + 1.0, 1.0))
    t = above / below
    z = k.fma(t, t, _NEAR_ZERO[x.type])
    turn, turn_low = PI_PAIR[x.type]
    turns = k.select(steep, turn / 2, k.select(middle, k.const(turn / 4, x.type), 0.0))
    rest = k.select(steep, turn_low / 2, k.select(middle, k.const(turn_low / 4, x.type), 0.0))
    angle = (turns + t) + k.fma(horner(k, z, ARCTAN_OF_HALF[x.type]) * z, t, rest)
    return k.prim("copysign", angle, x)


def arctan2(k: Builder, y: Value, x: Value) -> Value:
    """The angle between ``-pi`` and ``pi`` of the point (x, y), signs of zeros respected.

    ``y / x`` or ``-x / y``, whichever is at most 1, is the tangent of what the angle exceeds a
    multiple of a right angle by.
    """
    high, low = PI_PAIR[x.type]
    rise, run = k.prim("abs", y), k.prim("abs", x)
    steep = rise > run
    t = k.select(steep, -x, rise) / k.select(steep, rise, x)
    z = k.fma(t, t, _NEAR_ZERO[t.type])
    rest = k.fma(horner(k, z, ARCTAN[t.type]) * z, t, t)
    # Both infinite or both zero: the quotient is NaN.
    equal = k.prim("copysign", k.select(k.eq(rise, 0.0), 0.0, k.const(high / 4, x.type)), x)
    rest = k.select(k.eq(rise, run), equal, rest)
    left = k.select(bits_of(k, x) < 0, k.const(high, x.type), 0.0)
    turn = k.select(steep, high / 2, left)
    return k.prim("copysign", turn + k.fma(turn, low / high, rest), y)


def arcsin(k: Builder, x: Value) -> Value:
    """The angle between ``-pi / 2`` and ``pi / 2`` whose sine is ``x``; NaN beyond 1.

    Above 1/2 it is ``pi / 2`` less twice that of ``sqrt((1 - x) / 2)``.
    """
    high, low = PI_PAIR[x.type]
    magnitude = k.prim("abs", x)
    large, t, correction = _arcsin_parts(k, magnitude)
    double = t + t
    near = high / 2 - double
    lost = (high / 2 - near) - double
    far = near - k.fma(correction, 2.0, -low / 2 - lost)
    return k.prim("copysign", k.select(large, far, t + correction), x)


def arccos(k: Builder, x: Value) -> Value:
    """The angle between 0 and ``pi`` whose cosine is ``x``; NaN beyond 1."""
    high, low = PI_PAIR[x.type]
    magnitude = k.prim("abs", x)
    large, t, correction = _arcsin_parts(k, magnitude)
    negative = x < 0.0
    t, correction = (k.select(k.prim("xor", negative, large), p, -p) for p in (t, correction))
    turn = k.select(large, k.select(negative, k.const(high, x.type), 0.0), high / 2)
    doubled = k.select(large, k.const(2.0, x.type), 1.0)
    rest = k.fma(turn, low / high, correction * doubled)
    return k.fma(t, doubled, turn) + rest


def _arcsin_parts(k: Builder, magnitude: Value) -> tuple[Value, Value, Value]:
    """``(large, t, c)``: ``t + c`` is the angle of that sine, or of ``sqrt((1 - it) / 2)``."""
    large = magnitude > 0.5
    half = k.fma(magnitude, -0.5, 0.5)
    z = k.select(large, half, k.fma(magnitude, magnitude, _NEAR_ZERO[magnitude.type]))
    t = k.select(large, k.prim("sqrt", half), magnitude)
    return large, t, horner(k, z, ARCSIN[magnitude.type]) * z * t
