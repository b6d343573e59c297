"""Writes to parts of inputs as new values of the whole inputs, which kernels compute."""

from __future__ import annotations

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Fresh, Graph, Into, Node, Output, topological
from runmat_jit.ops.table import ROWS


def with_whole_writes(graph: Graph) -> Graph:
    """The same graph, each input in C order that it writes in parts being written once, whole.

    For devices, whose memory changes hands: there a part that is no block could not be written but
    by a kernel.
    """
    parts = {target.input for value, target in writes(graph) if is_part(graph, value, target)}
    if not parts:
        return graph
    outputs = [output for output in graph.outputs if isinstance(output.target, Fresh)]
    known = {node.identity: node for node in graph.nodes}
    latest: dict[int, Node] = {}
    for value, target in writes(graph):
        if target.input not in parts:
            outputs.append(Output(value, target))
        elif not is_part(graph, value, target):
            latest[target.input] = value
        else:
            base = latest.get(target.input, graph.inputs[target.input])
            place = {
                "offset": target.offset,
                "shape": value.type.shape,
                "strides": target.strides,
            }
            made = Node(ROWS["update"], (base, value), place, base.type, value.line)
            latest[target.input] = known.setdefault(made.identity, made)
    for number, value in latest.items():
        outputs.append(Output(value, Into(number, 0, c_strides(value.type.shape))))
    nodes = topological((*graph.nodes, *latest.values()))  # in their order: events are reported so
    return Graph(graph.inputs, nodes, tuple(outputs), graph.computations)


def writes(graph: Graph) -> list[tuple[Node, Into]]:
    """The values that go into inputs, in order."""
    return [(o.node, o.target) for o in graph.outputs if isinstance(o.target, Into)]


def is_part(graph: Graph, value: Node, target: Into) -> bool:
    """True if a write covers less than an input in C order, or in another order."""
    base = graph.inputs[target.input]
    strides = c_strides(base.type.shape)
    whole = value.type.shape == base.type.shape and target == Into(target.input, 0, strides)
    return base.params["strides"] == strides and not whole
