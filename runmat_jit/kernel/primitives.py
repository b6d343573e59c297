"""The primitive instructions of the kernel IR, as data.

Every backend prints these and nothing else; mathematical functions are expansions into them
(:mod:`runmat_jit.kernel.math`). Contracts that no backend checks:

- shift amounts are below the number of bits;
- ``fptosi`` gets values in range; ``sdiv`` and ``srem`` never see a zero divisor or ``MIN / -1``;
- ``lt le gt ge eq`` are false and ``ne`` is true where an operand is NaN;
- ``nearest(x)`` is ``rint(x)`` up to a magnitude of 2**22 (f32; f64: 2**51), but for the sign of a
  zero; larger operands give no NaN, and NaN gives NaN. It serves where the choice between two
  neighbors is made good later: nothing depends on it as on ``rint``;
- ``scale2(x, n)`` is ``x * 2**n`` for a whole float ``n``, with one rounding where the result is
  subnormal. Where ``abs(n)`` is above 252 (f32; f64: 2044), ``x`` must be 0, infinite, NaN or of a
  magnitude in [2**-124, 2**102) (f64: [2**-1020, 2**970)), and ``n`` may be infinite for the
  latter; where ``n`` is NaN, ``x`` must be NaN;
- which of two NaN operands an instruction passes on, and the sign of a NaN it makes, are open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from runmat_jit.core.frozen import frozen

FLOATS = ("f32", "f64")
INTEGERS = ("i32", "i64", "index")
VALUE_TYPES = (*FLOATS, *INTEGERS, "i1")
NARROW = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4}
"""Elements of memory that are loaded as ``i64`` and stored as their lowest bits; bytes of each."""
SIZES = {"f32": 4, "f64": 8, "i32": 4, "i64": 8, "bool": 1, **NARROW}
VALUE_OF_ELEMENT = {"bool": "i1", **dict.fromkeys(NARROW, "i64")}
"""Value types of elements, where they have other names."""
"""Bytes of an element in memory; a ``bool`` buffer holds bytes and loads as ``i1``."""

Domain = Literal["float", "integer", "numeric", "bits", "any"]
Result = Literal["same", "i1", "given"]


@frozen
class Primitive:
    """Arity, allowed operand types and result type of one instruction."""

    name: str
    arity: int
    domain: Domain
    result: Result = "same"


_TABLE = (
    # arithmetic: IEEE for floats (round to nearest, never contracted), wrapping for integers
    Primitive("add", 2, "numeric"),
    Primitive("sub", 2, "numeric"),
    Primitive("mul", 2, "numeric"),
    Primitive("div", 2, "float"),
    Primitive("sdiv", 2, "integer"),
    Primitive("srem", 2, "integer"),
    Primitive("neg", 1, "numeric"),
    Primitive("abs", 1, "numeric"),
    Primitive("fma", 3, "float"),
    Primitive("sqrt", 1, "float"),
    Primitive("rint", 1, "float"),
    Primitive("nearest", 1, "float"),
    Primitive("floor", 1, "float"),
    Primitive("ceil", 1, "float"),
    Primitive("trunc_float", 1, "float"),
    Primitive("copysign", 2, "float"),
    Primitive("scale2", 2, "float"),
    Primitive("mulhi", 2, "integer"),  # high half of the unsigned product, i32 only
    # bits; on i1 these are the logical operations
    Primitive("and", 2, "bits"),
    Primitive("or", 2, "bits"),
    Primitive("xor", 2, "bits"),
    Primitive("shl", 2, "integer"),
    Primitive("lshr", 2, "integer"),
    Primitive("ashr", 2, "integer"),
    # comparisons
    Primitive("lt", 2, "numeric", "i1"),
    Primitive("le", 2, "numeric", "i1"),
    Primitive("gt", 2, "numeric", "i1"),
    Primitive("ge", 2, "numeric", "i1"),
    Primitive("eq", 2, "any", "i1"),
    Primitive("ne", 2, "any", "i1"),
    Primitive("ult", 2, "integer", "i1"),
    Primitive("isnan", 1, "float", "i1"),  # by the bits where a language has no NaN
    # conversions, to a given type
    Primitive("sitofp", 1, "integer", "given"),
    Primitive("uitofp", 1, "bits", "given"),  # i1 gives 0.0 or 1.0
    Primitive("fptosi", 1, "float", "given"),
    Primitive("fpext", 1, "float", "given"),
    Primitive("fptrunc", 1, "float", "given"),
    Primitive("trunc", 1, "integer", "given"),
    Primitive("zext", 1, "bits", "given"),
    Primitive("sext", 1, "bits", "given"),
    Primitive("bitcast", 1, "any", "given"),
)
PRIMITIVES: dict[str, Primitive] = {p.name: p for p in _TABLE}

BUILTINS = ("exp2",)
"""Functions that adapters have themselves: ``builtin`` calls one of float32 lanes, with the error
that a test of the adapter has found. No CPU has them."""

LIBM = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"), 1),
    **dict.fromkeys(
        ("exp", "expm1", "log", "log2", "log10", "log1p", "asinh", "acosh", "atanh"), 1
    ),
    **dict.fromkeys(("pow", "atan2", "fmod", "hypot"), 2),
}
"""Functions of the C library that ``libm`` may call, and how many float64 they take."""

COMBINES = ("add", "mul", "min", "max", "and", "or")
"""How a ``total`` may combine; ``min`` and ``max`` pass NaN on."""


def accepts(domain: Domain, kind: str) -> bool:
    """True if operands of value type ``kind`` are in ``domain``."""
    return {
        "float": kind in FLOATS,
        "integer": kind in INTEGERS,
        "numeric": kind in FLOATS or kind in INTEGERS,
        "bits": kind in INTEGERS or kind == "i1",
        "any": kind in VALUE_TYPES,
    }[domain]


TOTAL_STEPS = 16
"""Steps that a lane of a ``total`` takes in one block."""

TOTAL_BLOCKS = 16
"""Blocks of one ``total`` at most."""


def logical_lanes(kind: str) -> int:
    """Lanes of a ``total`` over values of this type: the same on every machine."""
    return 32 if kind in ("f64", "i64") else 64


def total_lanes(kinds: Sequence[str]) -> int:
    """Lanes of a ``total`` that combines values of these types: those of the widest type."""
    return min(logical_lanes(kind) for kind in kinds)


def identity(combine: str, kind: str) -> float | int | bool:
    """What a lane of a ``total`` starts from: it changes no value, bits included."""
    if kind == "i1":
        return combine == "and"
    if combine in ("min", "max"):
        if kind in FLOATS:
            return math.inf if combine == "min" else -math.inf
        bits = 31 if kind == "i32" else 63
        return (1 << bits) - 1 if combine == "min" else -(1 << bits)
    if combine == "add" and kind in FLOATS:
        return -0.0  # x + 0.0 would lose the sign of a zero
    return {"add": 0, "mul": 1, "and": -1, "or": 0}[combine]
