"""Regions of elementwise operations over one iteration space."""

from __future__ import annotations

from collections.abc import Collection

from runmat_jit.core.types import broadcast_shapes
from runmat_jit.graph.node import Node
from runmat_jit.lower.elementwise import lower_elementwise
from runmat_jit.lower.events import noted_values
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.operands import aligned, gathered, operand_of, spread
from runmat_jit.lower.problem import Compute, Operand, Problem, Store
from runmat_jit.passes.fusion.access import is_computed, stored_strides
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import NodeBuffer
from runmat_jit.plan.direct_stores import stores_chosen
from runmat_jit.plan.plan import Plan


def lower_elementwise_region(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """One kernel for the whole region."""
    launch = lower_elementwise(elementwise_problem(region, plan))
    return () if launch is None else (launch,)


def elementwise_problem(region: Region, plan: Plan, seeds: Collection[Node] = ()) -> Problem:
    """The region's operations over the space that its members broadcast to.

    ``seeds`` are values that the kernel has beside them.
    """
    extents = broadcast_shapes(*(node.type.shape for node in region.nodes))
    computed = [node for node in region.nodes if is_computed(node)]
    tested = noted_values(region)
    rank = len(extents)
    members = {*computed, *seeds}

    def operand(node: Node) -> Operand:
        return operand_of(node, aligned(node, rank), rank, members, plan)

    def operands(node: Node) -> tuple[Operand, ...]:
        if node.op.kind == "gather":
            return gathered(node, rank, plan), operand(node.args[1])
        return tuple(map(operand, node.args))

    computes = tuple(Compute(node, operands(node), node in tested) for node in computed)

    def store(node: Node) -> Store:
        strides = spread(stored_strides(node, plan.orders), aligned(node, rank), node, rank)
        base = plan.direct.get(node)
        if base is None or not stores_chosen(node, base):
            return Store(operand(node), NodeBuffer(node), node.type.dtype, strides)
        _, mask, value = map(operand, node.args)
        return Store(value, NodeBuffer(node), node.type.dtype, strides, mask=mask)

    stores = tuple(map(store, region.outputs))
    problem = Problem(extents, computes, stores, plan.device.builtins, plan.notes)
    return problem.pruned() if plan.direct else problem  # of which nothing reports an event
