"""Products that NumPy's inner loop computes in place of a call of NumPy: those that are soon done.

It is the function that NumPy itself calls for a product, on the same memory, so that the bits are
its own. What takes long is left to NumPy, which lets other threads run meanwhile.
"""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from typing import Final

import numpy as np

from runmat_jit.core.hardware import CELL
from runmat_jit.core.inner_loops import product_loop
from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Graph, Node
from runmat_jit.ops.product import Lies, product_in
from runmat_jit.passes.fusion.access import (
    Orders,
    View,
    is_stored_for_host,
    memory_orders,
    read_by_host,
    stored_strides,
)
from runmat_jit.passes.fusion.region import BLAS, Region

MOST_WORK: Final = 32 * CELL
"""Multiplications of a product, some ten microseconds of them."""
_FUNCTIONS: Final = (np.matmul, operator.matmul, np.dot)
_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))


def with_blas_products(graph: Graph, regions: tuple[Region, ...]) -> tuple[Region, ...]:
    """The regions, those of products that NumPy's inner loop computes of that kind."""
    if not any(region.is_host for region in regions):
        return regions
    orders = memory_orders(graph)
    return tuple(
        [
            replace(region, kind=BLAS)
            if region.kind == "host" and is_by_blas(region.nodes[0], orders)
            else region
            for region in regions
        ]
    )


def is_by_blas(node: Node, orders: Orders) -> bool:
    """True if NumPy's inner loop may compute a node, on memory as it lies."""
    product = product_in(node.params)
    if product is None or not _is_of_matrices(node) or product_loop(node.type.dtype.char) is None:
        return False
    if product.fn not in _FUNCTIONS or any(is_by_value(each, orders) for each in node.args):
        return False
    views = [read_by_host(arg, orders) for arg in node.args]
    if product.apart and views[0].base is views[1].base:
        return False  # NumPy is to have two arrays
    if product.fn is np.dot and not all(map(_is_taken_by_dot, node.args, views)):
        return False
    if not all(map(_lies, views, product.lie)):
        return False
    if stored_strides(node, orders) != c_strides(node.type.shape):
        return False
    terms = node.args[0].type.shape[-1]
    return bool(math.prod(node.type.shape) * terms <= MOST_WORK)


def is_by_value(node: Node, orders: Orders) -> bool:
    """True if an operand has no memory as it is."""
    return is_stored_for_host(node, orders) or not node.type.ndim


def _is_of_matrices(node: Node) -> bool:
    """True if a node is a product of vectors and matrices of one dtype, or of a stack of these."""
    types = [node.type, *(arg.type for arg in node.args)]
    if len({each.dtype for each in types}) != 1 or node.type.dtype not in _TYPES:
        return False
    return all(0 < arg.type.ndim < 4 for arg in node.args)


def _is_taken_by_dot(operand: Node, view: View) -> bool:
    """True if ``np.dot`` does as the inner loop does: some operands it copies, or scales by."""
    shape = operand.type.shape
    return len(shape) < 3 and view.strides == c_strides(shape) and all(n > 1 for n in shape)


def _lies(view: View, lies: Lies) -> bool:
    """True if an operand lies as it did in the program, so that NumPy copies none."""
    if lies == "dense":
        return True
    return bool(view.strides[-1 if lies == "rows" else -2] == 1)
