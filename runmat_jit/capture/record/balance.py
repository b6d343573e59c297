"""Profit of a recording: the work of kernels against operations on single numbers, and its price.

All of it is counted in calls of NumPy on a few elements, never in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import field
from typing import Final

from runmat_jit.capture.tape.entries import Operation
from runmat_jit.capture.tape.storage import Geometry
from runmat_jit.core.prices import (
    BUILDING,
    BUILDING_STEP,
    COMPILED,
    COMPILING,
    DECISION,
    ELEMENTS,
    ENTRY,
    FREE,
    OPERATIONS,
    PROGRAM,
)
from runmat_jit.core.slotted import slotted

ELEMENTS_LIMIT: Final = COMPILING // ENTRY
"""Operations on single numbers after which a recording that gains nothing ends."""
TURNS_LIMIT: Final = 2 * ELEMENTS_LIMIT
"""Iterations after which a recording ends whose kernels do less than a call in two iterations."""
ITEMS_OF_TURN: Final = ENTRY * OPERATIONS
"""Items of containers that are compared in the time that an iteration of a loop takes to record."""
DRIVEN: Final = 2 * DECISION
"""Of a decision of an interpreted call; operations on numbers that any recording may have."""


def work_on(size: int) -> int:
    """Work of an operation on so many elements, in calls of NumPy; none on a single number."""
    return 0 if size < 2 else 1 + size // ELEMENTS


def work_of(operation: Operation) -> int:
    """Work on arrays, as :func:`batches.work_of` counts it."""
    if operation.meaning.row.kind == "host":
        return int(operation.meaning.row.name == "product")
    return work_on(max([math.prod(p.shape) for p in operation.places if type(p) is Geometry]))


@slotted
class Balance:
    """Of one recording; ``work`` is what kernels have done, in calls of NumPy.

    ``ours``: values were computed that may differ from NumPy's in the last bits. ``elements``
    counts operations on single numbers that NumPy or Python did, and decisions; ``writes`` those
    among them that write one; at ``next_look`` of them what is pending is looked at; at
    ``next_end`` of all whether to go on. ``deferred`` counts those that were deferred instead,
    ``places`` how often the program was at each of its instructions for one. ``compiled`` is the
    price of programs that begin where others have, ``compiled_at`` where they do.
    """

    work: int = 0
    ours: bool = False
    loops: int = 0
    """Part of the work that native loops have done, as they also do in plain execution."""
    elements: int = 0
    writes: int = 0
    next_look: int = 0
    deferred: int = 0
    turns: int = 0
    next_turns: int = field(default_factory=lambda: TURNS_LIMIT)
    next_end: int = field(default_factory=lambda: ELEMENTS_LIMIT)
    places: dict[Hashable, int] = field(default_factory=dict)
    programs: int = 0
    """That were made, and not known from another recording."""
    compiled: int = 0
    built: int = 0
    """Price of all programs that were made."""
    compiled_at: set[Hashable] = field(default_factory=set)

    @property
    def gains(self) -> bool:
        """True if kernels do more than is done with single numbers, a few of which are free."""
        return self.work > max(0, self.elements - DRIVEN)

    @property
    def is_worth_driving(self) -> bool:
        """True if kernels gain more than it costs that Python decides."""
        return self.work > DRIVEN * self.elements

    def gained(self, work: int, *, ours: bool) -> None:
        """Count work that kernels have done."""
        self.work += work
        self.ours = self.ours or ours

    def ends(self, pending: list[Operation]) -> bool:
        """Count an operation on single numbers: whether a recording without gain is to end."""
        self.elements += 1
        if self.elements <= self.next_end:
            return False
        self.next_end *= 2
        return 2 * self.work_with(pending) < self.elements

    def turns_in_vain(self, pending: list[Operation]) -> bool:
        """Count a turn of a loop, whatever it does: whether a recording without gain is to end."""
        self.turns += 1
        if self.turns < self.next_turns:
            return False
        self.next_turns = 2 * self.turns
        return 2 * self.work_with(pending) < self.turns

    def looked_at(self, items: int) -> None:
        """Count items of containers that were compared, as turns of loops that do nothing else."""
        self.turns += items // ITEMS_OF_TURN

    def work_with(self, pending: list[Operation]) -> int:
        """What kernels have done, and will do of what is pending."""
        return self.work + sum(map(work_of, pending))

    def compiles(self, place: Hashable, steps: float) -> None:
        """A program has been made, of so many steps; what the program's text is long is free."""
        self.built += BUILDING + int(BUILDING_STEP * steps)
        if place in self.compiled_at:
            self.compiled += PROGRAM + int(COMPILED * steps)
        self.compiled_at.add(place)

    def runs_away(self, entries: int, *, kept: bool) -> bool:
        """True if recording so many entries costs more than plain Python and what is free."""
        free = FREE if kept else COMPILING
        return ENTRY * entries + self.compiled > free + 2 * self.work
