"""A line on the standard error stream that says how far something has come, and vanishes."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.core.locks import new_lock

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE: Final = 2.0
"""Seconds of compiling after which something is shown."""
PAUSE: Final = 0.5
"""Seconds without compiling after which the line vanishes."""


class StatusLine:
    """The line; nothing is written before the first :meth:`show`."""

    def __init__(self) -> None:
        self._shown: Progress | None = None
        self._task: Any = None

    @property
    def is_shown(self) -> bool:
        """Return True while the line is there."""
        return self._shown is not None

    def show(self, text: str) -> None:
        """Write the line, or replace its text; the time since the first one stands behind it."""
        if self._shown is None:
            from rich.console import Console  # noqa: PLC0415  (where something is shown)
            from rich.progress import (  # noqa: PLC0415  (likewise)
                Progress,
                TextColumn,
                TimeElapsedColumn,
            )

            columns = TextColumn("{task.description}"), TimeElapsedColumn()
            console = Console(stderr=True)
            self._shown = Progress(*columns, console=console, transient=True, auto_refresh=False)
            self._shown.start()
            self._task = self._shown.add_task(text, total=None)
        self._shown.update(self._task, description=text, refresh=True)

    def stop(self) -> None:
        """Remove the line."""
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.stop()


class CompileProgress:
    """Shows how many kernels were compiled, where one after another takes some seconds."""

    def __init__(self) -> None:
        self._lock, self._line = new_lock(), StatusLine()
        self._begun = self._ended = 0.0
        self._kernels = 0
        self._timer: threading.Timer | None = None

    def __enter__(self) -> None:
        """Count a kernel that is compiled now."""
        with self._lock:
            now = time.perf_counter()
            if not self._kernels or now - self._ended > PAUSE:
                self._begun, self._kernels = now, 0
            self._kernels += 1
            if self._timer is not None:
                self._timer.cancel()
            if now - self._begun >= PATIENCE:
                self._line.show(f"compiling: {self._kernels} kernels")

    def __exit__(self, *_: object) -> None:
        """Have the line removed soon, unless another kernel is compiled."""
        with self._lock:
            self._ended = time.perf_counter()
            if self._line.is_shown:
                self._timer = threading.Timer(PAUSE, self._stop)
                self._timer.daemon = True
                self._timer.start()

    def _stop(self) -> None:
        with self._lock:
            self._line.stop()
