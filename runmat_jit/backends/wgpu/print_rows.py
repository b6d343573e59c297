"""Printing of walks whose elements are in registers: all loads of a walk first, then its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from runmat_jit.backends.wgpu.cells import touched
from runmat_jit.backends.wgpu.print_blocks import Body, block_of, mask_below, print_lanes
from runmat_jit.backends.wgpu.print_memory import order
from runmat_jit.backends.wgpu.printer import Printer
from runmat_jit.backends.wgpu.rows import Place, Rows, buffer_of, inside, place_of
from runmat_jit.kernel.ir import Instruction
from runmat_jit.kernel.walk import every_instruction

Finish = Callable[[str], None]
"""Takes what a step has computed; given the mask of the lanes that are there."""


def print_lanes_or_walk(printer: Printer, instruction: Instruction, body: Body) -> None:
    """The vectors of a parallel axis, or those of a row in memory or in registers."""
    if printer.rows is None:
        print_lanes(printer, instruction, body)
    else:
        order(printer, *touched([instruction]))
        print_walk(printer, instruction, body, lambda _live: None)


def print_walk(printer: Printer, walk: Instruction, body: Body, finish: Finish) -> None:
    """All steps of a walk."""
    rows, block, threads = printer.rows, block_of(walk), printer.schedule.block
    assert rows is not None, "rows are in registers"
    assert block.index is not None, "a walk counts"
    hi = printer.name(printer.uniform(walk.args[1]))
    whole = all(map(printer.views.is_multiple, walk.args))
    stride = threads * printer.lanes
    first = printer.let(f"block * {16 * stride} + (tl % {threads}) * {printer.lanes}", "i")
    indices = [
        printer.let(f"{first} + {k * stride}", "i") if k else first for k in range(rows.steps)
    ]
    masks = [
        printer.splat("bool", f"{index} < {hi}") if whole else mask_below(printer, index, hi)
        for index in indices
    ]
    early, places = _early(rows, walk)
    seen: list[dict[int, str]] = []
    for step, (index, mask) in enumerate(zip(indices, masks, strict=True)):
        printer.values[block.index.number] = index
        with printer.masked(mask, first=False, whole=whole), printer.lanes_inside():
            for instruction in early:
                place = places.get(id(instruction))
                known = None if place is None else rows.known.get(place)
                if known is None or len(known) <= step:
                    body(replace(block, body=(instruction,)))
                    if place is not None:
                        names = rows.known.setdefault(place, [])
                        names.append(printer.values[instruction.results[0].number])
                else:
                    printer.values[instruction.results[0].number] = known[step]
        numbers = [r.number for i in early for r in i.results]
        seen.append({number: printer.values[number] for number in numbers})
    _print_rest(printer, walk, body, (indices, masks, seen), finish, whole=whole)


def _early(rows: Rows, walk: Instruction) -> tuple[list[Instruction], dict[int, Place]]:
    """What may come before all steps: loads of what the walk does not store, and their indices.

    What a step stores later is loaded early where it is in registers already.
    """
    block = block_of(walk)
    written = stored_by(walk)
    gone: set[str] = set()
    early: list[Instruction] = []
    places: dict[int, Place] = {}
    for instruction in block.body:
        gone |= {buffer_of(i) for i in every_instruction([instruction]) if i.op == "store"}
        if instruction.op == "load":
            place = place_of(instruction, walk)
            if place is None or place.buffer in gone:
                continue
            if place.buffer not in written or place in rows.known:
                places[id(instruction)] = place
                early.append(instruction)
        elif [r.type for r in instruction.results] == ["index"] and instruction.block is None:
            early.append(instruction)
    return early, places


def _print_rest(
    printer: Printer,
    walk: Instruction,
    body: Body,
    steps: tuple[list[str], list[str], list[dict[int, str]]],
    finish: Finish,
    *,
    whole: bool,
) -> None:
    """The rest of each step, in order; what is stored is not known any more."""
    rows, block = printer.rows, block_of(walk)
    assert rows is not None, "rows are in registers"
    assert block.index is not None, "a walk counts"
    early, _ = _early(rows, walk)
    gone = {id(instruction) for instruction in early}
    rest = replace(block, body=tuple([i for i in block.body if id(i) not in gone]))
    for index, mask, values in zip(*steps, strict=True):
        printer.values[block.index.number] = index
        printer.values |= values
        with printer.masked(mask, first=False, whole=whole):
            with printer.lanes_inside():
                body(rest)
            assert printer.live is not None, "as just set"
            finish(printer.live)
    for buffer in stored_by(walk):
        rows.forget(buffer)


def stored_by(walk: Instruction) -> set[str]:
    """The buffers that a walk stores into."""
    return {buffer_of(each) for each in inside(walk) if each.op == "store"}
