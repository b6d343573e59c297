"""Makes a plan of a graph that has been divided into regions."""

from __future__ import annotations

from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.fusion.access import memory_orders
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.plan import Plan


def make_plan(graph: Graph, regions: tuple[Region, ...]) -> Plan:
    """Where stored values lie and when they are free; the regions are in the order they run in."""
    wishes = memory_orders(graph)
    stored = {node: None for region in regions for node in region.outputs}
    last_use: dict[Node, int] = {}
    for number, region in enumerate(regions):
        last_use.update(dict.fromkeys((n for n in region.inputs if n in stored), number))
    kept = {output.node for output in graph.outputs}
    return Plan(
        graph,
        regions,
        {node: wishes.get(node, tuple(range(node.type.ndim))) for node in stored},
        {node: number for node, number in last_use.items() if node not in kept},
    )
