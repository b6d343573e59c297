"""Events of a graph in NumPy's words. Oracle: the warnings of the same NumPy calls."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from runmat_jit.backends.reference.events import report_events
from runmat_jit.core.source import SourceLine
from runmat_jit.graph.node import Computation
from tests.graph.written import written

IGNORED = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")
WARNED = dict.fromkeys(IGNORED, "warn")
X = np.array([0.0, -1.0, 1e3, 3e38, np.inf], np.float32)
AXIS = "axis=(0,), dtype='float32', keepdims=False"

CASES = [
    ("exp($0)", np.exp),
    ("log($0)", np.log),
    ("divide($0, $0)", lambda x: np.divide(x, x)),
    ("divide(1.0, $0)", lambda x: np.divide(np.float32(1), x)),
    ("multiply($0, 2.0)", lambda x: np.multiply(x, np.float32(2))),
    ("multiply($0, 1e-38)", lambda x: np.multiply(x, np.float32(1e-38))),
    ("subtract($0, $0)", lambda x: np.subtract(x, x)),
    ("sqrt($0)", np.sqrt),
    ("square($0)", np.square),
    ("cast($0, dtype='int32')", lambda x: x.astype(np.int32)),
    (f"sum(multiply($0, 0.9), {AXIS})", lambda x: np.sum(x * np.float32(0.9))),
    (f"sum(slice($0, starts=(3,), steps=(0,), shape=(2,)), {AXIS})", lambda x: np.sum(x[[3, 3]])),
    (f"mean(slice($0, starts=(3,), steps=(0,), shape=(2,)), {AXIS})", lambda x: np.mean(x[[3, 3]])),
    ("negative($0)", lambda x: -x),
]


def warned(function):
    """The messages of NumPy's warnings, each once."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(**WARNED):
        warnings.simplefilter("always")
        function(X)
    return list(dict.fromkeys(str(each.message) for each in caught))


@pytest.mark.parametrize(("expression", "function"), CASES)
def test_messages_are_numpys_own(expression, function):
    graph = written(["float32[5]"], expression)
    found = report_events(graph, [X], WARNED)
    assert [report.message for report in found] == warned(function)


def test_integer_division_by_zero_is_reported():
    graph = written(["int64[2]"], "floor_divide(int64(1), $0)")
    (report,) = report_events(graph, [np.array([0, 1])], WARNED)
    assert report.message == "divide by zero encountered in floor_divide"
    assert report.event == "divide"
    assert report.node.op.name == "floor_divide"


def test_only_what_is_set_to_warn_is_reported():
    graph = written(["float32[5]"], "log($0)")
    assert report_events(graph, [X], IGNORED) == ()
    (report,) = report_events(graph, [X], IGNORED | {"invalid": "warn"})
    assert report.message == "invalid value encountered in log"
    with np.errstate(all="raise"):  # what is in force outside does not count
        assert report_events(graph, [X], IGNORED) == ()


def test_each_node_is_reported_in_order():
    graph = written(["float32[5]"], "log(sqrt($0))")
    assert [report.message for report in report_events(graph, [X], np.geterr())] == [
        "invalid value encountered in sqrt",
        "divide by zero encountered in log",
    ]


def test_each_computation_of_a_node_is_reported_where_it_is():
    graph = written(["float32[5]"], "log(sqrt($0))")
    sqrt, log = (number for number, node in enumerate(graph.nodes) if node.op.events)
    operations = ((log,), "log"), ((sqrt,), "sqrt"), ((sqrt, log), "log")
    again = tuple(
        Computation(nodes, name, getattr(np, name), SourceLine("user.py", line))
        for line, (nodes, name) in enumerate(operations, start=1)
    )
    found = report_events(replace(graph, computations=again), [X], np.geterr())
    assert [(report.message, report.line.line) for report in found] == [
        ("divide by zero encountered in log", 1),
        ("invalid value encountered in sqrt", 2),
        ("divide by zero encountered in log", 3),
        ("invalid value encountered in log", 3),
    ]


def test_an_event_is_reported_once_a_node_however_many_read_it():
    graph = written(["float32[5]"], "add(sqrt($0), sqrt($0))", "sqrt($0)")
    assert len(report_events(graph, [X], np.geterr())) == 1
