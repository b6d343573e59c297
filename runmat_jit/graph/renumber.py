"""A graph with other numbers: shapes, parameters and places, of the same structure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from runmat_jit.core.extent import Extent, Scope, plain
from runmat_jit.core.types import TensorType
from runmat_jit.graph.node import Graph, GraphBuilder, Into, Node, Output


def concrete(graph: Graph, scope: Scope, symbols: Sequence[int]) -> Graph:
    """A graph of extents as a graph of the numbers that they have for these symbols."""
    values = scope.values(symbols)
    assert values is not None, "the conditions are met"
    return named(graph, values)


def named(graph: Graph, values: Mapping[str, int]) -> Graph:
    """A graph of extents with other numbers for their names."""
    return renumbered(graph, lambda n: values[n.name] if isinstance(n, Extent) else n)


def is_named(graph: Graph, values: Mapping[str, int], other: Graph) -> bool:
    """True if ``other`` is what ``named`` gives, the lines of its nodes included."""
    if (len(graph.nodes), len(graph.inputs)) != (len(other.nodes), len(other.inputs)):
        return False
    if graph.computations != other.computations:
        return False
    theirs = dict(zip((*graph.inputs, *graph.nodes), (*other.inputs, *other.nodes), strict=True))

    def exact(value: Any) -> Any:
        """A parameter that tells 1 from 1.0, and 0.0 from -0.0."""
        if isinstance(value, tuple):
            return tuple(map(exact, value))
        if isinstance(value, Extent):
            value = values[value.name]
        return type(value), value.hex() if isinstance(value, float) else value

    def parts(node: Node, args: Iterable[Node]) -> Any:
        params = {name: exact(value) for name, value in node.params.items()}
        return node.op, tuple(args), params, node.type.dtype, exact(node.type.shape), node.line

    def target(output: Output) -> Any:
        into = output.target
        if isinstance(into, Into):
            return into.input, exact(into.offset), exact(into.strides)
        return into

    return all(
        parts(ours, [theirs[arg] for arg in ours.args]) == parts(node, node.args)
        for ours, node in theirs.items()
    ) and [(theirs[o.node], target(o)) for o in graph.outputs] == [
        (o.node, target(o)) for o in other.outputs
    ]


def as_seen(graph: Graph) -> Graph:
    """A graph of extents as a graph of the numbers that they have in this computation."""
    return renumbered(graph, plain)


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
    nodes = tuple(made[node] for node in graph.nodes)
    return Graph(inputs, nodes, tuple(outputs), graph.computations)
