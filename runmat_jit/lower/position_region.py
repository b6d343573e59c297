"""Regions with the position of an extreme value: its elements, then partial results.

A step gives the extreme and its position for each cell of a group of axes; further steps take
these, until one position is left. Positions count elements of the reduced axes in C order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from runmat_jit.core.hardware import CELL, L1
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Node
from runmat_jit.lower.lane_reduction import lower_lanes
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.nest import FEW_LANES
from runmat_jit.lower.position import rank_dtype
from runmat_jit.lower.problem import Iota, Operand, Read
from runmat_jit.lower.product_rows import lower_rows_of, lower_with_product
from runmat_jit.lower.reduction_levels import Axes
from runmat_jit.lower.reduction_problem import (
    FIRST,
    Reduce,
    ReductionProblem,
    row_nest,
    runs_along,
)
from runmat_jit.lower.region_values import RegionValues, Shape
from runmat_jit.passes.fusion.edges import is_position, reduced_axes
from runmat_jit.passes.fusion.reduction_shape import Step
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import NodeBuffer
from runmat_jit.plan.plan import Plan

_INDEX, _BOOL = np.dtype(np.int64), np.dtype(bool)
ROW_CELL = 2 * CELL
"""Elements of a row that one thread takes."""
COLUMN_CELL = L1 // 8
"""Rows whose columns one thread takes."""


def lower_position_region(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """The kernels of a region that ends in a position."""
    (node,) = filter(is_position, region.nodes)

    def lower(values: RegionValues) -> list[Launch]:
        lowering = _Lowering(values, node, _extreme_of(node))
        lowering.run()
        return lowering.launches

    return lower_with_product(region, plan, lower)


@slotted
class _Lowering:
    """A region being lowered: ``node`` is the position, ``extreme`` stands for what is there."""

    values: RegionValues
    node: Node
    extreme: Node
    launches: list[Launch] = field(default_factory=list)

    def run(self) -> None:
        """Step by step, from the elements to the positions."""
        values, shape, axes = self.values, self.values.levels.shape, reduced_axes(self.node)
        elements = [member for member in values.unstored() if member is not self.node]
        operand = values.operand(self.node.args[0], tuple(range(len(shape))), elements)
        counted = Read(Iota(0, 1, 0, wide=True), _INDEX, _positions(shape, axes))
        kept = [n for n in elements if n in values.region.outputs]
        problem = self._problem(shape, elements, (operand, counted), whole=True)
        problem = replace(
            problem,
            element_stores=tuple((0, values.store(n, NodeBuffer(n), elements)) for n in kept),
        )
        while True:
            problem = replace(problem, step=_next_step(problem, _long(shape, axes)))
            shape, following = problem.step.result(shape), self._finished(problem)
            if not _long(shape, axes):
                return
            problem = self._problem(shape, (), following, whole=False)

    def _problem(
        self, shape: Shape, elements: Sequence[Node], pair: Sequence[Operand], *, whole: bool
    ) -> ReductionProblem:
        """A problem whose step and stores are not known yet."""
        values, (operand, position) = self.values, pair
        phase = (
            values.reduce(self.extreme, operand, final=False, whole=whole),
            Reduce(self.node, position, FIRST, _INDEX, final=False, whole=whole),
        )
        return ReductionProblem(
            shape,
            Step("short", (), 1),
            values.computes(elements, ()),
            (phase,),
            (),
            (),
            device=values.plan.device,
            notes=values.plan.notes,
        )

    def _finished(self, problem: ReductionProblem) -> tuple[Read, ...]:
        """Add the kernel of a step; how the next one reads its results."""
        values, shape, step = self.values, problem.extents, problem.step
        result = step.result(shape)
        pair = (self.extreme, self.node)
        kept = [values.scratch(n.type.dtype, result) for n in pair]
        stores = [values.partial_store(n, m, step, shape) for n, m in zip(pair, kept, strict=True)]
        if not _long(result, reduced_axes(self.node)):
            stores = [values.store(self.node, NodeBuffer(self.node), pair)]
        problem = replace(problem, result_stores=tuple(stores))
        if problem.has_results():
            along = step.style == "row"
            made = lower_rows_of(problem, values) if along else self._lanes(problem)
            self.launches += [made] if made is not None else []
        return tuple(values.partial_read(n, m, result) for n, m in zip(pair, kept, strict=True))

    def _lanes(self, problem: ReductionProblem) -> Launch | None:
        """The kernel of a step across lanes, with memory for running results."""
        values, step, shape = self.values, problem.step, problem.extents
        if step.style == "column":
            running = tuple(
                values.partial_store(
                    n, values.scratch(n.type.dtype, step.result(shape)), step, shape
                )
                for n in (self.extreme, self.node) * 2
            )
            problem = replace(problem, accumulators=running)
        return lower_lanes(problem)


def _extreme_of(node: Node) -> Node:
    """The reduction to the rank of what stands at the position."""
    reduction, (x,) = node.op.reduction, node.args
    assert reduction is not None, f"{node.op.name} reduces nothing"
    kind = TensorType(rank_dtype(x.type.dtype), node.type.shape)
    return make_node(reduction.combine, (x,), node.params, kind)


def _positions(shape: Shape, axes: Axes) -> tuple[int, ...]:
    """Strides of the numbers that count the elements of the reduced axes; none of the cell's."""
    strides, count = [0] * (len(shape) + 1), 1
    for axis in reversed(axes):
        strides[axis] = count
        count *= shape[axis]
    return tuple(strides)


def _long(shape: Shape, axes: Axes) -> Axes:
    """The axes along which something is left to compare."""
    return tuple(axis for axis in axes if shape[axis] != 1)


def _next_step(problem: ReductionProblem, axes: Axes) -> Step:
    """Along rows where they lie so, else across lanes; of several axes, the last where they must.

    ``axes``: those that are left.
    """
    if not axes:
        return Step("short", (), 1)
    shape = problem.extents
    columns = math.prod(shape[axes[-1] + 1 :])
    if columns < FEW_LANES:
        for group in dict.fromkeys((axes if columns == 1 else axes[-1:], axes[-1:])):
            row = replace(problem, step=Step("row", group, _row_cell(problem, group)))
            if row_nest(row) is not None and runs_along(row):
                return row.step
    return Step("column", axes[-1:], COLUMN_CELL)


def _row_cell(problem: ReductionProblem, group: Axes) -> int:
    """Truth values that are read from memory are searched in order, up to the first that counts."""
    ((extreme, _),) = problem.phases
    if extreme.dtype == _BOOL and not problem.computes:
        return math.prod(problem.extents[axis] for axis in group)
    return ROW_CELL
