"""Turns inside of lanes: arrays of a loop are values in registers, one a lane.

Two streams of code come of one walk over the statements. What is computed of numbers runs first,
all turns of a slice, with all tests; what lanes need of it lies in a table of the slice's turns.
Then each lane runs all turns by itself. Arrays of which elements are told apart are none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Final

from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Buffer, Instruction, Kernel, Value
from runmat_jit.kernel.walk import every_instruction
from runmat_jit.loops.body import Body
from runmat_jit.loops.emit import narrowed, widened
from runmat_jit.loops.extents import SINGLE, Dim
from runmat_jit.loops.nests import Carried, Repeated
from runmat_jit.loops.values import (
    TYPES,
    Array,
    Axis,
    Item,
    Items,
    Lazy,
    Position,
    Unknown,
)
from runmat_jit.loops.ways import Around, Known
from runmat_jit.loops.wholes import Point, Whole
from runmat_jit.lower.exact_notes import ExactNotes
from runmat_jit.ops.random import ELEMENTS_PER_BLOCK, numbers_of_block

TABLE_TURNS: Final = 1024
"""Turns of a slice, at most: as many as the table has room for."""
NUMBERS: Final = {"integers": "numbers_i64", "floats": "numbers_f64"}
"""The parameters that are the tables of numbers."""
FLOATS: Final = ("f32", "f64")
PER_ACCESS: Final = 16
"""Instructions of lanes for each of their accesses to memory that take as long, about."""


@slotted
class Streams:
    """The code of lanes, beside that of numbers.

    ``code``: the body that is emitted to; ``index``: of the block of lanes, ``turn`` of the loop
    in it; ``width``: elements that a lane has. ``begin``: values with smaller numbers are known to
    both streams; ``given``: numbers that lanes know by now, by those of the values in the other
    stream; ``slots``: how many each table has.
    """

    width: int
    code: list[Instruction] = field(default_factory=list)
    index: Value | None = None
    turn: Value | None = None
    begin: int = 0
    given: dict[int, Value] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    tables: dict[str, Buffer] = field(default_factory=dict)
    drawn: dict[tuple[int, int], tuple[Value, ...]] = field(default_factory=dict)
    """Numbers of the blocks of draws that are used by what is emitted, by the draw's identity."""
    element: int = 0
    """Of those that a lane has, the one that is emitted."""
    inside: bool = False
    """Whether it is emitted to the code of lanes."""
    elements: list[Value] = field(default_factory=list)
    """Elements of the array that is computed."""
    made: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    """Arrays that this turn has made, by identity: names hold one array where they have one tuple
    of elements."""
    shared: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    """Those that names may hold in another form, which a branch has chosen."""


class Registers(Body):
    """Emits statements whose arrays lie along one axis, in lanes."""

    __slots__ = ("begun_turns", "lanes_number", "place_in_table", "streams")

    lanes_number: int
    """The number of the extent of that axis."""
    streams: Streams
    begun_turns: Value
    """Turns before the slice."""
    place_in_table: Value
    """The place of the turn in a table, where numbers are computed."""

    # -- both streams ------------------------------------------------------------------------------
    @contextmanager
    def in_lanes(self) -> Iterator[None]:
        """Emit to the code of lanes."""
        assert not self.streams.inside, "it is emitted to at a time"
        self.streams.inside = True
        try:
            with self.k.within(self.streams.code):
                yield
        finally:
            self.streams.inside = False

    @contextmanager
    def lane_code(self, code: list[Instruction]) -> Iterator[None]:
        """Have other code be that of lanes, such as that of a branch."""
        streams = self.streams
        before, given = streams.code, streams.given
        streams.code, streams.given = code, dict(given)
        try:
            yield
        finally:
            streams.code, streams.given = before, given

    def for_lanes(self, value: Value) -> Value:
        """A number for lanes, in whose code it is."""
        streams, k = self.streams, self.k
        if value.literal is not None or value.lane or value.number < streams.begin:
            return value
        found = streams.given.get(value.number)
        if found is None:
            if value.number in self.known_before():
                return value
            table = "floats" if value.type in FLOATS else "integers"
            slot = streams.slots.get(table, 0)
            streams.slots[table] = slot + 1
            at = slot * TABLE_TURNS
            with k.outside(streams.code):
                place = self.place_in_table + at if at else self.place_in_table
                k.store(self.table(table), place, widened(k, value), 0)
            assert streams.turn is not None, "a turn is emitted"
            place = streams.turn + at if at else streams.turn
            found = narrowed(k, k.load(self.table(table), place, 0), value.type)
            streams.given[value.number] = found
        return found

    def table(self, name: str) -> Buffer:
        """The table of such numbers."""
        tables = self.streams.tables
        if name not in tables:
            element = "f64" if name == "floats" else "i64"
            tables[name] = self.k.buffer(NUMBERS[name], element, written=True)
        return tables[name]

    def known_before(self) -> set[int]:
        """The numbers of extents that are computed before the loop."""
        every = every_instruction(self.extents.entry)
        return {result.number for each in every for result in each.results}

    # -- elements ----------------------------------------------------------------------------------
    def at(self, x: Lazy | Array | Value | Position, wanted: str, point: Point) -> Value:
        if isinstance(x, Value):
            return self.for_lanes(x) if self.streams.inside else x
        return super().at(x, wanted, point)

    def loaded(self, x: Array, point: Point) -> Value:
        if not x.held:
            return super().loaded(x, point)
        if not self.streams.inside:
            raise Unknown("a number of elements in lanes")
        return x.held[self.streams.element]

    def expanded(self, x: Lazy, point: Point) -> Value:
        if not isinstance(x.operands[0], Position):
            return super().expanded(x, point)
        streams, k, position = self.streams, self.k, x.operands[0]
        if not streams.inside or streams.index is None:
            raise Unknown("a number of elements in lanes")
        per_block = ELEMENTS_PER_BLOCK[x.dtype.itemsize]
        number, element = divmod(streams.element, per_block)
        if (id(x), number) not in streams.drawn:
            blocks = streams.width // per_block
            lane = k.convert("trunc", streams.index, "i32") + k.lane_id("i32")
            first = k.convert("trunc", k.prim("sdiv", position.first, per_block), "i32")
            block = lane * blocks + (first + number)
            key, counter = (self.at(value, "i64", point) for value in x.operands[1:])
            streams.drawn[id(x), number] = numbers_of_block(
                k, x.op.name, x.dtype.name, block, (key, counter)
            )
        return streams.drawn[id(x), number][element]

    def address(self, x: Array, point: Point) -> tuple[Value, Value | int]:
        streams, k = self.streams, self.k
        if not streams.inside:
            return super().address(x, point)
        offset = None if x.offset is None else self.for_lanes(x.offset)
        if any(axis.number != SINGLE and axis.stride != 0 for axis in x.axes[:-1]):
            raise Unknown("an array of several axes")
        last, width = x.axes[-1], streams.width
        if last.number == SINGLE or last.stride == 0:
            return k.const(0, "index") if offset is None else offset, 0
        stride = self.for_lanes(last.stride) if isinstance(last.stride, Value) else last.stride
        index = streams.index
        assert index is not None, "lanes are emitted"
        if width > 1:
            index = index * width + streams.element
        at = index if stride == 1 else index * stride
        step = stride * width
        return at if offset is None else offset + at, step

    def everywhere(self, axes: Sequence[Axis], emit: Callable[[Point], None]) -> None:
        if len(axes) != 1 or axes[0].number != self.lanes_number:
            raise Unknown("an array that is not held in registers")
        streams = self.streams
        with self.in_lanes():
            assert streams.index is not None, "lanes are emitted"
            streams.drawn = {}
            for element in range(streams.width):
                streams.element = element
                emit(Point((), streams.index, ExactNotes(self.k)))

    # -- arrays ------------------------------------------------------------------------------------
    def blank(self, like: Whole) -> Array:
        """An array in registers whose elements are still to be computed."""
        dim = Dim("extent", self.lanes_number)
        if len(like.axes) != 1 or like.axes[0].number != self.lanes_number:
            raise Unknown("an array that is not held in registers")
        axis = Axis(self.lanes_number, self.extents.value(dim), 1, dim)
        buffer = self.memory.buffer(like.dtype)
        return Array(-1, buffer, like.dtype, None, (axis,), None, (dim,), whole=True)

    def materialized(self, x: Whole) -> Array:
        return self.computed_by(self.blank(x), lambda made: self.fill_new(made, x))

    def computed_by(self, made: Array, fill: Callable[[Array], None]) -> Array:
        """An array whose elements something puts into it."""
        streams = self.streams
        streams.elements = []
        fill(replace(made, held=(self.k.const(0, "index"),)))
        with self.in_lanes():
            held = tuple([v if v.lane else self.k.splat(v, v.type) for v in streams.elements])
        streams.made[id(held)] = held
        return replace(made, held=held)

    def put(self, at: Array, value: Value, point: Point) -> None:
        if at.held:
            self.streams.elements.append(value)
            return
        super().put(at, value, point)

    def store(self, at: Array, made: Item) -> None:
        if not at.held:
            super().store(at, made)
            return
        number = id(at.held)
        if at.copied or number not in self.streams.made or number in self.streams.shared:
            raise Unknown("a store into an array that other names may hold")
        changed = self.computed_by(at, lambda place: self.fill(place, made))
        for known in (self.names, *self.frames):
            for name, item in known.items():
                if isinstance(item, Items) and holds(item, at.held):
                    raise Unknown("a store into an array that a tuple holds")
                if isinstance(item, Array) and item.held is at.held:
                    known[name] = replace(item, held=changed.held)

    def may_overlap(self, x: Whole, at: Array) -> bool:
        return not at.held and super().may_overlap(x, at)

    def like(self, item: Item, number: float) -> Item:
        """``np.zeros_like(x)`` and its siblings."""
        if not isinstance(item, Array | Lazy):
            raise Unknown("an array like what is none")
        item = self.settled(item)  # its events count
        assert isinstance(item, Array), "it is an array"
        value = self.k.const(bool(number) if item.dtype.kind == "b" else number, TYPES[item.dtype])
        made = self.blank(item)
        return self.computed_by(
            made, lambda place: self.everywhere(made.axes, lambda at: self.put(place, value, at))
        )

    # -- ways --------------------------------------------------------------------------------------
    def choose(
        self, condition: Value, then: Callable[[], None], otherwise: Callable[[], None] | None
    ) -> None:
        streams, before = self.streams, dict(self.names)
        with self.in_lanes():
            condition_of_lanes = self.for_lanes(condition)
        codes: list[list[Instruction]] = [[], []]
        ends: list[Known] = [before, before]

        def run(way: int, emit: Callable[[], None]) -> Callable[[], None]:
            def emitted() -> None:
                with self.lane_code(codes[way]):
                    emit()
                ends[way] = dict(self.names)

            return emitted

        both = run(0, then), None if otherwise is None else run(1, otherwise)
        super().choose(condition, *both)
        joined = [
            name
            for name, item in self.names.items()
            if isinstance(item, Array) and item.held and item is not before.get(name)
        ]
        values: list[Value] = []
        for name in joined:
            item, old = self.names[name], before.get(name)
            assert isinstance(item, Array), "as just asked"
            if isinstance(old, Array) and old.held and old.dtype == item.dtype:
                values += old.held
            else:
                with self.in_lanes():
                    zero = self.k.const(False if item.dtype.kind == "b" else 0, TYPES[item.dtype])
                    values += [self.k.splat(zero, zero.type)] * streams.width
        with self.in_lanes():
            for way in (0, 1)[: 2 if otherwise is not None else 1]:
                test = condition_of_lanes
                if way:
                    test = self.k.prim("xor", test, True)
                if not codes[way] and not joined:
                    continue
                block = self.k.if_(test, values)
                body = self.k.begin(block)
                body.extend(codes[way])
                found = [value for name in joined for value in held_by(ends[way].get(name))]
                self.k.end(block, body, found)
                values = list(block.out)
        either = [held_by(known.get(name)) for known in ends for name in joined]
        streams.shared.update({id(each): each for each in either})
        for place, name in enumerate(joined):
            item, first = self.names[name], place * streams.width
            assert isinstance(item, Array), "as above"
            self.names[name] = replace(item, held=tuple(values[first : first + streams.width]))

    def tried(self, loop: Repeated, head: Known, inside: Around) -> Known:
        slots = dict(self.streams.slots)
        with self.lane_code([]):
            found = super().tried(loop, head, inside)
        self.streams.slots = slots
        return found

    def turn(
        self,
        loop: Repeated,
        carried: Carried,
        values: Sequence[Value],
        number: Value,
        inside: Around,
        *,
        listens: bool = False,
    ) -> Known:
        del listens  # slices are short
        self.place_in_table = self.k.convert("sext", number - self.begun_turns, "index")
        return super().turn(loop, carried, values, number, inside)

    def repeat(self, *_args: object, **_named: object) -> None:
        raise Unknown("a loop within a turn")

    def secure(self, inside: Around, count: Value | None) -> None:
        """Nothing: indices are tested where numbers are computed, which takes no time."""


def held_by(item: Item | None) -> tuple[Value, ...]:
    """The elements of an array that is held in registers."""
    assert isinstance(item, Array), "it is such an array"
    assert item.held, "likewise"
    return item.held


def holds(items: Items, held: tuple[Value, ...]) -> bool:
    """Whether an array is in a tuple."""
    return any(
        holds(each, held)
        if isinstance(each, Items)
        else isinstance(each, Array) and each.held is held
        for each in items.items
    )


def computes(kernel: Kernel) -> bool:
    """Whether lanes compute so much for each element of memory that they do not wait for it.

    Where they would, turns that go along the rows of arrays take less: memory is read in order.
    Elements that are the same in all turns are in a register, or next to the core, as it is.
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
    """The numbers of values that may be others in the next turn."""
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
