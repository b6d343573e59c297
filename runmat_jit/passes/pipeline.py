"""The passes in their order: what happens to a graph before it is cut into regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runmat_jit.graph.node import Graph
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.passes.canonicalize import canonicalize
from runmat_jit.passes.cut_at_joins import cut_at_joins
from runmat_jit.passes.eliminate_dead import eliminate_dead
from runmat_jit.passes.expand import expand
from runmat_jit.passes.forward_updates import forward_updates
from runmat_jit.passes.move_views import move_views
from runmat_jit.passes.read_late import read_late
from runmat_jit.passes.rolls import rolls_at_positions

Pass = Callable[[Graph], Graph]

PASSES: tuple[Pass, ...] = (
    eliminate_dead,  # what nobody asks for costs no further thought
    expand,  # from here on: rows with kernel code, views, inputs and host calls only
    canonicalize,  # equal computations are one node
    forward_updates,  # what is written and read again needs no memory
    move_views,  # what is viewed only needs no memory
    cut_at_joins,  # what is put together only to be computed with needs no memory
    canonicalize,  # what these brought together
    read_late,  # what is stored in an array is not stored once more
)


_CUT = PASSES.index(cut_at_joins)
PASSES_OF_A_GPU: tuple[Pass, ...] = (*PASSES[:_CUT], rolls_at_positions, *PASSES[_CUT:])
"""The same where each piece of an array is a kernel."""


def optimize(graph: Graph, passes: Sequence[Pass] = PASSES, *, verify: bool = False) -> Graph:
    """The graph that is cut into regions: the same outputs, bit for bit.

    Raises:
        GraphError: ``verify`` is set, and the graph given or one that a pass made is not valid.

    """
    if verify:
        verify_graph(graph)
    for each in passes:
        graph = each(graph)
        if verify:
            verify_graph(graph)
    return graph
