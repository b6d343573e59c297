"""A loop as a kernel whose arrays are in registers: all iterations of a slice, lane by lane."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from runmat_jit.kernel.ir import Value
from runmat_jit.loops import indexing, nests, registers
from runmat_jit.loops.emit import TURNS, Analysis, Emission, Emitted, Reached, Result, slots_of
from runmat_jit.loops.emitter import Known
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.forms import Forms
from runmat_jit.loops.lanes import Lanes
from runmat_jit.loops.memory import Memory, Pool
from runmat_jit.loops.nests import Carried, Repeated, breaks
from runmat_jit.loops.source import Helper, LoopSource, rebound_by
from runmat_jit.loops.streams import Streams
from runmat_jit.loops.values import UNBOUND, Array, Unknown
from runmat_jit.loops.whole_arrays import Point
from runmat_jit.lower.exact_notes import ExactNotes

_LATER = 1 << 62
"""Greater than the number of any value."""


def emit_registers(
    source: LoopSource,
    forms: Forms,
    helpers: Mapping[Any, Helper],
    lanes: Lanes,
    like: Emitted,
    *,
    careful: bool = False,
    exact: bool = False,
) -> Emitted:
    """A kernel of a loop that computes what another one does, each array in registers.

    ``lanes``: the axis along which arrays lie. Arguments and parameters as of :func:`.emit.emit`.
    ``numbers_i64`` and ``numbers_f64`` are the tables of what the lanes are told.

    Raises:
        Unknown: some array would have to be in memory.

    """
    made = RegisterEmission(
        source,
        forms,
        helpers,
        careful=careful,
        exact=exact,
        found=Analysis(copies=True, written=like.written, lists={}),
    )
    return made.emit_along(lanes, max(1, like.drawn))


class NoPlaces(Memory):
    """Memory that has no places for arrays that an iteration makes."""

    __slots__ = ()

    def new(self, *_args: object) -> Array:
        raise Unknown("an array that is not held in registers")


class RegisterEmission(Emission):
    """Emits one kernel."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.e.memory = NoPlaces(self.k, self.e.extents)
        self.start_of: dict[str, Array] = {}
        """The arrays from before the loop that names hold before the first iteration."""
        self.heads: dict[str, Array] = {}
        """What names hold at the beginning of an iteration, of what is in registers."""
        self.depth = 0
        """Iterations that results go back, at most."""

    def emit_along(self, lanes: Lanes, width: int) -> Emitted:
        """The kernel for arrays along an axis, of which each lane has so many elements."""
        self.along = lanes
        self.streams = self.e.streams = Streams(lanes.number, width, begin=_LATER)
        found = self.emit()
        return replace(found, begins=found.begins + self.depth)

    def of_registers(self) -> dict[str, Any]:
        streams = self.streams
        return {"numbers": dict(streams.slots), "width": streams.width}

    def lanes(self) -> tuple[Lanes, ...]:
        return (self.along,)

    def begin_names(self) -> None:
        """Have names that the loop binds anew begin with the elements of arrays from before it."""
        e = self.e
        for name in sorted(rebound_by(self.node)):
            item = e.names.get(name)
            if isinstance(item, Array) and [a.number for a in item.axes] == [self.along.number]:
                start = e.k.placeholder("index")
                self.start_of[name] = item
                held = (start,) * self.streams.width
                e.names[name] = replace(registers.blank(e, item), held=held, copied=True)

    def emit_cell(self) -> Carried:
        """The cell; what it carries."""
        k, e, node = self.k, self.e, self.node
        begun = k.load(self.state, TURNS, 0)
        self.begin_names()
        self.turns = self.iterated(node, begun) if isinstance(node, ast.For) else None
        loop = Repeated(node, self.turn)
        streams = self.streams
        streams.begun = begun
        streams.index, streams.turn = k.placeholder("index"), k.placeholder("index")
        settled = nests.settle(e, loop)
        carried = nests.carried_by(e, node, settled)
        held = self.names_in_registers(settled.head, settled.end)
        count = None if self.turns is None else self.turns.count
        last = begun + self.limit
        if count is not None:
            last = k.select(count < last, count, last)
        starts = [self.load(slot, kind) for slot, kind in slots_of(carried)]
        extent = e.extents.value(Dim("extent", self.along.number))
        homes = self.homes(held, extent)
        if streams.width != 1:
            extent = k.prim("sdiv", extent, streams.width)
        lanes = k.lanes(0, extent)
        in_lanes = k.begin(lanes)
        streams.index = lanes.i
        with k.within(in_lanes):
            inits = [
                k.load(e.memory.buffer(held[name].dtype), *self.slot(homes[name], element))
                for name in held
                for element in range(streams.width)
            ]
            turns = k.loop(0, 0, inits)
        streams.code, streams.turn = k.begin(turns), turns.i
        carry = list(turns.carry)
        head = {**settled.head, **self.heads_of(held, settled.head, carry)}
        carried = replace(carried, settled=replace(settled, head=head), starts=starts)
        streams.begin = k.placeholder("i1").number
        streams.given, streams.slots, streams.made, streams.shared = {}, {}, {}, {}
        self.ends.clear()
        reached = self.numbers(loop, carried, begun, last)
        ends = [self.end_of(name, place, carry) for place, name in enumerate(held)]
        run = k.convert("sext", reached.turns - begun, "index")
        self.begin_slots(begun, homes)
        with k.within(in_lanes):
            bounds = k.const(0, "index"), run, k.const(1, "index")
            k.end(turns, streams.code, list(itertools.chain(*ends)), bounds)
            self.put_slots(held, homes, turns.out)
        k.end(lanes, in_lanes)
        kinds = {**carried.kinds, **dict.fromkeys(held, "index")}
        carried = replace(carried, names=[*carried.names, *held], kinds=kinds)
        self.finish(replace(reached, values=[*reached.values, *homes.values()]), carried, count)
        return carried

    def heads_of(
        self, held: Mapping[str, Array], head: Known, carry: Sequence[Value]
    ) -> dict[str, Array]:
        """What names hold at the beginning of an iteration."""
        width = self.streams.width
        for place, name in enumerate(held):
            item = head[name]
            if isinstance(item, Array) and item.held:
                values = tuple(carry[place * width : (place + 1) * width])
                self.heads[name] = replace(item, held=values)
        return self.heads

    def numbers(self, loop: Repeated, carried: Carried, begun: Value, last: Value) -> Reached:
        """All iterations of what is computed of numbers."""
        k, e, node = self.k, self.e, self.node
        over = k.const(False, "i1")
        guard = k.if_(begun < last, [begun, over, *carried.starts])
        with guard:
            if isinstance(node, ast.For) and not breaks(node):
                bounds = k.convert("sext", begun, "index"), k.convert("sext", last, "index")
                results, end = nests.counted_once(e, loop, carried, bounds)
                guard.yield_(last, False, *results)
            else:
                reached = Reached(begun, over, carried.starts)
                guard.yield_(*self.uncounted(loop, carried, reached, last))
                end = e.names
        self.end: Known = dict(end)
        return Reached(guard.out[0], guard.out[1], guard.out[2:])

    def names_in_registers(self, head: Known, end: Known) -> dict[str, Array]:
        """The arrays that an iteration leaves to the next, or that are read after the loop."""
        found: dict[str, Array] = {}
        for name in sorted(head):
            items = [head[name], *([end.get(name)] if name in self.source.results else [])]
            for item in items:
                if isinstance(item, Array) and item.held:
                    found.setdefault(name, item)
        return found

    def homes(self, held: Mapping[str, Array], extent: Value) -> dict[str, Value]:
        """Where elements are between two slices."""
        e, places, found = self.e, dict[Any, int](), {}
        for name, item in held.items():
            place = places.get(item.dtype, 0)
            places[item.dtype] = place + 1
            found[name] = extent * place
            e.memory.buffer(item.dtype)
        for dtype, number in places.items():
            e.memory.used[Pool(dtype, (Dim("extent", self.along.number),))] = number
        return found

    def slot(self, home: Value, element: int) -> tuple[Value, Value | int]:
        """The address of elements of lanes between two slices, and their stride."""
        streams = self.streams
        assert streams.index is not None, "lanes are emitted"
        if streams.width == 1:
            return home + streams.index, 1
        return home + (streams.index * streams.width + element), streams.width

    def put_slots(
        self, held: Mapping[str, Array], homes: Mapping[str, Value], values: Sequence[Value]
    ) -> None:
        """Put the elements of lanes into memory, at the end of a slice."""
        width, left = self.streams.width, iter(values)
        for name, item in held.items():
            for element in range(width):
                index, stride = self.slot(homes[name], element)
                buffer = self.e.memory.buffer(item.dtype)
                self.k.store(buffer, index, next(left), stride)

    def begin_slots(self, begun: Value, homes: Mapping[str, Value]) -> None:
        """Before the first slice, names have the elements of arrays from before the loop."""
        k, e = self.k, self.e
        extent = e.extents.value(Dim("extent", self.along.number))
        started = {name: item for name, item in self.start_of.items() if name in homes}
        if not started:
            return
        with k.if_(k.eq(begun, 0)) as first:
            with k.lanes(0, extent) as lanes:
                for name, item in started.items():
                    offset, stride = indexing.address(e, item, Point((), lanes.i, ExactNotes(k)))
                    value = k.load(item.buffer, offset, stride)
                    k.store(e.memory.buffer(item.dtype), homes[name] + lanes.i, value)
            first.yield_()

    def end_of(self, name: str, place: int, carry: Sequence[Value]) -> Sequence[Value]:
        """The elements that a name has at the end of an iteration."""
        width = self.streams.width
        item = self.end.get(name)
        if isinstance(item, Array) and item.held:
            return item.held
        return carry[place * width : (place + 1) * width]

    def result(self, name: str, kinds: Mapping[str, str]) -> Result | str:
        item = self.ends[-1].get(name, UNBOUND)
        if not (isinstance(item, Array) and item.held):
            return super().result(name, kinds)
        found = self.origin(item.held)
        if found is None:
            return "it may be an array from before it"
        for other in self.source.results:
            its = self.ends[-1].get(other, UNBOUND)
            held = its.held if isinstance(its, Array) and other != name else ()
            if held and self.origin(held) == found:
                return f"it is the array {other}, too"
        self.depth = max(self.depth, found[1])
        return Pool(item.dtype, item.pool)

    def origin(self, held: tuple[Value, ...]) -> tuple[int, int] | None:
        """The array that a name holds at the end of an iteration, by its elements.

        With the number of iterations since it was made; None: it may be from before the loop.
        """
        depth = 0
        while id(held) not in self.streams.made:
            earlier = [each for each, head in self.heads.items() if head.held is held]
            end = self.ends[-1].get(earlier[0], UNBOUND) if earlier else UNBOUND
            if not (isinstance(end, Array) and end.held) or depth > len(self.heads):
                return None
            held, depth = end.held, depth + 1
        return id(held), depth
