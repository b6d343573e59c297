"""Walking over the instructions of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.kernel.primitives import total_lanes


def every_instruction(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """The instructions of a body and of all blocks in it, in program order."""
    for instruction in body:
        yield instruction
        if instruction.block is not None:
            yield from every_instruction(instruction.block.body)


def leaves(body: Sequence[Instruction]) -> bool:
    """True if a cell may end before its last instruction."""
    return any(instruction.op == "leave" for instruction in every_instruction(body))


def is_sequential(body: Sequence[Instruction]) -> bool:
    """True if a kernel is one cell of loops over single numbers: nothing in it has lanes."""
    found = list(every_instruction(body))
    in_lanes = any(instruction.op in ("lanes", "total") for instruction in found)
    return not in_lanes and any(instruction.op in ("while", "leave") for instruction in found)


def stored_values(store: Instruction) -> tuple[Value, ...]:
    """What a ``store`` stores, side by side."""
    return store.args[1 : -1 if store.attrs["stride"] == "value" else None]


def lanes_of_total(total: Instruction) -> int:
    """The logical lanes of a ``total``."""
    lanes = total.attrs.get("lanes") or total_lanes([result.type for result in total.results])
    assert isinstance(lanes, int), "lanes are a number"
    return lanes


def note_bit(note: Instruction) -> int:
    """The bit of the event word that a ``note`` sets."""
    bit = note.attrs.get("bit", 0)
    assert isinstance(bit, int), "a note's bit is a number"
    return bit
