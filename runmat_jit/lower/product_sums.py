"""The sums of products that are the elements of a product of matrices, for some rows at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runmat_jit.core.frozen import frozen
from runmat_jit.core.hardware import CELL
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.graph.node import Node
from runmat_jit.kernel.ir import Value
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.problem import Read
from runmat_jit.lower.reduction_problem import ReductionProblem
from runmat_jit.passes.fusion.access import read_by_host
from runmat_jit.passes.fusion.matrix_product import MatrixProduct
from runmat_jit.passes.fusion.own_products import ROWS
from runmat_jit.plan.argument import NodeBuffer, Scratch
from runmat_jit.plan.plan import Plan

CHUNK = 32 * CELL
"""Multiplications that one thread takes at least, some ten microseconds of them."""

NumbersOf = Callable[[Value], tuple[list[Value], Value]]
"""Reads what a term multiplies: a number of each row, and numbers of a vector of columns."""


@frozen
class ProductRows:
    """A product and how its operands lie; ``home`` is the memory that stands for all of it.

    ``tested``: note sums that are not finite.
    """

    product: MatrixProduct
    operands: tuple[Read, Read]
    home: Scratch
    tested: bool

    def is_read(self, problem: ReductionProblem) -> bool:
        """True if a step of reductions reads the product."""
        return any(access.memory == self.home for access in problem.accesses())


def operand_of_product(product: MatrixProduct, node: Node, plan: Plan) -> Read:
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


def numbers_of_terms(
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
    begin, begin_right = (begin_of_matrix(body, read, batch) for read in operands)
    starts = [begin + row * row_step for row in rows]

    def numbers_of(term: Value) -> tuple[list[Value], Value]:
        place, along = begin_right + term * down, term * term_step
        columns = builder.load(others, place + column if across else place, 1 if across else 0)
        return [builder.load(source, start + along, 0) for start in starts], columns

    return numbers_of


def sums_of_terms(body: Body, product: MatrixProduct, numbers_of: NumbersOf) -> tuple[Value, ...]:
    """The sums of a vector of columns, for each row."""
    builder, kind = body.builder, value_type(KERNEL_ELEMENTS[product.node.type.dtype])
    zeros = [builder.splat(0.0, kind)] * ROWS
    with builder.loop(0, body.parameter(product.terms), zeros) as loop:
        rows, columns = numbers_of(loop.i)
        each = zip(rows, loop.carry, strict=True)
        loop.yield_(*[builder.fma(row, columns, carried) for row, carried in each])
    return loop.out


def begin_of_matrix(body: Body, read: Read, batch: Sequence[Value]) -> Value:
    """Where the matrix of an operand begins."""
    begin = body.builder.const(0, "index")
    for coordinate, stride in zip(batch, read.strides, strict=False):
        if stride:
            begin += coordinate * body.parameter(stride)
    return begin
