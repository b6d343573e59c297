"""Plans. Oracle: the regions read by hand."""

from runmat_jit.graph.node import Fresh, Output
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.plan.make_plan import make_plan
from tests.graph.written import written


def test_stored_values_lie_in_c_order_unless_an_output_asks_otherwise():
    graph = written(["float32[4, 6]"], "exp($0)")
    node = graph.outputs[0].node
    asked = type(graph)(graph.inputs, graph.nodes, (Output(node, Fresh((1, 0))),))
    assert make_plan(graph, grow(graph)).orders == {node: (0, 1)}
    assert make_plan(asked, grow(asked)).orders == {node: (1, 0)}
