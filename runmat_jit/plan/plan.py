"""A plan: regions in the order in which they run, and where every stored value lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.fusion.region import Region


@dataclass(frozen=True, slots=True)
class Plan:
    """Regions in order; ``orders`` gives the memory order of every stored node's axes.

    ``builtins`` are functions of an adapter that its kernels may use; None: kernels that give the
    same bits everywhere.
    """

    graph: Graph
    regions: tuple[Region, ...]
    orders: Mapping[Node, tuple[int, ...]]
    builtins: frozenset[str] | None = None
