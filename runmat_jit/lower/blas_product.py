"""Products that NumPy's inner loop computes: a kernel of one cell that calls it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Node
from runmat_jit.kernel.build import Builder
from runmat_jit.lower.launch import Launch
from runmat_jit.passes.fusion.access import View, read_by_host, stored_strides
from runmat_jit.passes.fusion.matrix_product import joins_rows
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import Argument, NodeBuffer, TableBuffer
from runmat_jit.plan.plan import Plan

ADDRESS = "product_loop_"
"""Begins the names of tables whose one element is the address of an inner loop."""


def lower_blas_product(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """The kernel; it notes an event where the machine sees one, as NumPy does."""
    (node,) = region.nodes
    views = [read_by_host(arg, plan.orders) for arg in node.args]
    char, element = node.type.dtype.char, "f64" if node.type.dtype.itemsize == 8 else "f32"
    builder, arguments = Builder(), list[Argument]()
    table = builder.table(ADDRESS + char, "i64")
    arguments.append(TableBuffer(table.name))
    matrices = [builder.buffer(name, element) for name in ("left", "right")]
    arguments += [NodeBuffer(view.base, view.offset) for view in views]
    matrices.append(builder.buffer("product", element, written=True))
    arguments.append(NodeBuffer(node))
    numbers = numbers_of(node, views, stored_strides(node, plan.orders))
    given = [builder.scalar(f"n{place}", "index") for place in range(len(numbers))]
    arguments += numbers
    with builder.grid(1):
        address = builder.gather(table, builder.const(0, "index"))
        builder.note(builder.multiply(address, matrices, given))
    nbytes = sum(each.type.nbytes for each in (node, *node.args))
    return (Launch(builder.finish(), tuple(arguments), 1, 1, nbytes),)


def numbers_of(node: Node, views: Sequence[View], made: Sequence[int]) -> list[int]:
    """Extents and steps in elements, as the instruction ``multiply`` takes them."""
    left, right = (arg.type.shape for arg in node.args)
    a, b = (view.strides for view in views)
    shape = node.type.shape
    if joins_rows(node) and a == c_strides(left):
        rows = math.prod(left[:-1])
        left, shape = (rows, left[-1]), (rows, *right[1:])
        a, made = c_strides(left), c_strides(shape)
    has_rows, has_columns = len(left) > 1, len(right) > 1
    stacked = len(shape) - has_rows - has_columns
    extents = [
        shape[0] if stacked else 1,
        left[-2] if has_rows else 1,
        left[-1],
        right[-1] if has_columns else 1,
    ]
    from_matrix_to_matrix = [
        strides[0] if len(strides) > 2 and extents_of[0] != 1 else 0
        for extents_of, strides in ((left, a), (right, b))
    ]
    inner = list(made[stacked:])
    return [
        *extents,
        *from_matrix_to_matrix,
        made[0] if stacked else 0,
        *(a[-2] if has_rows else 0, a[-1]),
        *((b[-2], b[-1]) if has_columns else (b[-1], 0)),
        *(inner.pop(0) if has_rows else 0, inner.pop(0) if has_columns else 0),
    ]
