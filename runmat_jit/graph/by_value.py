"""Values that are numbers without memory of their own."""

from __future__ import annotations

from runmat_jit.graph.constant import is_constant
from runmat_jit.graph.node import Node


def is_by_value(node: Node) -> bool:
    """True if the node is a number that whoever reads it is given: it has no memory."""
    if node.op.name == "input":
        return node.params["strides"] is None
    return node.op.name == "count" or is_constant(node)
