"""What lasts as long as a run: output, random numbers, clock, global variables, format."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from matlab_frontend.display_numbers import SHORT, Styles
from matlab_frontend.draws import SingleDraws
from matlab_frontend.engine import Engine, NumpyEngine
from matlab_frontend.search_path import SearchPath
from matlab_frontend.streams import Streams
from matlab_frontend.values.array import ErrorObject, Value
from runmat_jit.core.slotted import slotted

if TYPE_CHECKING:
    from matlab_frontend.line_times import LineTimes
    from runmat_jit.random import Generator


def write_output(text: str) -> None:
    """Print to Python's standard output, whatever it is at the moment."""
    sys.stdout.write(text)


def write_error(text: str) -> None:
    """Print to Python's standard error."""
    sys.stderr.write(text)


def read_line() -> str:
    """A line of Python's standard input; nothing at its end."""
    sys.stdout.flush()
    return sys.stdin.readline()


@slotted
class Session:
    """The state that the functions of a run share."""

    engine: Engine = field(default_factory=NumpyEngine)
    write: Callable[[str], None] = write_output
    write_error: Callable[[str], None] = write_error
    read_line: Callable[[], str] = read_line
    style: Styles = SHORT
    globals: dict[Hashable, Value] = field(default_factory=dict)
    path: SearchPath = field(default_factory=SearchPath)
    """Where functions and files are looked for."""
    streams: Streams = field(default_factory=Streams)
    generator: Generator | None = None
    singles: SingleDraws | None = None
    """What draws single numbers from the generator."""
    seeded_with: int = 0
    started: float | None = None
    """When ``tic`` was called last, by the clock of ``time.perf_counter``."""
    last_error: ErrorObject | None = None
    last_warning: tuple[str, str] = ("", "")
    silent_warnings: set[str] = field(default_factory=set)
    spoken_warnings: set[str] = field(default_factory=set)
    """Those that are printed though ``all`` are silent."""
    has_cleanups: bool = False
    """True if an ``onCleanup`` was made: what ends then drops its variables at once."""
    depth: int = 0
    """Calls of functions that are running."""
    line_times: LineTimes | None = None
    """What measures each statement, if something does."""
    exit_status: int | None = None
    """What the program gave ``exit``; None unless it called that."""
    loops: dict[tuple[str, int], str] = field(default_factory=dict)
    """Of loops that took long, by file and line: whether they ran natively, and why not."""
    functions: dict[tuple[str, int], str] = field(default_factory=dict)
    """Of functions that were often called with numbers: whether they were compiled, likewise."""

    def random(self) -> Generator:
        """The generator of ``rand`` and its like, seeded with 0 until ``rng`` says otherwise."""
        if self.generator is None:
            self.seed(0)
        if self.singles is not None:
            self.singles.stop()
        assert self.generator is not None, "just seeded"
        return self.generator

    def singles_ahead(self) -> SingleDraws:
        """What draws single numbers, many at a time."""
        if self.singles is None:
            self.singles = SingleDraws(self.random())
        return self.singles

    def draw_one(self, name: Literal["uniform", "normal", "bits"]) -> Any:
        """The next number of the generator."""
        return self.singles_ahead().next(name)

    def seed(self, seed: int) -> None:
        """Begin the random numbers that belong to a seed."""
        from runmat_jit.random import default_rng  # noqa: PLC0415  (with the first draw)

        self.generator, self.singles = default_rng(seed), None
        self.seeded_with = seed

    def explain(self) -> str:
        """What computed, which loops ran natively, and which functions were compiled."""
        parts = {"loops": self.loops, "functions": self.functions}
        return self.engine.explain() + "".join(map(_listed, parts, parts.values()))

    def clock(self) -> float:
        """Seconds of a clock that only runs forward."""
        return time.perf_counter()


def _listed(title: str, parts: Mapping[tuple[str, int], str]) -> str:
    """What is to be said of parts of a program, by file and line."""
    lines = [f"  - line {line}: {how}\n" for (_, line), how in sorted(parts.items())]
    return f"  {title}:\n" + "".join(lines) if lines else ""
