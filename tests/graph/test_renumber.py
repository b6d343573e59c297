"""Graphs with other numbers. Oracle: the text of the graph that is built of those numbers."""

import numpy as np
import pytest

from runmat_jit.core.extent import Scope
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.node import Fresh, GraphBuilder, Into, Output
from runmat_jit.graph.renumber import as_seen, concrete, is_named, named
from runmat_jit.graph.text import to_text
from runmat_jit.ops.table import ROWS

F64 = np.dtype("float64")


def graph_of(rows, columns, *, scale=0.5, start=1, row="multiply", into=0):
    """Half of a matrix without its first rows, as a result and written into a second matrix."""
    shape, part = (rows, columns), (rows - start, columns)
    build = GraphBuilder()
    x, _ = (
        build.input(ROWS["input"], TensorType(F64, shape), c_strides(shape), None) for _ in range(2)
    )
    params = {"starts": (start, 0), "steps": (1, 1), "shape": part}
    sliced = build.make(ROWS["slice"], (x,), params, TensorType(F64, part))
    bits = np.float64(scale).tobytes()
    half = build.make(ROWS["constant"], (), {"bits": bits}, TensorType(F64, ()))
    made = build.make(ROWS[row], (sliced, half), {}, TensorType(F64, part))
    outputs = [Output(made, Fresh((0, 1))), Output(made, Into(1, into * columns, c_strides(part)))]
    return build.finish(outputs)


def symbolic(rows, columns):
    scope = Scope()
    return graph_of(scope.symbol(rows), scope.symbol(columns)), scope


def test_a_graph_of_symbols_is_the_graph_of_their_values():
    graph, scope = symbolic(6, 7)
    assert to_text(as_seen(graph)) == to_text(graph_of(6, 7))
    assert to_text(concrete(graph, scope, (30, 40))) == to_text(graph_of(30, 40))
    assert not scope.conditions


def test_a_moved_graph_has_the_same_formulas():
    graph, scope = symbolic(6, 7)
    other, values = scope.moved((30, 40))
    moved = named(graph, values)
    assert to_text(as_seen(moved)) == to_text(graph_of(30, 40))
    assert to_text(concrete(moved, other, (6, 7))) == to_text(graph_of(6, 7))


def test_a_graph_of_symbols_is_known_by_their_values():
    graph, scope = symbolic(6, 7)
    assert is_named(graph, scope.values((30, 40)), graph_of(30, 40))


OTHERS = {
    "rows": graph_of(31, 40),
    "columns": graph_of(30, 41),
    "a constant": graph_of(30, 40, scale=0.25),
    "a parameter": graph_of(30, 40, start=2),
    "an operation": graph_of(30, 40, row="add"),
    "a place": graph_of(30, 40, into=1),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_graph_of_other_numbers_is_another_one(other):
    graph, scope = symbolic(6, 7)
    assert not is_named(graph, scope.values((30, 40)), other)


def test_lines_are_part_of_what_is_compared():
    graph, scope = symbolic(6, 7)
    other = graph_of(30, 40)
    for node in other.nodes:
        if node.op.name == "multiply":
            object.__setattr__(node, "line", "another")
    assert not is_named(graph, scope.values((30, 40)), other)
