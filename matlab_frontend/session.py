"""What lasts as long as a run: output, random numbers, clock, global variables, format."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from matlab_frontend.display_numbers import SHORT, Styles
from matlab_frontend.engine import Engine, NumpyEngine
from matlab_frontend.values.array import ErrorObject, Value

if TYPE_CHECKING:
    from runmat_jit.random import Generator


def write_output(text: str) -> None:
    """Print to Python's standard output, whatever it is at the moment."""
    sys.stdout.write(text)


def write_error(text: str) -> None:
    """Print to Python's standard error."""
    sys.stderr.write(text)


@dataclass(slots=True)
class Session:
    """The state that the functions of a run share."""

    engine: Engine = field(default_factory=NumpyEngine)
    write: Callable[[str], None] = write_output
    write_error: Callable[[str], None] = write_error
    style: Styles = SHORT
    globals: dict[str, Value] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    """Where functions in files of their own are looked for."""
    generator: Generator | None = None
    seeded_with: int = 0
    started: float | None = None
    """When ``tic`` was called last, by the clock of ``time.perf_counter``."""
    last_error: ErrorObject | None = None
    last_warning: tuple[str, str] = ("", "")
    silent_warnings: set[str] = field(default_factory=set)
    depth: int = 0
    """Calls of functions that are running."""

    def random(self) -> Generator:
        """The generator of ``rand`` and its like, seeded with 0 until ``rng`` says otherwise."""
        if self.generator is None:
            self.seed(0)
        assert self.generator is not None, "just seeded"
        return self.generator

    def seed(self, seed: int) -> None:
        """Begin the random numbers that belong to a seed."""
        from runmat_jit.random import default_rng  # noqa: PLC0415  (with the first draw)

        self.generator = default_rng(seed)
        self.seeded_with = seed

    def clock(self) -> float:
        """Seconds of a clock that only runs forward."""
        return time.perf_counter()
