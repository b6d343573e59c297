"""Questions about a graph that need a walk over it. None of them recurses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from runmat_jit.graph.node import Graph, Node, topological


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


def operand_cone(node: Node, stop: Callable[[Node], bool] | None = None) -> tuple[Node, ...]:
    """``node`` and everything it needs, operands first; not past nodes where ``stop`` is true."""
    if stop is None:
        return topological((node,))
    order: dict[Node, None] = {}
    stack: list[tuple[Node, bool]] = [(node, False)]
    while stack:
        current, ready = stack.pop()
        if current in order:
            continue
        if ready or stop(current):
            order[current] = None
            continue
        stack.append((current, True))
        stack.extend((arg, False) for arg in reversed(current.args) if arg not in order)
    return tuple(order)


def user_cone(node: Node, readers: Mapping[Node, Sequence[Node]]) -> frozenset[Node]:
    """``node`` and everything that needs it, by the map that :func:`users` makes."""
    found = {node}
    stack = [node]
    while stack:
        for reader in readers[stack.pop()]:
            if reader not in found:
                found.add(reader)
                stack.append(reader)
    return frozenset(found)
