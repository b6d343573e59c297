"""Iterations inside of lanes: arrays of a loop are values in registers, one a lane.

Two streams of code come of one walk over the statements. What is computed of numbers runs first,
all turns of a slice, with all tests; what lanes need of it lies in a table of the slice's turns.
Then each lane runs all turns by itself. Arrays of which elements are told apart are none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from runmat_jit.core.hardware import ACCESS_FLOPS
from runmat_jit.kernel.ir import Buffer, Instruction, Kernel, Value
from runmat_jit.kernel.walk import every_instruction
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import SINGLE, Dim
from runmat_jit.loops.streams import NUMBERS, TABLE_TURNS, Streams, carried_value, stored_word
from runmat_jit.loops.values import Array, Axis, Item, Items, Lazy, Position, Unknown
from runmat_jit.loops.whole_arrays import Point, Whole
from runmat_jit.lower.exact_notes import ExactNotes
from runmat_jit.ops.random import ELEMENTS_PER_BLOCK, numbers_of_block

FLOATS: Final = ("f32", "f64")
PER_ACCESS: Final = 4 * ACCESS_FLOPS
"""Instructions of lanes for each of their accesses to memory, of which some wait for the last."""


def streams_of(e: Emitter) -> Streams:
    """The streams of a kernel that has them."""
    assert e.streams is not None, "arrays are in registers"
    return e.streams


@contextmanager
def in_lanes(e: Emitter) -> Iterator[None]:
    """Emit to the code of lanes."""
    streams = streams_of(e)
    assert not streams.inside, "it is emitted to at a time"
    streams.inside = True
    try:
        with e.k.within(streams.code):
            yield
    finally:
        streams.inside = False


@contextmanager
def lane_code(e: Emitter, code: list[Instruction]) -> Iterator[None]:
    """Have other code be that of lanes, such as that of a branch."""
    streams = streams_of(e)
    before, given = streams.code, streams.given
    streams.code, streams.given = code, dict(given)
    try:
        yield
    finally:
        streams.code, streams.given = before, given


def for_lanes(e: Emitter, value: Value) -> Value:
    """A number for lanes, in whose code it is."""
    streams, k = streams_of(e), e.k
    if value.literal is not None or value.lane or value.number < streams.begin:
        return value
    found = streams.given.get(value.number)
    if found is None:
        if value.number in _known_before(e):
            return value
        table = "floats" if value.type in FLOATS else "integers"
        slot = streams.slots.get(table, 0)
        streams.slots[table] = slot + 1
        at = slot * TABLE_TURNS
        assert streams.place is not None, "a turn is emitted"
        assert streams.turn is not None, "likewise"
        with k.outside(streams.code):
            place = streams.place + at if at else streams.place
            k.store(_table(e, table), place, stored_word(k, value), 0)
        place = streams.turn + at if at else streams.turn
        found = carried_value(k, k.load(_table(e, table), place, 0), value.type)
        streams.given[value.number] = found
    return found


def _table(e: Emitter, name: str) -> Buffer:
    """The table of such numbers."""
    tables = streams_of(e).tables
    if name not in tables:
        element = "f64" if name == "floats" else "i64"
        tables[name] = e.k.buffer(NUMBERS[name], element, written=True)
    return tables[name]


def _known_before(e: Emitter) -> set[int]:
    """The numbers of extents that are computed before the loop."""
    every = every_instruction(e.extents.entry)
    return {result.number for each in every for result in each.results}


# -- elements --------------------------------------------------------------------------------------
def loaded(e: Emitter, x: Array) -> Value:
    """An element of an array in registers."""
    streams, _ = _inside(e)
    return x.held[streams.element]


def _inside(e: Emitter) -> tuple[Streams, Value]:
    """The lanes that are emitted, and their index."""
    streams = streams_of(e)
    if not streams.inside or streams.index is None:
        raise Unknown("a number of elements in lanes")
    return streams, streams.index


def drawn(e: Emitter, x: Lazy) -> Value:
    """An element of a draw, whose blocks each lane computes by itself."""
    (streams, index), k, (position, *seeds) = _inside(e), e.k, x.operands
    assert isinstance(position, Position), "a draw begins with it"
    if position.steps:
        raise Unknown("a draw of several axes in registers")
    per_block = ELEMENTS_PER_BLOCK[x.dtype.itemsize]
    number, element = divmod(streams.element, per_block)
    if (id(x), number) not in streams.drawn:
        blocks = streams.width // per_block
        lane = k.convert("trunc", index, "i32") + k.lane_id("i32")
        first = k.convert("trunc", k.prim("sdiv", position.first, per_block), "i32")
        block = lane * blocks + (first + number)
        key, counter = (for_lanes(e, value) for value in seeds if isinstance(value, Value))
        streams.drawn[id(x), number] = numbers_of_block(
            k, x.op.name, x.dtype.name, block, (key, counter)
        )
    return streams.drawn[id(x), number][element]


def address(e: Emitter, x: Array) -> tuple[Value, Value | int]:
    """Where the elements of an array in memory lie for a lane, and how far from lane to lane."""
    streams, k = streams_of(e), e.k
    offset = None if x.offset is None else for_lanes(e, x.offset)
    if any(axis.number != SINGLE and axis.stride != 0 for axis in x.axes[:-1]):
        raise Unknown("an array of several axes")
    last, width = x.axes[-1], streams.width
    if last.number == SINGLE or last.stride == 0:
        return k.const(0, "index") if offset is None else offset, 0
    stride = for_lanes(e, last.stride) if isinstance(last.stride, Value) else last.stride
    index = streams.index
    assert index is not None, "lanes are emitted"
    if width > 1:
        index = index * width + streams.element
    at = index if stride == 1 else index * stride
    step = stride * width
    return at if offset is None else offset + at, step


def everywhere(e: Emitter, axes: Sequence[Axis], emit: Callable[[Point], None]) -> None:
    """Emit something for each element of a lane."""
    streams = _along_lanes(e, axes)
    with in_lanes(e):
        assert streams.index is not None, "lanes are emitted"
        streams.drawn = {}
        for element in range(streams.width):
            streams.element = element
            emit(Point((), streams.index, ExactNotes(e.k)))


# -- arrays ----------------------------------------------------------------------------------------
def blank(e: Emitter, like: Whole) -> Array:
    """An array in registers whose elements are still to be computed."""
    number = _along_lanes(e, like.axes).axis
    dim = Dim("extent", number)
    axis = Axis(number, e.extents.value(dim), 1, dim)
    buffer = e.memory.buffer(like.dtype)
    return Array(-1, buffer, like.dtype, None, (axis,), None, (dim,), whole=True)


def _along_lanes(e: Emitter, axes: Sequence[Axis]) -> Streams:
    """The lanes of arrays with these axes."""
    streams = streams_of(e)
    if len(axes) != 1 or axes[0].number != streams.axis:
        raise Unknown("an array that is not held in registers")
    return streams


def computed_by(e: Emitter, made: Array, fill: Callable[[Array], None]) -> Array:
    """An array whose elements something puts into it."""
    streams = streams_of(e)
    streams.elements = []
    fill(replace(made, held=(e.k.const(0, "index"),)))
    with in_lanes(e):
        held = tuple([v if v.lane else e.k.splat(v, v.type) for v in streams.elements])
    streams.made[id(held)] = held
    return replace(made, held=held)


def store(e: Emitter, at: Array, fill: Callable[[Array], None]) -> None:
    """Have all names that hold an array hold other elements, which something puts into it."""
    streams, number = streams_of(e), id(at.held)
    if at.copied or number not in streams.made or number in streams.shared:
        raise Unknown("a store into an array that other names may hold")
    changed = computed_by(e, at, fill)
    for known in (e.names, *e.frames):
        for name, item in known.items():
            if isinstance(item, Items) and _holds(item, at.held):
                raise Unknown("a store into an array that a tuple holds")
            if isinstance(item, Array) and item.held is at.held:
                known[name] = replace(item, held=changed.held)


def held_by(item: Item | None) -> tuple[Value, ...]:
    """The elements of an array in registers."""
    assert isinstance(item, Array), "it is such an array"
    assert item.held, "likewise"
    return item.held


def _holds(items: Items, held: tuple[Value, ...]) -> bool:
    """True if an array is in a tuple."""
    return any(
        _holds(each, held)
        if isinstance(each, Items)
        else isinstance(each, Array) and each.held is held
        for each in items.items
    )


def computes(kernel: Kernel) -> bool:
    """True if lanes compute so much for each element of memory that they do not wait for it.

    Where they would, turns that go along the rows of arrays take less: memory is read in order.
    Elements that are the same in all iterations are in a register, or next to the core, as it is.
    """
    accesses = work = 0
    lanes = (each for each in every_instruction(kernel.body) if each.op == "lanes")
    for turns in [loop for block in lanes for loop in _loops_in(block)]:
        moving = _depending_on(turns)
        for each in every_instruction([turns]):
            if each.op in ("load", "store"):
                accesses += each.attrs["stride"] != 0 and each.args[0].number in moving
            elif each.block is None:
                work += any(result.lane for result in each.results)
    return work >= PER_ACCESS * accesses


def _depending_on(turns: Instruction) -> set[int]:
    """The numbers of values that may be others in the next iteration."""
    assert turns.block is not None, "it is a loop"
    index, carried = turns.block.index, turns.block.carried
    found = {each.number for each in carried} | ({index.number} if index is not None else set())
    for each in every_instruction(turns.block.body):
        if each.op == "load" or each.block or any(arg.number in found for arg in each.args):
            found.update(result.number for result in each.results)
            found.update(value.number for value in each.block.carried) if each.block else None
    return found


def _loops_in(lanes: Instruction) -> list[Instruction]:
    """The loops over turns in a block of lanes."""
    assert lanes.block is not None, "it is a block"
    return [each for each in lanes.block.body if each.op in ("loop", "while")]
