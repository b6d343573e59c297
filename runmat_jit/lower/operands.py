"""How the members of a region read their operands: computed beside them, or from memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runmat_jit.graph.constant import is_constant
from runmat_jit.graph.node import Node
from runmat_jit.lower.launch import InputScalar, NodeBuffer
from runmat_jit.lower.problem import Iota, Operand, Read
from runmat_jit.passes.fusion.access import view_of
from runmat_jit.plan.plan import Plan


def operand_of(
    node: Node, axes: Sequence[int], extents: Sequence[int], members: Collection[Node], plan: Plan
) -> Operand:
    """How a kernel gets ``node``.

    Args:
        node: The value wanted.
        axes: For each axis of ``node``, the axis of the problem that it runs along.
        extents: The problem's extents; an axis of extent 1 is broadcast along a longer one.
        members: What the kernel computes itself.
        plan: Where stored values lie.

    """
    if node in members or is_constant(node):
        return node
    view = view_of(node, plan.orders)
    base = view.base
    if is_constant(base):
        return base
    strides = [0] * len(extents)
    for extent, stride, axis in zip(node.type.shape, view.strides, axes, strict=True):
        strides[axis] = stride if extent == extents[axis] else 0
    if base.op.name == "iota":
        start, step = base.params["start"], base.params["step"]
        assert isinstance(start, int | float)
        assert isinstance(step, int | float)
        counter = Iota(start, step, view.offset, base.type.size >= 2**31)
        return Read(counter, node.type.dtype, tuple(strides))
    if base.op.name == "input" and base.params["strides"] is None:
        return Read(InputScalar(base), node.type.dtype, (0,) * len(extents))
    return Read(NodeBuffer(base, view.offset), node.type.dtype, tuple(strides))


def aligned(node: Node, rank: int) -> tuple[int, ...]:
    """The axes of a space of ``rank`` axes that NumPy's broadcasting gives to ``node``'s."""
    return tuple(range(rank - node.type.ndim, rank))
