"""The door of lowering: planned regions become kernels and the way they are run."""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.lower.bands import in_bands, is_large
from runmat_jit.lower.blas_product import lower_blas_product
from runmat_jit.lower.copies import COPIES
from runmat_jit.lower.elementwise import lower_elementwise
from runmat_jit.lower.elementwise_region import (
    elementwise_problem,
    lower_elementwise_region,
    parts_moved,
)
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.position_region import lower_position_region
from runmat_jit.lower.problem import Problem
from runmat_jit.lower.product_region import lower_product_region
from runmat_jit.lower.reduction_region import lower_reduction_region
from runmat_jit.lower.scan_region import lower_scan_region
from runmat_jit.passes.fusion.access import is_copied
from runmat_jit.passes.fusion.edges import is_position
from runmat_jit.passes.fusion.own_products import own_product_of
from runmat_jit.passes.fusion.region import BLAS, Region
from runmat_jit.plan.plan import Plan

Lowering = Callable[[Region, Plan], tuple[Launch, ...]]


def lower_plan(plan: Plan) -> tuple[tuple[Launch, ...], ...]:
    """The launches of each region of a plan: none for a host call, which linking binds.

    On a CPU large kernels of consecutive regions run in bands, all from the first region's place.
    """
    found: list[tuple[Launch, ...]] = []
    waiting: list[Problem] = []

    def put() -> None:
        for parts in in_bands(waiting, plan):
            launches = map(lower_elementwise, parts)
            found.append(tuple([launch for launch in launches if launch is not None]))
        waiting.clear()

    for region in plan.regions:
        only = only_problem(region, plan) if plan.device.kind == "cpu" else None
        if only is not None and is_large(only):
            waiting.append(only)
            continue
        put()
        found.append(() if region.is_host else lower(region, plan))
    put()
    return tuple(found)


def only_problem(region: Region, plan: Plan) -> Problem | None:
    """What an elementwise region computes, if one kernel does that and there is nothing to copy."""
    if region.is_host or lowering_of(region, plan) is not lower_elementwise_region:
        return None
    if any(node not in plan.in_place for node in region.updates) or parts_moved(region, plan):
        return None
    return elementwise_problem(region, plan)


def lower(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """The kernels of a region that is no host call, in order; none for one without elements."""
    return lowering_of(region, plan)(region, plan)


def lowering_of(region: Region, plan: Plan) -> Lowering:
    """What makes the kernels of a region that is no host call."""
    assert not region.is_host, "a host call is no kernel"
    first = region.nodes[0]
    if region.kind == BLAS:
        return lower_blas_product
    if first.op.name in COPIES and (first in region.outputs and is_copied(first, plan.orders)):
        return _lower_copy
    reduces = any(node.op.reduction is not None for node in region.nodes)
    if own_product_of(region) is not None and not reduces:
        return lower_product_region
    if any(node.op.scan is not None for node in region.nodes):
        return lower_scan_region
    if any(map(is_position, region.nodes)):
        return lower_position_region
    return lower_reduction_region if reduces else lower_elementwise_region


def _lower_copy(region: Region, plan: Plan) -> tuple[Launch, ...]:
    first = region.nodes[0]
    return COPIES[first.op.name](first, plan)
