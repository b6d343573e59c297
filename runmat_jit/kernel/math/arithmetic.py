"""Small arithmetic of one or two operands."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value


def negative(k: Builder, x: Value) -> Value:
    """``-x``; the smallest whole number stays itself."""
    return k.prim("neg", x)


def absolute(k: Builder, x: Value) -> Value:
    """``|x|``; the smallest whole number stays itself."""
    return x if x.type == "i1" else k.prim("abs", x)


def square(_: Builder, x: Value) -> Value:
    """``x * x``."""
    return x * x


def sqrt(k: Builder, x: Value) -> Value:
    """The square root, correctly rounded; NaN below 0."""
    return k.prim("sqrt", x)


def reciprocal(k: Builder, x: Value) -> Value:
    """``1 / x``; of whole numbers toward 0, and the smallest number for 0."""
    if x.type in ("f32", "f64"):
        return k.unknown(1.0, x.type) / x  # an adapter's compiler may take 1 / (1 / x) for x
    zero, unit = k.eq(x, 0), k.prim("abs", x)
    return k.select(zero, _smallest(x), k.select(k.eq(unit, 1), x, 0))


def sign(k: Builder, x: Value) -> Value:
    """-1, 0 or 1; NaN for NaN, 0 for -0.0."""
    if x.type not in ("f32", "f64"):
        return k.select(x > 0, 1, x >> (_width(x) - 1))
    zero_or_nan = k.select(k.eq(x, 0.0), 0.0, x)
    return k.select(x > 0.0, 1.0, k.select(x < 0.0, -1.0, zero_or_nan))


def copysign(k: Builder, x: Value, y: Value) -> Value:
    """``|x|`` with the sign of ``y``."""
    return k.prim("copysign", x, y)


def heaviside(k: Builder, x: Value, at_zero: Value) -> Value:
    """0 below 0, ``at_zero`` at 0, 1 above; one NaN for every NaN."""
    step = k.select(x > 0.0, 1.0, k.select(x < 0.0, k.const(0.0, x.type), math.nan))
    return k.select(k.eq(x, 0.0), at_zero, step)


def left_shift(k: Builder, x: Value, count: Value) -> Value:
    """``x << count``; 0 for counts that are negative or exceed the width, as NumPy."""
    inside = k.prim("ult", count, _width(x))
    return k.select(inside, x << k.select(inside, count, 0), 0)


def right_shift(k: Builder, x: Value, count: Value) -> Value:
    """``x >> count``; all sign bits for counts that are negative or exceed the width, as NumPy."""
    last = _width(x) - 1
    return x >> k.select(k.prim("ult", count, last + 1), count, last)


def invert(k: Builder, x: Value) -> Value:
    """All bits flipped; of a truth value its opposite."""
    return k.prim("xor", x, True if x.type == "i1" else -1)


def _width(x: Value) -> int:
    return {"i32": 32, "i64": 64}[x.type]


def _smallest(x: Value) -> int:
    return -(1 << (_width(x) - 1))
