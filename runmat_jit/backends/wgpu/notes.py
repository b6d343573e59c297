"""Floating-point events in kernels: a test for them, and kernels without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from runmat_jit.kernel.ir import Instruction, Kernel
from runmat_jit.kernel.walk import every_instruction


def has_notes(kernel: Kernel) -> bool:
    """True if a kernel may report floating-point events."""
    return any(instruction.op == "note" for instruction in every_instruction(kernel.body))


def without_notes(kernel: Kernel) -> Kernel:
    """The kernel for callers who do not ask for floating-point events."""
    return replace(kernel, body=tuple(_silent(kernel.body)))


def _silent(body: Sequence[Instruction]) -> Iterator[Instruction]:
    for instruction in body:
        if instruction.block is not None:
            inner = tuple(_silent(instruction.block.body))
            yield replace(instruction, block=replace(instruction.block, body=inner))
        elif instruction.op != "note":
            yield instruction
