"""The kind ``matmul_epilogue``: what elementwise operations make of a product, in its own memory.

The product is one call of BLAS, whose bits depend on how many rows it is given, so none is
computed in blocks of rows. The epilogue runs over the whole product, and its result takes the
product's place.
"""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.graph.node import Node
from runmat_jit.ops.product import product_in


def is_product(node: Node) -> bool:
    """True if a node is a product of matrices, or of matrices and vectors, that NumPy computes."""
    return product_in(node.params) is not None


def is_matmul_epilogue(nodes: Sequence[Node], space: tuple[int, ...]) -> bool:
    """True if elementwise operations read a product, element by element."""
    return all(node.op.kind == "elementwise" for node in nodes) and any(
        is_product(arg) and arg.type.shape == space for node in nodes for arg in node.args
    )
