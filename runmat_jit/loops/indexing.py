"""Elements of whole arrays in an iteration: their addresses, their computation, their stores.

An expression of arrays is computed element by element where it is stored or reduced, in lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from runmat_jit.core.types import is_complex, part_dtype
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.loops import complex_arrays, elements, registers
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import SINGLE
from runmat_jit.loops.values import (
    TYPES,
    Array,
    Axis,
    Item,
    Lazy,
    Position,
    Scalar,
    Unknown,
    is_narrow_dtype,
    scalar,
)
from runmat_jit.loops.whole_arrays import Point, Whole, is_turned, is_whole, reports, tells
from runmat_jit.lower.exact_notes import ExactNotes
from runmat_jit.ops.random import ELEMENTS_PER_BLOCK, numbers_of_block


def matched(e: Emitter, arrays: Sequence[Any]) -> dict[int, Axis]:
    """Axes by the numbers of their extents; those of equal extents are the same one's.

    Leaves where extents are not equal that have to be, of which nothing is known before.
    """
    known: dict[int, Axis] = {}
    depth = max((len(array.axes) for array in arrays), default=0)
    for place in range(1, depth + 1):
        first: Axis | None = None
        for array in arrays:
            if len(array.axes) < place:
                continue
            axis = array.axes[-place]
            if axis.number == SINGLE:
                known.setdefault(SINGLE, axis)
                continue
            own = known.setdefault(axis.number, axis)
            if first is None:
                first = own
            elif own.number != first.number:
                sources = {each.dim.source if each.dim else "" for each in (own, first)}
                if sources == {"literal"}:
                    raise Unknown("shapes that do not match")
                equal(e, own, first)
                kept, gone = (own, first) if first.dim is None else (first, own)
                first = kept
                same = [number for number, each in known.items() if each.number == gone.number]
                known.update(dict.fromkeys(same, kept))
    return known


def equal(e: Emitter, a: Axis, b: Axis) -> None:
    """Leave where two extents are not equal."""
    if a.number != b.number:
        e.fix(a.number, b.number)
        e.k.leave_if(e.k.ne(a.extent, b.extent))


# -- elements --------------------------------------------------------------------------------------
def element(e: Emitter, x: Lazy | Array | Value | Position, wanted: str, point: Point) -> Value:
    """An operand's element at a point, as a value of a type."""
    if isinstance(x, Value):
        is_lanes = e.streams is not None and e.streams.inside
        return registers.for_lanes(e, x) if is_lanes else x
    if isinstance(x, Position):
        place = e.k.convert("trunc", point.lane, "i32") + e.k.lane_id("i32")
        return place + e.k.convert("trunc", first_of_row(e, x, point.outer), "i32")
    found = point.values.get(id(x))
    if found is None:
        found = _loaded(e, x, point) if isinstance(x, Array) else _expanded(e, x, point)
        point.values[id(x)] = found
    if found.type == wanted:
        return found
    made = cast(e.k, found, wanted)
    if found.type == "f64" and wanted == "f32":
        if e.exact:
            point.notes.rise(made, (found,), ())
        else:
            e.k.note(made)
    return made


def first_of_row(e: Emitter, x: Position, outer: Sequence[Value]) -> Value:
    """The place of the first element of a row in a draw."""
    place = x.first
    for coordinate, step in zip(outer[len(outer) - len(x.steps) :], x.steps, strict=True):
        place = place + e.k.convert("sext", coordinate, "i64") * step
    return place


def final(e: Emitter, x: Lazy | Array | Value, wanted: str, point: Point) -> Value:
    """An element as it is stored; what it tells of events is noted."""
    found = element(e, x, wanted, point)
    if not e.exact and tells(x) and found.type in FLOATS:
        e.k.note(found)
    return found


def _expanded(e: Emitter, x: Lazy, point: Point) -> Value:
    """The element of an operation; notes its events."""
    if e.streams is not None and isinstance(x.operands[0], Position):
        return registers.drawn(e, x)
    if x.stores != e.stores or (x.mask is not None and x.mask is not e.mask):
        raise Unknown("an expression whose operands are changed meanwhile, or of a mask's elements")
    row = x.op
    assert row.expand is not None, "it is elementwise"
    pairs = zip(x.operands, x.types, strict=True)
    values = tuple([element(e, operand, wanted, point) for operand, wanted in pairs])
    made = row.expand(e.k, *values, **x.params)
    if is_narrow_dtype(x.dtype):
        made = elements.wrapped(e, made, x.dtype)
    if e.exact:
        if reports(x) and made.type in FLOATS:
            floats = [v for v in values if v.type in FLOATS and v.literal is None]
            strict = [values[place] for place in row.strict]
            point.notes.rise(made, floats, [v for v in strict if v.literal is None])
    else:
        for operand, value, absorbs in zip(x.operands, values, row.absorbs, strict=True):
            if (absorbs or made.type not in FLOATS) and tells(operand):
                e.k.note(value)
    if row.event_test is not None:
        condition = row.event_test(e.k, values, made)
        if condition is not None:
            e.k.note(condition)
    return made


def _loaded(e: Emitter, x: Array, point: Point) -> Value:
    if x.held:
        return registers.loaded(e, x)
    offset, stride = address(e, x, point)
    return e.k.load(x.buffer, offset, stride)


def address(e: Emitter, x: Array, point: Point) -> tuple[Value, Value | int]:
    """Where the elements of an array lie at a point, and how far from lane to lane."""
    if e.streams is not None and e.streams.inside:
        return registers.address(e, x)
    offset = x.offset
    inner = point.outer[len(point.outer) + 1 - len(x.axes) :] if len(x.axes) > 1 else ()
    for axis, coordinate in zip(x.axes[:-1], inner, strict=True):
        if axis.number == SINGLE or axis.stride == 0:
            continue
        step = coordinate if axis.stride == 1 else coordinate * axis.stride
        offset = step if offset is None else offset + step
    last = x.axes[-1]
    if last.number == SINGLE or last.stride == 0:
        return e.k.const(0, "index") if offset is None else offset, 0
    if last.stride != 1:
        e.strided.add((x.operand, last.number))
    step = point.lane if last.stride == 1 else point.lane * last.stride
    return step if offset is None else offset + step, last.stride


def target(e: Emitter, at: Array, point: Point) -> tuple[Value, Value | int]:
    """The same of elements that are stored: of an axis of one element there is one lane."""
    offset, stride = address(e, at, point)
    return (offset + point.lane, 1) if stride == 0 else (offset, stride)


def everywhere(e: Emitter, axes: Sequence[Axis], emit: Callable[[Point], None]) -> None:
    """Emit something for all elements of a shape, in lanes along the last axis."""
    if e.streams is not None:
        registers.everywhere(e, axes, emit)
        return
    k = e.k
    note_span(e, axes)

    def row(outer: tuple[Value, ...]) -> None:
        with k.lanes(0, axes[-1].extent) as lanes:
            emit(Point(outer, lanes.i, ExactNotes(k)))

    rows(e, axes[:-1], row)


# -- stores ----------------------------------------------------------------------------------------
def store(e: Emitter, at: Array, made: Item) -> None:
    """Store a number, or an array, where a part of an array is."""
    if at.held:
        registers.store(e, at, lambda place: fill(e, place, made))
        return
    note_store(e, at)
    if not at.axes:
        if is_whole(made):
            raise Unknown("an array in the place of a number")
        elements.put(e, at, made)
        e.stores += 1
        return
    if isinstance(made, Lazy | Array) and may_overlap(e, made, at):
        made = materialized(e, made)
    fill(e, at, made)


def note_store(e: Emitter, at: Array) -> None:
    """Take note that elements of an array are stored to."""
    if at.home is not None:
        home = at.home.number
        if home not in e.memory.apart or home in e.shared:  # a list may hold it
            e.changed.add((at.dtype, at.pool))
    if at.copied:
        raise Unknown("a store into an array that may be the caller's")
    if at.operand >= 0:
        e.written.add(at.operand)


def fill(e: Emitter, at: Array, made: Item) -> None:
    """Store a number, or the elements of an array, into an array."""
    if is_complex(at.dtype):
        _fit(e, at, made)
        _fill_complex(e, at, made)
        return
    wanted = TYPES[at.dtype]
    value: Value | Whole
    if isinstance(made, Scalar):
        value = e.arithmetic.stored(made, at.dtype)
    elif isinstance(made, Array) and not made.axes:
        value = e.arithmetic.stored(scalar(elements.load(e, made)), at.dtype)
    elif isinstance(made, Array | Lazy):
        is_narrow = is_narrow_dtype(at.dtype) or is_narrow_dtype(made.dtype)
        pair = made.dtype.kind + at.dtype.kind
        loses = is_narrow and not np.can_cast(made.dtype, at.dtype)
        if loses or pair == "fi" or pair[0] == "c":
            raise Unknown("floats become integers, or integers others of fewer bits")
        _fit(e, at, made)
        value = made
    else:
        raise Unknown("what is no array and no number is stored")
    e.arithmetic.mark_ours(bits=False)

    def put(point: Point) -> None:
        put_element(e, at, final(e, value, wanted, point), point)

    everywhere(e, at.axes, put)
    e.stores += 1


def _fit(e: Emitter, at: Array, made: Item) -> None:
    """Leave where an array does not have the shape of the part that it is stored to."""
    if not is_whole(made):
        return
    if len(made.axes) > len(at.axes):
        raise Unknown("an array of more axes in the place of a part")
    matched(e, [at, made])
    for axis, own in zip(made.axes[::-1], at.axes[::-1], strict=False):
        if axis.number != SINGLE and own.number == SINGLE:
            raise Unknown("an array in the place of one element")


def _fill_complex(e: Emitter, at: Array, made: Item) -> None:
    """Store numbers into an array of complex ones, both parts of each at once."""
    if isinstance(made, Array) and not made.axes:
        made = elements.load(e, made)
    own = part_dtype(at.dtype)
    pair, wanted, k = complex_arrays.sides(e, made, own), TYPES[own], e.k
    e.arithmetic.mark_ours(bits=False)

    def put(point: Point) -> None:
        values = [final(e, side, wanted, point) for side in pair]
        offset, stride = target(e, at, point)
        if stride == 1:
            k.store_beside(at.buffer, offset * 2, [_in_each_lane(e, v) for v in values])
            return
        for side, value in enumerate(values):
            k.store(at.buffer, offset * 2 + side, value, 2 * stride)

    everywhere(e, at.axes, put)
    e.stores += 1


def _in_each_lane(e: Emitter, value: Value) -> Value:
    """Return a value that each lane has."""
    return value if value.lane else e.k.splat(value, value.type)


def put_element(e: Emitter, at: Array, value: Value, point: Point) -> None:
    """Store an element."""
    if at.held:
        registers.streams_of(e).elements.append(value)
        return
    offset, stride = target(e, at, point)
    e.k.store(at.buffer, offset, value, stride)


def may_overlap(e: Emitter, x: Any, at: Array) -> bool:
    """True if elements that an expression reads may be stored to before."""
    if isinstance(x, Lazy):
        return any(may_overlap(e, operand, at) for operand in x.operands)
    if is_complex(at.dtype):
        both = [complex_arrays.part(e, at, name) for name in ("real", "imag")]
        return x not in both and x != at and may_overlap(e, x, both[0])
    if not isinstance(x, Array) or x.operand != at.operand or x == at:
        return False
    return x.operand >= 0 or not e.memory.are_apart(x, at)


# -- arrays of the loop's own ----------------------------------------------------------------------
def settled(e: Emitter, item: Item) -> Item:
    """An item of which nothing is to be computed any more."""
    return materialized(e, item) if isinstance(item, Lazy) else item


def settled_array(e: Emitter, x: Item) -> Array:
    """An array of which nothing is to be computed any more."""
    found = settled(e, x)
    assert isinstance(found, Array), "the caller knows that it is an array"
    return found


def materialized(e: Emitter, x: Whole) -> Array:
    """The elements in memory of their own, or in registers."""
    if x.mask is not None and isinstance(x, Lazy):
        return compacted(e, x)
    if e.streams is not None:
        return registers.computed_by(e, registers.blank(e, x), lambda made: fill_new(e, made, x))
    made = blank(e, x.dtype, x.axes)
    fill_new(e, made, x)
    return replace(made, turned=is_turned(x))


# -- elements that masks choose --------------------------------------------------------------------
def compacted(e: Emitter, x: Lazy) -> Array:
    """The elements that a mask chooses, or the rows, in memory of their own."""
    mask = x.mask
    assert mask is not None, "the caller asked"
    if x.op.name == "where" and x.operands[0] == elements.spread(e, mask, len(x.axes)):
        base = x.operands[1]
        if isinstance(base, Array):
            return side_by_side(e, base, mask)
    with e.masked(mask):
        return side_by_side(e, materialized(e, replace(x, mask=None)), mask)


def side_by_side(e: Emitter, x: Array, mask: Array) -> Array:
    """Copy what a mask of the first axes chooses."""
    k, rank = e.k, len(mask.axes)
    if is_turned(x) or is_turned(mask):
        raise Unknown("elements that a mask chooses, in another order in memory")
    made = blank(e, x.dtype, x.axes)
    own, others = made.axes[rank - 1], made.axes[rank:]

    def copy(outer: tuple[Value, ...], count: Value) -> Value:
        to, source = elements.moved(e, made, others, count, own), part_at(e, x, outer)
        chosen = truth_at(e, mask, outer)
        if others:
            with k.if_(chosen):
                fill_new(e, to, source)
        else:  # the next one replaces what is not chosen
            elements.put(e, to, elements.load(e, source))
        return k.select(chosen, count + 1, count)

    count = counted(e, mask.axes, copy, k.const(0, "index"))
    e.arithmetic.mark_ours(bits=False)
    limit = tuple([dim for axis in x.axes[:rank] for dim in axis.most])
    axis = Axis(elements.unknown_number(e), count, own.stride, None, limit)
    return replace(made, axes=(axis, *others), whole=False)


def counted(
    e: Emitter,
    axes: Sequence[Axis],
    emit: Callable[[tuple[Value, ...], Value], Value],
    count: Value,
    outer: tuple[Value, ...] = (),
) -> Value:
    """Emit something for all coordinates, in order, that is given a count and gives the next."""
    if not axes:
        return emit(outer, count)
    with e.k.loop(0, axes[0].extent, [count]) as loop:
        loop.yield_(counted(e, axes[1:], emit, loop.carry[0], (*outer, loop.i)))
    return loop.out[0]


def part_at(e: Emitter, x: Array, outer: Sequence[Value]) -> Array:
    """The part of an array at some coordinates of its first axes."""
    for at in outer:
        x = elements.moved(e, x, x.axes[1:], at, x.axes[0])
    return x


def truth_at(e: Emitter, mask: Array, outer: Sequence[Value]) -> Value:
    """The element of a mask at some coordinates."""
    return e.k.load(mask.buffer, elements.start_of(e, part_at(e, mask, outer)), 0)


# -- memory ----------------------------------------------------------------------------------------
def blank(e: Emitter, dtype: np.dtype, axes: Sequence[Axis]) -> Array:
    """Memory for an array with these axes; their extents may change from iteration to iteration."""
    dims = tuple([dim for axis in axes for dim in axis.most])
    if not all(axis.most for axis in axes):
        raise Unknown("a new array whose extent is not known before the loop")
    made = e.memory.new(dtype, dims, e.held_arrays())
    if any(axis.dim is None for axis in axes):
        made = replace(made, axes=_side_by_side_axes(axes), whole=False)
    return made


def _side_by_side_axes(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Axes without gaps."""
    stride: Value | int = 1
    found: list[Axis] = []
    for axis in reversed(axes):
        found.append(replace(axis, stride=stride))
        stride = axis.extent if stride == 1 else stride * axis.extent
    return tuple(reversed(found))


def fill_new(e: Emitter, made: Array, x: Whole | Scalar) -> None:
    """Store the elements into memory that nobody reads; no expression is changed by it."""
    if is_complex(made.dtype):
        before = e.stores
        _fill_complex(e, made, x)
        e.stores = before
        return
    assert not isinstance(x, Scalar), "numbers are stored into arrays of complex ones alone"
    wanted = TYPES[made.dtype]

    def put(point: Point) -> None:
        put_element(e, made, final(e, x, wanted, point), point)

    last = made.axes[-1]
    if is_draw(x) and last.number != SINGLE and last.stride == 1 and e.streams is None:
        _fill_by_blocks(e, made, x)
    else:
        everywhere(e, made.axes, put)


def is_draw(x: Whole) -> TypeGuard[Lazy]:
    """True if an expression is a draw of random numbers, and nothing else."""
    return isinstance(x, Lazy) and isinstance(x.operands[0], Position)


def _fill_by_blocks(e: Emitter, made: Array, x: Lazy) -> None:
    """Store a draw; what is in whole blocks of the stream is computed a block a lane."""
    k, (position, *seeds) = e.k, x.operands
    assert isinstance(position, Position), "a draw begins with it"
    key, counter = (each for each in seeds if isinstance(each, Value))
    per_block = ELEMENTS_PER_BLOCK[x.dtype.itemsize]
    extent = made.axes[-1].extent
    note_span(e, made.axes)

    def row(outer: tuple[Value, ...]) -> None:
        place = first_of_row(e, position, outer)
        first = k.convert("trunc", k.prim("sdiv", place, per_block), "i32")
        begins = k.eq(k.prim("srem", place, per_block), 0)  # with a block
        blocks = k.select(begins, k.prim("sdiv", extent, per_block), 0)
        with k.lanes(0, blocks) as lanes:
            block = k.convert("trunc", lanes.i, "i32") + k.lane_id("i32") + first
            numbers = numbers_of_block(k, x.op.name, x.dtype.name, block, (key, counter))
            start, _ = address(e, made, Point(outer, lanes.i * per_block, ExactNotes(k)))
            k.store_beside(made.buffer, start, numbers)
        with k.lanes(blocks * per_block, extent) as lanes:
            point = Point(outer, lanes.i, ExactNotes(k))
            put_element(e, made, final(e, x, TYPES[made.dtype], point), point)

    rows(e, made.axes[:-1], row)


def note_span(e: Emitter, axes: Sequence[Axis]) -> None:
    """Take note of the extents of what is stored at once."""
    dims = tuple([dim for axis in axes for dim in axis.most])
    e.spans.update((dims,) if all(axis.most for axis in axes) else ())


def rows(
    e: Emitter,
    axes: Sequence[Axis],
    emit: Callable[[tuple[Value, ...]], None],
    outer: tuple[Value, ...] = (),
) -> None:
    """Emit something for all rows, by their coordinates."""
    if not axes:
        emit(outer)
        return
    with e.k.loop(0, axes[0].extent) as loop:
        rows(e, axes[1:], emit, (*outer, loop.i))
        loop.yield_()
