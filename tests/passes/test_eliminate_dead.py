"""Dropping what no output needs. Oracle: the printed graph."""

from runmat_jit.graph.node import Graph
from runmat_jit.graph.text import to_text
from runmat_jit.passes.eliminate_dead import eliminate_dead
from tests.graph.written import written


def test_what_no_output_needs_is_dropped_and_inputs_stay():
    graph = written(["float32[4]", "float32[4]"], "sin($0)", "exp($1)")
    smaller = Graph(graph.inputs, graph.nodes, graph.outputs[:1])
    assert to_text(eliminate_dead(smaller)) == (
        "$0 : float32[4] strides (1,)\n"
        "$1 : float32[4] strides (1,)\n"
        "%0 = sin($0) : float32[4]\n"
        "return %0 -> fresh (0,)\n"
    )
