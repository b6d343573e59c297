"""One program on every backend: values and floating-point events.

Oracles: the reference interpreter (NumPy) for rows whose bits it defines, and undecorated Python
for programs; for our own expansions and sums native code, whose bits a software adapter must have.
Elsewhere the adapter's results must be its CPU's where they are to be reproducible.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.backends.reference.interpret import run as run_reference
from runmat_jit.compiler.compiler import Compiler
from runmat_jit.compiler.events import EventFinder, report
from runmat_jit.core.config import read_config
from runmat_jit.graph.text import to_text
from runmat_jit.runtime.session import Session, use_session
from tests.backends.wgpu.conftest import adapter  # noqa: F401  (a fixture)
from tests.capture.behavior import compare, module, observe
from tests.capture.random_programs import programs
from tests.conftest import PROFILE
from tests.graph.random_graphs import EXACT_ROWS, OURS, SUMS, arrays, bits_equal, graphs
from tests.graph.written import written

pytestmark = pytest.mark.usefixtures("adapter", "reproducible")

EXAMPLES = 200 if PROFILE == "full" else 12
EVENTS = frozenset(("divide", "over", "invalid"))


@pytest.fixture(scope="module")
def reproducible():
    """A session of its own whose GPU results are the CPU's, or which says that they cannot be."""
    session = Session(replace(read_config(), reproducible=True))
    before = use_session(session)
    yield session
    use_session(before)
    assert session.telemetry.snapshot()["gpu_submits"] > 0


def observed(run, inputs):
    """Results, inputs afterwards, and what was warned of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        results = run(inputs)
    return results, inputs, sorted({str(warning.message) for warning in seen})


def by_backend(session, graph, device):
    return lambda inputs: (
        session.service(Compiler, Compiler).compile(graph, device).run(inputs, EVENTS)
    )


def by_reference(graph):
    """Results that are new, after the events of the graph were reported."""

    def run(inputs):
        report(EventFinder(graph)(inputs, EVENTS))
        results = run_reference(graph, inputs)
        pairs = zip(results, graph.outputs, strict=True)
        return [result for result, output in pairs if hasattr(output.target, "order")]

    return run


def agree(graph, expected, found):
    for want, have in zip(expected[:2], found[:2], strict=True):
        for a, b in zip(want, have, strict=True):
            assert bits_equal(a, b), f"{to_text(graph)}\n{a}\n{b}"
    assert expected[2] == found[2], to_text(graph)


@settings(max_examples=EXAMPLES)
@given(graph=graphs(EXACT_ROWS), seed=st.integers(0, 99))
def test_graphs_of_exact_rows_agree_on_all_three(reproducible, graph, seed):
    expected = observed(by_reference(graph), arrays(graph, seed))
    for device in ("cpu", "gpu"):
        agree(
            graph, expected, observed(by_backend(reproducible, graph, device), arrays(graph, seed))
        )


@settings(max_examples=EXAMPLES)
@given(graph=graphs((*EXACT_ROWS, *OURS, *SUMS)), seed=st.integers(0, 99))
def test_graphs_with_our_own_functions_agree_on_cpu_and_gpu(reproducible, graph, seed):
    expected, found = (
        observed(by_backend(reproducible, graph, device), arrays(graph, seed))
        for device in ("cpu", "gpu")
    )
    agree(graph, expected, found)


@settings(max_examples=EXAMPLES)
@given(program=programs("exact"))
def test_programs_of_exact_operations_agree_with_python_on_both(program):
    plain = module(program.text, "backends")["f"]
    for change in (0, 1):
        expected = observe(plain, program.inputs(change), {})
        for device in ("cpu", "gpu"):
            found = observe(runmat.jit(plain, device=device), program.inputs(change), {})
            theirs = replace(expected)
            compare(theirs, found, exact=True)


@settings(max_examples=EXAMPLES)
@given(program=programs("smooth"))
def test_programs_of_smooth_operations_agree_on_cpu_and_gpu(program):
    plain = module(program.text, "backends")["f"]
    on_cpu, on_gpu = (runmat.jit(plain, device=device) for device in ("cpu", "gpu"))
    for change in (0, 1):
        expected = observe(on_cpu, program.inputs(change), {})
        found = observe(on_gpu, program.inputs(change), {})
        compare(expected, found, exact=True)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
@pytest.mark.parametrize("shape", [(5000,), (3, 9000), (300, 40), (70_000,)])
def test_positions_in_long_rows_and_columns_are_numpys_on_gpus(shape, dtype):
    def program(x):
        return x.argmax(), x.argmin(axis=0), (x * 2).argmax(axis=-1)

    x = (np.random.default_rng(0).normal(size=shape) * 5).astype(dtype)
    decorated = runmat.jit(program, device="gpu")
    for _ in range(2):
        for found, expected in zip(decorated(x), program(x), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_the_reciprocal_of_a_reciprocal_is_rounded_twice_on_gpus(reproducible):
    graph = written(["float32[40]"], "reciprocal(reciprocal($0))")
    x = np.random.default_rng(0).uniform(1, 2, 40).astype(np.float32)
    expected, found = (by_backend(reproducible, graph, device)([x]) for device in ("cpu", "gpu"))
    assert bits_equal(expected[0], found[0])
    assert not bits_equal(found[0], x)
