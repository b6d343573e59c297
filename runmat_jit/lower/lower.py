"""The door of lowering: a planned region becomes kernels and the way they are run."""

from __future__ import annotations

from runmat_jit.lower.elementwise_region import lower_elementwise_region
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.reduction_region import lower_reduction_region
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.plan import Plan


def lower(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """The kernels of a region, in order. None for a region without elements."""
    if any(node.op.reduction is not None for node in region.nodes):
        return lower_reduction_region(region, plan)
    return lower_elementwise_region(region, plan)
