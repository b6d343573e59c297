"""Conversions between value types, bit for bit NumPy's on x86-64."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value

_FLOATS = ("f32", "f64")
_SIZES = {"i32": 32, "i64": 64}


def cast(k: Builder, x: Value, to: str) -> Value:
    """``x`` as ``f32``, ``f64``, ``i32``, ``i64`` or ``i1``.

    Floats lose their fraction; NaN, infinities and numbers out of range become the smallest whole
    number. Narrower whole numbers keep the low bits; truth is any difference from 0; whole numbers
    become floats by one rounding.
    """
    if x.type == to:
        return x
    if to == "i1":
        return k.ne(x, 0)
    if x.type in _FLOATS:
        return _from_float(k, x, to)
    if x.type == "i1":
        return k.convert("uitofp" if to in _FLOATS else "zext", x, to)
    if to in _FLOATS:
        return k.convert("sitofp", x, to)
    return k.convert("sext" if to == "i64" else "trunc", x, to)


def _from_float(k: Builder, x: Value, to: str) -> Value:
    if to in _FLOATS:
        return k.convert("fpext" if to == "f64" else "fptrunc", x, to)
    end = 2.0 ** (_SIZES[to] - 1)
    inside = k.prim("abs", x) < end  # false for NaN
    return k.convert("fptosi", k.select(inside, x, -end), to)
