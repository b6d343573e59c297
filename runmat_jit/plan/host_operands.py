"""What host calls are given."""

from __future__ import annotations

from typing import cast

from runmat_jit.graph.by_value import is_by_value
from runmat_jit.graph.constant import is_constant
from runmat_jit.graph.node import Node
from runmat_jit.ops.structure import constant_value
from runmat_jit.passes.fusion.access import Orders, read_by_host
from runmat_jit.plan.argument import HostOperand, InputScalar, NodeView, Number


def host_operands(call: Node, orders: Orders) -> tuple[HostOperand, ...]:
    """The operands of a host call: views of stored values show their memory, nothing is copied."""
    return tuple(_operand(node, orders) for node in call.args)


def _operand(node: Node, orders: Orders) -> HostOperand:
    dtype = node.type.dtype
    if is_constant(node):
        return Number(constant_value(node.params["bits"], dtype), dtype)
    if node.op.name == "count":
        return Number(cast("int", node.params["number"]), dtype)
    if is_by_value(node):
        return InputScalar(node)
    view = read_by_host(node, orders)
    return NodeView(node, view.base, view.offset, view.strides)
