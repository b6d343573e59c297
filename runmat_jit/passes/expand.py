"""Replaces rows without kernel code of their own by what they are made of."""

from __future__ import annotations

from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Graph, Node
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.rewrite import rewrite, rule

DECOMPOSED = tuple(row.name for row in ROWS.values() if row.decompose is not None)


@rule(*DECOMPOSED, law="a row that decomposes is what its row says it is made of")
def decompose(node: Node) -> Node | None:
    row = node.op
    assert row.decompose is not None, "the rule is about rows that decompose"
    replacement = row.decompose(make_node, node.args, node.params, node.type)
    assert isinstance(replacement, Node), f"{row.name} decomposes into a node"
    return replacement


def expand(graph: Graph) -> Graph:
    """Leave only rows that kernels can compute or NumPy is called for. Pure, idempotent."""
    return rewrite(graph, (decompose,))
