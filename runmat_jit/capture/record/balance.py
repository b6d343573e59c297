"""What a recording gains: the work of kernels against operations on single numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from runmat_jit.capture.tape.storage import Geometry

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer
    from runmat_jit.capture.tape.pending import Pending

ELEMENTS_FREE: Final = 32
"""Operations on single numbers that take nothing from what a kernel gains."""
ELEMENTS_LIMIT: Final = 1000
"""Operations on single numbers after which a recording that gains nothing ends."""
DRIVEN: Final = 32
"""What a decision of a driven call costs, in calls of NumPy."""
ELEMENTS_OF_ONE: Final = 512
"""Elements that NumPy computes in the time that a call of it takes."""


def work_on(size: int) -> int:
    """Work of an operation on so many elements, in calls of NumPy; none on a single number."""
    return 0 if size < 2 else 1 + size // ELEMENTS_OF_ONE


def work_of(operation: Pending) -> int:
    """Work on arrays, as :func:`batches.work_of` counts it."""
    places = (operation.target, *operation.operands)
    return work_on(max([math.prod(at.shape) for at in places if type(at) is Geometry]))


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


def count(tracer: Tracer) -> None:
    """Count an operation on single numbers; after many, a recording without gain ends."""
    balance = tracer.balance
    balance.elements += 1
    if balance.elements <= balance.next_end or not balance.may_be_native:
        return
    balance.next_end *= 2
    if 2 * (balance.work + sum(map(work_of, tracer.pending))) >= balance.elements:
        return
    if tracer.publishable:
        detail = f"{ELEMENTS_LIMIT} operations on single numbers, and few on whole arrays"
        tracer.effect("trace-too-long", detail)
    balance.native = True
