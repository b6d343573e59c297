"""Questions about one value, and logic.

Floats are judged by their bits: some languages of GPUs assume that none is NaN or infinite.
"""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import bits_of, format_of


def isnan(k: Builder, x: Value) -> Value:
    """True if ``x`` is NaN."""
    return k.prim("isnan", x) if _is_float(x) else k.const(0, "i1")


def isinf(k: Builder, x: Value) -> Value:
    """True if ``x`` is infinite."""
    if not _is_float(x):
        return k.const(0, "i1")
    return k.eq(_magnitude_bits(k, x), format_of(x).infinity)


def isfinite(k: Builder, x: Value) -> Value:
    """True if ``x`` is neither infinite nor NaN."""
    if not _is_float(x):
        return k.const(1, "i1")
    return _magnitude_bits(k, x) < format_of(x).infinity


def signbit(k: Builder, x: Value) -> Value:
    """True if the sign bit is set: true for -0.0, and for some NaN."""
    return bits_of(k, x) < 0 if _is_float(x) else x < 0


def truth(k: Builder, x: Value) -> Value:
    """True if ``x`` differs from 0, as NaN does."""
    return x if x.type == "i1" else k.ne(x, 0)


def logical_and(k: Builder, a: Value, b: Value) -> Value:
    """True if both differ from 0."""
    return truth(k, a) & truth(k, b)


def logical_or(k: Builder, a: Value, b: Value) -> Value:
    """True if either differs from 0."""
    return truth(k, a) | truth(k, b)


def logical_xor(k: Builder, a: Value, b: Value) -> Value:
    """True if exactly one differs from 0."""
    return truth(k, a) ^ truth(k, b)


def logical_not(k: Builder, x: Value) -> Value:
    """True if ``x`` is 0."""
    return x ^ True if x.type == "i1" else k.eq(x, 0)


def _is_float(x: Value) -> bool:
    return x.type in ("f32", "f64")


def _magnitude_bits(k: Builder, x: Value) -> Value:
    return bits_of(k, x) & ~format_of(x).sign
