"""Reductions across lanes: every lane combines the elements of a result of its own.

Two orders of elements are walked so: that of columns, and that of ``total`` where the elements of a
row do not lie side by side, or are few. Both give the bits that the order says, whoever walks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from runmat_jit.core.hardware import CELL, CELLS, IN_REGISTERS, L1, LANES, STREAMS, WORKGROUP
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Pair, Value
from runmat_jit.kernel.math.predicates import isinf
from runmat_jit.kernel.primitives import FLOATS, TOTAL_STEPS, identity, total_lanes
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.elementwise import moved_bytes
from runmat_jit.lower.index import smaller, split, unravel
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.position import earlier, pair
from runmat_jit.lower.problem import Operand, Store
from runmat_jit.lower.reduction_problem import (
    FIRST,
    Reduce,
    ReductionNest,
    ReductionProblem,
    lane_nest,
)
from runmat_jit.passes.fusion.groups import MOST_NODES, kept
from runmat_jit.passes.fusion.reduction_shape import COLUMN_BLOCK
from runmat_jit.plan.device import Device

Bounds = tuple[Value, Value]

_COLUMNS = L1 // 8
"""Results of a cell at most: running results stay in the first-level cache."""
_FEW_COLUMNS = 2 * LANES
"""Results of a cell at least: some vectors."""
_FEW_ROWS = 4 * IN_REGISTERS
"""Rows up to which a column is walked at once, once for each phase and for what is stored; more are
walked block by block for all columns, and each phase has its kernel."""


def lower_lanes(problem: ReductionProblem) -> Launch | None:
    """The kernel of a step with one result a lane; None where there are no results."""
    shape = lane_nest(problem)
    nest, lane_axis = shape.nest, shape.nest.lanes
    if 0 in nest.extents[: lane_axis + 1]:
        return None
    columns, outer = nest.extents[lane_axis], math.prod(nest.extents[:lane_axis])
    width = cell_width(columns, outer, problem.device)
    blocks = -(-columns // width)
    seeds: dict[Operand, int] = dict.fromkeys(problem.seeds(), lane_axis + 1)
    builder = Builder(problem.device.builtins)
    body = Body(nest, problem.computes, problem.written(), seeds, builder, notes=problem.notes)
    body.declare()
    count, wide, across = map(body.parameter, (columns, width, blocks))
    with body.builder.grid(body.parameter(outer * blocks)) as grid:
        rest, block = split(grid.i, across)
        rows = _enter_cell(body, shape, rest, problem)
        left = block * wide
        lanes = left, smaller(left + wide, count)
        _walk(problem, width)(body, problem, rows, lanes)
    kernel, arguments = body.finish()
    work = min(problem.step.extent(problem.extents), problem.step.cell) * width
    grain = max(1, CELL // max(1, work))
    return Launch(kernel, arguments, outer * blocks, grain, moved_bytes(nest))


def cell_width(columns: int, outer: int, device: Device) -> int:
    """Columns of a cell: as many as the first-level cache holds, unless threads went without.

    A GPU's threads have one each.
    """
    if device.shares_tiles:
        return min(columns, WORKGROUP)
    width = _COLUMNS
    while width > _FEW_COLUMNS and outer * -(-columns // width) < CELLS:
        width //= 2
    return min(columns, width)


def _walk(
    problem: ReductionProblem, width: int
) -> Callable[[Body, ReductionProblem, Bounds, Bounds], None]:
    if problem.step.style == "row":
        return _walk_as_total
    if _keeps_elements(problem):
        return _keep_columns
    rows = min(problem.step.extent(problem.extents), problem.step.cell)
    few = rows <= _FEW_ROWS or width <= LANES
    return _walk_columns if few or not problem.accumulators else _walk_blocks


def takes_all_phases(problem: ReductionProblem) -> bool:
    """True if a lane takes its column again for each phase, and for what is stored of elements."""
    return problem.step.style != "row" and problem.step.extent(problem.extents) <= _FEW_ROWS


def _enter_cell(body: Body, shape: ReductionNest, cell: Value, problem: ReductionProblem) -> Bounds:
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


# -- three ways to walk --------------------------------------------------------------------------
def _walk_columns(body: Body, problem: ReductionProblem, rows: Bounds, lanes: Bounds) -> None:
    """A column at a time: blocks of rows in order, all in registers, and what elements are for."""
    builder, rest = body.builder, problem.stores_of(len(problem.phases))
    with builder.lanes(*lanes) as block:
        body.enter(body.nest.lanes, block.i)
        _find_centers(body, problem, rows)
        for number, phase in enumerate(problem.phases):
            starts = _starts(body, phase, rows[0])
            with builder.loop(*rows, starts, COLUMN_BLOCK) as blocks:
                end = smaller(blocks.i + COLUMN_BLOCK, rows[1])
                found = _combine_rows(body, problem, number, (blocks.i, end, 1), starts)
                blocks.yield_(*_combined(builder, phase, blocks.carry, found))
            _define(body, phase, _with_infinities(body, problem, rows, phase, blocks.out))
        if rest:
            with builder.loop(*rows, ()) as row, body.scope():
                _enter_row(body, row.i)
                body.need(store.value for store in rest)
                body.store(rest)
        body.store(problem.result_stores)


def _keep_columns(body: Body, problem: ReductionProblem, _rows: Bounds, lanes: Bounds) -> None:
    """A column at a time, all elements of which are in registers."""
    builder, rest = body.builder, problem.stores_of(len(problem.phases))
    known: list[dict[Operand, Value | Pair]]
    known = [{} for _ in range(problem.step.extent(problem.extents))]

    @contextmanager
    def element(number: int) -> Iterator[None]:
        with body.scope():
            body.place, before = number, set(body.values)
            body.values |= known[number]
            _enter_row(body, builder.const(number, "index"))
            yield
            known[number] = {o: v for o, v in body.values.items() if o not in before}
        body.place = 0

    with builder.lanes(*lanes) as block:
        body.enter(body.nest.lanes, block.i)
        for number, phase in enumerate(problem.phases):
            starts = [_start(builder, reduce) for reduce in phase]
            stores, found = problem.stores_of(number), starts
            for row in range(len(known)):
                with element(row):
                    body.need([*(reduce.operand for reduce in phase), *(s.value for s in stores)])
                    body.store(stores)
                    found = _combined(builder, phase, found, [body.term(r) for r in phase])
            _define(body, phase, _combined(builder, phase, starts, found))
        for row in range(len(known)):
            with element(row):
                body.need(store.value for store in rest)
        for row in range(len(known)):
            with element(row):
                body.store(rest)
        body.store(problem.result_stores)


def _keeps_elements(problem: ReductionProblem) -> bool:
    """True if a column is so short, and so little computed of it, that a lane keeps it."""
    count = kept(problem.step, problem.extents)
    plain = not problem.centers and not any(map(_has_position, problem.phases))
    return plain and count > 1 and count * len(problem.computes) <= 2 * MOST_NODES


def _walk_blocks(body: Body, problem: ReductionProblem, rows: Bounds, lanes: Bounds) -> None:
    """A few rows at a time, for all columns of the cell: memory is read row by row.

    Running results of the block and of the blocks before it are kept in memory, which stays in the
    first-level cache.
    """
    builder, (phase,), axis = body.builder, problem.phases, body.nest.lanes
    sums, block = problem.accumulators[: len(phase)], problem.accumulators[len(phase) :]
    centers = [s for s in problem.result_stores if s.value in {c.node for c in problem.centers}]
    with builder.lanes(*lanes) as columns, body.scope():
        body.enter(axis, columns.i)
        _find_centers(body, problem, rows)
        body.store(centers)
        starts = _starts(body, phase, rows[0])
        _put(body, (*sums, *block), (*starts, *starts))
    with builder.loop(*rows, (), COLUMN_BLOCK) as blocks:
        end = smaller(blocks.i + COLUMN_BLOCK, rows[1])
        with builder.loop(blocks.i, end, (), STREAMS) as piece:
            few = piece.i, smaller(piece.i + STREAMS, end), 1
            with builder.lanes(*lanes) as columns, body.scope():
                body.enter(axis, columns.i)
                body.values |= {store.value: body.peek(store) for store in centers}
                before = [body.peek(store) for store in block]
                _put(body, block, _combine_rows(body, problem, 0, few, before))
        with builder.lanes(*lanes) as columns, body.scope():
            body.move(axis, columns.i)
            starts = _starts(body, phase, rows[0])
            left, right = ([body.peek(store) for store in kept] for kept in (sums, block))
            _put(body, (*sums, *block), (*_combined(builder, phase, left, right), *starts))
    with builder.lanes(*lanes) as columns:
        body.enter(axis, columns.i)
        body.values |= {store.value: body.peek(store) for store in centers}
        body.weigh(problem, rows, rows)
        found = [body.peek(store) for store in sums]
        _define(body, phase, _with_infinities(body, problem, rows, phase, found))
        body.store(problem.result_stores)


def _put(body: Body, stores: Sequence[Store], values: Sequence[Value]) -> None:
    for store, value in zip(stores, values, strict=True):
        body.put(store, value)


def _walk_as_total(body: Body, problem: ReductionProblem, rows: Bounds, lanes: Bounds) -> None:
    """In the order of ``total``: its lanes are halved by loops of two, each in place of a lane.

    A logical lane whose partner has no elements is not combined with it, which changes no bit.
    """
    with body.builder.lanes(*lanes) as block:
        body.enter(body.nest.lanes, block.i)
        body.weigh(problem, rows, rows)
        for number, phase in enumerate(problem.phases):
            _define(body, phase, _total(body, problem, number, rows))
        body.store(problem.result_stores)


def _total(body: Body, problem: ReductionProblem, number: int, rows: Bounds) -> Sequence[Value]:
    """The results of a phase."""
    builder, phase = body.builder, problem.phases[number]
    logical = total_lanes([value_type(KERNEL_ELEMENTS[reduce.dtype]) for reduce in phase])
    length = rows[1] - rows[0]

    def halve(distance: int, first: Value) -> Sequence[Value]:
        if distance == logical:
            return blocks_of(first)
        twice = builder.select(length > distance, builder.const(2 * distance, "index"), distance)
        starts = [_start(builder, reduce) for reduce in phase]
        with builder.loop(0, twice, starts, distance) as pair:
            found = halve(2 * distance, first + pair.i)
            pair.yield_(*_combined(builder, phase, pair.carry, found))
        return pair.out

    def blocks_of(lane: Value) -> Sequence[Value]:
        size = TOTAL_STEPS * logical
        starts = [_start(builder, reduce) for reduce in phase]
        with builder.loop(lane, rows[1], starts, size) as blocks:
            end = smaller(blocks.i + size, rows[1])
            found = _combine_rows(body, problem, number, (blocks.i, end, logical), starts)
            blocks.yield_(*_combined(builder, phase, blocks.carry, found))
        return blocks.out

    return halve(1, rows[0])


# -- pieces --------------------------------------------------------------------------------------
def _find_centers(body: Body, problem: ReductionProblem, rows: Bounds) -> None:
    """The mean of the first block of a column."""
    builder, totals = body.builder, [center.total for center in problem.centers]
    if totals:
        first = rows[0], smaller(rows[0] + COLUMN_BLOCK, rows[1])
        body.weigh(problem, first, rows)
        with builder.loop(*first, [_start(builder, total) for total in totals]) as loop:
            with body.scope():
                _enter_row(body, loop.i)
                body.need(total.operand for total in totals)
                values = [body.value(total.operand) for total in totals]
            loop.yield_(*_combined(builder, totals, loop.carry, values))
        _define(body, totals, loop.out)


def _with_infinities(
    body: Body,
    problem: ReductionProblem,
    rows: Bounds,
    phase: Sequence[Reduce],
    found: Sequence[Value],
) -> list[Value]:
    """Results of a column whose squares are NaN where an element is infinite.

    With a center that is finite they are infinite then, as where finite elements are too large: a
    rare case, for which elements are read once more.
    """
    k, results = body.builder, list(found)
    for center in problem.centers:
        at, x = phase.index(center.squares), center.total.operand
        squares = results[at]
        with k.if_any(isinf(k, squares), (squares,)) as rare:
            with k.loop(*rows, (squares,)) as loop:
                with body.scope():
                    _enter_row(body, loop.i)
                    body.need([x])
                    seen = k.select(isinf(k, body.value(x)), math.nan, loop.carry[0])
                loop.yield_(seen)
            rare.yield_(*loop.out)
        (results[at],) = rare.out
    return results


def _combine_rows(
    body: Body,
    problem: ReductionProblem,
    number: int,
    rows: tuple[Value, Value, int],
    starts: Sequence[Value],
) -> Sequence[Value]:
    """Elements of every so many rows, combined in order with what is there, as a phase does."""
    (low, high, step), builder, phase = rows, body.builder, problem.phases[number]
    stores = problem.stores_of(number)
    with builder.loop(low, high, starts, step) as loop, body.scope():
        _enter_row(body, loop.i)
        body.need([*(reduce.operand for reduce in phase), *(s.value for s in stores)])
        body.store(stores)
        values = pair(body, phase) if _has_position(phase) else [body.term(r) for r in phase]
        loop.yield_(*_combined(builder, phase, loop.carry, values))
    return loop.out


def _enter_row(body: Body, row: Value) -> None:
    """Take the coordinates of a row into all addresses."""
    first = body.nest.lanes + 1
    extents = body.nest.extents[first:]
    if extents:
        sizes = [body.parameter(extent) for extent in extents[1:]]
        for axis, coordinate in enumerate(unravel(row, sizes)):
            body.move(first + axis, coordinate)


def _define(body: Body, phase: Sequence[Reduce], found: Sequence[Value]) -> None:
    """The results of reductions, and what follows from them."""
    for reduce, value in zip(phase, found, strict=True):
        body.define(reduce, value)
    body.compute(body.nest.lanes + 1)


def _starts(body: Body, phase: Sequence[Reduce], row: Value) -> list[Value]:
    """What lanes start from; a position is that of the first row, which nothing need exceed."""
    if not _has_position(phase):
        return [_start(body.builder, reduce) for reduce in phase]
    value, position = phase
    with body.scope():
        _enter_row(body, row)
        body.need([position.operand])
        at = body.value(position.operand)
    at = at if at.lane else body.builder.splat(at, at.type)
    return [_start(body.builder, value), at]


def _has_position(phase: Sequence[Reduce]) -> bool:
    return phase[-1].combine == FIRST


def _start(builder: Builder, reduce: Reduce) -> Value:
    kind = value_type(KERNEL_ELEMENTS[reduce.dtype])
    return builder.splat(identity(reduce.combine, kind), kind)


def _combined(
    builder: Builder, phase: Sequence[Reduce], left: Sequence[Value], right: Sequence[Value]
) -> list[Value]:
    if _has_position(phase):
        return earlier(builder, phase[0].combine, left, right)
    return [
        combine_two(builder, reduce.combine, a, b)
        for reduce, a, b in zip(phase, left, right, strict=True)
    ]


def combine_two(builder: Builder, combine: str, a: Value, b: Value) -> Value:
    """Combine like ``total``: the extremes pass NaN on."""
    if combine not in ("min", "max"):
        return builder.binary(combine, a, b)
    chosen = builder.binary({"min": "lt", "max": "gt"}[combine], a, b)
    if a.type in FLOATS:
        chosen = chosen | builder.prim("isnan", a)
    return builder.select(chosen, a, b)
