"""Plans. Oracles: the regions read by hand; for memory, what random programs compute."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.node import Fresh, Output
from runmat_jit.graph.text import to_text
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.plan.make_plan import make_plan
from tests.graph.random_graphs import VIEWS, arrays, bits_equal, graphs
from tests.graph.written import written
from tests.lower.execute import execute, prepared


def test_stored_values_lie_in_c_order_unless_an_output_asks_otherwise():
    graph = written(["float32[4, 6]"], "exp($0)")
    node = graph.outputs[0].node
    asked = type(graph)(graph.inputs, graph.nodes, (Output(node, Fresh((1, 0))),))
    assert make_plan(graph, grow(graph)).orders == {node: (0, 1)}
    assert make_plan(asked, grow(asked)).orders == {node: (1, 0)}


# -- updates in place ------------------------------------------------------------------------------
ROW_1 = "offset=5, shape=(5,), strides=(1,))"
ROW_2 = "offset=10, shape=(5,), strides=(1,))"
BY_COLUMNS = "axis=(0,), keepdims=False, dtype='float32'"
FIRST = f"update(exp($0), $1, {ROW_1}"


def in_place(text):
    """How many updates of a graph over an array and a row are made in place."""
    graph = written(["float32[4, 5]", "float32[5]"], text)
    return len(make_plan(graph, grow(graph)).in_place)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (FIRST, 1),
        (f"update({FIRST}, $1, {ROW_2}", 2),
        # The base is an input; a copy of it is made once, and then written.
        (f"update(update($0, $1, {ROW_1}, $1, {ROW_2}", 1),
        # What reads the base before the update is no obstacle, what becomes the value neither.
        (f"update(exp($0), sum(exp($0), {BY_COLUMNS}), {ROW_1}", 1),
        # Nor is what reads another part.
        (f"update(exp($0), slice(exp($0), starts=(0, 0), steps=(1, 1), shape=(1, 5)), {ROW_1}", 1),
    ],
)
def test_updates_are_made_in_memory_that_nobody_reads_afterwards(text, count):
    assert in_place(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"update($0, $1, {ROW_1}", 0),  # the caller's array
        (f"update(exp($0), slice(exp($0), starts=(1, 4), steps=(1, -1), shape=(1, 5)), {ROW_1}", 0),
        (f"multiply({FIRST}, exp($0))", 0),  # read later
        # Two updates of one base: the later one may take its memory, and not the earlier.
        (f"concatenate({FIRST}, update(exp($0), $1, {ROW_2}, axis=0)", 1),
    ],
)
def test_memory_that_is_read_otherwise_is_not_written(text, count):
    assert in_place(text) == count


def test_an_update_of_an_output_is_a_copy():
    graph = written(["float32[4, 5]", "float32[5]"], FIRST)
    update = graph.outputs[0].node
    both = (Output(update.args[0], Fresh((0, 1))), graph.outputs[0])
    graph = type(graph)(graph.inputs, graph.nodes, both)
    assert make_plan(graph, grow(graph)).in_place == {}


@given(
    graphs(rows=("negative", "less", *VIEWS, *("update",) * 4, "concatenate"), max_nodes=14),
    st.integers(0, 2**20),
)
@settings(max_examples=150, deadline=None)
def test_programs_that_write_in_place_give_the_bits_of_numpy(graph, seed):
    ready = prepared(graph)
    found, _ = execute(ready, arrays(graph, seed))
    expected = run(graph, arrays(graph, seed))
    assert all(map(bits_equal, expected, found)), to_text(ready)
