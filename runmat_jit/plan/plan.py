"""A plan: regions in the order in which they run, where, and how every stored value lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.device import CPU, Device
from runmat_jit.plan.notes import RESULTS, Notes


@frozen
class Plan:
    """Regions in order; ``orders`` gives the memory order of every stored node's axes.

    ``in_place`` are updates and epilogues of products that have no memory of their own, with the
    stored node whose memory they take. ``direct`` are values that kernels write into the memory of
    an input themselves.
    """

    graph: Graph
    regions: tuple[Region, ...]
    orders: Mapping[Node, tuple[int, ...]]
    in_place: Mapping[Node, Node]
    device: Device = CPU
    notes: Notes = RESULTS
    direct: Mapping[Node, Node] = field(default_factory=dict)
