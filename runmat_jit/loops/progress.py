"""Says how far a native loop has come, where it takes long: a line that vanishes at its end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, Self

from runmat_jit.core.slotted import slotted

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE: Final = 0.5
"""Seconds after which something is shown."""


@slotted
class LoopProgress:
    """The progress of one run; ``name`` says of which loop, ``done`` of ``lanes`` are behind it."""

    name: str
    begun: float = 0.0
    done: int = 0
    lanes: int = 0
    shown: Progress | None = None
    task: Any = None

    def __enter__(self) -> Self:
        self.begun = time.perf_counter()
        return self

    def tell(self, turns: int) -> None:
        """So many turns are behind the run, or behind its present lanes."""
        if self.shown is None:
            if time.perf_counter() - self.begun < PATIENCE:
                return
            self.show()
        where = f", lane {self.done:,} of {self.lanes:,}" if self.lanes else ""
        assert self.shown is not None, "just shown"
        text = f"{self.name}: {turns:,} turns{where}"
        self.shown.update(self.task, description=text, refresh=True)

    def show(self) -> None:
        """Begin the line, on the standard error stream."""
        from rich.console import Console  # noqa: PLC0415  (where something is shown)
        from rich.progress import Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415  (likewise)

        columns = TextColumn("{task.description}"), TimeElapsedColumn()
        self.shown = Progress(
            *columns, console=Console(stderr=True), transient=True, auto_refresh=False
        )
        self.shown.start()
        self.task = self.shown.add_task(self.name, total=None)

    def __exit__(self, *_: object) -> None:
        if self.shown is not None:
            self.shown.stop()
