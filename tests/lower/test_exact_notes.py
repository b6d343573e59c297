"""Exact notes of floating-point events. Oracle: NumPy's reports on the same random graphs, whose
data are half special values, NaNs that signal included."""

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.reference.events import report_events
from runmat_jit.graph.text import to_text
from runmat_jit.passes.pipeline import optimize
from runmat_jit.plan.notes import is_open, operations
from tests.graph.random_graphs import EXACT_ROWS, OURS, SUMS, arrays, bits_equal, graphs
from tests.lower.execute import compiled, execute, prepared

WARN = {"divide": "warn", "over": "warn", "invalid": "warn", "under": "ignore"}
EVERYTHING = (*EXACT_ROWS, *OURS, *SUMS)
CONSERVATIVE = {"power", "pow", "prod", "sum", "mean"}
"""Rows of which NumPy is asked now and then where nothing happened."""
MANY = settings(max_examples=max(50, 2 * settings.default.max_examples))
FEW = settings(max_examples=6, deadline=None)


def operands(graph, seed, *, signaling=False):
    found = arrays(graph, seed, special=0.5)
    rng = np.random.default_rng(seed)
    for value in found if signaling else ():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            bits = {4: np.uint32(0x7F800001), 8: np.uint64(0x7FF0000000000001)}[value.itemsize]
            value.view(bits.dtype)[rng.random(value.shape) < 0.2] = bits
    return found


def happened(graph, mode, inputs, disabled=()):
    """Whether kernels tell of an event, or ask NumPy."""
    _, word = execute(graph, inputs, disabled, mode=mode)
    return bool(is_open(word) or operations(word))


@given(graphs(EVERYTHING, max_nodes=10, into=False), st.integers(0, 2**20), st.booleans())
@MANY
def test_exact_notes_miss_nothing_and_see_nothing_else(captured, seed, signaling):
    inputs = operands(captured, seed, signaling=signaling)
    reports = report_events(captured, inputs, WARN)
    exact = not signaling and not CONSERVATIVE & {node.op.name for node in captured.nodes}
    for graph in (prepared(captured), optimize(captured)):
        plain = execute(graph, operands(captured, seed, signaling=signaling))[1]
        for mode in ("rises", "each"):
            found = [happened(graph, mode, inputs, way) for way in ((), {"elementwise"})]
            noticed = all(found) or (signaling and not plain)  # a NaN that signals, cast to bool
            assert noticed or not reports, (mode, to_text(graph))
            assert not any(found) or reports or not exact, (mode, to_text(graph))


@given(graphs(EVERYTHING, max_nodes=8, into=False), st.integers(0, 2**20), st.booleans())
@MANY
def test_the_bits_of_operations_decide_what_numpy_reports(captured, seed, some):
    """Whether all operations have bits or some."""
    graph = optimize(captured)
    names = {node.op.ufunc for node in graph.nodes[seed % 3 :: 2]} if some else None
    known = defaultdict(set)
    for number in range(4):
        inputs = operands(captured, seed + number)
        _, word = execute(graph, inputs, mode="each", names=names)
        if not is_open(word):
            reports = report_events(captured, inputs, WARN)
            known[operations(word)].add(tuple(report.message for report in reports))
    assert all(len(each) == 1 for each in known.values()), (to_text(graph), known)


@given(graphs(EVERYTHING, max_nodes=8), st.integers(0, 2**20), st.sampled_from(["rises", "each"]))
@FEW
def test_notes_change_no_bit_and_native_code_notes_the_same(graph, seed, mode):
    graph = prepared(graph)
    expected, _ = execute(graph, operands(graph, seed))
    interpreted, word = execute(graph, operands(graph, seed), mode=mode)
    native, same = execute(graph, operands(graph, seed), run=compiled, mode=mode)
    assert word == same, to_text(graph)
    assert all(map(bits_equal, expected, interpreted)), to_text(graph)
    assert all(map(bits_equal, expected, native)), to_text(graph)
