"""Makes a plan of a graph that has been divided into regions."""

from __future__ import annotations

from runmat_jit.graph.node import Graph
from runmat_jit.passes.fusion.access import memory_orders
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.in_place import updates_in_place
from runmat_jit.plan.plan import Plan


def make_plan(graph: Graph, regions: tuple[Region, ...]) -> Plan:
    """Where stored values lie; the regions are in the order they run in."""
    wishes = memory_orders(graph)
    stored = {node: None for region in regions for node in region.outputs}
    orders = {node: wishes.get(node, tuple(range(node.type.ndim))) for node in stored}
    return Plan(graph, regions, orders, updates_in_place(graph, regions, orders))
