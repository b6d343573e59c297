"""Makes a plan of a graph that has been divided into regions."""

from __future__ import annotations

from runmat_jit.graph.node import Graph
from runmat_jit.passes.fusion.access import memory_orders
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.device import CPU, Device
from runmat_jit.plan.direct_stores import direct_stores
from runmat_jit.plan.in_place import epilogues_in_place, updates_in_place
from runmat_jit.plan.order import in_running_order
from runmat_jit.plan.plan import Plan


def make_plan(graph: Graph, regions: tuple[Region, ...], device: Device = CPU) -> Plan:
    """When regions run, and where stored values lie."""
    wishes = memory_orders(graph)
    ordered = in_running_order(regions)
    stored = {node: None for region in ordered for node in region.outputs}
    orders = {node: wishes.get(node, tuple(range(node.type.ndim))) for node in stored}
    in_place = updates_in_place(graph, ordered, orders) | epilogues_in_place(graph, ordered, orders)
    direct = direct_stores(graph, ordered, orders) if device.kind == "cpu" else {}
    return Plan(graph, ordered, orders, in_place, device, direct=direct)
