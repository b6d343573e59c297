"""Reads of what has just been written take the written value, not the array."""

from __future__ import annotations

from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.boxes import Box, are_disjoint, box, box_of_update, is_whole
from runmat_jit.passes.rewrite import rewrite, rule
from runmat_jit.passes.rules.views import RULES, integers


@rule("slice", law="a read of what an update did not touch reads its base", drops=True)
def read_beside_update(node: Node) -> Node | None:
    part, written = _parts(node)
    if written is None or not are_disjoint(part, written):
        return None
    return make_node("slice", (node.args[0].args[0],), node.params, node.type)


@rule("slice", law="a read within what an update wrote reads the value", drops=True)
def read_within_update(node: Node) -> Node | None:
    part, written = _parts(node)
    if written is None:
        return None
    inside = [p.within(whole) for p, whole in zip(part, written, strict=True)]
    if None in inside:
        return None
    found = [p for p in inside if p is not None]
    value = _shaped(node.args[0], tuple(p.count for p in written))
    params = {
        "starts": tuple(p.start for p in found),
        "steps": tuple(p.step for p in found),
        "shape": node.type.shape,
    }
    return make_node("slice", (value,), params, node.type)


@rule("update", law="an update of everything is the value", drops=True)
def drop_overwritten_base(node: Node) -> Node | None:
    written = box_of_update(node)
    if written is None or not is_whole(written, node.type.shape):
        return None
    return _shaped(node, node.type.shape)


@rule("update", law="the later of two updates of the same part counts", drops=True)
def drop_overwritten_update(node: Node) -> Node | None:
    earlier, value = node.args
    if earlier.op.name != "update" or dict(earlier.params) != dict(node.params):
        return None
    return make_node("update", (earlier.args[0], value), node.params, node.type)


def forward_updates(graph: Graph) -> Graph:
    """Forward written values to the reads of them. Pure, idempotent, keeps every bit."""
    rules = (
        read_beside_update,
        read_within_update,
        drop_overwritten_base,
        drop_overwritten_update,
        *RULES,
    )
    return rewrite(graph, rules)


def _parts(node: Node) -> tuple[Box, Box | None]:
    """What a slice reads, and what the update it reads from wrote."""
    part = box(integers(node, "starts"), integers(node, "steps"), node.type.shape)
    (source,) = node.args
    return part, box_of_update(source) if source.op.name == "update" else None


def _shaped(update: Node, shape: tuple[int, ...]) -> Node:
    """The value that an update writes, in the shape of the part of the base."""
    value = update.args[1]
    dtype, written = value.type.dtype, integers(update, "shape")
    if value.type.shape != written:
        value = make_node("broadcast_to", (value,), {"shape": written}, TensorType(dtype, written))
    return make_node("reshape", (value,), {"shape": shape}, TensorType(dtype, shape))
