"""What runs of a program have taken, beside what was predicted.

The first few runs that Python makes are timed, without the very first, which compiles; later ones
cost nothing. On a GPU the device times the kernels of one run itself: nobody waits for that, and it
is read when somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.core.errors import BackendError
from runmat_jit.core.slotted import slotted_object

if TYPE_CHECKING:
    import numpy as np

    from runmat_jit.backends.wgpu.stopwatch import Stopwatch
    from runmat_jit.core.protocols import Program
    from runmat_jit.plan.place import Decision

RUNS: Final = 5
"""Runs after which no more are timed."""


@slotted_object
class Measured:
    """The runs of one program so far; ``ends``: a run is over when it returns."""

    ends: bool = True
    runs: int = 0
    least_ns: int = 0
    stopwatch: Stopwatch | None = None

    @property
    def is_complete(self) -> bool:
        """True if no more runs are timed."""
        return self.runs >= RUNS

    def run(
        self, program: Program, inputs: Sequence[Any], warn: frozenset[str]
    ) -> list[np.ndarray]:
        """Run the program (as Program), and see how long that takes."""
        self.runs += 1
        if self.runs == 1:
            return program.run(inputs, warn)
        time_kernels = getattr(program, "time_kernels", None)
        if time_kernels is not None and self.stopwatch is None:
            self.stopwatch = time_kernels()
        start = perf_counter_ns()
        results = program.run(inputs, warn)
        took = perf_counter_ns() - start
        self.least_ns = min(self.least_ns or took, took)
        return results

    @property
    def us(self) -> float | None:
        """The least time of a run, in microseconds; None: none is known, or when it was over."""
        return self.least_ns / 1e3 if self.least_ns and self.ends else None

    @property
    def kernels_us(self) -> float | None:
        """The time of the kernels of a run on a GPU; waits for that run."""
        try:
            return None if self.stopwatch is None else self.stopwatch.us
        except BackendError:  # it is lost
            return None

    def told(self, decision: Decision) -> Decision:
        """The decision, with what its program has taken."""
        return replace(decision, measured_us=self.us, measured_kernels_us=self.kernels_us)
