"""Barriers that the cells of a ``grid`` need, and the control flow around them.

A barrier is for all threads of a workgroup. Where control flow depends on the cell, the cells of
one workgroup may disagree about reaching it: such a kernel gets a workgroup for each cell.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Block, Buffer, Instruction, Kernel, Table
from runmat_jit.kernel.walk import every_instruction


@frozen
class Cells:
    """``ordered`` buffers are written and touched again in the cell: accesses need barriers."""

    ordered: frozenset[str]
    one_team: bool
    total_instructions: int


def cells_of(kernel: Kernel) -> Cells:
    """Analyze a kernel; without a ``grid`` nothing needs a barrier."""
    top = kernel.body[-1]
    if top.op != "grid" or top.block is None or top.block.index is None:
        return Cells(frozenset(), one_team=False, total_instructions=0)
    ordered = _ordered(top.block.body)
    walk = _Walk(ordered, {top.block.index.number})
    walk.body(top.block.body, same=True)
    counts = [
        sum(1 for _ in every_instruction(i.block.body))
        for i in every_instruction(kernel.body)
        if i.op == "total" and i.block is not None
    ]
    return Cells(ordered, walk.one_team, max(counts, default=0))


def touched(body: Sequence[Instruction]) -> tuple[set[str], set[str]]:
    """Names of the buffers that are read and written, blocks included."""
    read: set[str] = set()
    written: set[str] = set()
    for instruction in every_instruction(body):
        for attr in ("buffer", "left", "right"):
            buffer = instruction.attrs.get(attr)
            if isinstance(buffer, Buffer):
                (written if instruction.op == "store" else read).add(buffer.name)
    return read, written


def early_of(block: Block, aliased: Collection[str]) -> list[Instruction]:
    """Loads of a loop that do not depend on iterations before, and what their addresses need.

    None of loops around others. ``aliased``: buffers that share memory with one that is written.
    """
    if any(each.op == "loop" for each in every_instruction(block.body)):
        return []
    _, written = touched(block.body)
    late = {carried.number for carried in block.carried}
    found = []
    for each in block.body:
        free = not any(arg.number in late for arg in each.args) and each.block is None
        is_index = [r.type for r in each.results] == ["index"]
        buffer = each.attrs.get("buffer")
        loads = (
            each.op == "load"
            and isinstance(buffer, Buffer | Table)
            and buffer.name not in {*written, *aliased}
        )
        if free and (is_index or loads):
            found.append(each)
        else:
            late |= {result.number for result in each.results}
    return found


def _ordered(body: Sequence[Instruction]) -> frozenset[str]:
    """Buffers that are written, and read or written by another instruction of the cell.

    What one store alone writes needs no order, also in a loop: no two iterations write an element.
    """
    accesses: dict[str, int] = {}
    written: set[str] = set()
    _count(body, accesses, written)
    return frozenset(name for name in written if accesses[name] > 1)


def _count(body: Sequence[Instruction], accesses: dict[str, int], written: set[str]) -> None:
    """Count accesses by cell-level instructions."""
    for instruction in body:
        if instruction.op in ("loop", "if") and instruction.block is not None:
            _count(instruction.block.body, accesses, written)
            continue
        stores = [i for i in every_instruction([instruction]) if i.op == "store"]
        reads, writes = touched([instruction])
        written |= writes
        for name in reads:
            accesses[name] = accesses.get(name, 0) + 1
        for store in stores:
            buffer = store.attrs["buffer"]
            assert isinstance(buffer, Buffer), "a store names its buffer"
            accesses[buffer.name] = accesses.get(buffer.name, 0) + 1


@slotted
class _Walk:
    """Follows what depends on the cell, and finds barriers that only some cells would reach."""

    ordered: frozenset[str]
    varying: set[int] = field(default_factory=set)
    one_team: bool = False

    def body(self, body: Sequence[Instruction], *, same: bool) -> None:
        """Walk; ``same`` says that all cells come here together."""
        for instruction in body:
            if instruction.op in ("loop", "if") and instruction.block is not None:
                self.structured(instruction, same=same)
                continue
            reads, writes = touched([instruction])
            waits = instruction.op == "total" or not self.ordered.isdisjoint(reads | writes)
            self.one_team |= waits and not same
            if reads or instruction.op == "total" or self.varies(instruction):
                self.varying |= {r.number for r in instruction.results}

    def structured(self, instruction: Instruction, *, same: bool) -> None:
        block, control = instruction.block, 3 if instruction.op == "loop" else 1
        assert block is not None, "as the caller checked"
        carried = {v.number for v in (*block.carried, *instruction.results)}
        if block.index is not None and self.varies(instruction):
            self.varying.add(block.index.number)
        # What a loop carries is taken to vary: finding out would need a fixed point.
        self.varying |= carried
        decided = not any(a.number in self.varying for a in instruction.args[:control])
        self.body(block.body, same=same and decided)

    def varies(self, instruction: Instruction) -> bool:
        return any(a.number in self.varying for a in instruction.args)
