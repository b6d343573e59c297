"""Regions that end in a scan: its elements are computed where it takes them in."""

from __future__ import annotations

from runmat_jit.core.types import KERNEL_ELEMENTS, c_strides
from runmat_jit.graph.node import Node
from runmat_jit.kernel.primitives import identity
from runmat_jit.lower.body import value_type
from runmat_jit.lower.events import noted_values
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.operands import aligned, operand_of, spread
from runmat_jit.lower.problem import Compute, Memory, Operand, Store
from runmat_jit.lower.region_values import OF_BOOLS
from runmat_jit.lower.scan import ScanProblem, lower_scan
from runmat_jit.passes.fusion.access import stored_strides
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import NodeBuffer, Scratch
from runmat_jit.plan.plan import Plan


def lower_scan_region(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """One kernel for the whole region; none where there are no elements."""
    launch = lower_scan(scan_problem(region, plan))
    return () if launch is None else (launch,)


def scan_problem(region: Region, plan: Plan) -> ScanProblem:
    """The region's operations over the space of the scan."""
    (node,) = (each for each in region.nodes if each.op.scan is not None)
    shape, axis = node.type.shape, node.params["axis"]
    assert isinstance(axis, int), "canonical"
    assert node.op.scan is not None, "as just found"
    rank, tested = len(shape), noted_values(region)
    computed = [each for each in region.nodes if each.op.expand is not None]

    def operand(value: Node) -> Operand:
        return operand_of(value, aligned(value, rank), rank, computed, plan)

    def store(value: Node, memory: Memory, strides: tuple[int, ...]) -> Store:
        along = spread(strides, aligned(value, rank), value, rank)
        return Store(operand(value), memory, value.type.dtype, along)

    outputs = {
        each: store(each, NodeBuffer(each), stored_strides(each, plan.orders))
        for each in region.outputs
    }
    result = outputs.pop(node)
    line = tuple(1 if at == axis else extent for at, extent in enumerate(shape))
    strides = tuple(s if n != 1 else 0 for s, n in zip(c_strides(line), line, strict=True))
    kind = value_type(KERNEL_ELEMENTS[node.type.dtype])
    combine = OF_BOOLS[node.op.scan] if kind == "i1" else node.op.scan
    return ScanProblem(
        shape,
        axis,
        node,
        combine,
        identity(combine, kind),
        operand(node.args[0]),
        tuple(
            Compute(each, tuple(operand(arg) for arg in each.args), each in tested)
            for each in computed
        ),
        result,
        tuple(outputs.values()),
        Store(node, Scratch(0, node.type.dtype, _size(line)), node.type.dtype, strides),
        node in tested,
        plan.device,
        plan.notes,
    )


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size
