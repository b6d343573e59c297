"""What the verifier refuses. Oracle: graphs with one fault each, made by hand."""

import numpy as np
import pytest
from hypothesis import given

from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import apply
from runmat_jit.graph.constant import constant
from runmat_jit.graph.node import Fresh, Graph, GraphBuilder, Into, Node, Output
from runmat_jit.graph.parse import parse
from runmat_jit.graph.verify_graph import GraphError, verify_graph
from runmat_jit.ops.table import ROWS
from tests.graph.random_graphs import EXACT_ROWS, OURS, SUMS, graphs

X = "$0 : float32[4, 5] strides (5, 1)\n"
FLOAT = np.dtype("float32")


@given(graph=graphs(rows=(*EXACT_ROWS, *OURS, *SUMS)))
def test_random_graphs_are_valid(graph):
    verify_graph(graph)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%0 = add($0, float64(1.0)) : float64[4, 5]", "computes with operands of float64"),
        ("%0 = add($0, 1.0) : float32[4, 4]", r"says float32\[4, 5\]"),
        ("%0 = less($0, 1.0) : float32[4, 5]", r"says bool\[4, 5\]"),
        ("%0 = add($0) : float32[4, 5]", "another arity"),
        ("%0 = sum($0, axis=(2,), dtype='float32', keepdims=False) : float32[4]", "not cover"),
        ("%0 = invert($0) : float32[4, 5]", "not cover"),
    ],
)
def test_a_node_that_its_row_contradicts_is_refused(text, message):
    ndim = text.split("[")[-1].count(",") + 1
    graph = parse(f"{X}{text}\nreturn %0 -> fresh {tuple(range(ndim))}\n".replace("(0)", "(0,)"))
    with pytest.raises(GraphError, match=message):
        verify_graph(graph)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("fresh (0,)", "names every axis once"),
        ("fresh (0, 0)", "names every axis once"),
        ("into $0 offset 1 strides (5, 1)", "stays within"),
        ("into $0 offset 0 strides (6, 1)", "stays within"),
        ("into $0 offset 0 strides (-5, 1)", "stays within"),
        ("into $0 offset 0 strides (5,)", "one an axis"),
        ("into $1 offset 0 strides (5, 1)", "by value cannot be written"),
        ("into $2 offset 0 strides (5, 1)", "keeps the memory's dtype"),
        ("into $3 offset 0 strides (5, 1)", "goes into an input"),
    ],
)
def test_an_output_that_goes_nowhere_valid_is_refused(target, message):
    others = "$1 : float32[] by value\n$2 : float64[4, 5] strides (5, 1)\n"
    graph = parse(f"{X}{others}%0 = negative($0)\nreturn %0 -> {target}\n")
    with pytest.raises(GraphError, match=message):
        verify_graph(graph)


def test_a_write_may_go_backwards_through_an_input():
    verify_graph(parse(X + "%0 = negative($0)\nreturn %0 -> into $0 offset 19 strides (-5, -1)\n"))


def test_operands_come_first():
    one = constant(1.0, FLOAT)
    two = apply("add", one, one)
    graph = Graph((), (two, one), (Output(two, Fresh(())),))
    with pytest.raises(GraphError, match="operands come before"):
        verify_graph(graph)


def test_a_computation_is_one_node():
    one, same = constant(1.0, FLOAT), constant(1.0, FLOAT)
    total = apply("add", one, same)
    graph = Graph((), (one, same, total), (Output(total, Fresh(())),))
    with pytest.raises(GraphError, match="two nodes"):
        verify_graph(graph)


def test_inputs_are_numbered_and_listed():
    builder = GraphBuilder()
    x = builder.input(ROWS["input"], TensorType(FLOAT, (2,)), (1,), None)
    y = builder.input(ROWS["input"], TensorType(FLOAT, (2,)), (1,), None)
    with pytest.raises(GraphError, match="has this number"):
        verify_graph(Graph((y, x), (), ()))
    with pytest.raises(GraphError, match="listed by its number"):
        verify_graph(Graph((x,), (x, y), (Output(y, Fresh((0,))),)))


def test_what_is_given_by_value_is_zero_dimensional():
    builder = GraphBuilder()
    builder.input(ROWS["input"], TensorType(FLOAT, (2,)), None, None)
    with pytest.raises(GraphError, match="by value is 0-d"):
        verify_graph(builder.finish(()))


def test_parameters_are_plain_values():
    node = Node(ROWS["iota"], (), {"start": [0], "step": 1}, TensorType(FLOAT, (2,)))
    with pytest.raises(GraphError, match="plain values"):
        verify_graph(Graph((), (node,), (Output(node, Into(0, 0, (1,))),)))
