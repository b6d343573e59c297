"""Printing of walks whose elements are in registers: all loads of a walk first, then its steps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from runmat_jit.backends.wgpu.cells import touched
from runmat_jit.backends.wgpu.print_blocks import Body, block_of, mask_below, print_lanes
from runmat_jit.backends.wgpu.print_memory import begin_of, order
from runmat_jit.backends.wgpu.print_staged import load_rows, store_rows
from runmat_jit.backends.wgpu.printer import Memory, Printer
from runmat_jit.backends.wgpu.rows import (
    Place,
    Rows,
    buffer_of,
    inside,
    kept_stores,
    place_of,
)
from runmat_jit.kernel.ir import Instruction
from runmat_jit.kernel.walk import every_instruction, stored_values

Finish = Callable[[str | None], None]
"""Takes what a step has computed; given the mask of the lanes that are there, if not all are."""


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
    masks: list[str | None] = [
        printer.splat("bool", f"{index} < {hi}") if whole else mask_below(printer, index, hi)
        for index in indices
    ]
    if printer.schedule.full:
        masks = [None] * rows.steps
    elif printer.schedule.team == threads:  # the one block of the row has all steps but the last
        masks[:-1] = [None] * (rows.steps - 1)
    early, places = _early(rows, walk)
    for instruction in early:
        place = places.get(id(instruction))
        if place is not None and place not in rows.known and id(instruction) in rows.staged:
            rows.known[place] = load_rows(printer, *_begin(printer, walk, instruction, body))
    seen: list[dict[int, str]] = []
    for step, (index, mask) in enumerate(zip(indices, masks, strict=True)):
        printer.values[block.index.number] = index
        with _step(printer, mask, whole=whole), printer.lanes_inside():
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


def _begin(
    printer: Printer, walk: Instruction, access: Instruction, body: Body
) -> tuple[Memory, str]:
    """The memory of an access, and the index of the first element of the own row there."""
    block = block_of(walk)
    assert block.index is not None, "a walk counts"
    printer.values[block.index.number] = "0"
    addresses = [
        each
        for each in block.body
        if [r.type for r in each.results] == ["index"] and each.block is None
    ]
    body(replace(block, body=tuple(addresses)))
    return begin_of(printer, access)


def _step(printer: Printer, mask: str | None, *, whole: bool) -> AbstractContextManager[None]:
    """Statements of one step, for the lanes that are there."""
    return nullcontext() if mask is None else printer.masked(mask, first=False, whole=whole)


def _early(rows: Rows, walk: Instruction) -> tuple[list[Instruction], dict[int, Place]]:
    """Loads that may precede all steps of a walk, and their indices.

    A location that the walk stores to is loaded early only if it is in registers already.
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
    steps: tuple[list[str], list[str | None], list[dict[int, str]]],
    finish: Finish,
    *,
    whole: bool,
) -> None:
    """The rest of each step, in order; of what is stored, values in registers alone are known."""
    rows, block = printer.rows, block_of(walk)
    assert rows is not None, "rows are in registers"
    assert block.index is not None, "a walk counts"
    early, _ = _early(rows, walk)
    kept = kept_stores(walk)
    gone = {id(instruction) for instruction in early} | rows.passing
    together = [(store, place) for store, place in kept if id(store) in rows.staged - rows.passing]
    gone |= {id(store) for store, _ in together}
    names: dict[Place, list[str]] = {place: [] for _, place in kept}
    rest = replace(block, body=tuple([i for i in block.body if id(i) not in gone]))
    for index, mask, values in zip(*steps, strict=True):
        printer.values[block.index.number] = index
        printer.values |= values
        with _step(printer, mask, whole=whole):
            with printer.lanes_inside():
                body(rest)
                for store, place in kept:
                    (value,) = stored_values(store)
                    names[place].append(printer.name(printer.operand(value, lane=True)))
            finish(printer.live)
    for store, place in together:
        store_rows(printer, *_begin(printer, walk, store, body), names[place])
    for buffer in stored_by(walk):
        rows.forget(buffer)
    rows.known |= names


def stored_by(walk: Instruction) -> set[str]:
    """The buffers that a walk stores into."""
    return {buffer_of(each) for each in inside(walk) if each.op == "store"}
