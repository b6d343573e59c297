"""Arrays that an iteration makes of numbers: of several, or of one everywhere."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.types import COMPLEX_DTYPES, is_complex
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.loops import elements, indexing, registers, sizes
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.signatures import (
    ARRAY,
    VECTOR,
    Signature,
    Table,
    array,
    is_integer,
    is_number,
    is_written,
    listed,
)
from runmat_jit.loops.values import (
    FLOAT32,
    FLOAT64,
    INT64,
    TYPES,
    Array,
    Axis,
    Item,
    Items,
    Object,
    Scalar,
    Unknown,
    any_number,
    literal,
    numpy_kind,
    scalar,
)
from runmat_jit.loops.whole_arrays import Point, Whole, is_turned, known_dims, plain_of
from runmat_jit.ops.table import row_of


def rows_of(e: Emitter, x: Array, count: int) -> tuple[Item, ...]:
    """The parts of an array along its first axis, of which there are to be so many."""
    return tuple([elements.load(e, row) for row in places_of(e, x, count)])


def places_of(e: Emitter, x: Array, count: int) -> list[Array]:
    """The same as places in memory; leaves where there are more, or fewer."""
    first, rest = x.axes[0], x.axes[1:]
    e.fix(first.number)
    e.k.leave_if(e.k.ne(first.extent, count))
    places = [e.k.const(place, "index") for place in range(count)]
    return [elements.moved(e, x, rest, at, first) for at in places]


def store_items(e: Emitter, at: Array, made: Items) -> None:
    """``x[i] = a, b, c`` of numbers, one after the other."""
    numbers = [any_number(each) for each in made.items]
    if len(at.axes) != 1 or at.mask is not None:
        raise Unknown("a tuple in the place of other elements than as many in a row")
    for place, number in zip(places_of(e, at, len(numbers)), numbers, strict=True):
        indexing.store(e, place, number)


def stacked(e: Emitter, parts: Items) -> Item:
    """``np.stack([a, b])`` of arrays of one shape."""
    arrays: Sequence[Whole] = parts.items
    if len({(x.dtype, len(x.axes)) for x in arrays}) != 1 or any(map(is_turned, arrays)):
        raise Unknown("a stack of what are no arrays of one dtype, rank and order")
    first = arrays[0]
    for other in arrays[1:]:
        for a, b in zip(first.axes, other.axes, strict=True):
            indexing.equal(e, a, b)
    dims = Dim("literal", len(arrays)), *known_dims(first.axes)
    made = e.memory.new(first.dtype, dims, e.held_arrays())
    for row, value in zip(rows_of(e, made, len(arrays)), arrays, strict=True):
        assert isinstance(row, Array), "its parts have axes"
        indexing.fill_new(e, row, value)
    return made


def rolled(e: Emitter, of: Item, by: Scalar, along: Item | None = None) -> Item:
    """``np.roll(x, shift)`` of a vector, or along an axis that is written in the program."""
    x, place = indexing.settled_array(e, of), 0 if along is None else plain_of(along)
    e.asks_numpy = True
    if is_turned(x) or not -len(x.axes) <= place < len(x.axes):
        raise Unknown("roll along what is no axis, or of an array in another order")
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
        indexing.fill_new(e, to, _cut(e, x, place, source, length))
    return replace(made, viewed=along is None)


def _cut(e: Emitter, x: Array, place: int, begin: Value, length: Value) -> Array:
    """A part along one axis."""
    axes, place = list(x.axes), place % len(x.axes)
    axis, number = axes[place], elements.unknown_number(e)
    axes[place] = Axis(number, length, axis.stride, limit=axis.most)
    return elements.moved(e, x, tuple(axes), begin, axis)


def array_of(e: Emitter, item: Items) -> Array:
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


def _in_lists(item: Items) -> tuple[tuple[int, ...], tuple[Item, ...]]:
    """The extents of lists in lists, and what is in the innermost ones."""
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
    if rest or named or not isinstance(number, Scalar):
        return None
    if isinstance(wanted, type | np.dtype):
        return FilledWith(number, frozenset((np.dtype(wanted),)))
    if wanted is not None:
        return None
    own = [kind.dtype for kind in number.kinds] if fn is np.full else [FLOAT64]
    return FilledWith(number, frozenset(own))


def filled(e: Emitter, fn: Any, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Array:
    """``np.zeros((2, n))`` and its siblings, of extents that are known before the loop."""
    dims, is_square = sizes.dims_of(e, args[0]) if args else (), fn in (np.eye, np.identity)
    if fn is np.arange and len(args) == len(dims) == 1 and not keywords:
        return counted(e, dims)
    found = None if fn is np.arange else _filling(e, fn, args, keywords)
    if is_square:
        dims = dims * 2 if len(dims) == 1 else ()
    dtypes = frozenset[np.dtype]() if found is None else found.dtypes & {*TYPES, *COMPLEX_DTYPES}
    if found is None or len(found.dtypes) != 1 or not dtypes or not dims or e.streams is not None:
        raise Unknown(f"a call of {fn.__name__} in this way")
    (dtype,) = dtypes
    made = e.memory.new(dtype, dims, e.held_arrays())
    if is_complex(dtype):
        indexing.fill_new(e, made, found.number)
    else:
        _fill(e, made, e.arithmetic.stored(found.number, dtype))
    if is_square:
        _fill_diagonal(e, made)
    e.arithmetic.mark_ours(bits=False)
    return made


def _fill_diagonal(e: Emitter, made: Array) -> None:
    """Store ones where both coordinates are equal."""
    _store_diagonal(e, made, made.axes[0].extent, literal(e.k, 1))


def fill_diagonal(e: Emitter, items: Sequence[Item]) -> None:
    """``np.fill_diagonal(a, x)`` of a matrix and a number."""
    at = items[0] if len(items) == 2 else None
    if not isinstance(at, Array) or len(at.axes) != 2 or at.copied or e.streams is not None:
        raise Unknown("a diagonal of what is no matrix")
    number = scalar(items[1])
    rows, columns = at.axes
    e.fix(rows.number, columns.number)
    e.k.leave_if((rows.extent < 2) | (columns.extent < 2))
    count = e.k.select(rows.extent < columns.extent, rows.extent, columns.extent)
    if at.home is not None:
        e.changed.add((at.dtype, at.pool))
    _store_diagonal(e, at, count, number)
    e.stores += 1


def _store_diagonal(e: Emitter, at: Array, count: Value, number: Scalar) -> None:
    k, (rows, columns) = e.k, at.axes
    with k.loop(0, count) as loop:
        place = elements.moved(e, elements.moved(e, at, (), loop.i, rows), (), loop.i, columns)
        elements.put(e, place, number)
        loop.yield_()


def counted(e: Emitter, dims: tuple[Dim, ...]) -> Array:
    """``np.arange(n)`` of an extent that is known before the loop."""
    return number_elements(e, e.memory.new(INT64, dims, e.held_arrays()))


def number_elements(e: Emitter, made: Array) -> Array:
    """Store their places into the elements of a new vector of integers."""
    k = e.k

    def put(point: Point) -> None:
        offset, stride = indexing.target(e, made, point)
        number = k.convert("sext", point.lane, "i64") + k.lane_id("i64")
        k.store(made.buffer, offset, number, stride)

    indexing.everywhere(e, made.axes, put)
    e.arithmetic.mark_ours(bits=False)
    return made


def accumulated(e: Emitter, of: Item, *, fn: np.ufunc = np.add) -> Array:
    """``np.cumsum(x)`` and ``fn.accumulate(x)`` of a vector: one element after the other."""
    x = indexing.settled_array(e, of)
    made = indexing.blank(e, x.dtype, x.axes)

    def put(at: Value, found: Value) -> None:
        place = elements.moved(e, made, (), at, made.axes[0])
        e.k.store(made.buffer, elements.start_of(e, place), found, 0)

    _one_by_one(e, x, fn, put)
    return made


def multiplied(e: Emitter, of: Item) -> Scalar:
    """``np.prod(x)`` of a vector of floats: one element after the other."""
    x = indexing.settled_array(e, of)
    e.k.leave_if(x.axes[0].extent < 1)
    found = _one_by_one(e, x, np.multiply, lambda _at, _found: None)
    return Scalar(frozenset((numpy_kind(x.dtype),)), found, narrow=found.type == "f32")


def _one_by_one(e: Emitter, x: Array, fn: np.ufunc, emit: Callable[[Value, Value], None]) -> Value:
    """Combine the elements of a vector in order; ``emit`` is given each place and what is there."""
    k, (axis,), kind, row = e.k, x.axes, TYPES[x.dtype], row_of(fn)
    assert row is not None, "each has a row"
    assert row.expand is not None, "of elements"
    e.fix(axis.number)
    e.asks_numpy = True
    e.arithmetic.mark_ours(bits=False)
    with k.loop(0, axis.extent, [k.const(0, kind)]) as loop:
        found = k.load(x.buffer, elements.start_of(e, elements.moved(e, x, (), loop.i, axis)), 0)
        total = k.select(k.eq(loop.i, 0), found, row.expand(k, loop.carry[0], found))
        if kind in FLOATS and row.events:
            k.note(total)
        emit(loop.i, total)
        loop.yield_(total)
    return loop.out[0]


FILLED: Final = (
    *(np.zeros, np.ones, np.empty, np.ndarray, np.full, np.eye, np.identity),
    np.arange,
)
"""Functions that make arrays of a shape that they are given."""


def _fill(e: Emitter, made: Array, value: Value) -> None:
    """Store a number into memory that nobody reads."""

    def put(point: Point) -> None:
        offset, stride = indexing.target(e, made, point)
        e.k.store(made.buffer, offset, value, stride)

    indexing.everywhere(e, made.axes, put)


def like(e: Emitter, x: Item, *, number: float) -> Item:
    """``np.zeros_like(x)`` and its siblings."""
    item = indexing.settled_array(e, x)  # its events count
    if is_complex(item.dtype):
        made = indexing.blank(e, item.dtype, item.axes)
        indexing.fill_new(e, made, literal(e.k, number))
        return replace(made, turned=is_turned(item))
    value = e.k.const(bool(number) if item.dtype.kind == "b" else number, TYPES[item.dtype])
    if e.streams is not None:
        made = registers.blank(e, item)
        return registers.computed_by(
            e,
            made,
            lambda place: indexing.everywhere(
                e, made.axes, partial(indexing.put_element, e, place, value)
            ),
        )
    made = indexing.blank(e, item.dtype, item.axes)
    _fill(e, made, value)
    return replace(made, turned=is_turned(item))


_OF_NUMBERS: Final = array(1, of=(FLOAT64, FLOAT32, INT64))


def _accumulating(fn: np.ufunc) -> tuple[Signature, ...]:
    return (Signature((_OF_NUMBERS,), partial(accumulated, fn=fn)),)


ACCUMULATING: Final[Table] = {
    fn: _accumulating(fn) for fn in (np.add, np.multiply, np.maximum, np.minimum)
}
"""Calls of ``accumulate``, by the ufunc."""
_MULTIPLIED: Final = (Signature((array(1, of=(FLOAT64, FLOAT32)),), multiplied),)
CALLS_OF_CREATION: Final[Table] = {
    np.array: [Signature((lambda x: isinstance(x, Items),), array_of)],
    np.stack: [Signature((listed(is_number),), array_of), Signature((listed(ARRAY),), stacked)],
    np.roll: [
        Signature((VECTOR, is_integer), rolled),
        Signature((ARRAY, is_integer, is_written), rolled),
    ],
    np.cumsum: ACCUMULATING[np.add],
    "cumsum": ACCUMULATING[np.add],
    np.cumprod: ACCUMULATING[np.multiply],
    "cumprod": ACCUMULATING[np.multiply],
    np.prod: _MULTIPLIED,
    "prod": _MULTIPLIED,
    np.zeros_like: [Signature((ARRAY,), partial(like, number=0))],
    np.ones_like: [Signature((ARRAY,), partial(like, number=1))],
    np.empty_like: [Signature((ARRAY,), partial(like, number=0))],
}
