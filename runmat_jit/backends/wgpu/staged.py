"""Accesses of threads far from each other in memory, which workgroup memory brings together.

A thread that walks a line alone touches elements far from its neighbors'. A workgroup copies such
lines together, through a tile of its memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runmat_jit.kernel.ir import Buffer, Instruction, Kernel, Value
from runmat_jit.kernel.walk import every_instruction, stored_values

KINDS = ("f32", "i32")
"""Elements that are staged: those of 4 bytes."""


def pitch_of(steps: int) -> int:
    """Elements of the tile from one row to the next."""
    return steps | 1


def tile_bytes(steps: int, threads: int, kinds: int) -> int:
    """Bytes of workgroup memory for rows of so many elements, of some kinds."""
    return 4 * threads * (kinds * pitch_of(steps) + 1)


def line_bytes(chunk: int, width: int, tiles: int, accesses: int) -> int:
    """Bytes of workgroup memory for parts of lines, and for where the lines of accesses begin."""
    return 4 * width * (tiles * pitch_of(chunk) + 2 * accesses)


def is_free(kernel: Kernel) -> bool:
    """True if iterations of the only loop are independent.

    They carry nothing, read nothing that is stored, and each stores elements of its own.
    """
    (loop,) = (i for i in every_instruction(kernel.body) if i.op == "loop")
    assert loop.block is not None, "a loop has a body"
    assert loop.block.index is not None, "it counts"
    inside = list(every_instruction(loop.block.body))
    stores = [i for i in inside if i.op == "store"]
    read = {_name(i) for i in inside if i.op in ("load", "gather")}
    if loop.results or any(_name(store) in read for store in stores):
        return False
    changing = {loop.block.index.number}
    for each in inside:
        if any(arg.number in changing for arg in each.args):
            changing |= {result.number for result in each.results}
    return all(store.args[0].number in changing for store in stores)


def walked_lines(kernel: Kernel) -> tuple[Instruction, ...]:
    """Accesses of a loop of lanes along lines that are contiguous, while the lanes are far apart.

    The kernel's only loop: all threads of a workgroup take its iterations together. Of stores those
    that are the only accesses to their buffers.
    """
    top = kernel.body[-1]
    if top.op != "grid" or top.block is None:
        return ()
    walks = [i for i in every_instruction(kernel.body) if i.op in ("loop", "while", "total")]
    lanes = [i for i in top.block.body if i.op == "lanes" and i.block is not None]
    inside = [i for each in lanes for i in _body(each) if i.op == "loop"]
    if len(walks) != 1 or inside != walks:
        return ()
    (loop,) = walks
    begins, step = loop.args[0].literal, loop.args[2].literal
    if (begins, step) != (0, 1):
        return ()
    names = [_name(i) for i in every_instruction(kernel.body) if i.op in _ACCESSES]
    written = {_name(i) for i in every_instruction(kernel.body) if i.op == "store"}
    return tuple(
        access
        for access in _along(loop)
        if (access.op == "load" and _name(access) not in written)
        or (access.op == "store" and names.count(_name(access)) == 1)
    )


_ACCESSES = ("load", "store", "gather")


def _along(loop: Instruction) -> Iterator[Instruction]:
    """Accesses of a loop to the next element in each iteration, in lines of lanes of their own."""
    block = loop.block
    assert block is not None, "a loop has a body"
    assert block.index is not None, "it counts"
    made = {r.number: i for i in block.body for r in i.results}
    slopes: dict[int, int | None] = {carried.number: None for carried in block.carried}
    slopes[block.index.number] = 1
    for each in block.body:
        buffer = each.attrs.get("buffer")
        if each.op not in ("load", "store") or not isinstance(buffer, Buffer):
            continue
        apart = each.attrs["stride"] not in (-1, 0, 1) and buffer.element in KINDS
        several = each.op == "store" and len(stored_values(each)) != 1
        if apart and not several and _slope(each.args[0], made, slopes) == 1:
            yield each


def _slope(
    value: Value, made: Mapping[int, Instruction], slopes: dict[int, int | None]
) -> int | None:
    """By how much an index grows in each iteration; None where that is not known."""
    if value.literal is not None or value.number not in {*made, *slopes}:
        return 0
    if value.number not in slopes:
        instruction = made[value.number]
        parts = [_slope(arg, made, slopes) for arg in instruction.args]
        slopes[value.number] = None
        if not any(part != 0 for part in parts) and instruction.op not in _ACCESSES:
            slopes[value.number] = 0
        elif instruction.op == "add" and None not in parts:
            slopes[value.number] = sum(part or 0 for part in parts)
        elif instruction.op == "mul" and None not in parts:
            factors = [arg.literal for arg in instruction.args if arg.literal is not None]
            slopes[value.number] = sum(int(f) * (p or 0) for f in factors for p in parts) or None
    return slopes[value.number]


def _body(instruction: Instruction) -> tuple[Instruction, ...]:
    return () if instruction.block is None else instruction.block.body


def _name(access: Instruction) -> str:
    buffer = access.attrs.get("buffer")
    return "" if buffer is None else str(getattr(buffer, "name", ""))
