"""Regions of elementwise operations over one iteration space."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import cast

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Node
from runmat_jit.lower.copies import copies_beside, copies_over
from runmat_jit.lower.elementwise import lower_elementwise
from runmat_jit.lower.events import noted_values
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.operands import aligned, gathered, operand_of, spread
from runmat_jit.lower.problem import Compute, Operand, Problem, Store
from runmat_jit.lower.whole_update import over_whole_array
from runmat_jit.passes.fusion.access import is_computed, stored_strides
from runmat_jit.passes.fusion.geometry import Strides
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import NodeBuffer, Scratch
from runmat_jit.plan.direct_stores import stores_chosen
from runmat_jit.plan.in_place import is_read_below
from runmat_jit.plan.plan import Plan


def lower_elementwise_region(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """One kernel for the whole region; copies for the arrays of which it computes parts.

    What they keep is copied before; a part over which it reads is put there afterwards.
    """
    moved = parts_moved(region, plan)
    problem = elementwise_problem(region, plan, moved=moved)
    if len(region.outputs) == 1 and region.outputs == region.updates:
        whole = over_whole_array(problem, region.outputs[0], plan)
        if whole is not None:
            launch = lower_elementwise(whole)
            return () if launch is None else (launch,)
    launch = lower_elementwise(problem)
    kept = [copy for node in region.updates for copy in copies_beside(node, plan)]
    put = [copy for node, memory in moved.items() for copy in copies_over(node, memory, plan)]
    return (*kept, *(() if launch is None else (launch,)), *put)


def parts_moved(region: Region, plan: Plan) -> dict[Node, Scratch]:
    """The updates whose values are put in place when all has been computed, and where they wait."""
    return {
        node: Scratch(number, node.type.dtype, node.args[1].type.size)
        for number, node in enumerate(region.updates)
        if (memory := plan.in_place.get(node)) is not None
        and is_read_below(memory, node, region, plan.orders)
    }


def elementwise_problem(
    region: Region,
    plan: Plan,
    seeds: Collection[Node] = (),
    moved: Mapping[Node, Scratch] = MappingProxyType({}),
) -> Problem:
    """The region's operations over the space that its members broadcast to.

    ``seeds`` are values that the kernel has beside them; ``moved`` parts of arrays that it does not
    store there.
    """
    extents = region.space
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
        if node.op.name == "update":
            written, offset = node.args[1], cast("int", node.params["offset"])
            part, memory = cast("Strides", node.params["strides"]), moved.get(node)
            if memory is not None:
                part, offset = c_strides(written.type.shape), 0
            along = spread(part, aligned(written, rank), written, rank)
            return Store(
                operand(written), memory or NodeBuffer(node), node.type.dtype, along, offset
            )
        strides = spread(stored_strides(node, plan.orders), aligned(node, rank), node, rank)
        base = plan.direct.get(node)
        if base is None or not stores_chosen(node, base):
            return Store(operand(node), NodeBuffer(node), node.type.dtype, strides)
        _, mask, value = map(operand, node.args)
        return Store(value, NodeBuffer(node), node.type.dtype, strides, mask=mask)

    stores = tuple(map(store, region.outputs))
    problem = Problem(extents, computes, stores, plan.device, plan.notes)
    return problem.pruned() if plan.direct else problem  # of which nothing reports an event
