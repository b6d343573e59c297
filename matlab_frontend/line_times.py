"""Where the time of a program went, line by line: ``--time``."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from matlab_frontend.source import Source

if TYPE_CHECKING:
    from matlab_frontend.interpreter.flow import Flow
    from matlab_frontend.interpreter.frame import Frame

CAPTION = (
    "A line's time is its own: what it calls, and the lines of a block, count for themselves. "
    "Operations on large arrays are recorded, and computed where the program looks at a value: "
    "their time counts there. What runs natively or as a compiled function counts at the line "
    "that began it, and its calls are not counted."
)

_NUMBERS = 40
"""Characters that the columns of numbers may take."""


class LineTime(NamedTuple):
    """One line: how often its statements ran, and the seconds that they took themselves."""

    file: str
    line: int
    calls: int
    seconds: float
    text: str


class LineTimes:
    """The stopwatches of statements.

    Time is taken away from a statement while others run that it holds or calls, so that every
    moment counts once and the lines' times add up to the program's.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[Source, int], list[float]] = {}
        self._inner = 0.0
        """Seconds of statements that ended within the one that runs."""

    def watched(
        self, run: Callable[[Frame], Flow | None], start: int
    ) -> Callable[[Frame], Flow | None]:
        """A compiled statement, which begins at an offset of its text, with a stopwatch."""
        found, clock = self._found, perf_counter

        def timed(frame: Frame) -> Flow | None:
            key = frame.scope.source, start
            outer, self._inner = self._inner, 0.0
            began = clock()
            try:
                return run(frame)
            finally:
                took = clock() - began
                entry = found.get(key)
                if entry is None:
                    entry = found[key] = [0, 0.0]
                entry[0] += 1
                entry[1] += took - self._inner
                self._inner = outer + took

        return timed

    def lines(self) -> list[LineTime]:
        """Lines that ran, file by file in the order of their text."""
        made: dict[tuple[str, int], LineTime] = {}
        for (source, start), (calls, seconds) in self._found.items():
            line = source.position(start).line
            key = source.name, line
            text = source.line(line).strip()
            known = made.get(key, LineTime(*key, 0, 0.0, text))
            # Statements that stand on one line are one line, which ran as often as the first.
            made[key] = LineTime(*key, max(known.calls, int(calls)), known.seconds + seconds, text)
        return [made[key] for key in sorted(made)]

    def print_table(self) -> None:
        """Print the table to the standard error, as wide as the terminal."""
        from rich.console import Console  # noqa: PLC0415  (with the option alone)
        from rich.table import Table  # noqa: PLC0415  (likewise)
        from rich.text import Text  # noqa: PLC0415  (likewise)

        lines = self.lines()
        total = sum(line.seconds for line in lines)
        table = Table(box=None, caption=CAPTION, caption_justify="left", pad_edge=False)
        table.title = f"{total:.3f} s in statements"
        table.title_justify = "left"
        for name in ("line", "calls", "time (s)", "%"):
            table.add_column(name, justify="right", no_wrap=True)
        # Long texts and names of files are cut, rather than the numbers beside them.
        console = Console(stderr=True)
        widest = max(console.width - _NUMBERS, 20)
        table.add_column("text", no_wrap=True, overflow="ellipsis", max_width=widest)
        file = None
        for line in lines:
            if line.file != file:
                file = line.file
                table.add_row("", "", "", "", Text(file, style="bold"))
            percent = 100 * line.seconds / total if total else 0.0
            table.add_row(
                str(line.line),
                str(line.calls),
                f"{line.seconds:.4f}",
                f"{percent:.1f}",
                Text(line.text),
                style="bold" if percent >= 10 else None,
            )
        console.print(table)
