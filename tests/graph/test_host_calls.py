"""Host calls in graphs. Oracles: the text; graphs with one fault each."""

import numpy as np
import pytest

from runmat_jit.core.extent import Scope
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Fresh, Graph, GraphBuilder, Output
from runmat_jit.graph.parse import parse
from runmat_jit.graph.renumber import concrete, is_named
from runmat_jit.graph.structure import structure
from runmat_jit.graph.text import to_text
from runmat_jit.graph.tokens import GraphSyntaxError
from runmat_jit.graph.verify_graph import GraphError, verify_graph
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.table import ROWS
from tests.graph.host_calls import CALLS, parsed

F64 = np.dtype("float64")
SORTED = """\
$0 : float64[4] strides (1,)
$1 : float64[] by value
%0 = multiply($0, $1) : float64[4]
%1 = host_call(%0, call='sort()') : float64[4]
%2 = host_call(call='table()') : float64[2, 3]
return %1 -> fresh (0,)
return %2 -> fresh (0, 1)
"""


def test_a_text_has_the_names_of_host_calls_and_is_read_back_with_them():
    graph = parsed(SORTED)
    verify_graph(graph)
    assert to_text(graph) == SORTED
    assert structure(parsed(SORTED)) == structure(graph)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%1 = host_call(%0, call='other()') : float64[4]", "no host call of the name 'other"),
        ("%1 = host_call(%0) : float64[4]", "no host call of the name None"),
        ("%1 = host_call(%0, call='sort()')", "host_call has no rule"),
    ],
)
def test_a_host_call_needs_to_be_known_and_to_have_a_type(text, message):
    with pytest.raises(GraphSyntaxError, match=message):
        parsed(SORTED.replace("%1 = host_call(%0, call='sort()') : float64[4]", text))


def test_without_calls_the_parser_refuses():
    with pytest.raises(GraphSyntaxError, match="was given to the parser"):
        parse(SORTED)


@pytest.mark.parametrize(
    "params", [{}, {"call": "sort()"}, {"call": CALLS["sort()"], "axis": 0}, {"fn": np.sort}]
)
def test_a_host_call_says_what_is_called_and_nothing_else(params):
    node = make_node("host_call", (), params, TensorType(F64, (4,)))
    with pytest.raises(GraphError, match="says what is called"):
        verify_graph(Graph((), (node,), (Output(node, Fresh((0,))),)))


def test_equal_calls_of_the_same_operands_are_one_node():
    builder, kind = GraphBuilder(), TensorType(F64, (4,))
    x = builder.input(ROWS["input"], kind, (1,), None)
    first, same, other = (
        builder.make(ROWS["host_call"], (x,), {"call": HostCall(fn, "f()")}, kind)
        for fn in (np.sort, np.sort, np.cumsum)
    )
    assert first is same
    assert first is not other


def test_graphs_that_differ_in_a_function_of_the_same_name_differ():
    graphs = [
        parse(SORTED, calls=CALLS | {"sort()": HostCall(fn, "sort()")})
        for fn in (np.sort, np.cumsum)
    ]
    assert structure(graphs[0]) != structure(graphs[1])


def test_a_host_call_of_extents_is_one_of_numbers():
    scope = Scope()
    builder, kind = GraphBuilder(), TensorType(F64, (scope.symbol(4),))
    x = builder.input(ROWS["input"], kind, (1,), None)
    y = builder.make(ROWS["host_call"], (x,), {"call": CALLS["sort()"]}, kind)
    graph = builder.finish([Output(y, Fresh((0,)))])
    text = "$0 : float64[7] strides (1,)\n%0 = host_call($0, call='sort()') : float64[7]\n"
    seven = parsed(f"{text}return %0 -> fresh (0,)\n")
    values = scope.values((7,))
    scope.close()
    assert to_text(concrete(graph, scope, (7,))) == to_text(seven)
    assert is_named(graph, values, seven)
    flipped = parsed(to_text(seven).replace("sort()", "flip()"))
    assert not is_named(graph, values, flipped)
