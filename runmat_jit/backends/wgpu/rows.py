"""Cells whose rows stay in registers: which are such, and what is known of their elements.

A cell that walks one range several times (the extreme of a row, the sum of exponentials, the
quotients) reads memory once: each thread has the same few vectors of it in every walk, as the shape
of ``total`` says, and what one walk loads the next one has in registers.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Buffer, Instruction, Kernel, Value
from runmat_jit.kernel.primitives import TOTAL_STEPS
from runmat_jit.kernel.walk import every_instruction, lanes_of_total, stored_values

MOST_LINES = 4_000
"""Instructions of all walks with all their steps, up to which a shader is compiled in good time."""
WALKS = ("total", "lanes")


@frozen
class Place:
    """Location of an access in a walk: buffer, and index as a formula of the walk's index."""

    buffer: str
    formula: str


def walks_of(kernel: Kernel, least: int = 2) -> tuple[Instruction, ...]:
    """The walks of a cell, if it only walks one range, at least so many times; else none."""
    top = kernel.body[-1]
    if top.op != "grid" or top.block is None:
        return ()
    body = top.block.body
    walks = tuple(instruction for instruction in body if instruction.op in WALKS)
    if len(walks) < least or not any(walk.op == "total" for walk in walks):
        return ()
    others = list(every_instruction([i for i in body if i.op not in WALKS]))
    if any(i.op in (*WALKS, "loop") for i in others):
        return ()
    if any(i.op == "store" and not _is_result(i, walks) for i in others):
        return ()
    same = {tuple((a.number, a.literal) for a in walk.args) for walk in walks}
    lanes = {lanes_of_total(walk) for walk in walks if walk.op == "total"}
    nested = (i for walk in walks for i in inside(walk))
    if len(same) > 1 or len(lanes) > 1 or any(i.op in ("loop", "if") for i in nested):
        return ()
    return walks if walks[0].args[0].literal == 0 else ()


def _is_result(store: Instruction, walks: tuple[Instruction, ...]) -> bool:
    """True for a store of one value for the cell, into memory that no walk touches."""
    touched = {buffer_of(i) for walk in walks for i in inside(walk)}
    return store.attrs["stride"] == 0 and buffer_of(store) not in touched


def inside(walk: Instruction) -> Iterator[Instruction]:
    """The instructions of a walk, blocks included."""
    assert walk.block is not None, "a walk has a body"
    return every_instruction(walk.block.body)


def steps_of(kernel: Kernel, length: int | None) -> int:
    """Vectors of a row that a thread holds at most; 0 where rows stay in memory."""
    walks = walks_of(kernel, least=1)
    if not walks or not length:
        return 0
    lanes = next(lanes_of_total(walk) for walk in walks if walk.op == "total")
    steps = min(-(-length // lanes), TOTAL_STEPS)
    return steps if may_hold(walks, steps) else 0


def may_hold(walks: Sequence[Instruction], steps: int) -> bool:
    """True if all walks, each step printed, are compiled in good time."""
    return steps * sum(1 for walk in walks for _ in inside(walk)) <= MOST_LINES


@slotted
class Rows:
    """Values in registers while a cell is printed: their names, one a step, by address.

    ``passing``: stores, by identity, whose values the next walks have in registers and replace.
    ``staged``: accesses, by identity, of rows that a workgroup copies together.
    """

    steps: int
    known: dict[Place, list[str]] = field(default_factory=dict)
    passing: frozenset[int] = frozenset()
    staged: frozenset[int] = frozenset()

    def forget(self, buffer: str) -> None:
        """A walk has stored into a buffer."""
        for place in [each for each in self.known if each.buffer == buffer]:
            del self.known[place]


def rows_of(
    kernel: Kernel, steps: int, shared: Collection[str], staged: frozenset[int]
) -> Rows | None:
    """The state before the first walk; None where rows stay in memory.

    ``shared``: buffers that share memory with others that are written; ``staged`` as of Rows.
    """
    if not steps:
        return None
    walks = walks_of(kernel, least=1)
    passing = {
        id(store)
        for number, walk in enumerate(walks)
        for store, place in kept_stores(walk)
        if place.buffer not in shared
        and not is_touched_after(store, walk)
        and _is_replaced(place, walks[number + 1 :])
    }
    return Rows(steps, passing=frozenset(passing), staged=staged)


def kept_stores(walk: Instruction) -> list[tuple[Instruction, Place]]:
    """Stores of every lane that are the only ones of a walk into their buffers."""
    assert walk.block is not None, "a walk has a body"
    names = [buffer_of(each) for each in inside(walk) if each.op == "store"]
    found = []
    for instruction in walk.block.body:
        if instruction.op == "store" and names.count(buffer_of(instruction)) == 1:
            place = place_of(instruction, walk)
            if place is not None and len(stored_values(instruction)) == 1:
                found.append((instruction, place))
    return found


def is_touched_after(store: Instruction, walk: Instruction) -> bool:
    """True if what is stored may be read from memory in the same walk."""
    later = itertools.dropwhile(lambda each: each is not store, inside(walk))
    return any(
        buffer_of(store) in {buffer_of(each), *_others(each)}
        for each in itertools.islice(later, 1, None)
    )


def _is_replaced(place: Place, walks: Sequence[Instruction]) -> bool:
    """True if walks load what is stored from that index alone, and then store it anew."""
    for walk in walks:
        assert walk.block is not None, "a walk has a body"
        direct = {id(each) for each in walk.block.body}
        for each in inside(walk):
            if place.buffer not in {buffer_of(each), *_others(each)}:
                continue
            if id(each) not in direct or place_of(each, walk) != place:
                return False
            if each.op == "store":
                return True
    return False


def _others(instruction: Instruction) -> set[str]:
    """Buffers that an instruction names by other attributes."""
    named = (instruction.attrs.get(attr) for attr in ("left", "right", "table"))
    return {each.name for each in named if isinstance(each, Buffer)}


def place_of(access: Instruction, walk: Instruction) -> Place | None:
    """Return the buffer and the index formula of a strided access of lanes; None for others."""
    buffer, stride = access.attrs.get("buffer"), access.attrs.get("stride")
    if stride not in (1, "value") or not isinstance(buffer, Buffer):
        return None
    assert walk.block is not None, "a walk has a body"
    made = {r.number: i for i in walk.block.body for r in i.results}
    index = walk.block.index
    assert index is not None, "a walk counts"
    parts = [access.args[0], *access.args[-1:]] if stride == "value" else [access.args[0]]
    return Place(buffer.name, ", ".join([_formula(part, made, index.number) for part in parts]))


def _formula(value: Value, made: Mapping[int, Instruction], index: int) -> str:
    if value.literal is not None:
        return str(value.literal)
    if value.number == index:
        return "i"
    instruction = made.get(value.number)
    if instruction is None:
        return f"%{value.number}"
    parts = ", ".join(_formula(arg, made, index) for arg in instruction.args)
    return f"{instruction.op}({parts})"


def buffer_of(instruction: Instruction) -> str:
    """The buffer that an access touches; empty for what is none."""
    buffer = instruction.attrs.get("buffer")
    return buffer.name if isinstance(buffer, Buffer) else ""
