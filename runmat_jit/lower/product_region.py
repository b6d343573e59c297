"""Regions with a product of matrices: its sums are in registers or the nearest cache.

On a CPU they are small. A cell of the kernel has :data:`ROWS` rows. It walks the terms once for
each vector of columns, a vector of the second operand times a number of each row. On a GPU a cell
is a whole product, whose tiles the backend divides among threads; many products that are smaller
than a tile are computed as on a CPU. Every element is one chain of
fused multiplications and additions in the order of the terms, whatever the extents, the threads
and the vectors of the machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from runmat_jit.core.hardware import LANES, TILE, WORKGROUP
from runmat_jit.core.types import KERNEL_ELEMENTS, c_strides
from runmat_jit.graph.node import Node
from runmat_jit.kernel.build import Builder, Matrix
from runmat_jit.kernel.ir import Value
from runmat_jit.lower.body import Body
from runmat_jit.lower.elementwise import lower_elementwise, moved_bytes
from runmat_jit.lower.elementwise_region import elementwise_problem
from runmat_jit.lower.events import noted_values
from runmat_jit.lower.index import smaller, unravel
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.nest import Access, Nest
from runmat_jit.lower.problem import Operand, Problem, Read, Store
from runmat_jit.lower.product_sums import (
    CHUNK,
    begin_of_matrix,
    numbers_of_terms,
    operand_of_product,
    sums_of_terms,
)
from runmat_jit.passes.fusion.matrix_product import MatrixProduct
from runmat_jit.passes.fusion.own_products import ROWS, own_product_of
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import NodeBuffer, Scratch
from runmat_jit.plan.notes import OPEN
from runmat_jit.plan.plan import Plan

_SMALL = TILE * TILE // 4
"""Elements of products whose columns a GPU's threads take beside each other, as a CPU's lanes."""


def lower_product_region(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """One kernel; on a CPU, the second operand is laid out in rows before it where it is not."""
    product = own_product_of(region)
    assert product is not None, "the region has one"
    if 0 in product.node.type.shape:
        return ()
    if plan.device.shares_tiles and not _is_small(product):
        left, right = (operand_of_product(product, arg, plan) for arg in product.node.args)
        return (_lower_contraction(product, region, plan, (left, right)),)
    before, operands = operands_in_rows(product, plan, 0)
    problem = elementwise_problem(region, plan, seeds=(product.node,))
    tested = product.node in noted_values(region)
    return (*before, lower_product(product, problem, plan, operands, tested=tested))


def _is_small(product: MatrixProduct) -> bool:
    """True if a tile would be mostly empty, while there are many products to compute at once."""
    elements = product.rows * product.columns
    return elements <= _SMALL and product.terms <= TILE and math.prod(product.batch) >= WORKGROUP


def operands_in_rows(
    product: MatrixProduct, plan: Plan, number: int
) -> tuple[tuple[Launch, ...], tuple[Read, Read]]:
    """The operands, the second in rows; if it is not, a kernel lays it out in a scratch memory."""
    left, right = (operand_of_product(product, arg, plan) for arg in product.node.args)
    if right.strides[-1] in (0, 1):
        return (), (left, right)
    extents = (*product.batch, product.terms, product.columns)
    shape = tuple([n if s else 1 for n, s in zip(extents, right.strides, strict=True)])
    laid = Scratch(number, right.dtype, max(1, math.prod(shape)))
    copy = Store(right, laid, right.dtype, c_strides(shape))
    first = lower_elementwise(Problem(shape, (), (copy,), plan.device))
    along = tuple([s if n else 0 for n, s in zip(right.strides, copy.strides, strict=True)])
    return () if first is None else (first,), (left, Read(laid, right.dtype, along))


def _lower_contraction(
    product: MatrixProduct, region: Region, plan: Plan, operands: tuple[Read, Read]
) -> Launch:
    """The kernel of a device that keeps tiles of both matrices in memory of many threads."""
    problem = elementwise_problem(region, plan, seeds=(product.node,))
    body = _body(product, problem, operands)
    builder = body.builder
    noted = problem.notes.mode != "results" or product.node in noted_values(region)
    rows, columns, terms = map(body.parameter, (product.rows, product.columns, product.terms))
    sizes = [body.parameter(extent) for extent in product.batch[1:]]
    cells = math.prod(product.batch)
    with builder.grid(body.parameter(cells)) as grid:
        batch = unravel(grid.i, sizes) if product.batch else ()
        for axis, coordinate in enumerate(batch):
            body.move(axis, coordinate)
        left, right = (_matrix(body, read, batch) for read in operands)
        with builder.contract(rows, columns, terms, left, right) as each:
            row, total = each.carry
            body.move(len(product.batch), row)
            body.move(len(product.batch) + 1, each.i)
            body.values[product.node] = total
            _finish(body, product.node, problem.stores, tested=noted)
    kernel, arguments = body.finish()
    return Launch(kernel, arguments, cells, cells, moved_bytes(body.nest))


def _matrix(body: Body, read: Read, batch: Sequence[Value]) -> Matrix:
    """An operand where it lies for one of the batch; steps of neighbors are constants."""
    assert read.memory is not None, "operands of products are in memory"
    down, across = (1 if step == 1 else body.parameter(step) for step in read.strides[-2:])
    buffer = body.buffer(read.memory, KERNEL_ELEMENTS[read.dtype])
    return Matrix(buffer, begin_of_matrix(body, read, batch), (down, across))


def lower_product(
    product: MatrixProduct,
    problem: Problem,
    plan: Plan,
    operands: tuple[Read, Read],
    *,
    tested: bool,
) -> Launch:
    """The kernel of the product and of what a problem makes of it.

    ``tested``: note sums that are not finite, where results are noted.
    """
    body = _body(product, problem, operands)
    exact = problem.notes.mode != "results"
    tested = tested and not exact
    builder, home = body.builder, _home_of(product.node, problem, plan)
    down, across = len(product.batch), len(product.batch) + 1
    column_count, row_count = body.parameter(product.columns), body.parameter(product.rows)
    sizes = [body.parameter(extent) for extent in (*product.batch[1:], -(-product.rows // ROWS))]
    cells = math.prod(product.batch) * -(-product.rows // ROWS)
    with builder.grid(body.parameter(cells)) as grid:
        *batch, block = unravel(grid.i, sizes) if product.batch else (grid.i,)
        for axis, coordinate in enumerate(batch):
            body.enter(axis, coordinate)
        top, last = block * ROWS, row_count - 1
        rows = [smaller(top + row, last) for row in range(ROWS)]
        with builder.lanes(0, column_count) as lanes:
            numbers_of = numbers_of_terms(body, product, operands, (*batch, rows), lanes.i)
            sums = sums_of_terms(body, product, numbers_of)
            if exact:
                body.exact.products(sums, body.parameter(product.terms), numbers_of)
            for number, (row, value) in enumerate(zip(rows, sums, strict=True)):
                with body.scope():
                    body.move(down, row)
                    body.move(across, lanes.i)
                    body.values[product.node] = value
                    if home is not None:
                        body.put(home, value)
                    elif problem.computes:  # once: it may lie in the memory of what it reads
                        with builder.if_(top + number < row_count):
                            _finish(body, product.node, problem.stores, tested=tested)
                    else:
                        _finish(body, product.node, problem.stores, tested=tested)
        if home is not None:
            with builder.loop(top, smaller(top + ROWS, row_count)) as loop, body.scope():
                body.enter(down, loop.i)
                with builder.lanes(0, column_count) as lanes:
                    body.move(across, lanes.i)
                    body.values[product.node] = body.peek(home)
                    _finish(body, product.node, problem.stores, tested=tested)
    kernel, arguments = body.finish()
    work = ROWS * product.terms * max(product.columns, LANES)
    grain = max(1, CHUNK // max(1, work)) if product.batch else cells
    return Launch(kernel, arguments, cells, grain, moved_bytes(body.nest))


def _body(product: MatrixProduct, problem: Problem, operands: tuple[Read, Read]) -> Body:
    """What emits the epilogue, over rows and columns; all memory is declared."""
    accesses: tuple[Access, ...] = (*problem.reads(), *problem.stores)
    shape = (*product.batch, product.rows, product.columns)

    def strides_of(access: Access) -> tuple[int, ...]:
        *others, across = [0 if axis is None else access.strides[axis] for axis in product.axes]
        return *others, across or int(isinstance(access, Store))  # of one column: one lane

    strides = {access: strides_of(access) for access in accesses}
    written = frozenset(store.memory for store in problem.stores)
    seeds: dict[Operand, int] = {product.node: len(shape)}
    nest = Nest(shape, strides, len(shape) - 1)
    builder = Builder(problem.device.builtins)
    body = Body(nest, problem.computes, written, seeds, builder, notes=problem.notes)
    body.declare()
    for read in operands:
        assert read.memory is not None, "operands of products are in memory"
        body.buffer(read.memory, KERNEL_ELEMENTS[read.dtype])
    return body


def _home_of(product: Node, problem: Problem, plan: Plan) -> Store | None:
    """An output in whose memory the sums of a cell may wait, still in the cache, for the epilogue.

    There it is emitted once, not for each row of the cell. It is memory that nothing reads. Where
    there is no epilogue, there is nothing to wait for.
    """
    if plan.device.shares_tiles:
        return None
    for store in problem.stores if problem.computes else ():
        own = isinstance(store.memory, NodeBuffer) and store.memory.node not in plan.in_place
        if own and store.dtype == product.type.dtype and store.mask is None:
            return store
    return None


def _finish(body: Body, product: Node, stores: tuple[Store, ...], *, tested: bool) -> None:
    """What the region makes of elements of the product."""
    if tested:
        body.builder.note(body.value(product), OPEN)
    body.need(wanted for store in stores for wanted in store.operands)
    body.store(stores)
