"""Says how far a native loop has come, where it takes long: a line that vanishes at its end."""

from __future__ import annotations

import time
from dataclasses import field
from typing import Final, Self

from runmat_jit.core.slotted import slotted
from runmat_jit.core.status_line import StatusLine

PATIENCE: Final = 0.5
"""Seconds after which something is shown."""


@slotted
class LoopProgress:
    """The progress of one run of a loop: ``done`` of ``lanes`` are computed."""

    name: str
    begun: float = 0.0
    done: int = 0
    lanes: int = 0
    line: StatusLine = field(default_factory=StatusLine)

    def __enter__(self) -> Self:
        self.begun = time.perf_counter()
        return self

    def tell(self, turns: int) -> None:
        """Show the number of iterations so far, of the run or of its present lanes."""
        if self.line.is_shown or time.perf_counter() - self.begun >= PATIENCE:
            where = f", lane {self.done:,} of {self.lanes:,}" if self.lanes else ""
            self.line.show(f"{self.name}: {turns:,} iterations{where}")

    def __exit__(self, *_: object) -> None:
        self.line.stop()
