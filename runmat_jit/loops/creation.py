"""Arrays that a turn makes of numbers: of some that are written, or of one everywhere."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.types import COMPLEX_DTYPES, is_complex
from runmat_jit.kernel.ir import Value
from runmat_jit.loops import elements, points, registers, sizes
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.values import (
    FLOAT64,
    TYPES,
    Array,
    Axis,
    Item,
    Items,
    Lazy,
    Object,
    Scalar,
    Unknown,
    literal,
    scalar,
)
from runmat_jit.loops.wholes import Point, is_turned, is_whole, known_dims, plain_of


def rows_of(e: Emitter, x: Array, count: int) -> tuple[Item, ...]:
    """The parts of an array along its first axis, of which there are to be so many."""
    first, rest = x.axes[0], x.axes[1:]
    e.fix(first.number)
    e.k.leave_if(e.k.ne(first.extent, count))
    places = [e.k.const(place, "index") for place in range(count)]
    return tuple([elements.load(e, elements.moved(e, x, rest, at, first)) for at in places])


def stacked(e: Emitter, items: Sequence[Item]) -> Item:
    """``np.stack([a, b])`` of arrays of one shape."""
    parts = items[0].items if len(items) == 1 and isinstance(items[0], Items) else ()
    if parts and all(isinstance(part, Scalar) for part in parts):
        return array_of(e, items[0])
    arrays = [part for part in parts if isinstance(part, Array | Lazy) and is_whole(part)]
    kinds = {(x.dtype, len(x.axes)) for x in arrays}
    if len(arrays) != len(parts) or len(kinds) != 1:
        raise Unknown("a stack of what are no arrays of one dtype and rank")
    first = arrays[0]
    for other in arrays[1:]:
        for a, b in zip(first.axes, other.axes, strict=True):
            points.equal(e, a, b)
    dims = Dim("literal", len(arrays)), *known_dims(first.axes)
    made = e.memory.new(first.dtype, dims, e.held_arrays())
    for row, value in zip(rows_of(e, made, len(arrays)), arrays, strict=True):
        assert isinstance(row, Array), "its parts have axes"
        points.fill_new(e, row, value)
    if any(map(is_turned, arrays)):
        raise Unknown("a stack of arrays in several orders")
    return made


def rolled(e: Emitter, items: Sequence[Item]) -> Item:
    """``np.roll(x, shift)`` of a vector, or along an axis that is written in the program."""
    x, *others = (points.settled(e, items[0]), *items[1:])
    shift, place = others[:1], plain_of(others[1]) if len(others) == 2 else 0
    by = shift[0] if shift and isinstance(shift[0], Scalar) else None
    axes = x.axes if isinstance(x, Array) and len(others) < 3 else ()
    is_known = type(place) is int and (len(others) == 2 or len(axes) == 1)
    if not (is_known and -len(axes) <= place < len(axes)) or by is None or by.is_float:
        raise Unknown("roll along what is no axis, or with other arguments")
    assert isinstance(x, Array), "it has axes"
    e.asks_numpy = True
    if is_turned(x):
        raise Unknown("roll of an array in another order")
    k, at, axis = e.k, e.arithmetic.index(by), x.axes[place]
    e.fix(axis.number)
    made = e.memory.new(x.dtype, known_dims(x.axes), e.held_arrays())
    extent = k.select(axis.extent < 1, 1, axis.extent)
    rest = k.prim("srem", at, extent)
    ahead = k.select(rest < 0, rest + extent, rest)
    ahead = k.select(axis.extent < 1, 0, ahead)
    for begin, source, length in (
        (ahead, k.const(0, "index"), axis.extent - ahead),
        (k.const(0, "index"), axis.extent - ahead, ahead),
    ):
        to = _cut(e, made, place, begin, length)
        points.fill_new(e, to, _cut(e, x, place, source, length))
    return replace(made, viewed=len(items) == 2)


def _cut(e: Emitter, x: Array, place: int, begin: Value, length: Value) -> Array:
    """A part along one axis."""
    axes, place = list(x.axes), place % len(x.axes)
    axis, number = axes[place], elements.unknown_number(e)
    axes[place] = Axis(number, length, axis.stride, limit=axis.dim or axis.limit)
    return elements.moved(e, x, tuple(axes), begin, axis)


def array_of(e: Emitter, item: Item) -> Item:
    """``np.array([a, b])`` of numbers, or of lists of them."""
    shape, items = _in_lists(item)
    numbers = [scalar(each) for each in items]
    kinds = [kind.dtype for number in numbers for kind in number.kinds]
    if not numbers or any(len({k.dtype for k in n.kinds}) != 1 for n in numbers):
        raise Unknown("an array of what are no numbers, or numbers of several classes")
    dtype = np.result_type(*kinds)
    if dtype not in TYPES or {k.kind == "b" for k in kinds} == {True, False}:
        raise Unknown("an array of numbers of these classes")
    dims = tuple([Dim("literal", extent) for extent in shape])
    made = e.memory.new(dtype, dims, e.held_arrays())
    assert made.offset is not None, "it is in memory of the loop's own"
    for place, number in enumerate(numbers):
        value = e.arithmetic.stored(number, dtype)
        e.k.store(made.buffer, made.offset + place, value, 0)
    e.arithmetic.mark_ours(bits=False)
    return made


def _in_lists(item: Item) -> tuple[tuple[int, ...], tuple[Item, ...]]:
    """The extents of lists in lists, and what is in the innermost ones."""
    if not isinstance(item, Items):
        raise Unknown("an array of what is no list")
    parts = [each for each in item.items if isinstance(each, Items)]
    if not parts:
        return (len(item.items),), tuple(item.items)
    found = [_in_lists(each) for each in parts]
    if len(parts) < len(item.items) or len({shape for shape, _ in found}) > 1:
        raise Unknown("an array of lists that are not alike")
    inner = tuple([each for _, items in found for each in items])
    return (len(parts), *found[0][0]), inner


@frozen_object
class FilledWith:
    """Contents of a new array: a number, and the dtypes that the array may have."""

    number: Scalar
    dtypes: frozenset[np.dtype]


def _filling(
    e: Emitter, fn: Any, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]
) -> FilledWith | None:
    """Contents that a call gives a new array; None: the call is not known."""
    named = {each.arg: e.item(each.value) for each in keywords}
    rest = [e.item(each) for each in args[1:]]
    number: Item = literal(e.k, 1 if fn is np.ones else 0)
    if fn is np.full:
        number = rest.pop(0) if rest else Object(None)
    dtype = rest.pop(0) if rest else named.pop("dtype", Object(None))
    wanted = dtype.value if isinstance(dtype, Object) else dtype
    if rest or named or not isinstance(number, Scalar) or not isinstance(wanted, type | None):
        return None
    if wanted is not None:
        return FilledWith(number, frozenset((np.dtype(wanted),)))
    own = [kind.dtype for kind in number.kinds] if fn is np.full else [FLOAT64]
    return FilledWith(number, frozenset(own))


def filled(e: Emitter, fn: Any, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Array:
    """``np.zeros((2, n))`` and its siblings, of extents that are known before the loop."""
    found, is_square = _filling(e, fn, args, keywords), fn in (np.eye, np.identity)
    dims = sizes.dims_of(e, args[0]) if args else ()
    if is_square:
        dims = dims * 2 if len(dims) == 1 else ()
    dtypes = frozenset[np.dtype]() if found is None else found.dtypes & {*TYPES, *COMPLEX_DTYPES}
    if found is None or len(found.dtypes) != 1 or not dtypes or not dims or e.streams is not None:
        raise Unknown(f"a call of {fn.__name__} in this way")
    (dtype,) = dtypes
    made = e.memory.new(dtype, dims, e.held_arrays())
    if is_complex(dtype):
        points.fill_new(e, made, found.number)
    else:
        _fill(e, made, e.arithmetic.stored(found.number, dtype))
    if is_square:
        _fill_diagonal(e, made)
    e.arithmetic.mark_ours(bits=False)
    return made


def _fill_diagonal(e: Emitter, made: Array) -> None:
    """Store ones where both coordinates are equal."""
    k, extent = e.k, made.axes[0].extent
    one, first = literal(k, 1), elements.start_of(e, made)
    with k.loop(0, extent) as loop:
        elements.put(e, replace(made, offset=first + loop.i * (extent + 1), axes=()), one)
        loop.yield_()


FILLED: Final = (np.zeros, np.ones, np.empty, np.ndarray, np.full, np.eye, np.identity)
"""Functions that make arrays of a shape that they are given."""


def _fill(e: Emitter, made: Array, value: Value) -> None:
    """Store a number into memory that nobody reads."""

    def put(point: Point) -> None:
        offset, stride = points.address(e, made, point)
        e.k.store(made.buffer, offset, value, stride)

    points.everywhere(e, made.axes, put)


def like(e: Emitter, item: Item, number: float) -> Item:
    """``np.zeros_like(x)`` and its siblings."""
    if not isinstance(item, Array | Lazy):
        raise Unknown("an array like what is none")
    item = points.settled(e, item)  # its events count
    assert isinstance(item, Array), "it is an array"
    if is_complex(item.dtype):
        made = points.blank(e, item.dtype, item.axes)
        points.fill_new(e, made, literal(e.k, number))
        return replace(made, turned=is_turned(item))
    value = e.k.const(bool(number) if item.dtype.kind == "b" else number, TYPES[item.dtype])
    if e.streams is not None:
        made = registers.blank(e, item)
        return registers.computed_by(
            e,
            made,
            lambda place: points.everywhere(
                e, made.axes, partial(points.put_element, e, place, value)
            ),
        )
    made = points.blank(e, item.dtype, item.axes)
    _fill(e, made, value)
    return replace(made, turned=is_turned(item))
