"""Drops what no output needs."""

from __future__ import annotations

from runmat_jit.graph.node import Graph, topological


def eliminate_dead(graph: Graph) -> Graph:
    """Keep the nodes that outputs need, in the order in which outputs need them; keep inputs."""
    return Graph(graph.inputs, topological(o.node for o in graph.outputs), graph.outputs)
