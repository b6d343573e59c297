"""Profit of a recording: the work of kernels against operations on single numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from runmat_jit.capture.tape.entries import Operation
from runmat_jit.capture.tape.storage import Geometry

ELEMENTS_FREE: Final = 32
"""Operations on single numbers that take nothing from what a kernel gains."""
ELEMENTS_LIMIT: Final = 1000
"""Operations on single numbers after which a recording that gains nothing ends."""
DRIVEN: Final = 32
"""Cost of a decision of a driven call, in calls of NumPy."""
ELEMENTS_OF_ONE: Final = 512
"""Elements that NumPy computes in the time that a call of it takes."""


def work_on(size: int) -> int:
    """Work of an operation on so many elements, in calls of NumPy; none on a single number."""
    return 0 if size < 2 else 1 + size // ELEMENTS_OF_ONE


def work_of(operation: Operation) -> int:
    """Work on arrays, as :func:`batches.work_of` counts it."""
    if operation.meaning.row.kind == "host":
        return 0
    return work_on(max([math.prod(p.shape) for p in operation.places if type(p) is Geometry]))


@dataclass(slots=True)
class Balance:
    """Of one recording; ``work`` is what kernels have done, in calls of NumPy.

    ``ours``: values were computed whose bits are our own, not NumPy's. ``elements`` counts
    operations on single numbers that NumPy or Python did, and decisions; ``writes`` those among
    them that write one; at ``next_look`` of them what is pending is looked at; at ``next_end`` of
    all whether to go on. ``deferred`` counts those that were deferred instead, ``places`` how often
    the program was at each of its instructions for one. ``native``: the program gets real numbers,
    for it does little else and nothing is to be repeated.
    """

    work: int = 0
    ours: bool = False
    elements: int = 0
    writes: int = 0
    next_look: int = 0
    deferred: int = 0
    next_end: int = field(default_factory=lambda: ELEMENTS_LIMIT)
    places: dict[Hashable, int] = field(default_factory=dict)
    may_be_native: bool = False
    native: bool = False

    @property
    def gains(self) -> bool:
        """Whether kernels do more than is done with single numbers, a few of which are free."""
        return self.work > max(0, self.elements - ELEMENTS_FREE)

    @property
    def is_worth_driving(self) -> bool:
        """Whether kernels gain more than it costs that Python decides, or bits depend on them."""
        return self.ours or self.work > DRIVEN * self.elements

    def gained(self, work: int, *, ours: bool) -> None:
        """Kernels have done some work."""
        self.work += work
        self.ours = self.ours or ours

    def ends(self, pending: list[Operation]) -> bool:
        """Count an operation on single numbers: whether a recording without gain is to end."""
        self.elements += 1
        if self.elements <= self.next_end or not self.may_be_native:
            return False
        self.next_end *= 2
        return 2 * (self.work + sum(map(work_of, pending))) < self.elements
