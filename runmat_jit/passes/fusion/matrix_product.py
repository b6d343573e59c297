"""Products of matrices as graphs have them, and the views and sums that others are made of."""

from __future__ import annotations

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.apply import apply
from runmat_jit.graph.node import Node
from runmat_jit.ops.product import product_in

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


@frozen
class MatrixProduct:
    """Products of matrices: ``rows`` by ``terms`` times ``terms`` by ``columns`` for all ``batch``.

    ``axes`` says which axes of the result these three are, the rows' and the columns' None where
    an operand is a vector.
    """

    node: Node
    batch: tuple[int, ...]
    rows: int
    terms: int
    columns: int
    axes: tuple[int | None, ...]


def joins_rows(node: Node) -> bool:
    """Return True for a product that BLAS computes for the rows of all matrices of a stack."""
    product = product_in(node.params)
    return product is not None and product.joins(*(arg.type for arg in node.args))


def as_matrices(node: Node) -> MatrixProduct | None:
    """A product of matrices or vectors of floats; None for any other node."""
    product = product_in(node.params)
    if product is None or product.symmetric or node.type.dtype not in _FLOATS:
        return None
    a, b = (arg.type for arg in node.args)
    if {a.dtype, b.dtype} != {node.type.dtype} or 0 in (a.ndim, b.ndim):
        return None
    rank = node.type.ndim
    column = None if b.ndim == 1 else rank - 1
    row = None if a.ndim == 1 else rank - (1 if column is None else 2)
    batch = range(rank - (row is not None) - (column is not None))
    return MatrixProduct(
        node,
        tuple([node.type.shape[axis] for axis in batch]),
        1 if row is None else a.shape[-2],
        a.shape[-1],
        1 if column is None else b.shape[-1],
        (*batch, row, column),
    )


# -- nodes -----------------------------------------------------------------------------------------
def turned(node: Node) -> Node:
    """A matrix, or a stack of such, transposed."""
    return apply("transpose", node, axes=swapped(node.type.ndim, -2, -1))


def swapped(ndim: int, first: int, second: int) -> tuple[int, ...]:
    """All axes in order, but for two."""
    axes = list(range(ndim))
    axes[first], axes[second] = axes[second], axes[first]
    return tuple(axes)


def shown(node: Node, axis: int, start: int, extent: int) -> Node:
    """Some of an axis."""
    shape, starts = list(node.type.shape), [0] * node.type.ndim
    if shape[axis] == extent:
        return node
    shape[axis], starts[axis] = extent, start
    steps = (1,) * node.type.ndim
    return apply("slice", node, starts=tuple(starts), steps=steps, shape=tuple(shape))


def summed(node: Node, axis: int, *, keepdims: bool) -> Node:
    """Sums along an axis."""
    return apply("sum", node, axis=(axis,), keepdims=keepdims, dtype=node.type.dtype.name)
