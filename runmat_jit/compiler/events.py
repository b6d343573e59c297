"""Floating-point events of a program: found when a kernel tells of one, reported as NumPy does."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runmat_jit.core.errstate import warnings_raise
from runmat_jit.core.protocols import EventsRaise
from runmat_jit.core.source import SourceLine
from runmat_jit.graph.node import Graph

if TYPE_CHECKING:
    from runmat_jit.backends.reference.events import EventReport


class EventFinder:
    """Finds events by interpreting the graph as it was captured."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __call__(self, inputs: Sequence[Any], warn: frozenset[str]) -> Sequence[EventReport]:
        from runmat_jit.backends.reference.events import report_events  # noqa: PLC0415  (rare)

        state = {
            event: "warn" if event in warn else "ignore"
            for event in ("divide", "over", "under", "invalid")
        }
        return report_events(self.graph, inputs, state)


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
    """Issue a RuntimeWarning at a line of the user's code."""
    if line is None:
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return
    module = line.namespace() or {}
    warnings.warn_explicit(
        message,
        RuntimeWarning,
        line.filename,
        line.line,
        module=line.module or None,
        registry=module.setdefault("__warningregistry__", {}),
    )
