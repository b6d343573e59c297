"""Sine and cosine over all floats.

``x = n pi + r`` with ``|r| <= pi / 2`` (``n`` whole for the sine, half-whole for the cosine, whose
``r`` is shifted by ``pi / 2``), so one polynomial serves both: the result is ``sin(r)`` or
``-sin(r)`` by the parity of ``n``. Most of the error is the rounding of ``r``: just above a power
of two it is a whole unit of a sine that lies just below.
"""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import for_adapters
from runmat_jit.kernel.math.coefficients import PI, SINE, SINE_OF_ANGLE
from runmat_jit.kernel.math.formats import bits_of, format_of, xor_sign
from runmat_jit.kernel.math.payne_hanek import reduce_large
from runmat_jit.kernel.math.polynomial import horner

# Up to here the three parts of pi leave a relative error of r far below one unit.
_LIMIT = {"f32": 2.0**16, "f64": 2.0**36}

# Below, the sine is its argument; the products of a reduction and a series would be subnormal,
# which is slow on many machines.
_TINY = {"f32": 2.0**-13, "f64": 2.0**-27}

# Lost in the sum with any angle that counts for the cosine.
_NEAR_ZERO = {"f32": 2.0**-100, "f64": 2.0**-900}

# Of float32 the cosine's half turn loses pi / 2 - fl(pi / 2), which is -4.37e-8, to the rounding of
# an r near 1. Half of it is in the polynomial, where the sine has room for it.
_SINE = SINE | SINE_OF_ANGLE


def sin(k: Builder, x: Value) -> Value:
    """Sine of an angle in radians."""
    if for_adapters.is_short(k, x):
        return for_adapters.sin(k, x)
    magnitude, shifter = k.prim("abs", x), format_of(x).shifter
    tiny = magnitude < _TINY[x.type]
    magnitude = k.select(tiny, 0.0, magnitude)
    shifted = k.fma(magnitude, 1 / math.pi, shifter)
    n = shifted - k.unknown(shifter, x.type)
    r, parity = _reduce(k, magnitude, n, bits_of(k, shifted), cosine=False)
    return k.select(tiny, x, _signed_sine(k, r, parity, bits_of(k, x)))


def cos(k: Builder, x: Value) -> Value:
    """Cosine of an angle in radians."""
    if for_adapters.is_short(k, x):
        return for_adapters.cos(k, x)
    magnitude, shifter = k.prim("abs", x) + _NEAR_ZERO[x.type], format_of(x).shifter
    shifted = k.fma(magnitude, 1 / math.pi, 0.5) + shifter
    n = (shifted - k.unknown(shifter, x.type)) - 0.5
    r, parity = _reduce(k, magnitude, n, bits_of(k, shifted), cosine=True)
    return _signed_sine(k, r, parity, None)


def _reduce(k: Builder, x: Value, n: Value, parity: Value, *, cosine: bool) -> tuple[Value, Value]:
    """``(r, parity)`` with ``r = x - n pi`` (Cody and Waite), or by ``reduce_large`` if that fails.

    That gives r the sign of the parity, which is 0 then.
    """
    r = x
    for part in PI[x.type]:
        r = k.fma(n, -part, r)
    large = (x >= _LIMIT[x.type]) & (x < math.inf)
    with k.if_any(large, [r, parity]) as rare:
        rare.yield_(reduce_large(k, x, cosine=cosine), 0)
    r, parity = rare.out
    return r, parity


def _signed_sine(k: Builder, r: Value, parity: Value, sign: Value | None) -> Value:
    """``sin(r)``, negated by the lowest bit of ``parity`` and by the sign bit of ``sign``.

    ``sin(r) = r + r (z + z P(z))`` with ``z = -r**2 / 8``: an eighth is exact, and takes most of
    the correction, so the roundings of z and P hardly count even at ``pi / 2``.
    """
    eighth = r * -0.125
    z = eighth * r
    sine = k.fma(k.fma(eighth, r, horner(k, z, _SINE[r.type]) * z), r, r)
    flip = parity << (format_of(r).width - 1)
    return xor_sign(k, sine, flip if sign is None else flip ^ sign)
