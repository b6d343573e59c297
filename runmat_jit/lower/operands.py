"""How the members of a region read their operands: computed beside them, or from memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from runmat_jit.core.types import KERNEL_ELEMENTS, is_complex
from runmat_jit.graph.constant import is_constant
from runmat_jit.graph.node import Node
from runmat_jit.lower.problem import Along, Iota, Operand, Read
from runmat_jit.passes.fusion.access import read_by_host, view_of
from runmat_jit.plan.argument import InputScalar, NodeBuffer
from runmat_jit.plan.plan import Plan


def operand_of(
    node: Node, axes: Sequence[int], rank: int, members: Collection[Node], plan: Plan
) -> Operand:
    """How a kernel gets ``node``.

    Args:
        node: The value wanted.
        axes: For each axis of ``node``, the axis of the problem that it runs along.
        rank: How many axes the problem has.
        members: What the kernel computes itself.
        plan: Where stored values lie.

    """
    if node in members or is_constant(node):
        return node
    view = view_of(node, plan.orders)
    base = view.base
    if is_constant(base):
        return base
    strides = spread(view.strides, axes, node, rank)
    if base.op.name == "count":
        number = cast("int", base.params["number"])
        return Read(Iota(0, 1, number, number >= 2**31), node.type.dtype, (0,) * rank)
    if base.op.name == "iota":
        start, step = base.params["start"], base.params["step"]
        assert isinstance(start, int | float)
        assert isinstance(step, int | float)
        counter = Iota(start, step, view.offset, base.type.size >= 2**31)
        return Read(counter, node.type.dtype, strides)
    if base.op.name == "input" and base.params["strides"] is None:
        return Read(InputScalar(base), node.type.dtype, (0,) * rank)
    return Read(NodeBuffer(base, view.offset), node.type.dtype, strides)


def gathered(node: Node, rank: int, plan: Plan) -> Read:
    """How a kernel gets the elements from which ``node`` takes some, but for their places."""
    base, index = node.args
    axis = cast("int", node.params["axis"])
    view = read_by_host(base, plan.orders)
    behind = base.type.ndim - axis - 1
    chosen = (0,) * (index.type.ndim - behind)
    along = (*view.strides[:axis], *chosen, *view.strides[axis + 1 :])
    strides = spread(along, aligned(node, rank), node, rank)
    place = Along(base.type.shape[axis], view.strides[axis])
    return Read(NodeBuffer(view.base, view.offset), node.type.dtype, strides, along=place)


def spread(strides: Sequence[int], axes: Sequence[int], node: Node, rank: int) -> tuple[int, ...]:
    """Strides of a value's axes as strides of the problem's; axes of extent 1 are broadcast."""
    along = [0] * rank
    for extent, stride, axis in zip(node.type.shape, strides, axes, strict=True):
        if extent != 1:
            along[axis] = stride
    return tuple(along)


def aligned(node: Node, rank: int) -> tuple[int, ...]:
    """The axes of a space of ``rank`` axes that NumPy's broadcasting gives to ``node``'s."""
    return tuple(range(rank - node.type.ndim, rank))


def in_window(read: Read) -> Read | None:
    """Return the read as a window of its whole memory; None if its elements form no vectors."""
    source, start = read.source, read.start
    if (
        read.window
        or read.memory is None
        or read.along is not None
        or not is_of_vectors(read.dtype)
    ):
        return None
    if isinstance(source, NodeBuffer):
        source, start = replace(source, offset=0), start + source.offset
    return replace(read, source=source, start=start, window="closed")


def is_of_vectors(dtype: np.dtype) -> bool:
    """True if windows can have such elements."""
    return KERNEL_ELEMENTS[dtype] in _ELEMENTS and not is_complex(dtype)


_ELEMENTS = frozenset({"f32", "f64", "i32", "i64"})
"""Element types that windows support."""
