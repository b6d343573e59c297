"""Questions about a graph that need a walk over it. None of them recurses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runmat_jit.graph.node import Graph, Node


def users(nodes: Iterable[Node]) -> dict[Node, tuple[Node, ...]]:
    """For every node and operand: the nodes that read it, each once, in order."""
    found: dict[Node, dict[Node, None]] = {}
    for node in nodes:
        found.setdefault(node, {})
        for arg in node.args:
            found.setdefault(arg, {})[node] = None
    return {node: tuple(readers) for node, readers in found.items()}


def roots(graph: Graph) -> tuple[Node, ...]:
    """The nodes that leave the graph, each once."""
    return tuple(dict.fromkeys(output.node for output in graph.outputs))


def last_uses(nodes: Sequence[Node]) -> dict[Node, int]:
    """For every operand: the position of the last node that reads it."""
    return {arg: position for position, node in enumerate(nodes) for arg in node.args}


def depths(nodes: Iterable[Node]) -> dict[Node, int]:
    """For every node, in an order that has operands first: the longest way to a leaf."""
    found: dict[Node, int] = {}
    for node in nodes:
        found[node] = 1 + max((found[arg] for arg in node.args), default=-1)
    return found
