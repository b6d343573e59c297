"""Walking over the instructions of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runmat_jit.kernel.ir import Instruction


def every_instruction(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """The instructions of a body and of all blocks in it, in program order."""
    for instruction in body:
        yield instruction
        if instruction.block is not None:
            yield from every_instruction(instruction.block.body)


def note_bit(note: Instruction) -> int:
    """The bit of the event word that a ``note`` sets."""
    bit = note.attrs.get("bit", 0)
    assert isinstance(bit, int), "a note's bit is a number"
    return bit
