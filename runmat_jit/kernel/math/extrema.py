"""Larger and smaller of two values: ``maximum`` and ``minimum`` pass NaN, ``fmax`` drops it."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value


def maximum(k: Builder, a: Value, b: Value) -> Value:
    """The larger value; NaN where either is; the second where they are equal, as NumPy (±0)."""
    if a.type == "i1":
        return a | b
    return _nan_first(k, a, k.select(a > b, a, b))


def minimum(k: Builder, a: Value, b: Value) -> Value:
    """The smaller value; NaN where either is; the second where they are equal, as NumPy (±0)."""
    if a.type == "i1":
        return a & b
    return _nan_first(k, a, k.select(a < b, a, b))


def fmax(k: Builder, a: Value, b: Value) -> Value:
    """The larger value; the other one where one is NaN; the second where they are equal."""
    if a.type not in ("f32", "f64"):
        return maximum(k, a, b)
    return k.select((a > b) | k.prim("isnan", b), a, b)


def fmin(k: Builder, a: Value, b: Value) -> Value:
    """The smaller value; the other one where one is NaN; the second where they are equal."""
    if a.type not in ("f32", "f64"):
        return minimum(k, a, b)
    return k.select((a < b) | k.prim("isnan", b), a, b)


def clip(k: Builder, x: Value, lowest: Value, highest: Value) -> Value:
    """``minimum(maximum(x, lowest), highest)``."""
    return minimum(k, maximum(k, x, lowest), highest)


def _nan_first(k: Builder, a: Value, chosen: Value) -> Value:
    """``a`` where it is NaN; the comparison already chose ``b`` where that one is."""
    if a.type not in ("f32", "f64"):
        return chosen
    return k.select(k.prim("isnan", a), a, chosen)
