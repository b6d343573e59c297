"""Floating-point events that NumPy would report for a graph, operation by operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Final

import numpy as np

from runmat_jit.backends.reference.interpret import Machine, evaluate
from runmat_jit.core.frozen import frozen
from runmat_jit.core.source import Namespace, SourceLine
from runmat_jit.graph.node import Computation, Graph, Node
from runmat_jit.ops.spec import Event
from runmat_jit.passes.events import KEYWORDS

_EVENTS: Final = {keyword: event for event, keyword in KEYWORDS.items()}
"""NumPy's keywords of ``errstate``, in the order in which it reports."""

_PHRASES = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}
"""What NumPy calls an event in its messages."""


_OURS = __name__.partition(".")[0]

Meaning = Callable[..., Any]
"""What the program calls, which a row's ``numpy`` is."""


@frozen
class EventReport:
    """One event of one node, in NumPy's words: ``overflow encountered in exp``.

    ``line``: where NumPy warns, the user's line or one of NumPy's own functions.
    """

    node: Node
    event: Event
    message: str
    line: SourceLine | None

    @property
    def is_of_step(self) -> bool:
        """True if a step of one of NumPy's own functions reports it: which one, data decide."""
        own = self.node.line
        return self.line is not None and (own is None or self.line.filename != own.filename)


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
    meanings = _meanings(graph)
    found: dict[tuple[Node, Meaning], list[EventReport]] = {}
    machine = Machine(inputs)

    def watch(node: Node, args: Sequence[Any]) -> Any:
        if not node.op.events:
            return machine.compute(node, args)
        seen: list[str] = []
        modes: dict[str, Any] = dict.fromkeys(warned, "call")
        with np.errstate(**modes, call=lambda phrase, _: seen.append(phrase)):
            value = machine.compute(node, args)
        kinds = [keyword for keyword in warned if _PHRASES[keyword] in seen]
        for meaning in meanings[node] if seen else ():
            reports = [_asked(keyword, node, meaning, args) for keyword in kinds]
            if len(seen) > 1 and any(each.is_of_step for each in reports):
                in_order = _asked_in_order(warned, node, meaning, args)
                if len(in_order) > len(reports) or len(in_order) == len(seen):
                    reports = in_order  # else one step has reported several events at once
            found.setdefault((node, meaning), []).extend(reports)
        return value

    with np.errstate(all="ignore"):
        for _ in evaluate(graph.nodes, watch):
            pass
    if not graph.computations:
        return tuple(
            report if report.line else replace(report, line=report.node.line)
            for reports in found.values()
            for report in reports
        )
    return tuple(
        report
        for computation in graph.computations
        for report in _reports_of(computation, [graph.nodes[n] for n in computation.nodes], found)
    )


def _meanings(graph: Graph) -> Mapping[Node, Sequence[Meaning]]:
    """What the program calls where it computes a node."""
    meanings: dict[Node, dict[Meaning, None]] = defaultdict(dict)
    for computation in graph.computations:
        for node in (graph.nodes[number] for number in computation.nodes):
            meanings[node][_meaning_of(node, computation)] = None
    for node in () if graph.computations else graph.nodes:
        meanings[node][node.op.numpy] = None
    return {node: tuple(each) for node, each in meanings.items()}


def _meaning_of(node: Node, computation: Computation) -> Meaning:
    """What computes a node of an operation: itself, or a cast within it."""
    own = node.op.ufunc == computation.name
    return computation.numpy if own else node.op.numpy


def _reports_of(
    computation: Computation,
    nodes: Sequence[Node],
    found: Mapping[tuple[Node, Meaning], Sequence[EventReport]],
) -> Iterator[EventReport]:
    """What NumPy says of an operation, whose casts have no name of their own."""
    reports = [
        report for node in nodes for report in found.get((node, _meaning_of(node, computation)), ())
    ]
    if len(reports) > 1 and all(each.is_of_step for each in reports):
        yield from (replace(each, line=each.line or computation.line) for each in reports)
        return
    for keyword, event in _EVENTS.items():
        same = [report for report in reports if report.event == event]
        if not same:
            continue
        own = [report for report in same if report.node.op.ufunc == computation.name]
        first, composed = same[0], f"{_PHRASES[keyword]} encountered in {computation.name}"
        message = own[0].message if own else composed
        line = own[0].line if own else None
        yield EventReport(first.node, event, message, line or computation.line)


def _asked_in_order(
    warned: Sequence[str], node: Node, meaning: Meaning, args: Sequence[Any]
) -> list[EventReport]:
    """Return the events of a NumPy function that runs several ufuncs, in their order.

    NumPy gives message and line only in an exception: the function is called once for each event,
    and raises after the events that are already known.
    """
    found: list[EventReport] = []
    calls: dict[str, Any] = dict.fromkeys(warned, "call")
    raises: dict[str, Any] = dict.fromkeys(warned, "raise")
    while len(found) < _MOST_STEPS:
        left = [len(found)]

        def passed(_phrase: str, _flags: int, left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                np.seterr(**raises)

        try:
            with np.errstate(**(calls if found else raises), call=passed):
                Machine(()).compute(node, args, meaning)
        except FloatingPointError as error:
            phrase = str(error).partition(" encountered")[0]
            keyword = next((each for each in warned if _PHRASES[each] == phrase), None)
            if keyword is None:
                break
            place = _place(error.__traceback__)
            found.append(EventReport(node, _EVENTS[keyword], str(error), place))
        else:
            break
    return found


_MOST_STEPS: Final = 16
"""Most events reported for one call of a NumPy function."""


def _asked(keyword: str, node: Node, meaning: Meaning, args: Sequence[Any]) -> EventReport:
    """NumPy's own sentence and place, which it tells to who lets it raise.

    The place is None where no function of NumPy's own is between it and the program.
    """
    modes: dict[str, Any] = {keyword: "raise"}
    try:
        with np.errstate(**modes):
            Machine(()).compute(node, args, meaning)
    except FloatingPointError as error:
        return EventReport(node, _EVENTS[keyword], str(error), _place(error.__traceback__))
    composed = f"{_PHRASES[keyword]} encountered in {node.op.ufunc}"  # a false alarm of a library
    return EventReport(node, _EVENTS[keyword], composed, None)


def _place(traceback: TracebackType | None) -> SourceLine | None:
    """The line of a library's function that has raised an error."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    assert traceback is not None, "an error that was caught has passed a frame"
    frame = traceback.tb_frame
    if str(frame.f_globals.get("__name__")).partition(".")[0] == _OURS:
        return None
    code = frame.f_code
    namespace = Namespace.of(frame.f_globals)
    return SourceLine(code.co_filename, traceback.tb_lineno, code.co_name, namespace)
