"""Reductions along lanes: a grid of cells, each combined by ``total``."""

from __future__ import annotations

import math

from runmat_jit.core.hardware import CELL
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.elementwise import moved_bytes
from runmat_jit.lower.index import smaller, split, unravel
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.position import find_first
from runmat_jit.lower.problem import Operand
from runmat_jit.lower.reduction_problem import (
    FIRST,
    Reduce,
    ReductionNest,
    ReductionProblem,
    row_nest,
)


def lower_rows(problem: ReductionProblem) -> Launch | None:
    """The kernel of a step of style ``row`` along its rows; None where there are no cells."""
    shape = row_nest(problem)
    assert shape is not None, "the elements of a row lie evenly"
    nest, uniform = shape.nest, shape.nest.lanes
    total = math.prod(nest.extents[:uniform])
    if total == 0:
        return None
    seeds: dict[Operand, int] = dict.fromkeys(problem.seeds(), uniform)
    builder = Builder(problem.device.builtins)
    body = Body(nest, problem.computes, problem.written(), seeds, builder, notes=problem.notes)
    body.declare()
    length = body.parameter(nest.extents[uniform])
    with body.builder.grid(body.parameter(total)) as grid:
        bounds = _enter_cell(body, shape, grid.i, length, problem.step.cell)
        reduce_row(body, problem, bounds)
    kernel, arguments = body.finish()
    work = min(nest.extents[uniform], problem.step.cell)
    grain = max(1, CELL // max(1, work))
    return Launch(kernel, arguments, total, grain, moved_bytes(nest))


def reduce_row(body: Body, problem: ReductionProblem, bounds: tuple[Value, Value]) -> None:
    """The reductions of one row, phase after phase, and what they are for."""
    body.weigh(problem, bounds, bounds)
    for number, phase in enumerate(problem.phases):
        body.kept = problem.kept_for(number)
        _reduce(body, problem, number, phase, bounds)
    body.kept = problem.kept_for(len(problem.phases))
    rest = problem.stores_of(len(problem.phases))
    if rest:
        with body.builder.lanes(*bounds) as lanes, body.scope():
            body.move(body.nest.lanes, lanes.i)
            body.need(store.value for store in rest)
            body.store(rest)
    body.store(problem.result_stores)


def _enter_cell(
    body: Body, shape: ReductionNest, cell: Value, length: Value, size: int
) -> tuple[Value, Value]:
    """Take the cell's coordinates into all addresses; the bounds of its elements."""
    bounds = body.builder.const(0, "index"), length
    if shape.cells is not None:
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


def _reduce(
    body: Body,
    problem: ReductionProblem,
    number: int,
    phase: tuple[Reduce, ...],
    bounds: tuple[Value, Value],
) -> None:
    combines = [(reduce.combine, value_type(KERNEL_ELEMENTS[reduce.dtype])) for reduce in phase]
    stores = problem.stores_of(number)
    if phase[-1].combine == FIRST:
        find_first(body, phase, stores, bounds, problem.device)
        return
    lanes = 1 if problem.step.style == "column" else None
    with body.builder.total(*bounds, combines, lanes=lanes) as total, body.scope():
        body.move(body.nest.lanes, total.i)
        body.need([*(reduce.operand for reduce in phase), *(store.value for store in stores)])
        body.store(stores)
        total.yield_(*map(body.term, phase))
    for reduce, value in zip(phase, total.out, strict=True):
        body.define(reduce, value)
    body.compute(body.nest.lanes)
