"""Times of a loop's runs: the clock corrects the counts that choose native runs or Python.

Counts predict which of both takes less. They are wrong for some loops and machines, and such a loop
would stay behind plain Python for ever. So runs are timed, natively and in Python, by classes of
their predicted work. Only loops whose results are the same bit by bit are compared, so that a wrong
finding costs time alone, and only those whose number of iterations is known before.

A run in Python is timed where it happens anyway, before the loop is compiled. Later some runs are
left to Python for the comparison, if native runs are short and the counts leave a doubt.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from time import perf_counter
from typing import Final, NamedTuple

RUNS: Final = 3
"""Runs of each kind that are compared; the least time of each counts."""
SHORT_S: Final = 1e-3
"""Seconds up to which a native run is short: Python may make some of them for comparison."""
OPERATION_S: Final = 2e-8
"""Seconds that an operation of Python's takes at least."""
BEYOND_DOUBT: Final = 4.0
"""Times as long as native runs: what Python takes by its count of operations, without a doubt."""


class Begun(NamedTuple):
    """A run in Python that is timed."""

    frame: int
    work: int
    start: float


class RunTimes:
    """Times of one loop's runs, by classes of work: powers of two.

    Args:
        compares: False: nothing is timed, and no run is left to Python.
        clock: Returns seconds.

    """

    def __init__(self, *, compares: bool, clock: Callable[[], float] = perf_counter) -> None:
        self.compares, self.clock = compares, clock
        self.native: dict[int, list[float]] = {}
        self.python: dict[int, list[float]] = {}
        self.slower = -1
        """Largest class of work whose native runs take longer; smaller ones are taken to."""
        self._begun: Begun | None = None

    def leaves(self, work: int, operations: int) -> bool:
        """True if Python makes the next run: it takes less, or is to be compared.

        Args:
            work: Predicted for the run, array elements included.
            operations: Of Python's in it.

        """
        size = work.bit_length()
        if not self.compares or size <= self.slower:
            return self.compares
        native, python = self.native.get(size, ()), self.python.get(size, ())
        if len(native) < RUNS or len(python) >= RUNS:
            return False
        least = min(native)
        return least < SHORT_S and operations * OPERATION_S < BEYOND_DOUBT * least

    def begin(self, frame: types.FrameType, work: int) -> None:
        """Python begins a run in a frame."""
        self._begun = Begun(id(frame), work, self.clock()) if self.compares else None

    def end(self, frame: types.FrameType) -> None:
        """A run in Python has reached its end in a frame."""
        begun, self._begun = self._begun, None
        if begun is not None and begun.frame == id(frame):
            self._add(self.python, begun.work, self.clock() - begun.start)

    def ran(self, work: int, start: float) -> None:
        """A native run, which compiled nothing, ends now."""
        self._add(self.native, work, self.clock() - start)

    def _add(self, times: dict[int, list[float]], work: int, seconds: float) -> None:
        size = work.bit_length()
        found = times.setdefault(size, [])
        if len(found) < RUNS:
            found.append(seconds)
        native, python = self.native.get(size, ()), self.python.get(size, ())
        if len(native) == len(python) == RUNS and min(python) < min(native):
            self.slower = max(self.slower, size)
