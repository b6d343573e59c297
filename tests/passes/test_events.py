"""Which values may report floating-point events. Oracle: NumPy's documentation, by example."""

import pytest

from runmat_jit.passes.events import possible_events, reports_events
from tests.graph.written import written


@pytest.mark.parametrize(
    ("inputs", "expression", "may"),
    [
        (["float32[4]"], "log($0)", True),
        (["float32[4]"], "add($0, 1.0)", True),
        (["int32[4]"], "add($0, 1)", False),
        (["int32[4]"], "floor_divide($0, 2)", True),
        (["float32[4]"], "negative($0)", False),
        (["float32[4]"], "less($0, 1.0)", False),
        (["float32[4]"], "cast($0, dtype='int32')", True),
        (["float32[4]"], "cast($0, dtype='float64')", False),
        (["float64[4]"], "cast($0, dtype='float32')", True),
        (["int32[4]"], "cast($0, dtype='float64')", False),
        (["float32[4]"], "sum($0, axis=(0,), dtype='float32', keepdims=False)", True),
        (["int64[4]"], "sum($0, axis=(0,), dtype='int64', keepdims=False)", False),
        (["float32[4]"], "mean($0, axis=(0,), dtype='float32', keepdims=False)", True),
    ],
)
def test_floats_and_divisions_may_report_events(inputs, expression, may):
    assert reports_events(written(inputs, expression).outputs[0].node) is may


@pytest.mark.parametrize(
    ("inputs", "expression", "events"),
    [
        (["float32[4]"], "log($0)", {"divide", "invalid"}),
        (["float64[4]"], "sqrt($0)", {"invalid"}),
        (["float32[4]"], "add($0, 1.0)", {"over", "invalid"}),
        (["float32[4]"], "negative($0)", set()),
        (["int32[4]"], "add($0, 1)", set()),
    ],
)
def test_the_events_of_a_graph_are_those_of_its_values(inputs, expression, events):
    possible = possible_events(written(inputs, expression))
    assert possible - {"under"} == events
