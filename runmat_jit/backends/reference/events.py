"""Which floating-point events NumPy would report for a graph, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from runmat_jit.backends.reference.interpret import Host, Machine, evaluate
from runmat_jit.graph.node import Graph, Node, topological
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


@dataclass(frozen=True, slots=True)
class EventReport:
    """One event of one node, in NumPy's words: ``overflow encountered in exp``."""

    node: Node
    event: Event
    message: str


def report_events(
    graph: Graph,
    inputs: Sequence[Any],
    error_state: Mapping[str, str],
    extra_roots: Sequence[Node] = (),
    host: Host | None = None,
) -> tuple[EventReport, ...]:
    """The events of every node, in the graph's order, each event once a node.

    Args:
        graph: The graph as it was captured, so that events carry the names the user wrote.
        inputs: As for ``run``, with the values they had before the graph wrote to them.
        error_state: What ``numpy.geterr()`` gives; events that are set to ``warn`` are reported.
        extra_roots: Values that nobody asked for, which NumPy computes all the same.
        host: Gives what host calls gave in this run; they are not called again.

    """
    warned = [keyword for keyword in _EVENTS if error_state[keyword] == "warn"]
    reports: list[EventReport] = []

    machine = Machine(inputs, host)

    def watch(node: Node, args: Sequence[Any]) -> Any:
        if not node.op.events and node.op.decompose is None:
            return machine.compute(node, args)
        seen: set[str] = set()
        modes: dict[str, Any] = dict.fromkeys(warned, "call")
        with np.errstate(**modes, call=lambda phrase, _: seen.add(phrase)):
            value = machine.compute(node, args)
        for keyword in warned:
            if _PHRASES[keyword] in seen:
                message = _message(keyword, node, args)
                reports.append(EventReport(node, _EVENTS[keyword], message))
        return value

    with np.errstate(all="ignore"):
        for _ in evaluate(topological((*graph.nodes, *extra_roots)), watch):
            pass
    return tuple(reports)


def _message(keyword: str, node: Node, args: Sequence[Any]) -> str:
    """NumPy's own sentence: it tells the operation's name only to who lets it raise."""
    modes: dict[str, Any] = {keyword: "raise"}
    try:
        with np.errstate(**modes):
            Machine(()).compute(node, args)
    except FloatingPointError as error:
        return str(error)
    raise AssertionError(f"{node.op.name} reported {keyword} the first time only")
