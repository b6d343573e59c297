"""Draws of random numbers in a turn, from generators of :mod:`runmat_jit.random`.

A stream's position is a number that the loop carries; where the loop has ended, the generator goes
on from there. Numbers are those of the rows of :mod:`runmat_jit.ops.random`, in any way to run.
"""

from __future__ import annotations

import ast
import sys
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.loops.extents import ONE, SINGLE, Dim
from runmat_jit.loops.products import Products
from runmat_jit.loops.values import (
    FLOAT,
    FLOAT32,
    FLOAT64,
    Array,
    Axis,
    Item,
    Lazy,
    Object,
    Position,
    Scalar,
    Stream,
    Unknown,
    literal,
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
_PARAMETERS: Final = ("size", "dtype", "out")
_MOST: Final = (1 << 31) - 1
"""Elements of a draw."""


class Draws(Products):
    """Emits draws."""

    __slots__ = ("drawn", "wholes")

    drawn: int
    """Elements of a draw that have a block in common, at most."""

    wholes: dict[int, tuple[Value, Value]]
    """Of extents, by their numbers: the first lane of a tile, and how many there are in all."""

    @abstractmethod
    def operate(self, op: str, *items: Item) -> Item:
        """An operator on some values."""

    def draw(
        self, stream: Stream, method: str, args: Sequence[ast.expr], named: Sequence[ast.keyword]
    ) -> Item:
        """A call of a generator's method."""
        if method in _SCALED:
            return self.scaled(stream, *_SCALED[method], arguments(_ENDS[method], args, named))
        if method not in _ROWS:
            raise Unknown(f"the method {method} of a generator")
        return self.drawn_by(stream, method, arguments(_PARAMETERS, args, named))

    def scaled(
        self, stream: Stream, method: str, ends: tuple[str, str], given: Mapping[str, ast.expr]
    ) -> Item:
        """Numbers of a distribution from a place on, or about it, and how wide that is.

        What NumPy may refuse, or what is no number, is for Python to see.
        """
        k, found = self.k, list[Scalar]()
        for name, default in zip(ends, (0.0, 1.0), strict=True):
            node = given.get(name)
            number = literal(k, default) if node is None else self.scalar(self.item(node))
            if not all(kind.python for kind in number.kinds):
                raise Unknown("a distribution of numbers of NumPy's")
            value = self.arithmetic.cast(number, FLOAT64)
            found.append(Scalar(frozenset((FLOAT,)), value))
        first, width = found
        if ends[0] == "low":
            width = replace(width, value=width.value - first.value)
        is_wide = (width.value > 0) & (width.value <= sys.float_info.max)
        k.leave_if(k.prim("xor", is_wide, True))
        drawn = self.drawn_by(stream, method, {"size": given["size"]} if "size" in given else {})
        return self.operate("Add", first, self.operate("Mult", width, drawn))

    def drawn_by(self, stream: Stream, method: str, given: Mapping[str, ast.expr]) -> Item:
        """A draw from a row."""
        if not is_none(given.get("out")):
            raise Unknown("numbers that are drawn into an array")
        dtype = self.dtype_of(given.get("dtype"))
        k, row, name = self.k, ROWS[_ROWS[method]], f"{COUNTER}{stream.operand}"
        counter = self.scalar(self.names[name])
        self.asks_numpy = self.arithmetic.ours = True
        params, per_block = {"dtype": dtype.name}, ELEMENTS_PER_BLOCK[dtype.itemsize]
        found: Item
        if is_none(given.get("size")):
            blocks: Value | int = 1
            self.drawn = max(self.drawn, 1)
            zero = k.const(0, "i32")
            assert row.expand is not None, "it is elementwise"
            value = cast(k, row.expand(k, zero, stream.key, counter.value, **params), "f64")
            found = Scalar(frozenset((FLOAT,)), value, narrow=dtype == FLOAT32)
        else:
            axis = self.axis_of_size(given["size"])
            self.drawn = max(self.drawn, per_block)
            first, whole = self.places_along(axis)
            k.leave_if(whole > _MOST)
            blocks = k.prim("sdiv", whole + (per_block - 1), per_block)
            operands = Position(first), stream.key, counter.value
            types, axes = ("i32", "i64", "i64"), (replace(axis, stride=0),)
            found = Lazy(row, operands, types, params, dtype, axes, self.stores)
        self.names[name] = replace(counter, value=counter.value + blocks)
        return found

    def dtype_of(self, node: ast.expr | None) -> np.dtype:
        """The dtype of a draw."""
        if node is None:
            return FLOAT64
        item = self.item(node)
        value = item.value if isinstance(item, Object) else None
        for dtype in (FLOAT32, FLOAT64):
            if value in (dtype.type, dtype.name, dtype.char) or value is dtype:
                return dtype
        raise Unknown("numbers that are drawn in another dtype")

    def axis_of_size(self, node: ast.expr) -> Axis:
        """The axis along which numbers are drawn; to say how many, no extent is asked for."""
        match node:
            case ast.Tuple(elts=[size]) | ast.List(elts=[size]):
                return self.axis_of_size(size)
            case ast.Attribute(value=ast.Name() as of, attr="shape" | "size"):
                return self.only_axis(self.item(of))
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name() as of, attr="shape"),
                slice=ast.Constant(value=int(place)),
            ):
                return self.only_axis(self.item(of), place)
            case ast.Call(func=ast.Name(id="len") as function, args=[ast.Name() as of]):
                called = self.item(function)
                if isinstance(called, Object) and called.value is len:
                    return self.only_axis(self.item(of))
        number = self.scalar(self.item(node))
        if type(number.literal) is int and number.literal > 1:
            dim = Dim("literal", number.literal)
        elif number.top is not None and any(number is each for each in self.given.values()):
            dim = Dim("extent", number.top[0])  # an operand that is equal to it
        else:
            raise Unknown("as many numbers as no array has")
        return Axis(self.extents.number(dim), self.extents.value(dim), 0, dim)

    def only_axis(self, of: Item, place: int | None = None) -> Axis:
        """The axis of an array that has one, or the one in a place."""
        count = len(of.axes) if isinstance(of, Array | Lazy) else 0
        at = 0 if place is None and count == 1 else count if place is None else place
        if isinstance(of, Array | Lazy) and -count <= at < count:
            axis = of.axes[at]
            if axis.number != SINGLE and axis.dim not in (None, ONE):
                return axis
        raise Unknown("numbers that are drawn in another shape")

    def places_along(self, axis: Axis) -> tuple[Value, Value]:
        """The place of the first element here in the whole draw, and how many that has."""
        k, dim = self.k, axis.dim
        place = None
        if dim == Dim("extent", axis.number):
            place = self.extents.places.get(("extent", axis.number))
        if place is None:
            return k.const(0, "i64"), k.convert("sext", axis.extent, "i64")
        if axis.number not in self.wholes:
            operand, number = place
            first, whole = (k.scalar(f"{n}{operand}_{number}", "i64") for n in (FIRST, WHOLE))
            self.wholes[axis.number] = first, whole
        return self.wholes[axis.number]


def arguments(
    names: Sequence[str], args: Sequence[ast.expr], named: Sequence[ast.keyword]
) -> dict[str, ast.expr]:
    """The arguments of a method, by the names of its parameters."""
    if len(args) > len(names):
        raise Unknown("a draw with other arguments")
    given = dict(zip(names, args, strict=False))
    for each in named:
        if each.arg is None or each.arg not in names or each.arg in given:
            raise Unknown("a draw with other arguments")
        given[each.arg] = each.value
    return given


def is_none(node: ast.expr | None) -> bool:
    """Whether an argument is not given, or None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)
