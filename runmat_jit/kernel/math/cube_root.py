"""The cube root."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import bits_of, float_of, format_of, not_
from runmat_jit.kernel.math.polynomial import horner

# What tiny numbers are scaled by, a power of 8, and the inverse of its cube root.
_SCALE = {"f32": (2.0**24, 2.0**-8), "f64": (2.0**54, 2.0**-18)}

# Multiples of the smallest normal number below which numbers are tiny: the remainder of the root
# would be subnormal, which some devices take for zero.
_TINY = 2.0**30

# Bits of a float are nearly its logarithm: what they exceed it by, on average.
_EXCESS = 0.0675

# Terms of ``((1 - h)**(-1/3) - 1) / h``.
_SERIES = (1 / 3, 2 / 9, 14 / 81)


def cbrt(k: Builder, x: Value) -> Value:
    """The cube root, of negative numbers too."""
    magnitude = k.prim("abs", x)
    result = _root_of_normal(k, magnitude)
    tiny_below = format_of(x).smallest_normal * _TINY
    rare = not_(k, (magnitude >= tiny_below) & (magnitude < math.inf))
    with k.if_any(rare, [result]) as unusual:
        is_tiny = (magnitude > 0.0) & (magnitude < tiny_below)
        limit = k.select(not_(k, magnitude < math.inf) | k.eq(magnitude, 0.0), magnitude, result)
        with k.if_any(is_tiny, [limit]) as tiny:
            tiny.yield_(*k.call(f"cbrt_tiny_{x.type}", (magnitude,), (x.type,), _of_tiny))
        unusual.yield_(*tiny.out)
    return k.prim("copysign", unusual.out[0], x)


def _of_tiny(k: Builder, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    (x,) = arguments
    up, down = _SCALE[x.type]
    return (_root_of_normal(k, x * up) * down,)


def _root_of_normal(k: Builder, x: Value) -> Value:
    """The cube root of a positive normal number, as ``x z**2`` with ``z = x**(-1/3)``.

    A third of the bits gives 1/z to 3 %. Steps with ``h = 1 - x z**3`` leave 2e-5 of the error, or
    1e-9; one with the remainder of the root squares that.
    """
    kind, form = x.type, format_of(x)
    zero = (4 / 3 * form.bias - _EXCESS) * 2.0**form.fraction
    third = k.fma(k.convert("sitofp", bits_of(k, x), kind), -1 / 3, zero)
    z = float_of(k, k.convert("fptosi", third, form.integer))
    h = _rest(k, x, z)
    z = k.fma(horner(k, h, _SERIES) * h, z, z)
    if kind == "f64":
        z = k.fma(_rest(k, x, z) * (1 / 3), z, z)
    square = z * z
    root = x * square
    return k.fma(k.fma(-(root * root), root, x) * square, 1 / 3, root)


def _rest(k: Builder, x: Value, z: Value) -> Value:
    """``1 - x z**3``."""
    return k.fma(-(x * z), z * z, 1.0)
