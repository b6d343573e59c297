"""Laws of casts, and what can be computed before the program runs."""

from __future__ import annotations

import numpy as np

from runmat_jit.graph.apply import make_node
from runmat_jit.graph.constant import constant, constant_array, is_constant
from runmat_jit.graph.node import Node
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.rewrite import rule

FOLDED = tuple(
    row.name
    for row in ROWS.values()
    if row.kind == "elementwise" and row.exactness == "bit-defined"
)


@rule("cast", law="a cast to the same dtype keeps every value")
def drop_cast(node: Node) -> Node | None:
    return node.args[0] if node.args[0].type == node.type else None


@rule("cast", law="a cast of an exact cast is one cast")
def join_casts(node: Node) -> Node | None:
    (inner,) = node.args
    if inner.op.name != "cast":
        return None
    source, middle, target = inner.args[0].type.dtype, inner.type.dtype, node.type.dtype
    if not is_exact(source, middle):
        return None
    if target.kind == "i" and source.kind == middle.kind == "f":
        return None  # numbers that do not fit: what they become depends on the dtype cast from
    if source == target:
        return inner.args[0]
    return make_node("cast", inner.args, node.params, node.type)


@rule(*FOLDED, law="a bit-defined row of constants is a constant, where it reports no event")
def fold_constants(node: Node) -> Node | None:
    if node.type.shape != () or not node.args or not all(map(is_constant, node.args)):
        return None
    try:
        with np.errstate(all="raise"):
            value = node.op.numpy(*map(constant_array, node.args), **node.params)
    except FloatingPointError:
        return None
    return constant(value, node.type.dtype)


def is_exact(source: np.dtype, target: np.dtype) -> bool:
    """Does every value of ``source`` have its equal in ``target``?"""
    if source.kind == "i" and target.kind == "f":
        return bool(np.finfo(target).nmant + 1 >= 8 * source.itemsize - 1)
    return bool(np.can_cast(source, target, "safe"))


RULES = (drop_cast, join_casts, fold_constants)
