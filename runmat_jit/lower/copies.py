"""Regions that only move elements where no strides do it: copies, joined arrays, updated arrays."""

from __future__ import annotations

from typing import Any, cast

from runmat_jit.core.hardware import CELL
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Node
from runmat_jit.lower.elementwise import lower_elementwise
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.operands import aligned, operand_of
from runmat_jit.lower.problem import Memory, Operand, Problem, Read, Store
from runmat_jit.passes.boxes import box_of_update, boxes_around
from runmat_jit.passes.fusion.access import stored_strides
from runmat_jit.passes.fusion.geometry import reshaped
from runmat_jit.plan.argument import NodeBuffer, Scratch
from runmat_jit.plan.plan import Plan

Shape = tuple[int, ...]


def lower_concatenate(node: Node, plan: Plan) -> tuple[Launch, ...]:
    """One kernel an operand."""
    axis: Any = node.params["axis"]
    strides, first = stored_strides(node, plan.orders), 0
    launches: list[Launch] = []
    for operand in node.args:
        part = NodeBuffer(node, first * strides[axis])
        launches += _copy(_whole(operand, plan), plan, operand.type.shape, part, strides)
        first += operand.type.shape[axis]
    return tuple(launches)


def lower_update(node: Node, plan: Plan) -> tuple[Launch, ...]:
    """A copy of the first operand, then the second stored over a strided part of it.

    An update in place needs no copy: its memory is that of the first operand.
    """
    base, value = node.args
    shape, own = base.type.shape, stored_strides(node, plan.orders)
    whole: Memory = NodeBuffer(node)
    if own != c_strides(shape):  # the part is given in C order memory
        whole = Scratch(0, node.type.dtype, node.type.size)
    offset: Any = node.params["offset"]
    strides: Any = node.params["strides"]
    part_shape: Any = node.params["shape"]
    rank = len(part_shape)
    fresh = _read(value, aligned(value, rank), rank, plan)
    written = _copy(fresh, plan, part_shape, whole, strides, start=offset)
    if node in plan.in_place:
        return written
    launches = (*_copy(_whole(base, plan), plan, shape, whole, c_strides(shape)), *written)
    if isinstance(whole, Scratch):
        updated = Read(whole, node.type.dtype, c_strides(shape))
        launches += _copy(updated, plan, shape, NodeBuffer(node), own)
    return launches


def copies_beside(node: Node, plan: Plan) -> tuple[Launch, ...]:
    """Copies of what an update leaves of its base: around its part, or of all, where that is less.

    That is so where the part is no box, and where the work is less than the launches.
    """
    if node in plan.in_place:
        return ()
    (base, _), memory = node.args, NodeBuffer(node)
    strides = c_strides(base.type.shape)
    written = box_of_update(node)
    around = None if written is None else boxes_around(written, base.type.shape)
    if around is None or base.type.size < CELL:
        return _copy(_whole(base, plan), plan, base.type.shape, memory, strides)
    launches: list[Launch] = []
    for each in around:
        starts, shape = tuple(p.start for p in each), tuple(p.count for p in each)
        params = {"starts": starts, "steps": (1,) * len(each), "shape": shape}
        part = make_node("slice", (base,), params, TensorType(base.type.dtype, shape))
        first = sum(start * stride for start, stride in zip(starts, strides, strict=True))
        launches += _copy(_whole(part, plan), plan, shape, memory, strides, start=first)
    return tuple(launches)


def copies_over(node: Node, memory: Scratch, plan: Plan) -> tuple[Launch, ...]:
    """A copy of what an update writes, from where it has been computed."""
    shape, offset = node.args[1].type.shape, cast("int", node.params["offset"])
    written, strides = Read(memory, memory.dtype, c_strides(shape)), node.params["strides"]
    return _copy(written, plan, shape, NodeBuffer(node), cast("Shape", strides), start=offset)


def lower_reshape(node: Node, plan: Plan) -> tuple[Launch, ...]:
    """Elements of another shape: walked in the operand's shape if the result's memory allows."""
    (operand,) = node.args
    source, own = operand.type.shape, stored_strides(node, plan.orders)
    along = reshaped(node.type.shape, own, source)
    if along is not None:
        return _copy(_whole(operand, plan), plan, source, NodeBuffer(node), along)
    scratch = Scratch(0, node.type.dtype, node.type.size)
    flat = Read(scratch, node.type.dtype, c_strides(node.type.shape))
    return (
        *_copy(_whole(operand, plan), plan, source, scratch, c_strides(source)),
        *_copy(flat, plan, node.type.shape, NodeBuffer(node), own),
    )


def lower_strided(node: Node, plan: Plan) -> tuple[Launch, ...]:
    """A view of memory in an order that the operand does not lie in: laid out first."""
    (operand,) = node.args
    order: Any = node.params["order"]
    offset: Any = node.params["offset"]
    strides: Any = node.params["strides"]
    shape = operand.type.shape
    scratch = Scratch(0, node.type.dtype, operand.type.size)
    view = Read(scratch, node.type.dtype, strides, offset)
    return (
        *_copy(_whole(operand, plan), plan, shape, scratch, c_strides(shape, order)),
        *_copy(view, plan, node.type.shape, NodeBuffer(node), stored_strides(node, plan.orders)),
    )


COPIES = {
    "concatenate": lower_concatenate,
    "update": lower_update,
    "reshape": lower_reshape,
    "strided": lower_strided,
}
"""How rows that move elements are lowered where they are regions of their own."""


def _copy(
    value: Operand, plan: Plan, shape: Shape, memory: Memory, strides: Shape, *, start: int = 0
) -> tuple[Launch, ...]:
    dtype = value.dtype if isinstance(value, Read) else value.type.dtype
    store = Store(value, memory, dtype, strides, start)
    launch = lower_elementwise(Problem(shape, (), (store,), plan.device))
    return () if launch is None else (launch,)


def _whole(node: Node, plan: Plan) -> Operand:
    return _read(node, aligned(node, node.type.ndim), node.type.ndim, plan)


def _read(node: Node, axes: Shape, rank: int, plan: Plan) -> Operand:
    return operand_of(node, axes, rank, (), plan)
