"""Products as a device with many threads computes them fast, where the rows and columns are few.

A tile of a product is the work of one group of threads. Of a product with a vector there is a row
or a column of a tile: it is a sum of products, which a reduction computes as fast as it reads the
matrix. A product of few tiles and many terms is the sum of the products of parts of the terms. Both
change bits, within the bound of the product, and depend on extents alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from runmat_jit.core.hardware import CORES, TILE
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import apply
from runmat_jit.graph.node import Graph, Node
from runmat_jit.ops.product import Product
from runmat_jit.passes.fusion.matrix_product import (
    MatrixProduct,
    as_matrices,
    shown,
    summed,
    swapped,
    turned,
)
from runmat_jit.passes.rewrite import rewrite, rule

TILES = 2 * CORES
"""Tiles of which a large device has some for each of its processors."""
TERMS = 4 * TILE
"""Terms that a part has at least: reading a tile of sums takes as long as some tens of them."""


@rule(
    "product",
    law="each element is the sum of the same terms, in the order of reductions",
)
def sum_with_a_vector(node: Node) -> Node | None:
    product = as_matrices(node)
    if product is None or min(product.rows, product.columns) != 1:
        return None
    a, b = node.args
    if product.columns == 1:
        left, right = a, b if b.type.ndim == 1 else turned(b)
        axis, keepdims = -1, b.type.ndim > 1 and a.type.ndim > 1
    else:
        left = apply("reshape", a, shape=(*a.type.shape, 1)) if a.type.ndim == 1 else turned(a)
        right, axis, keepdims = b, -2, a.type.ndim > 1
    terms = apply("multiply", left, right)
    return summed(terms, axis % terms.type.ndim, keepdims=keepdims)


@rule(
    "product",
    law="each element is the sum of the same terms, in parts",
)
def add_parts(node: Node) -> Node | None:
    product = as_matrices(node)
    if product is None or min(product.rows, product.columns) < 2:
        return None
    parts = parts_of(product)
    if parts < 2:
        return None
    a, b = node.args
    chunk = product.terms // parts
    whole = parts * chunk
    left = shown(a, -1, 0, whole)
    *batch, rows, _ = left.type.shape
    left = apply("reshape", left, shape=(*batch, rows, parts, chunk))
    left = apply("transpose", left, axes=swapped(left.type.ndim, -3, -2))
    right = shown(b, -2, 0, whole)
    *batch, _, columns = right.type.shape
    right = apply("reshape", right, shape=(*batch, parts, chunk, columns))
    partial = multiplied(node, left, right)
    total = summed(partial, partial.type.ndim - 3, keepdims=False)
    if whole == product.terms:
        return total
    rest = product.terms - whole
    last = multiplied(node, shown(a, -1, whole, rest), shown(b, -2, whole, rest))
    return apply("add", total, last)


def products_for_device(graph: Graph) -> Graph:
    """Let products of few rows or columns be sums, of vectors or of parts. Pure, idempotent."""
    return rewrite(graph, (sum_with_a_vector, add_parts))


def parts_of(product: MatrixProduct) -> int:
    """The parts of a product's terms with which it has tiles enough, if that is worth while."""
    tiles = math.prod(product.batch) * -(-product.rows // TILE) * -(-product.columns // TILE)
    return min(TILES // max(tiles, 1), product.terms // TERMS)


def multiplied(node: Node, a: Node, b: Node) -> Node:
    """A product like that of a node, of other matrices."""
    call: Any = node.params["call"]
    params = {**node.params, "call": replace(call, fn=Product(np.matmul))}
    shapes = (each.type.shape for each in (a, b))
    batch = np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    shape = (*batch, a.type.shape[-2], b.type.shape[-1])
    return Node(node.op, (a, b), params, TensorType(node.type.dtype, shape), node.line)
