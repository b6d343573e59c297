"""Reads of what was written. Oracles: the printed graph; NumPy's bits."""

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.text import to_text
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.passes.forward_updates import forward_updates
from tests.graph.random_graphs import VIEWS, arrays, bits_equal, graphs
from tests.graph.written import written

INPUTS = ["float32[4, 5]", "float32[5]", "float32[2, 5]"]
ROW_1 = "update($0, $1, offset=5, shape=(5,), strides=(1,))"
ROWS_1_2 = "update($0, $2, offset=5, shape=(2, 5), strides=(5, 1))"
PART = "slice({}, starts=(0, 1), steps=(1, 1), shape=(1, 3))"
EVEN = "update($0, $2, offset=0, shape=(2, 5), strides=(10, 1))"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (  # the row that was written
            f"slice({ROW_1}, starts=(1, 0), steps=(1, 1), shape=(1, 5))",
            "reshape($1, shape=(1, 5))",
        ),
        (  # one element of it, backwards
            f"slice({ROW_1}, starts=(1, 4), steps=(1, -2), shape=(1, 2))",
            "slice(reshape($1, shape=(1, 5)), starts=(0, 4), steps=(1, -2), shape=(1, 2))",
        ),
        (  # the second of two rows that were written
            f"slice({ROWS_1_2}, starts=(2, 1), steps=(1, 2), shape=(1, 2))",
            "slice($2, starts=(1, 1), steps=(1, 2), shape=(1, 2))",
        ),
        (  # another row
            f"slice({ROW_1}, starts=(2, 0), steps=(1, 1), shape=(2, 5))",
            "slice($0, starts=(2, 0), steps=(1, 1), shape=(2, 5))",
        ),
        (  # odd rows, where even ones were written
            f"slice({EVEN}, starts=(1, 0), steps=(2, 1), shape=(2, 5))",
            "slice($0, starts=(1, 0), steps=(2, 1), shape=(2, 5))",
        ),
        (  # the value is broadcast to the part
            PART.format("update($0, 2.0, offset=0, shape=(1, 5), strides=(5, 1))"),
            PART.format("broadcast_to(float32(2.0), shape=(1, 5))"),
        ),
        (  # everything is overwritten
            "update($0, $1, offset=0, shape=(4, 5), strides=(5, 1))",
            "broadcast_to($1, shape=(4, 5))",
        ),
        (  # the same part twice
            "update(" + ROW_1 + ", negative($1), offset=5, shape=(5,), strides=(1,))",
            "update($0, negative($1), offset=5, shape=(5,), strides=(1,))",
        ),
    ],
)
def test_a_read_takes_the_written_value_or_passes_the_update(before, after):
    graph = written(INPUTS, before)
    found = forward_updates(graph)
    assert to_text(found) == to_text(written(INPUTS, after))
    verify_graph(found)
    assert all(map(bits_equal, run(graph, arrays(graph)), run(found, arrays(graph))))


@pytest.mark.parametrize(
    "expression",
    [
        f"slice({ROW_1}, starts=(0, 0), steps=(1, 1), shape=(2, 5))",  # half of it was written
        f"slice({EVEN}, starts=(0, 0), steps=(1, 1), shape=(3, 5))",
        # a diagonal is no box, nor is what is written in another order of axes
        PART.format("update($0, 1.0, offset=0, shape=(4,), strides=(6,))"),
        PART.format("update($0, 1.0, offset=0, shape=(5, 4), strides=(1, 5))"),
        # what is overwritten may report an event
        "update(sqrt($0), $1, offset=0, shape=(4, 5), strides=(5, 1))",
    ],
)
def test_what_is_not_certain_stays(expression):
    graph = written(INPUTS, expression)
    assert to_text(forward_updates(graph)) == to_text(graph)


@given(
    graph=graphs(rows=("negative", "less", *VIEWS, *("update",) * 3, "concatenate")),
    seed=st.integers(0, 99),
)
def test_it_keeps_every_bit_and_is_idempotent(graph, seed):
    note(to_text(graph))
    found = forward_updates(graph)
    note(to_text(found))
    verify_graph(found)
    assert forward_updates(found).nodes == found.nodes
    assert all(map(bits_equal, run(graph, arrays(graph, seed)), run(found, arrays(graph, seed))))
