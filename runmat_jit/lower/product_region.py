"""Regions with a product of matrices: its sums are in registers or the nearest cache.

On a CPU they are small. A cell of the kernel has :data:`ROWS` rows. It walks the terms once for
each vector of columns, a vector of the second operand times a number of each row. On a GPU a cell
is a whole product, whose tiles the backend divides among threads. Every element is one chain of
fused multiplications and additions in the order of the terms, whatever the extents, the threads
and the vectors of the machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from runmat_jit.core.types import KERNEL_ELEMENTS, c_strides
from runmat_jit.graph.node import Node
from runmat_jit.kernel.build import Builder, Matrix
from runmat_jit.kernel.ir import Value
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.elementwise import lower_elementwise, moved_bytes
from runmat_jit.lower.elementwise_region import elementwise_problem
from runmat_jit.lower.events import noted_values
from runmat_jit.lower.index import smaller, unravel
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.nest import Access, Nest
from runmat_jit.lower.problem import Operand, Problem, Read, Store
from runmat_jit.passes.fusion.access import read_by_host
from runmat_jit.passes.fusion.matrix_product import MatrixProduct
from runmat_jit.passes.fusion.own_products import LANES, ROWS, own_product_of
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import NodeBuffer, Scratch
from runmat_jit.plan.notes import OPEN
from runmat_jit.plan.plan import Plan

CHUNK = 1 << 19
"""Multiplications that one thread takes at least, some ten microseconds of them."""

NumbersOf = Callable[[Value], tuple[list[Value], Value]]
"""Reads what a term multiplies: a number of each row, and numbers of a vector of columns."""


def lower_product_region(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """One kernel; on a CPU, the second operand is laid out in rows before it where it is not."""
    product = own_product_of(region)
    assert product is not None, "the region has one"
    if 0 in product.node.type.shape:
        return ()
    left, right = (_operand(product, arg, plan) for arg in product.node.args)
    if plan.device.kind == "gpu":
        return (_lower_contraction(product, region, plan, (left, right)),)
    if right.strides[-1] in (0, 1):
        return (_lower_product(product, region, plan, (left, right)),)
    extents = (*product.batch, product.terms, product.columns)
    shape = tuple([n if s else 1 for n, s in zip(extents, right.strides, strict=True)])
    laid = Scratch(0, right.dtype, max(1, math.prod(shape)))
    copy = Store(right, laid, right.dtype, c_strides(shape))
    first = lower_elementwise(Problem(shape, (), (copy,)))
    along = tuple([s if n else 0 for n, s in zip(right.strides, copy.strides, strict=True)])
    launch = _lower_product(product, region, plan, (left, Read(laid, right.dtype, along)))
    return (launch,) if first is None else (first, launch)


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
    return Matrix(buffer, _begin(body, read, batch), (down, across))


def _operand(product: MatrixProduct, node: Node, plan: Plan) -> Read:
    """An operand as matrices: rows and terms, or terms and columns, behind the batch."""
    view = read_by_host(node, plan.orders)
    shape = node.type.shape
    strides = [0 if n == 1 else s for n, s in zip(shape, view.strides, strict=True)]
    if len(shape) == 1:
        of_matrix = (0, *strides) if node is product.node.args[0] else (*strides, 0)
        strides = []
    else:
        *strides, row, column = strides
        of_matrix = row, column
    missing = len(product.batch) - len(strides)
    along = (*[0] * missing, *strides, *of_matrix)
    return Read(NodeBuffer(view.base, view.offset), node.type.dtype, along)


def _lower_product(
    product: MatrixProduct, region: Region, plan: Plan, operands: tuple[Read, Read]
) -> Launch:
    """The kernel of the product and of what the region makes of it."""
    problem = elementwise_problem(region, plan, seeds=(product.node,))
    body = _body(product, problem, operands)
    exact = problem.notes.mode != "results"
    tested = not exact and product.node in noted_values(region)
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
            numbers_of = _numbers(body, product, operands, (*batch, rows), lanes.i)
            sums = _sums(body, product, numbers_of)
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
    builder = Builder(problem.builtins)
    body = Body(nest, problem.computes, written, seeds, builder, notes=problem.notes)
    body.declare()
    for read in operands:
        assert read.memory is not None, "operands of products are in memory"
        body.buffer(read.memory, KERNEL_ELEMENTS[read.dtype])
    return body


def _numbers(
    body: Body,
    product: MatrixProduct,
    operands: tuple[Read, Read],
    at: tuple[Any, ...],
    column: Value,
) -> NumbersOf:
    """``at``: coordinates in the batch, and rows."""
    builder, element = body.builder, KERNEL_ELEMENTS[product.node.type.dtype]
    left, right = operands
    assert left.memory is not None, "as in _body()"
    assert right.memory is not None, "as in _body()"
    source, others = body.buffer(left.memory, element), body.buffer(right.memory, element)
    *batch, rows = at
    row_step, term_step = map(body.parameter, left.strides[-2:])
    down, across = body.parameter(right.strides[-2]), right.strides[-1]
    begin, begin_right = (_begin(body, read, batch) for read in operands)
    starts = [begin + row * row_step for row in rows]

    def numbers_of(term: Value) -> tuple[list[Value], Value]:
        place, along = begin_right + term * down, term * term_step
        columns = builder.load(others, place + column if across else place, 1 if across else 0)
        return [builder.load(source, start + along, 0) for start in starts], columns

    return numbers_of


def _sums(body: Body, product: MatrixProduct, numbers_of: NumbersOf) -> tuple[Value, ...]:
    """The sums of a vector of columns, for each row."""
    builder, kind = body.builder, value_type(KERNEL_ELEMENTS[product.node.type.dtype])
    zeros = [builder.splat(0.0, kind)] * ROWS
    with builder.loop(0, body.parameter(product.terms), zeros) as loop:
        rows, columns = numbers_of(loop.i)
        each = zip(rows, loop.carry, strict=True)
        loop.yield_(*[builder.fma(row, columns, carried) for row, carried in each])
    return loop.out


def _begin(body: Body, read: Read, batch: Sequence[Value]) -> Value:
    """Where the matrix of an operand begins."""
    begin = body.builder.const(0, "index")
    for coordinate, stride in zip(batch, read.strides, strict=False):
        if stride:
            begin += coordinate * body.parameter(stride)
    return begin


def _home_of(product: Node, problem: Problem, plan: Plan) -> Store | None:
    """An output in whose memory the sums of a cell may wait, still in the cache, for the epilogue.

    There it is emitted once, not for each row of the cell. It is memory that nothing reads. Where
    there is no epilogue, there is nothing to wait for.
    """
    for store in problem.stores if problem.computes else ():
        own = isinstance(store.memory, NodeBuffer) and store.memory.node not in plan.in_place
        if own and store.dtype == product.type.dtype and store.mask is None:
            return store
    return None


def _finish(body: Body, product: Node, stores: tuple[Store, ...], *, tested: bool) -> None:
    """What the region makes of elements of the product."""
    if tested:
        body.builder.note(body.values[product], OPEN)
    body.need(wanted for store in stores for wanted in store.operands)
    body.store(stores)
