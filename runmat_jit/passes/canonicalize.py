"""Puts equal computations into equal form."""

from __future__ import annotations

from runmat_jit.graph.node import Graph
from runmat_jit.passes.rewrite import rewrite
from runmat_jit.passes.rules import arithmetic, casts, views

RULES = (*casts.RULES, *arithmetic.RULES, *views.RULES)


def canonicalize(graph: Graph) -> Graph:
    """Put equal computations into equal form. Pure, idempotent, keeps every bit.

    A NaN stays a NaN; which of NaN's bit patterns it has is nobody's promise. There is no
    reassociation, no contraction, and nothing that is wrong for a NaN, an infinity or ``-0.0``:
    neither ``x * 0`` nor ``x - x`` is 0, and ``x + 0.0`` is not ``x``.
    """
    for _ in range(_ROUNDS):
        again = rewrite(graph, RULES)
        if again is graph:
            break
        graph = again  # what dropped an operand may let another rule apply
    return graph


_ROUNDS = 4
