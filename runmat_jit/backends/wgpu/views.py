"""Buffers that a shader sees as vectors, and which numbers are multiples of a vector's lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from runmat_jit.backends.wgpu.facts import FACTOR, Facts, Start
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Block, Buffer, Instruction, Kernel, Scalar, Table, Value
from runmat_jit.kernel.walk import every_instruction


@slotted
class _Alignment:
    """Numbers of the uniform values that are known to be multiples of the lanes of a thread."""

    lanes: int
    facts: Facts
    known: set[int] = field(default_factory=set)
    narrow: set[str] = field(default_factory=set)
    sums: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    starts: dict[int, Start] = field(default_factory=dict)
    """Starts of windows by the value number of the index scalar."""
    windows: dict[int, tuple[Value, Start]] = field(default_factory=dict)

    def holds(self, value: Value) -> bool:
        if value.literal is not None:
            return int(value.literal) % self.lanes == 0
        return value.number in self.known

    def body(self, body: Sequence[Instruction], *, top: bool = False) -> None:
        for instruction in body:
            if instruction.block is not None:
                self.enter(instruction, instruction.block, top=top)
                self.body(instruction.block.body)
            elif instruction.op in ("load", "store", "gather"):
                self.access(instruction)
            elif self.follows(instruction):
                self.known.add(instruction.results[0].number)
            elif instruction.op == "add":
                self.sums[instruction.results[0].number] = instruction.args

    def enter(self, instruction: Instruction, block: Block, *, top: bool) -> None:
        """A block's index is a multiple where it starts at one and steps by multiples."""
        if instruction.op == "contract":
            self.contract(instruction, block)
            return
        if block.index is None or instruction.op == "grid":
            return
        starts = self.holds(instruction.args[0])
        if instruction.op == "lanes" and top:
            starts = self.facts.aligned_part
        if instruction.op == "loop":
            starts = starts and self.holds(instruction.args[2])
        if starts:
            self.known.add(block.index.number)

    def contract(self, instruction: Instruction, block: Block) -> None:
        """A matrix is read in vectors where its rows or columns, of neighbors, begin at one."""
        assert block.index is not None, "it counts columns"
        self.known.add(block.index.number)
        places = instruction.args[3:]
        for side, (begin, *steps) in (("left", places[:3]), ("right", places[3:])):
            buffer = instruction.attrs[side]
            assert isinstance(buffer, Buffer), "a contraction names its buffers"
            others = [step for step in steps if step.literal != 1]
            whole = self.is_whole(buffer) and all(map(self.holds, (begin, *others)))
            if len(others) != 1 or not whole:
                self.narrow.add(buffer.name)

    def is_whole(self, buffer: Buffer | Table) -> bool:
        """True if the first element of a buffer begins a vector."""
        return buffer.name not in self.facts.shifted or buffer.name in self.facts.multiples

    def follows(self, instruction: Instruction) -> bool:
        op, args = instruction.op, instruction.args
        if len(instruction.results) != 1 or instruction.results[0].type != "index":
            return False
        if op in ("add", "sub", "neg"):
            return all(map(self.holds, args))
        if op == "mul":
            return any(map(self.holds, args))
        return op == "select" and all(map(self.holds, args[1:]))

    def access(self, instruction: Instruction) -> None:
        buffer = instruction.attrs["buffer"]
        assert isinstance(buffer, Buffer | Table), f"{instruction.op} names its buffer"
        stride = instruction.attrs.get("stride")
        if stride == 0 and instruction.op == "load":
            return  # one element of a vector
        alone = self.is_whole(buffer) and buffer.name not in self.facts.shared
        if "window" in instruction.attrs and alone:  # its other elements are not being written
            self.window(instruction.args[0])
            return
        if stride != 1 or not self.is_whole(buffer) or not self.holds(instruction.args[0]):
            self.narrow.add(buffer.name)

    def window(self, index: Value) -> None:
        """Record the start of a window relative to its lanes, if the shader knows it."""
        if self.holds(index):
            self.windows[index.number] = index, Start.of(0)
        a, b = self.sums.get(index.number, (index, index))
        for lanes, start in ((a, b), (b, a)):
            if self.holds(lanes) and start.number in self.starts:
                self.windows[index.number] = lanes, self.starts[start.number]


@frozen
class Views:
    """``wide`` buffers are seen as vectors: accesses of lanes are one of them, or a window of two.

    ``multiples`` are the numbers of index values that are multiples of the lanes of a thread;
    ``windows`` the indices of windows, each with a multiple and how far from it they begin;
    ``slices`` and ``tiles`` those of extents (see :class:`Facts`).
    """

    wide: frozenset[str] = frozenset()
    multiples: frozenset[int] = frozenset()
    lanes: int = 1
    windows: Mapping[int, tuple[Value, Start]] = field(default_factory=dict)
    slices: frozenset[int] = frozenset()
    tiles: frozenset[int] = frozenset()

    def is_multiple(self, value: Value) -> bool:
        """True if an index value is a multiple of the lanes of a thread, as far as is known."""
        if value.literal is not None:
            return int(value.literal) % self.lanes == 0
        return value.number in self.multiples


def views_of(kernel: Kernel, facts: Facts, lanes: int) -> Views:
    """Choose the element types through which a kernel of ``lanes`` a thread accesses buffers."""
    if lanes == 1:
        return Views()
    alignment = _Alignment(lanes, facts)
    for parameter in kernel.parameters:
        if isinstance(parameter, Scalar):
            given = FACTOR % lanes == 0 and parameter.name in facts.multiples
            if given or parameter.multiple_of % lanes == 0:
                alignment.known.add(kernel.arguments[parameter.name].number)
    starts = dict(facts.starts)
    for name, value in kernel.arguments.items():
        if name in starts:
            alignment.starts[value.number] = starts[name]
    alignment.body(kernel.body, top=True)
    names = {p.name for p in kernel.parameters if isinstance(p, Buffer)}
    wide, multiples = frozenset(names - alignment.narrow), frozenset(alignment.known)
    slices, tiles = (
        frozenset(kernel.arguments[name].number for name in names)
        for names in (facts.slices, facts.tiles)
    )
    return Views(wide, multiples, lanes, alignment.windows, slices, tiles)


def starts_of_windows(kernel: Kernel) -> frozenset[str]:
    """The index scalars that are added to lanes where windows begin."""
    made = {r.number: i for i in every_instruction(kernel.body) for r in i.results}
    begins = {
        arg.number
        for i in every_instruction(kernel.body)
        if "window" in i.attrs and (index := made.get(i.args[0].number)) and index.op == "add"
        for arg in index.args
    }
    return frozenset(n for n, value in kernel.arguments.items() if value.number in begins)
