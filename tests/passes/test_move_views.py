"""Views moved towards the inputs. Oracles: the printed graph; NumPy's bits."""

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.text import to_text
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.passes.move_views import move_views
from tests.graph.random_graphs import arrays, bits_equal, graphs
from tests.graph.written import written

INPUTS = ["float32[4, 5]", "float32[5]", "float32[4, 1]", "float32[4, 5] strides (1, 4)"]
T = "transpose({}, axes=(1, 0))"
CUT = "slice({}, starts=(1, 0), steps=(1, 2), shape=(2, 3))"
LAST = "slice({}, starts=(0,), steps=(2,), shape=(3,))"
FIRST = "slice({}, starts=(1, 0), steps=(1, 1), shape=(2, 1))"
SUM = "sum(reshape($0, shape=(4, 5, 1)), axis=(2,), dtype='float32', keepdims=False)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (T.format("add($0, 1.0)"), f"add({T.format('$0')}, 1.0)"),
        (T.format("exp(add($0, 1.0))"), f"exp(add({T.format('$0')}, 1.0))"),
        (
            T.format("multiply($0, $1)"),
            f"multiply({T.format('$0')}, {T.format('reshape($1, shape=(1, 5))')})",
        ),
        (T.format(f"exp({T.format('sin($0)')})"), "exp(sin($0))"),
        (CUT.format("negative($0)"), f"negative({CUT.format('$0')})"),
        (CUT.format("maximum($0, $1)"), f"maximum({CUT.format('$0')}, {LAST.format('$1')})"),
        (CUT.format("minimum($0, $2)"), f"minimum({CUT.format('$0')}, {FIRST.format('$2')})"),
        (
            f"subtract({T.format('negative($0)')}, {T.format('negative($0)')})",
            f"subtract(negative({T.format('$0')}), negative({T.format('$0')}))",
        ),
        ("reshape(exp($0), shape=(20,))", "exp(reshape($0, shape=(20,)))"),
        ("reshape(exp($3), shape=(4, 1, 5))", "exp(reshape($3, shape=(4, 1, 5)))"),
    ],
)
def test_a_view_of_a_computation_is_a_computation_on_views(before, after):
    graph = written(INPUTS, before)
    found = move_views(graph)
    assert to_text(found) == to_text(written(INPUTS, after))
    verify_graph(found)
    assert all(map(bits_equal, run(graph, arrays(graph)), run(found, arrays(graph))))


def test_cheap_values_are_computed_again_for_each_view():
    other = "slice({}, starts=(0, 2), steps=(1, 1), shape=(2, 3))"
    graph = written(
        INPUTS, f"subtract({CUT.format('negative($0)')}, {other.format('negative($0)')})"
    )
    found = move_views(graph)
    wanted = f"subtract(negative({CUT.format('$0')}), negative({other.format('$0')}))"
    assert to_text(found) == to_text(written(INPUTS, wanted))


@pytest.mark.parametrize(
    "expressions",
    [
        [CUT.format("exp($0)")],  # elements left out would report no overflow
        [CUT.format("sqrt(negative($0))")],
        [T.format("exp($0)"), "exp($0)"],  # stored anyway
        [f"negative({T.format('exp($0)')})", "sin(exp($0))"],  # not only viewed
        [T.format("exp($0)"), "reshape(exp($0), shape=(20,))"],  # too dear to compute twice
        ["reshape(add($0, $1), shape=(20,))"],  # a broadcast operand has no such reshape
        ["reshape(exp($3), shape=(20,))"],  # the input does not lie in C order
        [T.format(SUM)],  # a reduction's axes stay what they are
    ],
)
def test_what_would_cost_more_or_lose_an_event_stays(expressions):
    graph = written(INPUTS, *expressions)
    assert to_text(move_views(graph)) == to_text(graph)


@given(graph=graphs(), seed=st.integers(0, 99))
def test_it_keeps_every_bit(graph, seed):
    note(to_text(graph))
    found = move_views(graph)
    note(to_text(found))
    verify_graph(found)
    assert all(map(bits_equal, run(graph, arrays(graph, seed)), run(found, arrays(graph, seed))))
