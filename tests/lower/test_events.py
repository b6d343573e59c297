"""Which values are tested for events. Oracle: where a value that is not finite could vanish."""

from runmat_jit.lower.events import noted_values
from runmat_jit.passes.fusion.grower import grow
from tests.graph.written import written


def noted(*expressions):
    graph = written(["float32[8]"] * 2, *expressions)
    return sorted(n.op.name for region in grow(graph) for n in noted_values(region))


def test_only_the_end_of_a_chain_is_tested():
    assert noted("multiply(add(exp($0), 1.0), 2.0)") == ["multiply"]


def test_a_value_that_may_vanish_is_tested_where_it_does():
    assert noted("maximum(exp($0), 1.0)") == ["exp"]
    assert noted("divide(1.0, exp($0))") == ["divide", "exp"]


def test_what_has_no_events_is_not_tested():
    assert noted("absolute($0)") == []
    assert noted("greater($0, $1)") == []


def test_each_output_is_tested():
    assert noted("exp($0)", "multiply(exp($0), $1)") == ["exp", "multiply"]


def test_a_comparison_hides_what_it_compares():
    assert noted("greater(add($0, $1), 1.0)") == ["add"]


def test_a_sum_carries_what_it_adds_and_a_maximum_does_not():
    assert noted("sum(exp($0), axis=(0,), dtype='float32', keepdims=False)") == ["sum"]
    assert noted("max(exp($0), axis=(0,), keepdims=False)") == ["exp"]
