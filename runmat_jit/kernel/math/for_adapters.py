"""Functions for shaders whose results need not have a CPU's bits: within 4 units, in few steps.

A GPU computes as many float32 operations as fit beside its memory traffic at no cost, so what is
worth the most is to do without operations. These have shorter polynomials than the functions that
every backend shares, and take the adapter's ``exp2`` where a test of it found it good enough. All
are of float32.
"""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import PI_FROM_BELOW, SINE_OF_SQUARE, TANH_OF_SQUARE
from runmat_jit.kernel.math.formats import FORMATS, bits_of, float_of, nearest, xor_sign
from runmat_jit.kernel.math.payne_hanek import reduce_large
from runmat_jit.kernel.math.polynomial import horner

_FORMAT = FORMATS["f32"]
_LARGE = 2.0**16
"""Up to here the three parts of pi leave a relative error far below one unit."""
_SMALL = 0.6
"""Up to here the hyperbolic tangent is a polynomial."""
_LOG2_E = nearest(1 / math.log(2), "f32"), 1 / math.log(2) - nearest(1 / math.log(2), "f32")
_FINITE_EXP = 1000.0
"""From here on, what the product with ``log2(e)`` lost is of no account."""


def has_exp2(k: Builder, x: Value) -> bool:
    """True if a function may be computed by the adapter's ``exp2``."""
    return is_short(k, x) and "exp2" in (k.builtins or ())


def is_short(k: Builder, x: Value) -> bool:
    """True if a function is for a shader that need not give a CPU's bits."""
    return k.builtins is not None and x.type == "f32"


def sin(k: Builder, x: Value) -> Value:
    """Sine, as ``sin(r)`` or ``-sin(r)`` with ``x = n pi + r``; at most 3 ULP."""
    shifted = k.fma(x, 1 / math.pi, _FORMAT.shifter)
    n = shifted - k.unknown(_FORMAT.shifter, "f32")
    return _signed_sine(k, x, n, bits_of(k, shifted), cosine=False)


def cos(k: Builder, x: Value) -> Value:
    """Cosine, as ``sin(r)`` or ``-sin(r)`` with ``x = (n - 1/2) pi + r``; at most 3 ULP."""
    shifted = k.fma(k.fma(x, 1 / math.pi, 0.5), 1.0, _FORMAT.shifter)
    n = shifted - k.unknown(_FORMAT.shifter, "f32")
    return _signed_sine(k, x, n - 0.5, bits_of(k, shifted), cosine=True)


def _signed_sine(k: Builder, x: Value, n: Value, parity: Value, *, cosine: bool) -> Value:
    """``sin(x - n pi)``, negated where the lowest bit of ``parity`` is set."""
    r = x
    for part in PI_FROM_BELOW["f32"]:  # of one sign, so that -0.0 stays what it is
        r = k.fma(n, -part, r)
    with k.if_any(k.beyond(x, _LARGE), [r, parity]) as rare:
        exact = reduce_large(k, k.prim("abs", x), cosine=cosine)
        rare.yield_(exact if cosine else xor_sign(k, exact, bits_of(k, x)), 0)
    r, parity = rare.out
    square = r * r
    sine = r * k.fma(horner(k, square, SINE_OF_SQUARE["f32"]), square, 1.0)
    return float_of(k, bits_of(k, sine) ^ (parity << (_FORMAT.width - 1)))


def exp(k: Builder, x: Value) -> Value:
    """``e**x`` as ``2**t (1 - d log(2))``, where ``t - d`` is ``x log2(e)``; at most 4 ULP."""
    high, low = _LOG2_E
    t = x * high
    error = k.fma(x, -low, k.fma(x, -high, t))
    factor = k.select(k.below(x, _FINITE_EXP), k.fma(error, -math.log(2), 1.0), 1.0)
    return k.builtin("exp2", t) * factor


def exp2_of_sum(k: Builder, high: Value, low: Value) -> Value:
    """``2**(high + low)`` for a small low part; at most 3 ULP."""
    return k.builtin("exp2", high) * k.fma(low, math.log(2), 1.0)


def tanh(k: Builder, x: Value) -> Value:
    """Hyperbolic tangent, as ``1 - 2 / (e**(2 |x|) + 1)`` or a polynomial; at most 4 ULP."""
    magnitude = k.prim("abs", x)
    large = k.fma(1.0 / (k.builtin("exp2", magnitude * (2 / math.log(2))) + 1.0), -2.0, 1.0)
    square = magnitude * magnitude
    small = k.fma(horner(k, square, TANH_OF_SQUARE["f32"]), magnitude * square, magnitude)
    return k.prim("copysign", k.select(k.below(x, _SMALL), small, large), x)
