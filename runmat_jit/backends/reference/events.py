"""Which floating-point events NumPy would report for a graph, operation by operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runmat_jit.backends.reference.interpret import Machine, evaluate
from runmat_jit.core.frozen import frozen
from runmat_jit.core.source import SourceLine
from runmat_jit.graph.node import Computation, Graph, Node
from runmat_jit.ops.spec import Event

_EVENTS: Mapping[str, Event] = {
    "divide": "divide",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid",
}
"""NumPy's keywords of ``errstate``, in the order in which it reports."""

_PHRASES = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}
"""What NumPy calls an event in its messages."""


@frozen
class EventReport:
    """One event of one node, in NumPy's words: ``overflow encountered in exp``; the user's line."""

    node: Node
    event: Event
    message: str
    line: SourceLine | None


def report_events(
    graph: Graph,
    inputs: Sequence[Any],
    error_state: Mapping[str, str],
) -> tuple[EventReport, ...]:
    """The events of every computation of the program, in its order, each event once.

    Host calls are made once more: they are pure, and report nothing.

    Args:
        graph: The graph as it was captured, so that events carry the names the user wrote.
        inputs: As for ``run``, with the values they had before the graph wrote to them.
        error_state: What ``numpy.geterr()`` gives; events that are set to ``warn`` are reported.

    """
    warned = [keyword for keyword in _EVENTS if error_state[keyword] == "warn"]
    reports: dict[Node, list[EventReport]] = {}
    machine = Machine(inputs)

    def watch(node: Node, args: Sequence[Any]) -> Any:
        if not node.op.events:
            return machine.compute(node, args)
        seen: set[str] = set()
        modes: dict[str, Any] = dict.fromkeys(warned, "call")
        with np.errstate(**modes, call=lambda phrase, _: seen.add(phrase)):
            value = machine.compute(node, args)
        for keyword in warned:
            if _PHRASES[keyword] in seen:
                message = _message(keyword, node, args)
                report = EventReport(node, _EVENTS[keyword], message, node.line)
                reports.setdefault(node, []).append(report)
        return value

    with np.errstate(all="ignore"):
        for _ in evaluate(graph.nodes, watch):
            pass
    if not graph.computations:
        return tuple(report for found in reports.values() for report in found)
    return tuple(
        report
        for computation in graph.computations
        for report in _reports_of(computation, [graph.nodes[n] for n in computation.nodes], reports)
    )


def _reports_of(
    computation: Computation, nodes: Sequence[Node], reports: Mapping[Node, Sequence[EventReport]]
) -> Iterator[EventReport]:
    """What NumPy says of an operation, whose casts have no name of their own."""
    found = [report for node in nodes for report in reports.get(node, ())]
    for keyword, event in _EVENTS.items():
        same = [report for report in found if report.event == event]
        if not same:
            continue
        own = [report for report in same if report.node.op.ufunc == computation.name]
        composed = f"{_PHRASES[keyword]} encountered in {computation.name}"
        message = own[0].message if own else composed
        yield replace(same[0], message=message, line=computation.line)


def _message(keyword: str, node: Node, args: Sequence[Any]) -> str:
    """NumPy's own sentence: it tells the operation's name only to who lets it raise."""
    modes: dict[str, Any] = {keyword: "raise"}
    try:
        with np.errstate(**modes):
            Machine(()).compute(node, args)
    except FloatingPointError as error:
        return str(error)
    raise AssertionError(f"{node.op.name} reported {keyword} the first time only")
