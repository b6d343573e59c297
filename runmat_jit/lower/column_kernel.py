"""Reductions across lanes: every lane combines the elements of its own column in order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.primitives import FLOATS, identity
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.elementwise import CELL, moved_bytes
from runmat_jit.lower.index import smaller, split, unravel
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.problem import Operand
from runmat_jit.lower.reduction_problem import (
    Reduce,
    ReductionNest,
    ReductionProblem,
    column_nest,
)
from runmat_jit.passes.fusion.reduction_shape import COLUMN_BLOCK

_COLUMNS = 1024
"""Columns of a cell at most: a multiple of all vectors in flight."""


def lower_columns(problem: ReductionProblem) -> Launch | None:
    """The kernel of a step of style ``column`` or ``short``; None where there are no columns."""
    shape = column_nest(problem)
    nest, lane_axis = shape.nest, shape.nest.lanes
    columns = nest.extents[lane_axis]
    width = min(columns, _COLUMNS)
    if 0 in nest.extents[: lane_axis + 1]:
        return None
    blocks = -(-columns // width)
    total = math.prod(nest.extents[:lane_axis]) * blocks
    (phase,) = problem.phases
    seeds: dict[Operand, int] = {reduce.node: lane_axis + 1 for reduce in phase}
    body = Body(nest, problem.computes, problem.written(), seeds)
    body.declare()
    count, wide, across = map(body.parameter, (columns, width, blocks))
    with body.builder.grid(body.parameter(total)) as grid:
        rest, block = split(grid.i, across)
        bounds = _enter_cell(body, shape, rest, problem)
        left = block * wide
        with body.builder.lanes(left, smaller(left + wide, count)) as lanes:
            body.move(lane_axis, lanes.i)
            body.compute(lane_axis + 1)
            for reduce, value in zip(phase, _columns(body, problem, bounds), strict=True):
                body.define(reduce, value)
            body.compute(lane_axis + 1)
            body.store(problem.result_stores)
    kernel, arguments = body.finish()
    work = min(math.prod(nest.extents[lane_axis + 1 :]), problem.step.cell) * width
    return Launch(kernel, arguments, total, max(1, CELL // max(1, work)), moved_bytes(nest))


def _enter_cell(
    body: Body, shape: ReductionNest, cell: Value, problem: ReductionProblem
) -> tuple[Value, Value]:
    """Take the cell's coordinates into all addresses; the bounds of its rows."""
    length = body.parameter(problem.step.extent(problem.extents))
    bounds = body.builder.const(0, "index"), length
    if shape.cells is not None:
        size = problem.step.cell
        cell, number = split(cell, body.parameter(shape.nest.extents[shape.cells]))
        low = number * size
        bounds = low, smaller(low + size, length)
        body.move(shape.cells, number)
    if shape.outer:
        sizes = [body.parameter(extent) for extent in shape.nest.extents[1 : shape.outer]]
        for axis, coordinate in enumerate(unravel(cell, sizes)):
            body.enter(axis, coordinate)
    body.compute(shape.nest.lanes)
    return bounds


def _columns(
    body: Body, problem: ReductionProblem, bounds: tuple[Value, Value]
) -> tuple[Value, ...]:
    """Blocks of 16 rows in order; blocks in order."""
    builder, (phase,) = body.builder, problem.phases
    starts = [_start(builder, reduce) for reduce in phase]
    with builder.loop(*bounds, starts, COLUMN_BLOCK) as blocks:
        end = smaller(blocks.i + COLUMN_BLOCK, bounds[1])
        with builder.loop(blocks.i, end, starts) as rows, body.scope():
            _enter_row(body, rows.i)
            stores = problem.stores_of(0)
            body.need([*(reduce.operand for reduce in phase), *(s.value for s in stores)])
            body.store(stores)
            values = [body.value(reduce.operand) for reduce in phase]
            rows.yield_(*_combined(builder, phase, rows.carry, values))
        blocks.yield_(*_combined(builder, phase, blocks.carry, rows.out))
    return blocks.out


def _enter_row(body: Body, row: Value) -> None:
    first = body.nest.lanes + 1
    extents = body.nest.extents[first:]
    if extents:
        sizes = [body.parameter(extent) for extent in extents[1:]]
        for axis, coordinate in enumerate(unravel(row, sizes)):
            body.move(first + axis, coordinate)


def _start(builder: Builder, reduce: Reduce) -> Value:
    kind = value_type(KERNEL_ELEMENTS[reduce.dtype])
    return builder.splat(identity(reduce.combine, kind), kind)


def _combined(
    builder: Builder, phase: Sequence[Reduce], left: Sequence[Value], right: Sequence[Value]
) -> list[Value]:
    return [
        _combine(builder, reduce.combine, a, b)
        for reduce, a, b in zip(phase, left, right, strict=True)
    ]


def _combine(builder: Builder, combine: str, a: Value, b: Value) -> Value:
    """As ``total`` combines: the extremes pass NaN on."""
    if combine not in ("min", "max"):
        return builder.binary(combine, a, b)
    chosen = builder.binary({"min": "lt", "max": "gt"}[combine], a, b)
    if a.type in FLOATS:
        chosen = chosen | builder.prim("isnan", a)
    return builder.select(chosen, a, b)
