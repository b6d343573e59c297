"""Replaces what has no kernel code of its own by what it is made of."""

from __future__ import annotations

from runmat_jit.graph.apply import make_node
from runmat_jit.graph.constant import constant
from runmat_jit.graph.node import Graph, Node
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.fusion.edges import reduced_axes
from runmat_jit.passes.fusion.reduction_shape import has_moments_of_cells
from runmat_jit.passes.rewrite import rewrite, rule
from runmat_jit.passes.rules import complex_parts

DECOMPOSED = tuple(row.name for row in ROWS.values() if row.decompose is not None)
REDUCTIONS = tuple(row.name for row in ROWS.values() if row.reduction is not None)


@rule(*DECOMPOSED, law="a row that decomposes is what its row says it is made of")
def decompose(node: Node) -> Node | None:
    row = node.op
    assert row.decompose is not None, "the rule is about rows that decompose"
    replacement = row.decompose(make_node, node.args, node.params, node.type)
    assert isinstance(replacement, Node), f"{row.name} decomposes into a node"
    return replacement


@rule(*REDUCTIONS, law="a reduction of no elements is its identity")
def reduce_nothing(node: Node) -> Node | None:
    """No kernel reads memory without elements, whatever its address."""
    (x, *_), reduction = node.args, node.op.reduction
    if 0 not in x.type.shape or reduction is None or reduction.identity is None:
        return None
    value, kind = constant(reduction.identity, node.type.dtype), node.type
    if not kind.shape:
        return value
    return make_node("broadcast_to", (value,), {"shape": kind.shape}, kind)


@rule("squared_deviations", law="of a single cell the moments are found in two passes, as NumPy's")
def in_two_passes(node: Node) -> Node | None:
    x, mean = node.args
    if has_moments_of_cells(x.type.shape, reduced_axes(node), node.type.dtype):
        return None
    rest = make_node("subtract", (x, mean), {}, x.type)
    return make_node("sum", (make_node("square", (rest,), {}, x.type),), node.params, node.type)


def expand(graph: Graph) -> Graph:
    """Leave only what kernels can compute or NumPy is called for. Pure, idempotent.

    Of complex numbers kernels compute the parts.
    """
    return rewrite(graph, (*complex_parts.RULES, decompose, reduce_nothing, in_two_passes))
