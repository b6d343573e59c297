"""The kind ``power_step_normalize``: a power iteration's step, and what makes its columns unit.

For a square matrix ``g``::

    q = g @ q
    q = q / sqrt(sum(q * q, axis=0))

or by any other value of a reduction over the product, such as its largest magnitude.
"""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.graph.constant import is_constant
from runmat_jit.graph.node import Node
from runmat_jit.ops.product import product_in
from runmat_jit.passes.fusion.explained_variance import viewed

KIND = "power_step_normalize"


def is_power_step(nodes: Sequence[Node], space: tuple[int, ...]) -> bool:
    """True if a product by a square matrix is divided by values of reductions over it."""
    return any(
        node.op.name == "divide"
        and node.type.shape == space
        and is_step(node.args[0])
        and is_reduced_from(node.args[1], node.args[0])
        for node in nodes
    )


def is_step(node: Node) -> bool:
    """True if a value is the product of a square matrix and something."""
    if product_in(node.params) is None or node.args[0].type.ndim != 2:
        return False
    rows, terms = node.args[0].type.shape
    return rows == terms


def is_reduced_from(node: Node, source: Node) -> bool:
    """True if a value is made of a reduction over another one, and of constants."""
    reduced, pending, seen = False, [node], {source}
    while pending:
        each = viewed(pending.pop())
        if each in seen or is_constant(each) or each.op.name == "count":
            continue
        if not each.args:
            return False
        seen.add(each)
        reduced |= each.op.reduction is not None
        pending += each.args
    return reduced
