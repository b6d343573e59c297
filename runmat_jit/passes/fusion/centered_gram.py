"""The kind ``centered_gram``: the product of a centered matrix and its transpose, by half.

For a matrix ``x`` of observations in rows::

    (x - mean(x, axis=0)).T @ (x - mean(x, axis=0))

or in columns, ``z @ z.T`` with ``z = x - mean(x, axis=1)[:, None]``. Divisors and what else follows
are an epilogue. However often the program centers ``x``, it is done once, and BLAS computes one
triangle of the result, which is symmetric.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runmat_jit.graph.constant import constant_array, is_constant
from runmat_jit.graph.node import Graph, Node
from runmat_jit.ops.product import product_in
from runmat_jit.passes.rewrite import rewrite, rule

KIND = "centered_gram"
_REPEATED = ("cast", "reshape", "broadcast_to")


@rule(
    "product",
    law="each element is the sum of the same terms, rounded by another routine of BLAS",
)
def multiply_by_half(node: Node) -> Node | None:
    product = product_in(node.params)
    if product is None or product.symmetric or not is_gram_of_centered(node):
        return None
    call: Any = node.params["call"]
    half = replace(product, apart=False, symmetric=True)
    params = {**node.params, "call": replace(call, fn=half)}
    return Node(node.op, node.args, params, node.type, node.line)


def centered_grams(graph: Graph) -> Graph:
    """Let products of a centered matrix with its transpose be computed by half. Pure, idempotent.

    Changes bits, within the bound of the product: the one pass that does.
    """
    return rewrite(graph, (multiply_by_half,))


def is_gram_of_centered(node: Node) -> bool:
    """True if a product is ``z.T @ z`` or ``z @ z.T`` of a matrix centered along its sum."""
    left, right = node.args
    if _is_transpose(left, right):
        return is_centered(right, axis=0)
    return _is_transpose(right, left) and is_centered(left, axis=1)


def _is_transpose(node: Node, of: Node) -> bool:
    return node.op.name == "transpose" and node.args[0] is of and node.params["axes"] == (1, 0)


def is_centered(node: Node, axis: int) -> bool:
    """True if a matrix is ``x - mean(x)`` along an axis."""
    if node.op.name != "subtract":
        return False
    x, mean = node.args
    if x.type != node.type or x.type.ndim != 2:
        return False
    if mean.type.ndim != 2 and not (axis == 0 and mean.type.ndim == 1):
        return False
    return _mean_along(mean, axis) is x


def _mean_along(node: Node, axis: int) -> Node | None:
    """What a value is the mean of along an axis; None where it is none."""
    node = _unrepeated(node)
    if node.op.name != "divide":
        return None
    total, count = map(_unrepeated, node.args)
    if total.op.name != "sum" or total.params["axis"] != (axis,):
        return None
    x = _uncast(total.args[0])
    return x if _number(count) == x.type.shape[axis] else None


def _unrepeated(node: Node) -> Node:
    """The value before casts, and before axes of extent 1 were added or repeated."""
    while node.op.name in _REPEATED:
        node = node.args[0]
    return node


def _uncast(node: Node) -> Node:
    while node.op.name == "cast":
        node = node.args[0]
    return node


def _number(node: Node) -> Any:
    if node.op.name == "count":
        return node.params["number"]
    return constant_array(node)[()] if is_constant(node) else None
