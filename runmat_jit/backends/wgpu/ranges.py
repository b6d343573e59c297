"""Elements that a part of a kernel's parallel axis touches: intervals of its index values.

Used to bind windows of buffers that are larger than a binding, and to size teams of threads. An
interval may be wider than what happens, never narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Block, Buffer, Instruction, Kernel, Value

Interval = tuple[int, int]
"""Lowest and highest value, both included."""


@slotted
class Ranges:
    """``accesses`` by buffer, None where unknown; ``lengths`` of blocks by their index's number."""

    accesses: dict[str, Interval | None] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)


def ranges_of(kernel: Kernel, numbers: Mapping[str, int], part: tuple[int, int]) -> Ranges:
    """Follow the index values of a kernel.

    Args:
        kernel: A valid kernel.
        numbers: Index scalars by name.
        part: Cells or iterations that are run, at least one.

    """
    walk = _Walk(part)
    for name, number in numbers.items():
        walk.known[kernel.arguments[name].number] = (number, number)
    walk.body(kernel.body, top=True)
    return walk.ranges


def longest_blocks(kernel: Kernel, numbers: Mapping[str, int]) -> dict[int, int]:
    """Iterations of the blocks of the first cell, as far as they are known."""
    return ranges_of(kernel, numbers, (0, 1)).lengths


@slotted
class _Walk:
    part: tuple[int, int]
    ranges: Ranges = field(default_factory=Ranges)
    known: dict[int, Interval] = field(default_factory=dict)
    made_by: dict[int, Instruction] = field(default_factory=dict)

    def get(self, value: Value) -> Interval | None:
        if value.literal is not None:
            return int(value.literal), int(value.literal)
        return self.known.get(value.number)

    def body(self, body: Sequence[Instruction], *, top: bool = False) -> None:
        for instruction in body:
            for result in instruction.results:
                self.made_by[result.number] = instruction
            if instruction.block is not None:
                self.structured(instruction, instruction.block, top=top)
            elif instruction.op in ("load", "store", "gather"):
                self.access(instruction)
            elif len(instruction.results) == 1 and instruction.results[0].type == "index":
                found = self.value(instruction)
                if found is not None:
                    self.known[instruction.results[0].number] = found

    def structured(self, instruction: Instruction, block: Block, *, top: bool) -> None:
        if instruction.op == "contract":
            self.contract(instruction, block)
        elif block.index is not None:
            bounds = self.bounds(instruction, top=top)
            if bounds is not None:
                lo, hi = bounds
                self.ranges.lengths[block.index.number] = max(hi - lo, 0)
                self.known[block.index.number] = lo, max(hi - 1, lo)
        self.body(block.body)

    def contract(self, instruction: Instruction, block: Block) -> None:
        """Rows and columns of a product; all of its matrices may be touched."""
        assert block.index is not None, "it counts columns"
        for value, extent in zip((block.carried[0], block.index), instruction.args, strict=False):
            found = self.get(extent)
            if found is not None:
                self.ranges.lengths[value.number] = found[1]
                self.known[value.number] = 0, max(found[1] - 1, 0)
        for side in ("left", "right"):
            buffer = instruction.attrs[side]
            assert isinstance(buffer, Buffer), "a contraction names its buffers"
            self.ranges.accesses[buffer.name] = None

    def bounds(self, instruction: Instruction, *, top: bool) -> Interval | None:
        """The lowest bound and the highest end of a block."""
        if top and instruction.op in ("grid", "lanes"):
            return self.part
        lo, hi = (self.get(a) for a in instruction.args[:2])
        return None if lo is None or hi is None else (lo[0], hi[1])

    def access(self, instruction: Instruction) -> None:
        """A lane's element is where the index would be if it were the first."""
        buffer = instruction.attrs["buffer"]
        if not isinstance(buffer, Buffer):
            return
        index = instruction.args[0]
        found = None if index.lane else self.get(index)
        seen = self.ranges.accesses
        if buffer.name in seen:
            before = seen[buffer.name]
            found = None if found is None or before is None else _hull(found, before)
        seen[buffer.name] = found

    def value(self, instruction: Instruction) -> Interval | None:
        op, args = instruction.op, instruction.args
        if op == "select":
            return self.selected(args)
        operands = [self.get(a) for a in args]
        if op == "sub":
            rest = self.remainder(args)
            if rest is not None:
                return rest
        if op not in _RULES or any(o is None for o in operands):
            return None
        return _RULES[op](*operands)

    def selected(self, args: Sequence[Value]) -> Interval | None:
        """Either value; the lesser where ``a if a < b else b`` says so."""
        a, b = self.get(args[1]), self.get(args[2])
        if a is None or b is None:
            return None
        made = self.made_by.get(args[0].number)
        if made is not None and made.op == "lt" and tuple(made.args) == tuple(args[1:]):
            return min(a[0], b[0]), min(a[1], b[1])
        return _hull(a, b)

    def remainder(self, args: Sequence[Value]) -> Interval | None:
        """``a - (a / b) * b``, which is below ``b``, where ``a`` is not negative."""
        product = self.made_by.get(args[1].number)
        if product is None or product.op != "mul":
            return None
        quotient = self.made_by.get(product.args[0].number)
        wanted = (args[0].number, product.args[1].number)
        if quotient is None or quotient.op != "sdiv":
            return None
        if tuple(v.number for v in quotient.args) != wanted:
            return None
        a, b = self.get(args[0]), self.get(product.args[1])
        if a is None or b is None or a[0] < 0 or b[0] < 1:
            return None
        if a[0] // b[0] == a[1] // b[0] and b[0] == b[1]:
            return a[0] % b[0], a[1] % b[0]  # all in one row
        return 0, min(a[1], b[1] - 1)


def _hull(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])


def _product(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient(a: Interval, b: Interval) -> Interval | None:
    if a[0] < 0 or b[0] < 1:
        return None
    return a[0] // b[1], a[1] // b[0]


def _remainder(a: Interval, b: Interval) -> Interval | None:
    return (0, min(a[1], b[1] - 1)) if a[0] >= 0 and b[0] >= 1 else None


def _same(a: Interval) -> Interval:
    return a


_RULES: dict[str, Callable[..., Interval | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _product,
    "neg": lambda a: (-a[1], -a[0]),
    "sdiv": _quotient,
    "srem": _remainder,
    "sext": _same,
    "zext": _same,
    "trunc": _same,
}
