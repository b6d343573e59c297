"""New nodes by name, for passes and tests: not yet interned by any builder."""

from __future__ import annotations

from collections.abc import Hashable

from runmat_jit.core.types import TensorType
from runmat_jit.graph.node import Node
from runmat_jit.ops.spec import Params
from runmat_jit.ops.table import ROWS


def make_node(name: str, args: tuple[Node, ...], params: Params, kind: TensorType) -> Node:
    """A node of a known type; this is the ``Make`` that rows decompose by."""
    return Node(ROWS[name], args, params, kind)


def apply(name: str, *args: Node, **params: Hashable) -> Node:
    """A node whose type its row's rule says; operands have the dtypes that the row computes with.

    Raises:
        AssertionError: the rule does not cover these operands, or wants them cast.

    """
    op = ROWS[name]
    assert op.result is not None, f"{name} has no rule: its type must be given"
    found = op.result(tuple(arg.type for arg in args), params)
    assert found is not None, f"the rule of {name} does not cover {args} {params}"
    wanted = found.operand_dtypes
    assert wanted == tuple(arg.type.dtype for arg in args), f"{name} computes with {wanted}"
    return Node(op, args, params, found.type)
