"""Makes a plan of a graph that has been divided into regions."""

from __future__ import annotations

from runmat_jit.graph.node import Graph
from runmat_jit.passes.fusion.access import memory_orders
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.plan import Plan


def make_plan(graph: Graph, regions: tuple[Region, ...]) -> Plan:
    """Where stored values lie; the regions are in the order they run in."""
    wishes = memory_orders(graph)
    stored = {node: None for region in regions for node in region.outputs}
    return Plan(
        graph,
        regions,
        {node: wishes.get(node, tuple(range(node.type.ndim))) for node in stored},
    )
