"""Rounding to whole numbers, and clamping."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value


def clamp(k: Builder, x: Value, limit: float) -> Value:
    """``x`` within ``-limit .. limit``; NaN passes."""
    below = k.select(x > limit, limit, x)
    return k.select(below < -limit, -limit, below)


def rint(k: Builder, x: Value) -> Value:
    """The nearest whole number, ties to even; whole types pass through."""
    return _whole(k, "rint", x)


def floor(k: Builder, x: Value) -> Value:
    """The largest whole number not above ``x``."""
    return _whole(k, "floor", x)


def ceil(k: Builder, x: Value) -> Value:
    """The smallest whole number not below ``x``."""
    return _whole(k, "ceil", x)


def trunc(k: Builder, x: Value) -> Value:
    """``x`` without its fraction."""
    return _whole(k, "trunc_float", x)


def _whole(k: Builder, primitive: str, x: Value) -> Value:
    return k.prim(primitive, x) if x.type in ("f32", "f64") else x
