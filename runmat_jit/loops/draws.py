"""Draws of random numbers in an iteration, from generators of :mod:`runmat_jit.random`.

A stream's position is a number that the loop carries; where the loop has ended, the generator goes
on from there. Numbers are those of the rows of :mod:`runmat_jit.ops.random`, in any way to run.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.loops import operators, sizes
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.values import (
    FLOAT,
    FLOAT32,
    FLOAT64,
    Axis,
    Item,
    Lazy,
    Object,
    Position,
    Scalar,
    Stream,
    Unknown,
    literal,
    scalar,
)
from runmat_jit.ops.random import ELEMENTS_PER_BLOCK
from runmat_jit.ops.table import ROWS

FIRST: Final = "first"
WHOLE: Final = "whole"
"""Begin of the names of parameters: the place of a tile's first lane, and how many all have."""
COUNTER: Final = "%counter"
"""Begin of the names under which positions of streams are followed."""
_ROWS: Final = {"random": "random_uniform", "standard_normal": "random_normal"}
_SCALED: Final = {
    "uniform": ("random", ("low", "high")),
    "normal": ("standard_normal", ("loc", "scale")),
}
_ENDS: Final = {name: (*ends, "size") for name, (_, ends) in _SCALED.items()}
_PARAMETERS: Final = ("size", "dtype")
_MOST: Final = (1 << 31) - 1
"""Elements of a draw."""


def draw(
    e: Emitter, stream: Stream, method: str, args: Sequence[ast.expr], named: Sequence[ast.keyword]
) -> Item:
    """A call of a generator's method."""
    if method in _SCALED:
        return _scaled(e, stream, *_SCALED[method], arguments(_ENDS[method], args, named))
    if method not in _ROWS:
        raise Unknown(f"the method {method} of a generator")
    return _drawn_by(e, stream, method, arguments(_PARAMETERS, args, named))


def _scaled(
    e: Emitter, stream: Stream, method: str, ends: tuple[str, str], given: Mapping[str, ast.expr]
) -> Item:
    """Numbers of a distribution from a place on, or about it, and how wide that is.

    What NumPy may refuse, or what is no number, is for Python to see.
    """
    k, found = e.k, list[Scalar]()
    for name, default in zip(ends, (0.0, 1.0), strict=True):
        node = given.get(name)
        number = literal(k, default) if node is None else scalar(e.item(node))
        if not all(kind.python for kind in number.kinds):
            raise Unknown("a distribution of numbers of NumPy's")
        value = e.arithmetic.cast(number, FLOAT64)
        found.append(Scalar(frozenset((FLOAT,)), value))
    first, width = found
    if ends[0] == "low":
        width = replace(width, value=width.value - first.value)
    is_wide = (width.value > 0) & (width.value <= sys.float_info.max)
    k.leave_if(k.prim("xor", is_wide, True))
    drawn = _drawn_by(e, stream, method, {"size": given["size"]} if "size" in given else {})
    return operators.operate(e, "Add", first, operators.operate(e, "Mult", width, drawn))


def _drawn_by(e: Emitter, stream: Stream, method: str, given: Mapping[str, ast.expr]) -> Item:
    """A draw from a row."""
    dtype = dtype_of(e, given.get("dtype"))
    k, row, name = e.k, ROWS[_ROWS[method]], f"{COUNTER}{stream.operand}"
    counter = scalar(e.names[name])
    e.asks_numpy = True
    e.arithmetic.mark_ours(bits=False)  # they are the generator's, whoever draws
    params, per_block = {"dtype": dtype.name}, ELEMENTS_PER_BLOCK[dtype.itemsize]
    found: Item
    if is_none(given.get("size")):
        blocks: Value | int = 1
        e.drawn = max(e.drawn, 1)
        zero = k.const(0, "i32")
        assert row.expand is not None, "it is elementwise"
        value = cast(k, row.expand(k, zero, stream.key, counter.value, **params), "f64")
        found = Scalar(frozenset((FLOAT,)), value, narrow=dtype == FLOAT32)
    else:
        axes = sizes.axes_of_size(e, given["size"])
        e.drawn = max(e.drawn, per_block)
        position, whole = _places_in(e, axes)
        blocks = k.prim("sdiv", whole + (per_block - 1), per_block)
        operands, types = (position, stream.key, counter.value), ("i32", "i64", "i64")
        axes = tuple([replace(axis, stride=0) for axis in axes])
        found = Lazy(row, operands, types, params, dtype, axes, e.stores)
    e.names[name] = replace(counter, value=counter.value + blocks)
    return found


def dtype_of(e: Emitter, node: ast.expr | None) -> np.dtype:
    """The dtype of a draw."""
    if node is None:
        return FLOAT64
    item = e.item(node)
    value = item.value if isinstance(item, Object) else None
    for dtype in (FLOAT32, FLOAT64):
        if value in (dtype.type, dtype.name, dtype.char) or value is dtype:
            return dtype
    raise Unknown("numbers that are drawn in another dtype")


def _places_in(e: Emitter, axes: Sequence[Axis]) -> tuple[Position, Value]:
    """Where elements are in the whole draw, and how many that has."""
    first, whole = _places_along(e, axes[-1])
    e.k.leave_if(whole > _MOST)
    steps = list[Value]()
    for axis in reversed(axes[:-1]):
        steps.insert(0, whole)
        begin, count = _places_along(e, axis)
        first, whole = first + begin * whole, whole * count
        e.k.leave_if(whole > _MOST)
    return Position(first, tuple(steps)), whole


def _places_along(e: Emitter, axis: Axis) -> tuple[Value, Value]:
    """The place of the first element here in the whole draw, and how many that has."""
    k, dim = e.k, axis.dim
    place = None
    if dim == Dim("extent", axis.number):
        place = e.extents.places.get(("extent", axis.number))
    if place is None:
        return k.const(0, "i64"), k.convert("sext", axis.extent, "i64")
    if axis.number not in e.wholes:
        operand, number = place
        first, whole = (k.scalar(f"{n}{operand}_{number}", "i64") for n in (FIRST, WHOLE))
        e.wholes[axis.number] = first, whole
    return e.wholes[axis.number]


def arguments(
    names: Sequence[str], args: Sequence[ast.expr], named: Sequence[ast.keyword]
) -> dict[str, ast.expr]:
    """Arguments of a method, by the names of its parameters."""
    given = dict(zip(names, args, strict=False))
    more = {each.arg: each.value for each in named if each.arg in names}
    if len(args) > len(names) or len(more) < len(named) or given.keys() & more.keys():
        raise Unknown("a draw with other arguments")
    return {**given, **{name: value for name, value in more.items() if name is not None}}


def is_none(node: ast.expr | None) -> bool:
    """True if an argument is not given, or None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)
