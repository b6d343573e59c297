"""Random graphs through grower and lowering, run by the kernel interpreter, some by LLVM. Oracles:
the reference interpreter for rows that NumPy defines to the bit; unfused kernels for all rows;
NumPy's own event reports for the event word."""

from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.reference.events import report_events
from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.text import to_text
from runmat_jit.passes.fusion.kinds import KINDS
from runmat_jit.passes.pipeline import PASSES_OF_A_GPU, optimize
from runmat_jit.plan.device import Device
from tests.graph.random_graphs import (
    EXACT_ROWS,
    OURS,
    REDUCTIONS,
    SUMS,
    VIEWS,
    arrays,
    bits_equal,
    graphs,
)
from tests.lower.execute import compiled, execute, prepared

NAMES = [kind.name for kind in KINDS]
EVERYTHING = (*EXACT_ROWS, *OURS, *SUMS)
WARN = {"divide": "warn", "over": "warn", "invalid": "warn", "under": "ignore"}
MANY = settings(max_examples=max(40, settings.default.max_examples))
FEW = settings(max_examples=8, deadline=None)


@given(graphs(max_nodes=14), st.integers(0, 2**20))
@MANY
def test_kernels_give_the_bits_of_numpy(graph, seed):
    expected = run(graph, arrays(graph, seed))
    for ready in (prepared(graph), optimize(graph)):
        found, _ = execute(ready, arrays(graph, seed))
        assert all(map(bits_equal, expected, found)), to_text(ready)


@given(graphs((*SUMS, *REDUCTIONS, *VIEWS, "add"), max_nodes=6, empty=True), st.integers(0, 99))
@MANY
def test_no_memory_without_elements_is_read(graph, seed):
    """The interpreter refuses accesses outside of a buffer, which native code would make."""
    expected = run(graph, arrays(graph, seed))
    for ready in (prepared(graph), optimize(graph)):
        found, _ = execute(ready, arrays(graph, seed))
        assert all(map(bits_equal, expected, found)), to_text(ready)


@given(graphs(EVERYTHING, max_nodes=14), st.sampled_from(NAMES), st.integers(0, 2**20))
@MANY
def test_switching_a_kind_off_keeps_every_bit(graph, kind, seed):
    graph = prepared(graph)
    fused, _ = execute(graph, arrays(graph, seed))
    unfused, _ = execute(graph, arrays(graph, seed), {kind})
    assert all(map(bits_equal, unfused, fused)), to_text(graph)


@given(graphs(EVERYTHING, max_nodes=10, into=False), st.integers(0, 2**20))
@MANY
def test_every_event_is_noticed(captured, seed):
    reports = report_events(captured, arrays(captured, seed, special=0.5), WARN)
    for graph in (prepared(captured), optimize(captured)):
        _, fused = execute(graph, arrays(captured, seed, special=0.5))
        _, unfused = execute(graph, arrays(captured, seed, special=0.5), {"elementwise"})
        assert (fused and unfused) or not reports, to_text(graph)


@given(graphs(EVERYTHING, max_nodes=14), st.integers(0, 2**20))
@MANY
def test_kernels_for_a_gpu_give_the_bits_of_the_cpus(graph, seed):
    for ready in (prepared(graph), optimize(graph, PASSES_OF_A_GPU)):
        expected, _ = execute(ready, arrays(graph, seed))
        found, _ = execute(ready, arrays(graph, seed), device=Device("gpu"))
        assert all(map(bits_equal, expected, found)), to_text(ready)


@given(graphs(EVERYTHING, max_nodes=6), st.integers(0, 2**20))
@FEW
def test_native_code_gives_the_bits_of_the_interpreter(graph, seed):
    graph = prepared(graph)
    interpreted, event = execute(graph, arrays(graph, seed))
    native, same = execute(graph, arrays(graph, seed), run=compiled)
    assert event == same
    assert all(map(bits_equal, interpreted, native)), to_text(graph)
