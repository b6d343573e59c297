"""A graph with other numbers: shapes, parameters and places, of the same structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runmat_jit.core.extent import Extent, Scope, plain
from runmat_jit.core.types import TensorType
from runmat_jit.graph.node import Graph, GraphBuilder, Into, Node, Output


def concrete(graph: Graph, scope: Scope, symbols: Sequence[int]) -> Graph:
    """A graph of extents as a graph of the numbers that they have for these symbols."""
    formulas: dict[str, int] = {}

    def collect(number: Any) -> Any:
        if isinstance(number, Extent):
            formulas.setdefault(number.name, number)  # type: ignore[arg-type]  # stands for an int
        return number

    for value in numbers_in(graph):
        collect(value)
    values = scope.function(formulas.values())(*symbols)
    assert values is not None, "the conditions were met when the program was made"
    known = dict(zip(formulas, values, strict=True))
    return renumbered(graph, lambda n: known[n.name] if isinstance(n, Extent) else n)


def as_seen(graph: Graph) -> Graph:
    """A graph of extents as a graph of the numbers that they have in this computation."""
    return renumbered(graph, plain)


def numbers_in(graph: Graph) -> list[Any]:
    """Everything in a graph that may be an extent."""
    found: list[Any] = []

    def walk(value: Any) -> None:
        if isinstance(value, tuple):
            for item in value:
                walk(item)
        else:
            found.append(value)

    for node in graph.nodes:
        walk((node.type.shape, tuple(node.params.values())))
    for output in graph.outputs:
        if isinstance(output.target, Into):
            walk((output.target.offset, output.target.strides))
    return found


def renumbered(graph: Graph, number: Callable[[Any], Any]) -> Graph:
    """The same graph with ``number`` applied to everything that may be an extent."""

    def replaced(value: Any) -> Any:
        return tuple(map(replaced, value)) if isinstance(value, tuple) else number(value)

    builder = GraphBuilder()
    made: dict[Node, Node] = {}
    for node in (*graph.inputs, *(node for node in graph.nodes if node.op.name != "input")):
        kind = TensorType(node.type.dtype, replaced(node.type.shape))
        params = {name: replaced(value) for name, value in node.params.items()}
        if node.op.name == "input":
            made[node] = builder.input(node.op, kind, params["strides"], node.line)
        else:
            args = tuple(made[arg] for arg in node.args)
            made[node] = builder.make(node.op, args, params, kind, node.line)
    outputs = []
    for output in graph.outputs:
        target = output.target
        if isinstance(target, Into):
            target = Into(target.input, number(target.offset), replaced(target.strides))
        outputs.append(Output(made[output.node], target))
    inputs = tuple(made[node] for node in graph.inputs)
    return Graph(inputs, tuple(made[node] for node in graph.nodes), tuple(outputs))
