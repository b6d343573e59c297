"""Floating-point events of a program: found when a kernel tells of one, reported as NumPy does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard

from runmat_jit.core.errstate import warnings_raise
from runmat_jit.core.loading import EVENTS, LOADER
from runmat_jit.core.log import LOG
from runmat_jit.core.protocols import EventsRaise, Program
from runmat_jit.core.source import SourceLine
from runmat_jit.graph.node import Graph
from runmat_jit.passes.events import possible_events
from runmat_jit.plan.notes import Mode, is_open, operations

if TYPE_CHECKING:
    from runmat_jit.backends.reference.events import EventReport

warn: Final = warnings.warn
"""Python's own, whatever a program puts in its place: NumPy calls that, too."""


class EventFinder:
    """Finds events by interpreting the graph as it was captured."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __call__(self, inputs: Sequence[Any], warn: frozenset[str]) -> Sequence[EventReport]:
        LOADER.load(EVENTS)
        from runmat_jit.backends.reference.events import report_events  # noqa: PLC0415  (loaded here)

        state = {
            event: "warn" if event in warn else "ignore"
            for event in ("divide", "over", "under", "invalid")
        }
        return report_events(self.graph, inputs, state)


class NotingProgram(Program, Protocol):
    """A program that can be asked what its kernels note, and in which way."""

    way: Way

    def noted(self, inputs: Sequence[Any]) -> int:
        """The event word of these inputs; nothing is written or reported."""


def can_note(program: Program | None) -> TypeGuard[NotingProgram]:
    """True if a program can be asked so; ``isinstance`` would look at all of a protocol's names."""
    return hasattr(program, "noted")


Names = frozenset[str] | None
"""Operations by the names in NumPy's warnings; None: all."""
Way = tuple[Mode, Names]
"""How kernels note events, and what they tell apart in mode ``each``."""
BOTH_MODES: Final[frozenset[Mode]] = frozenset(("rises", "each"))
RISES_ONLY: Final[frozenset[Mode]] = frozenset(("rises",))
"""Modes in which programs may be made anew: the second where no operation tells of its events."""
AT_FIRST: Final[Way] = ("results", None)
RISING: Final[Way] = ("rises", None)


class Watch:
    """Chooses how the kernels of a program note events, by what its calls have shown.

    At first they note results that are not finite, which costs nothing and gives false alarms where
    the data are not finite. After some alarms another program of the same graph takes over: one
    that tells events from data, or one that also tells apart the events of those operations that
    have reported some. What NumPy reports is a function of the latter's word: it is asked once for
    each.

    Attributes:
        program: What runs in place of the program; None: itself.
        possible: The events that NumPy may report: others need not be asked for.

    """

    def __init__(
        self,
        captured: Graph,
        count: Callable[[str], None],
        build: Callable[[Way], Program | None],
        modes: frozenset[Mode] = BOTH_MODES,
    ) -> None:
        self.program: Program | None = None
        self.possible = possible_events(captured)
        self._find, self._count = EventFinder(captured), count
        self._build, self._modes = build, modes
        self._built: dict[Mode, Program | None] = {}
        self._known: dict[tuple[Way, int, frozenset[str]], Sequence[EventReport]] = {}
        self._names: Names = frozenset()
        self._alarms = self._quiet = 0

    def report(self, way: Way, word: int, inputs: Sequence[Any], warn: frozenset[str]) -> None:
        """Report the events of a run, whose kernels noted ``word`` in their way.

        Raises:
            EventsRaise: the warnings filters raise; nothing has been reported.

        """
        found = self._found(way, word, inputs, warn)
        self._adapt(way, word, found)
        report(found)

    def ask(self, inputs: Sequence[Any], warn: frozenset[str]) -> None:
        """Report the events that NumPy finds (as ``report``)."""
        self._count("events_checked")
        report(self._find(inputs, warn))

    def noting(self, mode: Mode) -> Program | None:
        """The program whose kernels note events in a mode, if it can be made."""
        if mode not in self._built:
            try:
                self._built[mode] = self._build((mode, self._names if mode == "each" else None))
            except Exception:  # the call has its program, and must not fail for later ones
                LOG.exception("no kernels with exact notes were made; please report this")
                self._built[mode] = None
        return self._built[mode]

    def known(self, way: Way, word: int, warn: frozenset[str]) -> Sequence[EventReport] | None:
        """What NumPy reports where kernels note ``word``, if it is known."""
        return self._known.get((way, operations(word), warn))

    def _found(
        self, way: Way, word: int, inputs: Sequence[Any], warn: frozenset[str]
    ) -> Sequence[EventReport]:
        each = self._built.get("each")
        if way[0] != "each" and is_open(word) and can_note(each):
            way, word = each.way, each.noted(inputs)
        if is_open(word):
            self._count("events_checked")
            return self._find(inputs, warn)
        noted = operations(word)
        if not noted:
            return ()
        found = self._known.get((way, noted, warn))
        if found is None:
            self._count("events_checked")
            found = self._find(inputs, warn)
            if not any(each.is_of_step for each in found):
                self._known[way, noted, warn] = found
            while len(self._known) > WORDS:
                self._known.pop(next(iter(self._known)), None)
        return found

    def _adapt(self, way: Way, word: int, found: Sequence[EventReport]) -> None:
        """Have later calls run in the mode that suits what happened."""
        mode, names = way
        if mode == "each":
            self._quiet = 0 if found or is_open(word) else self._quiet + 1
            if self._quiet >= QUIET:
                self._switch("rises")
            elif found and is_open(word) and names == self._names:
                self._tell_apart(found, failed=True)
        elif found or mode == "results":
            self._alarms += 1
            if self._alarms >= ALARMS:
                if found and "each" in self._modes:
                    self._tell_apart(found, failed=False)
                else:
                    self._switch("rises")

    def _tell_apart(self, found: Sequence[EventReport], *, failed: bool) -> None:
        """Have later calls tell apart what has reported events so far; all, if that has failed."""
        names = self._names
        if names is not None:
            names |= {report.node.op.ufunc for report in found}
            names |= {report.message.rpartition(" ")[2] for report in found}
            if failed and names == self._names:
                names = None
        if names != self._names:
            self._names = names
            self._built.pop("each", None)
        self._switch("each")

    def _switch(self, mode: Mode) -> None:
        found = self.noting(mode)
        if found is not None:
            self.program, self._quiet = found, 0


ALARMS = 2
"""Alarms of a program after which kernels are made that note events in another way."""
QUIET = 2
"""Runs without an event after which operations are no longer told apart."""
WORDS = 256
"""Words of a program of which it is known what NumPy reports."""


def report(found: Sequence[EventReport]) -> None:
    """Warn as NumPy does, at the user's lines.

    Raises:
        EventsRaise: the warnings filters raise; nothing has been reported.

    """
    if found and warnings_raise():
        raise EventsRaise
    for each in found:
        warn_at(each.message, each.line)


def warn_at(message: str, line: SourceLine | None) -> None:
    """Issue a RuntimeWarning at a line of the user's code, or of NumPy's."""
    if line is None:
        warn(message, RuntimeWarning, stacklevel=2)
    else:  # Python finds the module and its registry, as for NumPy
        line.call(warn, (message, RuntimeWarning), {})
