"""A graph in which some operands are others."""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.graph.node import Graph, GraphBuilder, Node, Output


def rebuilt(graph: Graph, instead: Callable[[Node | None, Node], Node]) -> Graph:
    """The graph with operands replaced.

    Args:
        graph: Any valid graph.
        instead: Of a node (None for an output) and one of its operands: what it is to read, of
            nodes of the graph and new ones, whose operands are replaced as well.

    """
    builder = GraphBuilder()
    final = {node: builder.adopt_input(node) for node in graph.inputs}
    wanted = [instead(None, output.node) for output in graph.outputs]
    stack = wanted[::-1]
    while stack:
        node = stack.pop()
        if node in final:
            continue
        args = [instead(node, arg) for arg in node.args]
        missing = [arg for arg in args if arg not in final]
        if missing:
            stack += [node, *reversed(missing)]
            continue
        new = tuple([final[arg] for arg in args])
        same = new == node.args
        made = node if same else Node(node.op, new, node.params, node.type, node.line)
        final[node] = builder.adopt(made)
    outputs = zip(wanted, graph.outputs, strict=True)
    return builder.finish(Output(final[node], output.target) for node, output in outputs)
