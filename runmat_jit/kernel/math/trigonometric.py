"""Sine and cosine over all floats.

``x = n pi + r`` with ``|r| <= pi / 2`` (``n`` whole for the sine, half-whole for the cosine, whose
``r`` is shifted by ``pi / 2``), so one polynomial serves both: the result is ``sin(r)`` or
``-sin(r)`` by the parity of ``n``.
"""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import for_adapters
from runmat_jit.kernel.math.coefficients import PI, SINE
from runmat_jit.kernel.math.formats import bits_of, format_of, whole_bits, xor_sign
from runmat_jit.kernel.math.payne_hanek import reduce_large
from runmat_jit.kernel.math.polynomial import horner

# Up to here the three parts of pi leave a relative error of r far below one unit.
_LIMIT = {"f32": 2.0**16, "f64": 2.0**20}


def sin(k: Builder, x: Value) -> Value:
    """Sine of an angle in radians."""
    if for_adapters.is_short(k, x):
        return for_adapters.sin(k, x)
    magnitude = k.prim("abs", x)
    n = k.prim("nearest", magnitude * (1 / math.pi))
    r, parity = _reduce(k, magnitude, n, whole_bits(k, n), cosine=False)
    return _signed_sine(k, r, parity, bits_of(k, x))


def cos(k: Builder, x: Value) -> Value:
    """Cosine of an angle in radians."""
    if for_adapters.is_short(k, x):
        return for_adapters.cos(k, x)
    magnitude = k.prim("abs", x)
    n = k.prim("nearest", k.fma(magnitude, 1 / math.pi, -0.5))
    r, parity = _reduce(k, magnitude, n + 0.5, whole_bits(k, n, offset=1), cosine=True)
    return _signed_sine(k, r, parity, None)


def _reduce(k: Builder, x: Value, n: Value, parity: Value, *, cosine: bool) -> tuple[Value, Value]:
    """``x - n pi`` (Cody and Waite), or the same by ``reduce_large`` where ``x`` is large."""
    r = x
    for part in PI[x.type]:
        r = k.fma(n, -part, r)
    large = k.prim("ge", x, _LIMIT[x.type])
    with k.if_any(large, [r, parity]) as rare:
        exact = reduce_large(k, x, cosine=cosine)
        rare.yield_(*(k.select(large, a, b) for a, b in zip(exact, rare.carry, strict=True)))
    r, parity = rare.out
    return r, parity


def _signed_sine(k: Builder, r: Value, parity: Value, sign: Value | None) -> Value:
    """``sin(r)``, negated by the lowest bit of ``parity`` and by the sign bit of ``sign``.

    ``sin(r) = r + r (z + z P(z))`` with ``z = -r**2 / 8``: an eighth is exact, and takes most of
    the correction, so the roundings of z and P hardly count even at ``pi / 2``.
    """
    eighth = r * -0.125
    z = eighth * r
    sine = k.fma(k.fma(eighth, r, horner(k, z, SINE[r.type]) * z), r, r)
    flip = parity << (format_of(r).width - 1)
    return xor_sign(k, sine, flip if sign is None else flip ^ sign)
