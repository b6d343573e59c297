"""The engine that applies rules. Oracle: printed graphs, with rules made for the test."""

import pytest

from runmat_jit.core.source import SourceLine
from runmat_jit.graph.apply import apply
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.graph.parse import parse
from runmat_jit.graph.text import to_text
from runmat_jit.passes.rewrite import rewrite, rule
from tests.graph.written import written


@rule("sin", law="for this test, sin is cos of cos")
def sin_by_cos(node):
    return apply("cos", apply("cos", node.args[0]))


@rule("cos", law="for this test, cos is tanh")
def cos_by_tanh(node):
    return apply("tanh", node.args[0])


def test_replacements_are_rewritten_in_turn():
    graph = written(["float32[4]"], "exp(sin($0))")
    found = rewrite(graph, (sin_by_cos, cos_by_tanh))
    assert to_text(found) == to_text(written(["float32[4]"], "exp(tanh(tanh($0)))"))


def test_equal_replacements_are_one_node():
    graph = written(["float32[4]"], "add(sin($0), cos(cos($0)))")
    found = rewrite(graph, (sin_by_cos,))
    assert to_text(found) == (
        "$0 : float32[4] strides (1,)\n"
        "%0 = cos($0) : float32[4]\n"
        "%1 = cos(%0) : float32[4]\n"
        "%2 = add(%1, %1) : float32[4]\n"
        "return %2 -> fresh (0,)\n"
    )


def test_nodes_that_no_rule_touches_are_the_same_nodes():
    graph = written(["float32[4]"], "add(exp($0), sin($0))")
    assert rewrite(graph, ()).nodes == graph.nodes
    assert rewrite(graph, (sin_by_cos,)).nodes[:2] == graph.nodes[:2]


def test_unused_inputs_and_repeated_outputs_stay():
    graph = written(["float32[4]", "float32[]"], "sin($0)", "sin($0)")
    found = rewrite(graph, (sin_by_cos,))
    assert len(found.inputs) == 2
    assert found.outputs[0].node is found.outputs[1].node


def test_a_replacement_takes_the_line_of_what_it_replaces():
    builder = GraphBuilder()
    x = parse("$0 : float32[4] strides (1,)\n").inputs[0]
    builder.adopt_input(x)
    sine = apply("sin", x)
    line = SourceLine("user.py", 7)
    node = builder.make(sine.op, (x,), {}, sine.type, line)
    found = rewrite(builder.finish([Output(node, Fresh((0,)))]), (sin_by_cos,))
    assert [node.line for node in found.nodes] == [None, line, line]


def test_rules_that_undo_each_other_are_our_mistake():
    @rule("tanh", law="for this test, tanh is cos")
    def tanh_by_cos(node):
        return apply("cos", node.args[0])

    graph = written(["float32[4]"], "cos($0)")
    with pytest.raises(AssertionError, match="undo each other"):
        rewrite(graph, (cos_by_tanh, tanh_by_cos))


def test_a_rule_that_changes_the_type_is_our_mistake():
    @rule("sin", law="for this test, sin is a comparison")
    def sin_by_comparison(node):
        return apply("less", node.args[0], node.args[0])

    with pytest.raises(AssertionError, match="sin_by_comparison"):
        rewrite(written(["float32[4]"], "sin($0)"), (sin_by_comparison,))


def test_a_dropping_rule_waits_where_an_event_would_be_lost():
    @rule("where", law="for this test, the first arm is taken", drops=True)
    def first_arm(node):
        return node.args[1]

    lost = written(["bool[4]", "float32[4]"], "where($0, $1, sqrt($1))")
    assert to_text(rewrite(lost, (first_arm,))) == to_text(lost)
    kept = written(["bool[4]", "float32[4]"], "where($0, $1, sqrt($1))", "sqrt($1)")
    assert rewrite(kept, (first_arm,)).outputs[0].node.op.name == "input"
