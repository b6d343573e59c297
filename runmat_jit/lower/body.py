"""Emits a problem's computations, each in the outermost block where its operands are known.

A nest has one level an axis: level 0 is outside all loops, level ``k`` is inside the loop over axis
``k - 1``; the last level is that of the lanes. Entering a level adds that axis's share to every
address and computes whatever has become known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import KERNEL_ELEMENTS, is_complex
from runmat_jit.graph.constant import constant_array, is_constant
from runmat_jit.graph.node import Node
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Buffer, Kernel, Pair, Value
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.lower.events import Rise, rises
from runmat_jit.lower.exact_notes import ExactNotes
from runmat_jit.lower.nest import Access, Nest
from runmat_jit.lower.problem import Compute, Iota, Limit, Memory, Operand, Read, Store
from runmat_jit.lower.reduction_problem import Reduce, ReductionProblem
from runmat_jit.plan.argument import Argument, InputScalar, NodeBuffer, Scratch, TableBuffer
from runmat_jit.plan.notes import OPEN, RESULTS, SUM, EventBits, Notes


def value_type(element: str) -> str:
    """The value type of an element of memory."""
    return "i1" if element == "bool" else element


@slotted
class Body:
    """The state of emitting one kernel: parameters, addresses so far, values so far.

    ``seeds`` are values that blocks of the kernel define (results of reductions), each with the
    level at which it is known.
    """

    nest: Nest
    computes: tuple[Compute, ...]
    written: frozenset[Memory]
    seeds: Mapping[Operand, int] = field(default_factory=dict)
    builder: Builder = field(default_factory=Builder)
    values: dict[Operand, Value | Pair] = field(default_factory=dict)
    levels: dict[Operand, int] = field(default_factory=dict)
    noted: set[tuple[Node, int]] = field(default_factory=set)
    notes: Notes = RESULTS
    rises: Mapping[Node, Rise] = field(default_factory=dict)
    exact: ExactNotes = field(init=False)
    _arguments: dict[str, Argument] = field(default_factory=dict)
    _buffers: dict[Memory, Buffer] = field(default_factory=dict)
    _places: dict[Access, Access] = field(default_factory=dict)
    """The first access to the same elements: one address serves all of them."""
    place: int = 0
    """Of those that a lane has, the one that is emitted."""
    kept: Mapping[Node, Store] = field(default_factory=dict)
    """Values that are loaded where they have been stored, not computed again."""
    bases: dict[Access, Value | None] = field(default_factory=dict)
    steps: dict[Access, Value | int] = field(default_factory=dict)
    _lane: Value | None = None
    """The index of the block of lanes that is entered."""
    _length: Value | None = None
    """Lanes of a row, where lanes run over rows."""
    _inside: Value | None = None
    """Mask of the lanes within all limits."""

    def __post_init__(self) -> None:
        self.exact = ExactNotes(self.builder)
        if self.notes.mode != "results":
            self.rises = rises(self.computes, self.notes.bits)
        self.levels |= dict(self.seeds)
        first: dict[tuple[object, ...], Access] = {}
        for access, strides in self.nest.strides.items():
            place = access.memory, access.start, strides, self.nest.periods.get(access)
            alike = access if access.memory is None else first.setdefault(place, access)
            self._places[access] = alike
            self.bases[alike] = None
            if isinstance(access, Read):
                inside = (axis + 1 for axis, stride in enumerate(strides) if stride)
                self.levels[access] = max(inside, default=0)
        for compute in self.computes:
            known = [self.levels[o] for o in compute.operands if o in self.levels]
            self.levels[compute.node] = max(known, default=0)

    # -- parameters ------------------------------------------------------------------------------
    def parameter(self, number: int) -> Value:
        """An extent, stride or count, given at run time."""
        return self._scalar(number, "index")

    def _scalar(self, argument: Argument, kind: str) -> Value:
        name = f"s{len(self._arguments)}"
        self._arguments[name] = argument
        return self.builder.scalar(name, kind)

    def buffer(self, memory: Memory, element: str) -> Buffer:
        """The parameter for some memory."""
        if memory not in self._buffers:
            name = f"b{len(self._arguments)}"
            self._arguments[name] = memory
            self._buffers[memory] = self.builder.buffer(
                name, element, written=memory in self.written
            )
        return self._buffers[memory]

    def finish(self) -> tuple[Kernel, tuple[Argument, ...]]:
        """The kernel and its arguments in the order of its parameters."""
        kernel = self.builder.finish()
        names = [parameter.name for parameter in kernel.parameters]
        return kernel, tuple(self._arguments.get(name, TableBuffer(name)) for name in names)

    # -- levels ----------------------------------------------------------------------------------
    def declare(self) -> None:
        """Declare all memory in a fixed order and compute what needs no loop."""
        for access, strides in self.nest.strides.items():
            if access.memory is not None:
                self.buffer(access.memory, KERNEL_ELEMENTS[access.dtype])
            if self._places[access] is not access:
                continue
            if access.start:
                self.bases[access] = self.parameter(access.start)
            step = strides[self.nest.lanes]
            self.steps[access] = step if step in (-1, 0, 1) else self.parameter(step)
        self.compute(0)

    def enter(self, axis: int, coordinate: Value) -> None:
        """Take one axis's coordinate into every address, then compute what is known."""
        self.move(axis, coordinate)
        self.compute(axis + 1)

    def move(self, axis: int, coordinate: Value) -> None:
        """Take one axis's coordinate into every address."""
        lanes = axis == self.nest.lanes
        if lanes:
            self._lane = coordinate
        for access, strides in self.nest.strides.items():
            if strides[axis] == 0 or self._places[access] is not access:
                continue
            if lanes and access in self.nest.periods:
                continue
            beside = axis > self.nest.lanes and strides[axis] == 1
            step = self.steps[access] if lanes else 1 if beside else self.parameter(strides[axis])
            self.bases[access] = _advance(self.bases[access], coordinate, step)

    def compute(self, level: int) -> None:
        """Load and compute everything that is known at this level and not yet there."""
        for access in self.nest.strides:
            if isinstance(access, Read) and self.levels[access] == level:
                self._load(access)
        for compute in self.computes:
            if compute.node not in self.values and self._is_known(compute, level):
                self.emit(compute)

    def _is_known(self, compute: Compute, level: int) -> bool:
        return self.levels[compute.node] <= level and all(
            operand in self.values or operand not in self.levels for operand in compute.operands
        )

    def define(self, reduce: Reduce, value: Value) -> None:
        """Give a seed its value. A final float sum of negative zeros alone is 0.0, as NumPy's."""
        if reduce.final and reduce.combine == "add" and value.type in FLOATS:
            value = value + 0.0
        self.values[reduce.node] = value
        exact = self.notes.mode != "results"
        if exact and reduce.mean is not None:
            self.exact.moment(value, self.value(reduce.mean))
        elif reduce.final and (reduce.reports if exact else reduce.tested):
            self.builder.note(value, SUM if exact and reduce.combine == "add" else OPEN)

    def weigh(
        self, problem: ReductionProblem, counted: tuple[Value, Value], cell: tuple[Value, Value]
    ) -> None:
        """Tell how many elements centers are means of, and how many the cell has."""
        k = self.builder
        for center in problem.centers:
            for node, (low, high) in ((center.count, counted), (center.weight, cell)):
                number = k.convert("trunc", high - low, "i32")
                self.values[node] = k.convert("sitofp", number, self.type_of(node))

    def term(self, reduce: Reduce) -> Value:
        """The value that a reduction takes, once for each element."""
        value = self.value(reduce.operand)
        exact = self.notes.mode != "results"
        if exact and reduce.whole and reduce.reports and reduce.combine == "add":
            self.exact.term(value)
        return value

    def need(self, wanted: Iterable[Operand]) -> None:
        """Load and compute only what the wanted values need."""
        by_node = {compute.node: compute for compute in self.computes}
        missing: set[Operand] = set()
        stack = list(wanted)
        while stack:
            operand = stack.pop()
            if operand in self.values or operand in missing or operand not in self.levels:
                continue
            missing.add(operand)
            if isinstance(operand, Node) and operand not in self.kept:
                stack.extend(by_node[operand].operands)
                if operand in self.rises and (operand, self.place) not in self.noted:
                    rise = self.rises[operand]
                    stack.extend((*rise.operands, *rise.strict))
        for access in self.nest.strides:
            if isinstance(access, Read) and access in missing:
                self._load(access)
        for node, store in self.kept.items():
            if node in missing:
                self.values[node] = self.peek(store)
        for compute in self.computes:
            if compute.node in missing and compute.node not in self.values:
                self.emit(compute)

    def load_for(self, operands: Iterable[Operand | Store]) -> None:
        """Load what is read, of some operands or accesses."""
        for operand in operands:
            if isinstance(operand, Read):
                self._load(operand)

    def shares_address(self, read: Read) -> bool:
        """True if other reads point where a read does."""
        place = self._places[read]
        return any(
            isinstance(other, Read) and other is not read and self._places[other] is place
            for other in self.nest.strides
        )

    def go_on(self, read: Read, elements: Value) -> None:
        """Have a read begin so many elements further on, from now on."""
        place = self._places[read]
        self.values.pop(read, None)
        self.bases[place] = _advance(self.bases[place], elements, 1)

    def type_of(self, node: Node) -> str:
        """The type of a node's value."""
        return value_type(KERNEL_ELEMENTS[node.type.dtype])

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget what is computed inside: a block's values are not known after it."""
        values, bases = dict(self.values), dict(self.bases)
        magnitudes = dict(self.exact.magnitudes)
        yield
        self.values, self.bases, self.exact.magnitudes = values, bases, magnitudes

    def emit(self, compute: Compute) -> None:
        """Compute an operation, all operands of which are known."""
        node = compute.node
        if node.op.kind == "gather":
            self.values[node] = self._gather(compute)
            return
        given = tuple(self.held(operand) for operand in compute.operands)
        assert node.op.expand is not None, f"{node.op.name} has no kernel code"
        value = self.values[node] = node.op.expand(self.builder, *given, **node.params)
        if (node, self.place) in self.noted or is_complex(node.type.dtype):
            return
        self.noted.add((node, self.place))
        bits = self.notes.bits.get(node, _OPEN)
        if node in self.rises:
            self._note_rise(compute, self.rises[node], bits)
        elif compute.tested and self.notes.mode == "results":
            self.builder.note(value)
        if compute.watched and node.op.event_test is not None:
            operands = tuple(map(self.value, compute.operands))
            condition = node.op.event_test(self.builder, operands, value)
            if condition is not None:
                self._note_test(compute, condition, bits)

    def _note_test(self, compute: Compute, condition: Value, bits: EventBits) -> None:
        """Note where a row's own test holds; divisions of integers by zero by themselves."""
        k, at = self.builder, compute.node.op.divisor
        if at is not None and bits.pole != bits.test:
            by_zero = k.eq(self.value(compute.operands[at]), 0)
            k.note(condition & by_zero, bits.pole)
            condition = condition & k.prim("xor", by_zero, True)
        k.note(condition, bits.test)

    def _note_rise(self, compute: Compute, rise: Rise, bits: EventBits) -> None:
        value = self.value(compute.node)
        operands, strict = (tuple(map(self.value, o)) for o in (rise.operands, rise.strict))
        if compute.node not in self.notes.bits:
            self.exact.rise(value, operands, strict)
            return
        at = compute.node.op.divisor
        divisor = None if at is None else self.value(compute.operands[at])
        self.exact.events(value, operands, strict, divisor, bits)

    def value(self, operand: Operand) -> Value:
        """The value of an operand that is there, or of a constant; a real number."""
        found = self.held(operand)
        assert isinstance(found, Value), "kernels compute with parts of complex numbers"
        return found

    def held(self, operand: Operand) -> Value | Pair:
        """The same of any number."""
        if isinstance(operand, Node) and operand not in self.values:
            return self._constant(operand)
        return self.values[operand]

    def _constant(self, node: Node) -> Value | Pair:
        assert is_constant(node), f"{node.op.name} was not computed before it is needed"
        kind = value_type(KERNEL_ELEMENTS[node.type.dtype])
        number = constant_array(node)[()].item()
        if isinstance(number, complex):
            return Pair(*(self.builder.const(part, kind) for part in (number.real, number.imag)))
        return self.builder.const(number, kind)

    # -- memory ----------------------------------------------------------------------------------
    def _load(self, read: Read) -> None:
        if read in self.values:
            return
        if read.along is not None:  # its place is known, its element with the index
            self.values[read] = self.builder.const(0, "index")
        else:
            self.values[read] = self._read(read)

    def _read(self, read: Read) -> Value | Pair:
        element = KERNEL_ELEMENTS[read.dtype]
        if isinstance(read.source, InputScalar):
            return self._scalar(read.source, value_type(element))
        if isinstance(read.source, Iota):
            return self._count(read, read.source, element)
        return self._load_from(self.buffer(read.source, element), read)

    def _gather(self, compute: Compute) -> Value | Pair:
        """Elements at the places that an index tells: none outside of the axis, whatever it is."""
        read, index = compute.operands
        assert isinstance(read, Read), "elements are read from memory"
        assert read.along is not None, "along an axis"
        k, at = self.builder, self.value(index)
        at = at if at.type == "i64" else k.convert("sext", at, "i64")
        extent = k.convert("sext", self.parameter(read.along.extent), "i64")
        at = k.select(at < 0, at + extent, at)
        at = k.select(at < 0, 0, at)
        at = k.select(at < extent, at, extent - 1)
        first = k.convert("sext", self.address(read), "i64")
        step = self._step(read)
        if step != 0:
            step = k.convert("sext", step, "i64") if isinstance(step, Value) else step
            first = first + k.lane_id("i64") * step
        place = first + at * k.convert("sext", self.parameter(read.along.stride), "i64")
        assert isinstance(read.source, NodeBuffer | Scratch), "in memory"
        buffer = self.buffer(read.source, KERNEL_ELEMENTS[read.dtype])
        if is_complex(read.dtype):
            place = place * 2
            return Pair(k.gather(buffer, place), k.gather(buffer, place + 1))
        return k.gather(buffer, place)

    def _count(self, read: Read, iota: Iota, element: str) -> Value:
        builder, kind = self.builder, "i64" if iota.wide else "i32"
        narrow = "sext" if iota.wide else "trunc"
        first = self.parameter(iota.offset) + self.address(read)
        count = builder.convert(narrow, first, kind)
        step = self._step(read)
        if step != 0:
            step = builder.convert(narrow, step, kind) if isinstance(step, Value) else step
            count = count + builder.lane_id(kind) * step
        if element in ("f32", "f64"):
            count = builder.convert("sitofp", count, element)
        elif element != kind:
            count = builder.convert("sext" if element == "i64" else "trunc", count, element)
        scaled = count if iota.step == 1 else count * iota.step
        return scaled if iota.start == 0 else scaled + iota.start

    def element(self, access: Access, base: Value, coordinate: Value) -> Value:
        """Load one element: so many steps along the lanes' axis from where it pointed at first."""
        assert access.memory is not None, "it lies in memory"
        assert not is_complex(access.dtype), "what walks along lines takes parts of such numbers"
        buffer = self.buffer(access.memory, KERNEL_ELEMENTS[access.dtype])
        return self.builder.load(buffer, _advance(base, coordinate, self._step(access)), 0)

    def read_one(self, read: Read, coordinate: Value) -> Value:
        """One element of what is in memory or counts: at a coordinate along the lanes' axis."""
        if not isinstance(read.source, Iota):
            return self.element(read, self.address(read), coordinate)
        assert (read.source.start, read.source.step) == (0, 1), "it counts positions"
        at = _advance(self.address(read), coordinate, self._step(read))
        return self.builder.convert("sext", self.parameter(read.source.offset) + at, "i64")

    def put_element(self, store: Store, base: Value, coordinate: Value, value: Value) -> None:
        """Store one element, likewise."""
        buffer = self.buffer(store.memory, KERNEL_ELEMENTS[store.dtype])
        self.builder.store(buffer, _advance(base, coordinate, self._step(store)), value, 0)

    def _step(self, access: Access) -> Value | int:
        """From a lane's element to the next one's."""
        return self.steps[self._places[access]]

    def address(self, access: Access) -> Value:
        """Where an access points by now."""
        base = self.bases[self._places[access]]
        return self.builder.const(0, "index") if base is None else base

    def keep_inside(self, limits: Iterable[Limit]) -> None:
        """Restrict events and stores to the lanes within all limits."""
        k, lane = self.builder, self._lane
        assert lane is not None, "lanes are entered"
        number = k.convert("trunc", lane, "i32") + k.lane_id("i32")
        for limit in limits:
            at, end = number, limit.period or limit.high + 1
            low, high, period = (
                k.convert("trunc", self.parameter(n), "i32")
                for n in (limit.low, limit.high, limit.period)
            )
            if limit.period:
                at = k.prim("srem", number, period)
            tests = [at >= low] if limit.low else []
            tests += [at < high] if limit.high < end else []
            for test in tests:
                self._inside = test if self._inside is None else self._inside & test
        k.noted = self._inside

    def store(self, stores: Iterable[Store]) -> None:
        """Store values at the addresses so far."""
        for store in stores:
            if store.outside is not None and self._inside is not None:
                value, outside = self.value(store.value), self.value(store.outside)
                self.put(store, self.builder.select(self._inside, value, outside))
            elif store.mask is None:
                self.put(store, self.held(store.value))
            else:
                with self.builder.if_any(self.value(store.mask), ()):
                    self.put(store, self.held(store.value))

    def put(self, store: Store, value: Value | Pair) -> None:
        """Store a value where ``store`` points by now."""
        buffer = self.buffer(store.memory, KERNEL_ELEMENTS[store.dtype])
        if isinstance(value, Pair):
            for part, place in zip((value.re, value.im), self._places_of_parts(store), strict=True):
                self.builder.store(buffer, place, part, self._step(store) * 2)
        else:
            self.builder.store(buffer, self.address(store), value, self._step(store))

    def lies_side_by_side(self, store: Store) -> bool:
        """True if neighbors along the only axis lie side by side, as real numbers."""
        return self.nest.strides[store] == (1,) and not is_complex(store.dtype)

    def put_beside(self, store: Store, values: Sequence[Value]) -> None:
        """Store values side by side, from where ``store`` points by now."""
        buffer = self.buffer(store.memory, KERNEL_ELEMENTS[store.dtype])
        self.builder.store_beside(buffer, self.address(store), values)

    def peek(self, store: Store) -> Value:
        """Load what was put there."""
        buffer = self.buffer(store.memory, KERNEL_ELEMENTS[store.dtype])
        return self.builder.load(buffer, self.address(store), self._step(store))

    def _load_from(self, buffer: Buffer, read: Read) -> Value | Pair:
        """Load a value from where ``read`` points by now."""
        if read in self.nest.periods:
            return self._read_again(buffer, read)
        if read.window:
            return self.builder.load_window(buffer, self.address(read), read.window)
        if not is_complex(read.dtype):
            return self.builder.load(buffer, self.address(read), self._step(read))
        step = self._step(read) * 2
        return Pair(*(self.builder.load(buffer, at, step) for at in self._places_of_parts(read)))

    def _read_again(self, buffer: Buffer, read: Read) -> Value:
        """Load the element of a lane's row, or that which lanes come back to after a row."""
        k, step, lane = self.builder, self._step(read), self._lane
        assert lane is not None, "lanes are entered"
        number = k.convert("trunc", lane, "i32") + k.lane_id("i32")
        period = self.nest.periods[read]
        if self._length is None:  # one for all: only one axis is merged so
            self._length = self.parameter(period.length)
        length = k.convert("trunc", self._length, "i32")
        at = k.prim("sdiv" if period.of_rows else "srem", number, length)
        if step != 1:
            at = at * (k.convert("trunc", step, "i32") if isinstance(step, Value) else step)
        return k.gather(buffer, at + k.convert("trunc", self.address(read), "i32"))

    def _places_of_parts(self, access: Access) -> tuple[Value, Value]:
        """Where the parts of the complex number lie at which an access points by now."""
        first = self.address(access) * 2
        return first, first + 1


_OPEN = EventBits()
"""Bits of operations that share the one of what NumPy must decide."""


def _advance(base: Value | None, coordinate: Value, step: Value | int) -> Value:
    if step == -1:
        return -coordinate if base is None else base - coordinate
    moved = coordinate if step == 1 else coordinate * step
    return moved if base is None else base + moved
