"""Oracle: the reference interpreter on the same graph; counts from telemetry."""

import warnings

import numpy as np
import pytest
from hypothesis import given

from runmat_jit.backends.reference.interpret import run as run_reference
from runmat_jit.compiler.compile_graph import compile_graph
from runmat_jit.compiler.compiler import Compiler
from runmat_jit.compiler.events import report
from runmat_jit.compiler.reference_program import ReferenceProgram
from runmat_jit.core.protocols import EventsRaise
from runmat_jit.graph.parse import parse
from runmat_jit.runtime.session import Session
from tests.graph.random_graphs import EXACT_ROWS, HOST, VIEWS, arrays, bits_equal, graphs
from tests.graph.written import written

NONE = frozenset()
ALL = frozenset(("divide", "over", "invalid"))


@pytest.fixture(scope="module")
def session():
    return Session()


@given(graphs(rows=(*EXACT_ROWS, *VIEWS, *HOST), into=True))
def test_programs_give_the_reference_results(graph):
    inputs, expected_inputs = arrays(graph, seed=1), arrays(graph, seed=1)
    expected = run_reference(graph, expected_inputs)
    found = compile_graph(SESSION, graph).run(inputs, NONE)
    fresh = [e for e, o in zip(expected, graph.outputs, strict=True) if hasattr(o.target, "order")]
    assert all(bits_equal(e, f) for e, f in zip(fresh, found, strict=True))
    assert all(bits_equal(e, f) for e, f in zip(expected_inputs, inputs, strict=True))
    for result in found:
        assert not any(np.shares_memory(result, value) for value in inputs)


SESSION = Session()


def test_equal_graphs_are_compiled_once(session):
    compiler = Compiler(session)
    first = compiler.compile(written(["float32[9]"], "multiply($0, 3.0)"))
    assert compiler.compile(written(["float32[9]"], "multiply($0, 3.0)")) is first
    assert compiler.compile(written(["float32[8]"], "multiply($0, 3.0)")) is not first


@pytest.mark.parametrize(
    "expression",
    [
        "multiply($0, 7.0)",
        "mean($0, axis=(0,), dtype='float32', keepdims=False)",
        "mean($0, axis=(0, 1), dtype='float32', keepdims=False)",
        "subtract($0, mean($0, axis=(1,), dtype='float32', keepdims=True))",
        "transpose($0, axes=(1, 0))",
    ],
)
def test_another_shape_needs_no_other_kernel(session, expression):
    compiler = Compiler(session)
    compiler.compile(written(["float32[90, 40]"], expression))
    before = session.backend.compiles
    compiler.compile(written(["float32[91, 41]"], expression))
    assert session.backend.compiles == before


def test_an_input_that_is_returned_is_copied(session):
    graph = parse("$0 : float64[3] strides (1,)\nreturn $0 -> fresh (0,)\n")
    x = np.arange(3.0)
    (result,) = compile_graph(session, graph).run([x], NONE)
    assert result is not x
    assert not np.shares_memory(result, x)
    np.testing.assert_array_equal(result, x)


def test_one_value_returned_twice_lies_in_two_places(session):
    text = "$0 : float64[3] strides (1,)\n%0 = negative($0) : float64[3]\n"
    graph = parse(text + "return %0 -> fresh (0,)\nreturn %0 -> fresh (0,)\n")
    a, b = compile_graph(session, graph).run([np.arange(3.0)], NONE)
    assert not np.shares_memory(a, b)
    np.testing.assert_array_equal(a, b)


def test_swapped_inputs_are_read_before_they_are_written(session):
    text = "$0 : float64[3] strides (1,)\n$1 : float64[3] strides (1,)\n"
    text += (
        "return $1 -> into $0 offset 0 strides (1,)\nreturn $0 -> into $1 offset 0 strides (1,)\n"
    )
    x, y = np.arange(3.0), np.arange(3.0) + 10
    compile_graph(session, parse(text)).run([x, y], NONE)
    np.testing.assert_array_equal((x, y), (np.arange(3.0) + 10, np.arange(3.0)))


def test_events_are_reported_once_an_operation_and_only_when_asked(session):
    compiled = compile_graph(session, written(["float64[3]"], "log($0)"))
    x = np.array([0.0, -1.0, 0.0])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        compiled.run([x], ALL)
        compiled.run([x], frozenset(("invalid",)))
        compiled.run([x], NONE)
        compiled.run([np.ones(3)], ALL)
    texts = [str(w.message) for w in seen]
    assert texts == [
        "divide by zero encountered in log",
        "invalid value encountered in log",
        "invalid value encountered in log",
    ]


def test_an_event_under_an_error_filter_writes_nothing(session):
    text = "$0 : float64[2] strides (1,)\n%0 = log($0) : float64[2]\n"
    graph = parse(text + "return %0 -> into $0 offset 0 strides (1,)\n")
    x = np.array([0.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(EventsRaise):
            compile_graph(session, graph).run([x], ALL)
    np.testing.assert_array_equal(x, [0.0, 1.0])
    report(())  # nothing found, nothing raised


def test_the_reference_program_does_what_kernels_do(session):
    graph = written(["float64[3]"], "multiply(add($0, 1.0), 2.0)")
    x = np.arange(3.0)
    (native,) = compile_graph(session, graph).run([x], NONE)
    (reference,) = ReferenceProgram(graph).run([x], NONE)
    np.testing.assert_array_equal(native, reference)


def test_size_zero_launches_nothing(session):
    session.telemetry.reset()
    (result,) = compile_graph(session, written(["float64[0]"], "exp($0)")).run([np.empty(0)], ALL)
    assert result.shape == (0,)
    assert session.telemetry.snapshot()["kernel_launches"] == 0
