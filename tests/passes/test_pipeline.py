"""The passes in their order. Oracles: NumPy's bits; the verifier; printed graphs."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from runmat_jit.backends.reference.events import report_events
from runmat_jit.backends.reference.interpret import run
from runmat_jit.core.types import TensorType
from runmat_jit.graph.constant import constant
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.parse import parse
from runmat_jit.graph.text import to_text
from runmat_jit.graph.verify_graph import GraphError, verify_graph
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.pipeline import optimize
from tests.graph.random_graphs import EXACT_ROWS, HOST, OURS, SUMS, arrays, bits_equal, graphs
from tests.graph.written import written

WARNED = dict.fromkeys(("divide", "over", "under", "invalid"), "warn")
LENGTH = 20_000
"""Many times what Python and its parser nest."""


@given(graph=graphs((*EXACT_ROWS, *HOST)), seed=st.integers(0, 99))
def test_optimizing_keeps_every_bit(graph, seed):
    note(to_text(graph))
    found = optimize(graph, verify=True)
    note(to_text(found))
    inputs, same = arrays(graph, seed), arrays(graph, seed)
    assert all(map(bits_equal, run(graph, inputs), run(found, same)))
    assert all(map(bits_equal, inputs, same))  # what was written into them, too


@given(graph=graphs(rows=(*EXACT_ROWS, *OURS, *SUMS, *HOST)), seed=st.integers(0, 99))
def test_optimizing_loses_no_event(graph, seed):
    """A kernel notices an event only in what it computes; names and lines may change."""
    note(to_text(graph))
    found = optimize(graph, verify=True)
    note(to_text(found))
    old = report_events(graph, arrays(graph, seed, special=0.5), WARNED)
    new = report_events(found, arrays(graph, seed, special=0.5), WARNED)
    assert {report.event for report in old} <= {report.event for report in new}


def test_passes_see_what_earlier_passes_found():
    before = "transpose(clip(divide(update($0, $1, offset=0, shape=(4, 5), strides=(5, 1)), 4.0), "
    limits = "0.0, 1.0, limits=('min', 'max')), axes=(1, 0))"
    inputs = ["float32[4, 5]", "float32[4, 5] strides (1, 4)"]
    graph = written(inputs, before + limits)
    turned = "transpose($1, axes=(1, 0))"
    wanted = f"minimum(1.0, maximum(0.0, multiply({turned}, 0.25)))"
    assert to_text(optimize(graph, verify=True)) == to_text(written(inputs, wanted))


def test_an_invalid_graph_is_refused_on_request():
    graph = parse("$0 : float32[4] strides (1,)\nreturn $0 -> fresh ()\n")
    with pytest.raises(GraphError):
        optimize(graph, verify=True)
    optimize(graph)


def chain(length):
    """One long chain in which rules apply all the way."""
    builder = GraphBuilder()
    kind = TensorType(np.dtype("float32"), (4,))
    node = builder.input(ROWS["input"], kind, (1,), None)
    for step in range(length):
        name = ("sin", "negative", "multiply", "divide", "add", "negative", "tanh")[step % 7]
        op, args = ROWS[name], (node,)
        if op.arity == 2:
            number = constant(4.0 if name == "divide" else step % 5 + 0.5, kind.dtype)
            args = (node, builder.adopt(number))
        node = builder.make(op, args, {}, kind)
    return builder.finish([Output(node, Fresh((0,)))])


def test_a_graph_may_be_as_deep_as_it_is_long():
    graph = chain(LENGTH)
    text = to_text(graph)
    again = parse(text)
    assert to_text(again) == text
    verify_graph(again)
    found = optimize(again)
    assert len(found.nodes) > LENGTH / 2
    assert "divide" not in {node.op.name for node in found.nodes}
    inputs = arrays(graph)
    assert all(map(bits_equal, run(graph, inputs), run(found, inputs)))
