"""Reductions along the rows of a product, whose rows lie in a cache of the thread that reads them.

A cell of the kernel has some blocks of :data:`ROWS` rows. It computes a block into memory that all
blocks of the cell share, then reduces each of its rows as any other: bits depend neither on cells
nor on threads. So the product takes a small part of the memory that it would be stored in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from runmat_jit.core.hardware import CELLS
from runmat_jit.core.types import KERNEL_ELEMENTS, c_strides
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.lower.body import Body
from runmat_jit.lower.elementwise import moved_bytes
from runmat_jit.lower.events import noted_values
from runmat_jit.lower.index import smaller, unravel
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.nest import Access, Nest
from runmat_jit.lower.problem import Operand, Problem, Store
from runmat_jit.lower.product_region import lower_product, operands_in_rows
from runmat_jit.lower.product_sums import CHUNK, ProductRows, numbers_of_terms, sums_of_terms
from runmat_jit.lower.reduction_levels import levels_of
from runmat_jit.lower.reduction_problem import ReductionProblem
from runmat_jit.lower.region_values import RegionValues
from runmat_jit.lower.row_kernel import lower_rows, reduce_row
from runmat_jit.passes.fusion.matrix_product import MatrixProduct
from runmat_jit.passes.fusion.own_products import ROWS, own_product_of
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.notes import OPEN
from runmat_jit.plan.plan import Plan


def lower_with_product(
    region: Region, plan: Plan, lower: Callable[[RegionValues], Sequence[Launch]]
) -> tuple[Launch, ...]:
    """The kernels of a region with reductions, which may begin with a product.

    Its rows are computed where one kernel reads them; if it is not read as rows alone, the product
    is stored.
    """
    values, product = RegionValues(region, plan, levels_of(region)), own_product_of(region)
    if product is None:
        return tuple(lower(values))
    node, tested = product.node, product.node in noted_values(region)
    before, operands = operands_in_rows(product, plan, values.next_scratch())
    home = values.scratch(node.type.dtype, (home_size(product),))
    values.stored[node], values.rows = home, ProductRows(product, operands, home, tested)
    launches = tuple(lower(values))
    if [home in launch.arguments for launch in launches].count(True) <= values.rows_read <= 1:
        return (*before, *launches)
    values = RegionValues(region, plan, levels_of(region))
    before, operands = operands_in_rows(product, plan, values.next_scratch())
    whole = values.stored[node] = values.scratch(node.type.dtype, node.type.shape)
    store = Store(node, whole, whole.dtype, c_strides(node.type.shape))
    problem = Problem(node.type.shape, (), (store,), plan.device, plan.notes)
    made = lower_product(product, problem, plan, operands, tested=tested)
    return (*before, made, *lower(values))


def lower_rows_of(problem: ReductionProblem, values: RegionValues) -> Launch | None:
    """The kernel of a step of style ``row``, which may read the rows of a product."""
    rows = values.rows
    if rows is None or not rows.is_read(problem):
        return lower_rows(problem)
    values.rows_read += 1
    return lower_product_rows(problem, rows)


# -- where rows lie --------------------------------------------------------------------------------
def cells_of(product: MatrixProduct) -> tuple[int, int]:
    """Cells of one matrix, and blocks of a cell."""
    blocks = -(-product.rows // ROWS)
    cells = min(blocks, max(CELLS, min(4 * CELLS, blocks // CELLS)))
    each = -(-blocks // cells)
    return -(-blocks // each), each


def home_size(product: MatrixProduct) -> int:
    """Elements of the memory that a product's cells need."""
    return math.prod(product.batch) * cells_of(product)[0] * ROWS * product.columns


def _nest(problem: ReductionProblem, rows: ProductRows) -> Nest:
    """Axes: those of the batch, cells, blocks of a cell, rows of a block, columns."""
    product = rows.product
    cells, each = cells_of(product)
    block = ROWS * product.columns
    counts = (*product.batch[1:], cells) if product.batch else ()
    of_batch = tuple(block * math.prod(counts[n:]) for n in range(len(counts)))

    def strides_of(access: Access) -> tuple[int, ...]:
        if access.memory == rows.home:
            return (*of_batch, block, 0, product.columns, 1)
        *outer, down, across, _cell = access.strides
        return (*outer, down * ROWS * each, down * ROWS, down, across)

    strides = {access: strides_of(access) for access in problem.accesses()}
    extents = (*product.batch, cells, each, ROWS, product.columns)
    return Nest(extents, strides, len(extents) - 1)


# -- the kernel ------------------------------------------------------------------------------------
def lower_product_rows(problem: ReductionProblem, rows: ProductRows) -> Launch | None:
    """The kernel of a step of style ``row`` that reads a product; None where there are no rows."""
    product, nest = rows.product, _nest(problem, rows)
    cells, each = cells_of(product) if product.rows else (0, 0)
    total = math.prod(product.batch) * cells
    if total == 0:
        return None
    batch, uniform = len(product.batch), nest.lanes
    seeds: dict[Operand, int] = dict.fromkeys(problem.seeds(), uniform)
    written = problem.written() | {rows.home}
    builder = Builder(problem.device.builtins)
    body = Body(nest, problem.computes, written, seeds, builder, notes=problem.notes)
    body.declare()
    for read in rows.operands:
        assert read.memory is not None, "operands of products are in memory"
        body.buffer(read.memory, KERNEL_ELEMENTS[read.dtype])
    sizes = [body.parameter(extent) for extent in (*product.batch, cells)][1:]
    row_count, blocks = body.parameter(product.rows), body.parameter(each)
    bounds = builder.const(0, "index"), body.parameter(product.columns)
    with builder.grid(body.parameter(total)) as grid:
        at = unravel(grid.i, sizes)
        for axis, coordinate in enumerate(at):
            body.enter(axis, coordinate)
        first = at[-1] * blocks
        with builder.loop(0, blocks) as block, body.scope():
            body.enter(batch + 1, block.i)
            top = (first + block.i) * ROWS
            _multiply(body, rows, (grid.i, *at[:-1]), top, bounds)
            with builder.loop(top, smaller(top + ROWS, row_count)) as row, body.scope():
                body.enter(batch + 2, row.i - top)
                reduce_row(body, problem, bounds)
    kernel, arguments = body.finish()
    work = each * ROWS * product.terms * product.columns
    return Launch(kernel, arguments, total, max(1, CHUNK // max(1, work)), moved_bytes(nest))


def _multiply(
    body: Body, rows: ProductRows, at: tuple[Value, ...], top: Value, bounds: tuple[Value, Value]
) -> None:
    """Compute a block of rows from ``top`` on into the memory of a cell.

    ``at``: the number of the cell, and coordinates in the batch.
    """
    builder, product = body.builder, rows.product
    home = body.buffer(rows.home, KERNEL_ELEMENTS[rows.home.dtype])
    cell, *batch = at
    columns, last = bounds[1], body.parameter(product.rows) - 1
    begin, terms = cell * body.parameter(ROWS * product.columns), body.parameter(product.terms)
    lines = [smaller(top + row, last) for row in range(ROWS)]
    with builder.lanes(*bounds) as lanes:
        numbers_of = numbers_of_terms(body, product, rows.operands, (*batch, lines), lanes.i)
        sums = sums_of_terms(body, product, numbers_of)
        if body.notes.mode != "results":
            body.exact.products(sums, terms, numbers_of)
        for row, value in enumerate(sums):
            if rows.tested and body.notes.mode == "results":
                builder.note(value, OPEN)
            builder.store(home, begin + columns * row + lanes.i, value, 1)
