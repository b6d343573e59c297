"""What a graph says, as a key: programs are known by it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from runmat_jit.core.extent import Extent
from runmat_jit.graph.node import Graph, Into, Node, Output


def structure(graph: Graph) -> Hashable:
    """Equal for graphs that compute the same in the same order, for the same lines of the user's.

    An operation counts by its name and by what the program calls, which tells of warnings.

    Extents count by their names, whatever their values are; looking at them is no condition.
    """
    numbers: dict[Node, int] = {}
    nodes: list[Hashable] = []
    for node in (*graph.inputs, *graph.nodes):
        if node in numbers:
            continue
        numbers[node] = len(numbers)
        args = tuple([numbers[arg] for arg in node.args])
        params = tuple([(name, exact(value)) for name, value in sorted(node.params.items())])
        kind = node.type
        named = node.op.name, node.op.numpy
        nodes.append((named, args, params, kind.dtype, exact(kind.shape), node.line))
    outputs = tuple([(numbers[output.node], _target(output)) for output in graph.outputs])
    return len(graph.inputs), tuple(nodes), outputs, graph.computations


def exact(value: Any) -> Hashable:
    """A key for a parameter that tells 1 from 1.0 and from True, and 0.0 from -0.0."""
    kind = type(value)
    if kind is tuple:
        return tuple([exact(part) for part in value])
    if kind is Extent:
        return kind, value.name
    return kind, value.hex() if isinstance(value, float) else value


def _target(output: Output) -> Hashable:
    target = output.target
    if isinstance(target, Into):
        return target.input, exact(target.offset), exact(target.strides)
    return target.order
