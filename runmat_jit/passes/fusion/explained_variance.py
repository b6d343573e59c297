"""The kind ``explained_variance``: the diagonal of a product, of which nothing else is computed.

For matrices ``a`` and ``b``, and for directions in the columns of ``q``::

    diag(a @ b) == sum(a.T * b, axis=0)
    diag(q.T @ (g @ q)) == sum(q * (g @ q), axis=0)

So is a trace: ``trace(a @ b)`` takes as many multiplications as ``a`` has elements. The name is
that of a region of which one factor is a product that the other one is a factor of.
"""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.graph.apply import apply
from runmat_jit.graph.node import Graph, Node
from runmat_jit.ops.product import product_in
from runmat_jit.passes.fusion.access import is_view
from runmat_jit.passes.fusion.matrix_product import as_matrices, shown, summed, turned
from runmat_jit.passes.rewrite import rewrite, rule

KIND = "explained_variance"


_LAW = "each element is the sum of the same terms, in the order of reductions"


@rule("sum", law=_LAW)
def multiply_for_a_trace(node: Node) -> Node | None:
    terms = terms_of_diagonal(node.args[0])
    if terms is None or node.type.shape:
        return None
    return apply("sum", terms, axis=(0, 1), keepdims=False, dtype=node.type.dtype.name)


@rule("strided", law=_LAW)
def multiply_for_a_diagonal(node: Node) -> Node | None:
    terms = terms_of_diagonal(node)
    return None if terms is None else summed(terms, 0, keepdims=False)


def terms_of_diagonal(node: Node) -> Node | None:
    """What is summed over axis 0 for the diagonal of a product; None for any other value."""
    if node.op.name != "strided":
        return None
    (product,) = node.args
    if as_matrices(product) is None or product.type.ndim != 2 or not is_diagonal(node):
        return None
    (count,), (a, b) = node.type.shape, product.args
    if a.type.ndim != 2 or b.type.ndim != 2:
        return None
    return apply("multiply", shown(turned(a), 1, 0, count), shown(b, 1, 0, count))


def diagonals_of_products(graph: Graph) -> Graph:
    """Let diagonals of products be sums of products. Pure, idempotent.

    Changes bits, within the bound of the product.
    """
    return rewrite(rewrite(graph, (multiply_for_a_trace,)), (multiply_for_a_diagonal,))


def has_diagonal_of_product(graph: Graph) -> bool:
    """True if a graph has a value that this kind computes with bits of its own."""
    return any(terms_of_diagonal(node) is not None for node in graph.nodes)


def is_diagonal(node: Node) -> bool:
    """True if a strided view is the main diagonal of a matrix that lies in rows."""
    rows, columns = node.args[0].type.shape
    wanted = {
        "offset": 0,
        "shape": (min(rows, columns),),
        "strides": (columns + 1,),
        "order": (0, 1),
    }
    return dict(node.params) == wanted


def is_explained_variance(nodes: Sequence[Node], _space: tuple[int, ...]) -> bool:
    """True if sums of products are of a product of matrices and of one of its factors."""
    return any(
        node.op.name == "sum"
        and node.args[0].op.name == "multiply"
        and any(is_factor(*pair) for pair in pairs_of(node.args[0]))
        for node in nodes
    )


def pairs_of(node: Node) -> tuple[tuple[Node, Node], tuple[Node, Node]]:
    """The two factors, seen either way."""
    a, b = map(viewed, node.args)
    return (a, b), (b, a)


def is_factor(product: Node, factor: Node) -> bool:
    """True if a value is a factor of a product of matrices."""
    return product_in(product.params) is not None and factor in map(viewed, product.args)


def viewed(node: Node) -> Node:
    """What a view shows elements of."""
    while is_view(node):
        node = node.args[0]
    return node
