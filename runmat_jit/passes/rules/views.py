"""Laws of views: transposes, reshapes, slices and broadcasts of one another."""

from __future__ import annotations

from collections.abc import Hashable

from runmat_jit.core.types import broadcast_shapes
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Node
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.rewrite import rule

ELEMENTWISE = tuple(row.name for row in ROWS.values() if row.kind == "elementwise")


def integers(node: Node, name: str) -> tuple[int, ...]:
    """A parameter that is a tuple of integers, such as axes or starts."""
    value = node.params[name]
    assert isinstance(value, tuple), f"{name} of {node} is a tuple"
    return value


def view(name: str, x: Node, like: Node, **params: Hashable) -> Node:
    """A view of ``x`` of the type of ``like``."""
    return make_node(name, (x,), params, like.type)


@rule("transpose", "reshape", "broadcast_to", "slice", law="a view of everything is the thing")
def drop_identity_view(node: Node) -> Node | None:
    (x,) = node.args
    if x.type != node.type:
        return None
    if node.op.name == "transpose" and _moves(integers(node, "axes"), x.type.shape):
        return None
    if node.op.name == "slice" and _reverses(node):
        return None
    return x


def _moves(axes: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Does a permutation change the order of elements? Axes of one element do not count."""
    order = [axis for axis in axes if shape[axis] != 1]
    return order != sorted(order)


def _reverses(node: Node) -> bool:
    """Of a slice that has as many elements as its operand, an axis either stays or is reversed."""
    return any(
        step < 0 and extent > 1
        for step, extent in zip(integers(node, "steps"), node.type.shape, strict=True)
    )


@rule("transpose", law="a transpose of a transpose is one transpose")
def join_transposes(node: Node) -> Node | None:
    (inner,) = node.args
    if inner.op.name != "transpose":
        return None
    first = integers(inner, "axes")
    axes = tuple(first[axis] for axis in integers(node, "axes"))
    return view("transpose", inner.args[0], node, axes=axes)


@rule("reshape", law="a reshape forgets the shape before it")
def join_reshapes(node: Node) -> Node | None:
    (inner,) = node.args
    if inner.op.name != "reshape":
        return None
    return make_node("reshape", inner.args, node.params, node.type)


@rule("broadcast_to", law="a broadcast of a broadcast is one broadcast")
def join_broadcasts(node: Node) -> Node | None:
    (inner,) = node.args
    if inner.op.name != "broadcast_to":
        return None
    return make_node("broadcast_to", inner.args, node.params, node.type)


@rule("slice", law="a slice of a slice is one slice")
def join_slices(node: Node) -> Node | None:
    (inner,) = node.args
    if inner.op.name != "slice":
        return None
    outer_steps, steps = integers(node, "steps"), integers(inner, "steps")
    starts = tuple(
        start + outer * step if extent else 0
        for start, step, outer, extent in zip(
            integers(inner, "starts"), steps, integers(node, "starts"), node.type.shape, strict=True
        )
    )
    joined = tuple(a * b for a, b in zip(steps, outer_steps, strict=True))
    return view("slice", inner.args[0], node, starts=starts, steps=joined, shape=node.type.shape)


@rule(*ELEMENTWISE, law="elementwise operands broadcast by themselves")
def drop_implied_broadcast(node: Node) -> Node | None:
    if not any(arg.op.name == "broadcast_to" for arg in node.args):
        return None
    args = list(node.args)
    for place, arg in enumerate(args):
        if arg.op.name != "broadcast_to":
            continue
        shorter = [*args[:place], arg.args[0], *args[place + 1 :]]
        if broadcast_shapes(*(each.type.shape for each in shorter)) == node.type.shape:
            args = shorter
    if tuple(args) == node.args:
        return None
    return make_node(node.op.name, tuple(args), node.params, node.type)


RULES = (
    drop_identity_view,
    join_transposes,
    join_reshapes,
    join_broadcasts,
    join_slices,
    drop_implied_broadcast,
)
