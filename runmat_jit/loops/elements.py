"""Elements of arrays: indices within their extents; else the loop leaves."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

import numpy as np

from runmat_jit.core.types import is_complex
from runmat_jit.kernel.ir import Value
from runmat_jit.loops.complex_numbers import converted, number, part_kind
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import ONE, SINGLE
from runmat_jit.loops.values import (
    EXTENT,
    INT,
    LEAST,
    MOST,
    Array,
    Axis,
    Complex,
    Item,
    Scalar,
    Unknown,
    numpy_kind,
    scalar,
)


def element(e: Emitter, base: Array, index: ast.expr) -> Array:
    """The part of an array that indices show."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    found = base
    for part in parts:
        found = part_at(e, found, e.item(part))
    return found


def part_at(e: Emitter, base: Array, index: Item) -> Array:
    """The part of an array at an index of its first axis, which it is to have."""
    if not base.axes:
        raise Unknown("more indices than axes")
    return at(e, base, scalar(index))


def at(e: Emitter, base: Array, number: Scalar) -> Array:
    """The part of an array at an index of its first axis."""
    axis, rest = base.axes[0], base.axes[1:]
    return moved(e, base, rest, checked(e, number, axis), axis)


def checked(e: Emitter, number: Scalar, axis: Axis) -> Value:
    """An index within the extent of an axis, counted from its beginning."""
    k = e.k
    at = e.arithmetic.index(number)
    proven = number.top is not None and number.top[0] == axis.number and number.top[1] < 0
    if proven and number.low >= 0:
        return at
    safe = _safe_along(e, number, axis)
    if safe is None or safe.literal is False:
        return _within(e, number, at, axis)
    if safe.literal is True:
        return at
    unsafe = k.if_(k.prim("xor", safe, True), [at])
    with unsafe:
        unsafe.yield_(_within(e, number, at, axis))
    return unsafe.out[0]


def _within(e: Emitter, number: Scalar, at: Value, axis: Axis) -> Value:
    """An index, counted from the end where it is negative; leaves where it is out of range."""
    k = e.k
    if number.high < 0:
        at = at + axis.extent
    elif number.low < 0:
        at = k.select(at < 0, at + axis.extent, at)
    k.leave_if(k.prim("xor", k.prim("ult", at, axis.extent), True))
    return at


def _safe_along(e: Emitter, number: Scalar, axis: Axis) -> Value | None:
    """True if an index stays within its extent in all iterations of the innermost loop."""
    line = e.arithmetic.line_of(number)
    if not e.around or line is None or axis.dim is None:  # an extent of this iteration's
        return None
    inside = e.around[-1]
    terms = tuple([(sign, value.number) for sign, value in line.terms])
    key = line.step, terms, line.constant, axis.extent.number
    if inside.safe is not None:
        return inside.safe if key in inside.accesses else None
    inside.accesses[key] = line, axis.extent
    return None


def moved(e: Emitter, base: Array, axes: tuple[Axis, ...], at: Value, along: Axis) -> Array:
    """A part of an array that begins so far along an axis of it."""
    e.fix(along.number)
    step = at if along.stride == 1 else at * along.stride
    offset = step if base.offset is None else base.offset + step
    return replace(base, offset=offset, axes=axes, whole=False)


def turned_over(x: Array) -> Array:
    """``x.T``."""
    if len(x.axes) < 2:
        return replace(x, axes=x.axes[::-1], whole=False, turned=True)
    turned = not (x.turned and x.mirrored)
    return replace(x, axes=x.axes[::-1], whole=False, turned=turned, mirrored=not x.turned)


def spread(e: Emitter, mask: Array, rank: int) -> Array:
    """A mask of the first axes of an array as one of all its elements."""
    more = [single(e) for _ in range(rank - len(mask.axes))]
    return replace(mask, axes=(*mask.axes, *more), whole=False) if more else mask


def load(e: Emitter, at: Array) -> Item:
    """An element; a part with axes is no value, but a place."""
    if at.axes:
        return at
    offset = e.k.const(0, "index") if at.offset is None else at.offset
    kind = numpy_kind(at.dtype)
    if is_complex(at.dtype):
        values = (e.k.load(at.buffer, place, 0) for place in _places_of_parts(offset))
        own = part_kind(kind)
        return Complex(frozenset((kind,)), *(number(value, own) for value in values))
    value = e.k.load(at.buffer, offset, 0)
    return Scalar(frozenset((kind,)), value, *bounds_of(at.dtype), narrow=value.type == "f32")


def put(e: Emitter, at: Array, made: Item) -> None:
    if at.axes:
        raise Unknown("an assignment to more than one element")
    if at.operand >= 0:
        e.written.add(at.operand)
    offset = e.k.const(0, "index") if at.offset is None else at.offset
    if is_complex(at.dtype):
        whole = made if isinstance(made, Complex) else scalar(made)
        both = converted(e.arithmetic, whole, frozenset((numpy_kind(at.dtype),)))
        places = _places_of_parts(offset)
        for place, part in zip(places, (both.re, both.im), strict=True):
            e.arithmetic.used(part)
            e.k.store(at.buffer, place, part.value, 0)
        return
    value = e.arithmetic.stored(scalar(made), at.dtype)
    e.k.store(at.buffer, offset, value, 0)


def _places_of_parts(offset: Value) -> tuple[Value, Value]:
    """Where the parts of a complex number lie."""
    first = offset * 2
    return first, first + 1


def start_of(e: Emitter, x: Array) -> Value:
    """Index of the first element of an array in its buffer."""
    return e.k.const(0, "index") if x.offset is None else x.offset


def extent(e: Emitter, axis: Axis) -> Scalar:
    """An extent as a number of the program's."""
    e.fix(axis.number)
    value = e.k.convert("sext", axis.extent, "i64")
    return Scalar(frozenset((INT,)), value, 0, EXTENT, (axis.number, 0))


_UNKNOWN_EXTENT: Final = -(1 << 41)
"""Numbers of extents that are no other's begin below this one."""


def unknown_number(e: Emitter) -> int:
    """Number of an extent that is no other's."""
    return _UNKNOWN_EXTENT - e.k.placeholder("index").number


def single(e: Emitter) -> Axis:
    """An axis of one element."""
    return Axis(SINGLE, e.extents.value(ONE), 0, ONE)


def wrapped(e: Emitter, value: Value, dtype: np.dtype) -> Value:
    """An integer of 64 bits as one of few, as arrays of these wrap."""
    k, free = e.k, 64 - 8 * dtype.itemsize
    return k.prim("ashr" if dtype.kind == "i" else "lshr", k.prim("shl", value, free), free)


def bounds_of(dtype: np.dtype) -> tuple[int, int]:
    """Between which numbers integers of a dtype lie."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min), min(int(limits.max), MOST)
    return (0, 1) if dtype.kind == "b" else (LEAST, MOST)
