"""Kernels that compute every element by itself: flat where memory allows, else a grid of tiles."""

from __future__ import annotations

import math
from dataclasses import replace

from runmat_jit.core.hardware import CELL, STREAMS, TILE, WARP, WORKGROUP
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.lower.blocks_of_draws import BlocksOfDraws, draws_numbers
from runmat_jit.lower.body import Body
from runmat_jit.lower.flat import Flat
from runmat_jit.lower.index import smaller, split, unravel
from runmat_jit.lower.iterations import Turns, find_turns, rolled
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.nest import NEAR, VECTOR, Access, Nest, make_nest
from runmat_jit.lower.operands import in_window
from runmat_jit.lower.problem import Operand, Problem, Store
from runmat_jit.plan.device import Device

Bounds = tuple[Value, Value]

_CELL_OF_A_GPU = STREAMS, 4 * WORKGROUP
"""Rows and columns of a cell there: a vector of each row a thread, which shares rows it has read
with its neighbors, and cells for all of a large GPU.
"""
_LINES_OF_A_GPU = WARP, WARP
"""The same where operands are contiguous along different axes: each thread walks a column, and a
workgroup copies what is contiguous along the columns to its memory, in rows.
"""


def lower_elementwise(problem: Problem) -> Launch | None:
    """The kernel of a problem and how it is run; None where there is nothing to do."""
    on_gpu = problem.device.kind == "gpu"
    cyclic = on_gpu and not draws_numbers(problem)  # several elements of which are a lane's
    nest = _nest(problem, cyclic=cyclic)
    if 0 in nest.extents:
        return None
    walks = on_gpu and len(nest.extents) > 1 and not nest.periods and _is_turned(nest)
    if walks:
        nest = _columns_before_rows(nest)
    turns = find_turns(problem) if on_gpu and len(nest.extents) == 1 else None
    if cyclic and len(nest.extents) == 1 and turns is None:
        problem = _in_windows(problem, nest)
        nest = _nest(problem, cyclic=cyclic)
    body = _body(nest, problem, turns)
    if turns is not None and not _may_go_on(body, turns):
        turns, body = None, _body(nest, problem, None)
    body.declare()
    if len(nest.extents) == 1:
        total, grain = _flat(body, problem, turns)
    elif walks:
        total, grain = _columns(body, problem.stores)
    else:
        total, grain = _grid(body, problem.stores, problem.device)
    kernel, arguments = body.finish()
    return Launch(kernel, arguments, total, grain, moved_bytes(nest))


def _nest(problem: Problem, *, cyclic: bool) -> Nest:
    return make_nest(problem.extents, (*problem.reads(), *problem.stores), cyclic=cyclic)


def _body(nest: Nest, problem: Problem, turns: Turns | None) -> Body:
    """What emits a kernel; of iterations, the code of one."""
    written = frozenset(store.memory for store in problem.stores)
    builder = Builder(problem.device.builtins)
    seeds: dict[Operand, int] = {}
    if turns is not None:
        problem = rolled(problem, turns)
        accesses: list[Access] = [*problem.reads(), *problem.stores]
        nest = replace(nest, strides={access: nest.strides[access] for access in accesses})
        inside = {made.node for made in turns.made}
        seeds = {node: 1 for node in turns.left if node not in inside}
    return Body(nest, problem.computes, written, seeds, builder=builder, notes=problem.notes)


def _in_windows(problem: Problem, nest: Nest) -> Problem:
    """Replace contiguous reads that begin between vectors by windows."""
    written = {store.memory for store in problem.stores}
    found: dict[Operand, Operand] = {}
    for read in problem.reads():
        window = in_window(read) if nest.strides[read] == (1,) else None
        if window is not None and window.start % VECTOR and window.memory not in written:
            found[read] = window
    return problem.reading(found)


def _may_go_on(body: Body, turns: Turns) -> bool:
    """True if each element has its own values of turns, and reads that go on share no address."""
    own = all(body.levels[made.node] for made in turns.made)
    return own and not any(map(body.shares_address, turns.steps))


def _flat(body: Body, problem: Problem, turns: Turns | None) -> tuple[int, int]:
    (extent,) = body.nest.extents
    draws = BlocksOfDraws.of(problem, extent, turns)
    lanes_of = extent if draws.width == 1 else extent // draws.width
    with body.builder.lanes(0, body.parameter(lanes_of)) as lanes:
        Flat(body, lanes.i, draws, turns).emit(problem.stores)
    return lanes_of, CELL // draws.width


def _grid(body: Body, stores: tuple[Store, ...], device: Device) -> tuple[int, int]:
    """Cells of rows times columns; the loop over a cell's rows holds the lanes."""
    builder, axis = body.builder, len(body.nest.extents) - 2
    rows_of, columns_of = body.nest.extents[-2:]
    shape = tile_shape(body.nest, device)
    tiles = _Tiles(body, (rows_of, columns_of), shape)
    with builder.grid(body.parameter(tiles.cells)) as grid:
        rows, columns = tiles.enter(grid.i)
        with builder.loop(*rows) as loop:
            body.enter(axis, loop.i)
            with builder.lanes(*columns) as lanes:
                body.enter(axis + 1, lanes.i)
                body.store(stores)
    return tiles.cells, max(1, CELL // math.prod(shape))


def _columns(body: Body, stores: tuple[Store, ...]) -> tuple[int, int]:
    """The same, but each lane walks a column: columns are the axis before the rows."""
    builder, axis = body.builder, body.nest.lanes
    columns, rows = body.nest.extents[-2:]
    height, width = _LINES_OF_A_GPU
    shape = min(rows, height), min(columns, width)
    tiles = _Tiles(body, (rows, columns), shape)
    with builder.grid(body.parameter(tiles.cells)) as grid:
        (top, bottom), bounds = tiles.enter(grid.i)
        with builder.lanes(*bounds) as lanes:
            body.enter(axis, lanes.i)
            with builder.loop(0, bottom - top) as loop:
                body.enter(axis + 1, top + loop.i)
                body.store(stores)
    return tiles.cells, 1


class _Tiles:
    """Cells of rows times columns, of a matrix or of each of many: numbers of a kernel."""

    def __init__(self, body: Body, extents: tuple[int, int], shape: tuple[int, int]) -> None:
        self.body = body
        outer = body.nest.extents[:-2]
        (rows, columns), (height, width) = extents, shape
        row_blocks, column_blocks = -(-rows // height), -(-columns // width)
        self.cells = row_blocks * column_blocks * math.prod(outer)
        self.counts = body.parameter(rows), body.parameter(columns)
        self.sides = body.parameter(height), body.parameter(width)
        self.blocks = body.parameter(row_blocks), body.parameter(column_blocks)
        self.sizes = [body.parameter(extent) for extent in outer[1:]]
        self.is_one = not outer

    def enter(self, cell: Value) -> tuple[Bounds, Bounds]:
        """Enter the axes around the rows and columns of a cell; the bounds of these."""
        rest, column = split(cell, self.blocks[1])
        row = rest
        if not self.is_one:
            rest, row = split(rest, self.blocks[0])
            for at, coordinate in enumerate(unravel(rest, self.sizes)):
                self.body.enter(at, coordinate)
        (rows, columns), (height, width) = self.counts, self.sides
        top, left = row * height, column * width
        return (top, smaller(top + height, rows)), (left, smaller(left + width, columns))


def _columns_before_rows(nest: Nest) -> Nest:
    """The same axes, the one of the lanes before the one that each of them walks."""

    def swapped(numbers: tuple[int, ...]) -> tuple[int, ...]:
        *outer, row, column = numbers
        return *outer, column, row

    strides = {access: swapped(along) for access, along in nest.strides.items()}
    return Nest(swapped(nest.extents), strides, nest.lanes - 1)


def tile_shape(nest: Nest, device: Device) -> tuple[int, int]:
    """Rows and columns of a cell: square where some operand runs across, else long rows."""
    rows, columns = nest.extents[-2:]
    if device.kind == "gpu":
        height, width = _CELL_OF_A_GPU
        return min(rows, height), min(columns, width)
    if _is_turned(nest):
        return TILE, TILE
    width = columns if columns < 2 * CELL else CELL
    return max(1, min(rows, CELL // width)), width


def _is_turned(nest: Nest) -> bool:
    """True if some operand is contiguous along another axis than others."""
    return any(_runs_across(strides) for strides in nest.strides.values())


def _runs_across(strides: tuple[int, ...]) -> bool:
    """True if neighbors in memory are not neighbors along the lanes."""
    *_, row, lane = (abs(stride) for stride in strides)
    return lane > NEAR and 0 < row < lane


def moved_bytes(nest: Nest) -> int:
    """Bytes read and written at least: every access once, broadcast values once."""
    nbytes = 0
    for access, strides in nest.strides.items():
        if access.memory is not None:
            count = 1
            for extent, stride in zip(nest.extents, strides, strict=True):
                count *= extent if stride else 1
            if access in nest.periods:
                count = count // nest.extents[-1] * nest.periods[access].count(nest.extents[-1])
            nbytes += count * access.dtype.itemsize
    return nbytes
