"""Groups: regions while they grow.

Every group has a depth, and what a group reads from other groups lies at smaller depths. That makes
cycles between regions impossible, and two groups of one depth may be joined without looking at the
rest of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from runmat_jit.graph.node import Node
from runmat_jit.passes.fusion.reduction_shape import Step

Shape = tuple[int, ...]
Axes = tuple[int, ...]

MOST_NODES = 200
MOST_FLOPS = 1500.0
"""Together they bound the time that a kernel takes to compile."""
MOST_READS = 24
"""Arrays that a region reads from memory. With the nodes, of which all may be stored, it bounds the
arrays of a kernel, of which a launch takes 256."""
MOST_REASONS = 8


@dataclass(slots=True, eq=False)
class Group:
    """Nodes that will be one region.

    Attributes:
        depth: Greater than that of every group this one reads.
        space: The shape over which elements are computed.
        step: The first step of its reductions, None as long as it has none.
        closed: It takes no other nodes in.

    """

    depth: int
    space: Shape
    step: Step | None = None
    closed: bool = False
    nodes: list[Node] = field(default_factory=list)
    reads: dict[Node, None] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    flops: float = 0.0
    _joined: Group | None = None

    def root(self) -> Group:
        """The group that this one has become part of."""
        group = self
        while group._joined is not None:
            if group._joined._joined is not None:
                group._joined = group._joined._joined  # halve the way for the next question
            group = group._joined
        return group

    def add(self, node: Node, reads: Iterable[Node]) -> None:
        """Take a node in."""
        self.nodes.append(node)
        self.reads.update(dict.fromkeys(reads))
        self.flops += node.op.flops

    def absorb(self, other: Group) -> Group:
        """Become one with another group; the one that remains."""
        small, large = sorted((self, other), key=lambda group: len(group.nodes))
        large.nodes += small.nodes
        large.reads.update(small.reads)
        large.flops += small.flops
        large.step = large.step or small.step
        large.depth = max(large.depth, small.depth)
        large.space = max(large.space, small.space, key=lambda s: (math.prod(s), len(s)))
        large.reasons.update(small.reasons)
        small._joined = large
        small.nodes, small.reads = [], {}
        return large

    def explain(self, reason: str) -> None:
        """Remember why something is not part of it."""
        if len(self.reasons) < MOST_REASONS:
            self.reasons[reason] = None


def obstacle(groups: Iterable[Group], node: Node | None = None) -> str | None:
    """Why groups (and a node that joins them) cannot be one; None where they can."""
    distinct = list(dict.fromkeys(groups))
    if any(group.closed for group in distinct):
        return "it is a region of its own"
    if len({group.step for group in distinct if group.step is not None}) > 1:
        return "the reductions run over different axes"
    nodes = sum(len(group.nodes) for group in distinct)
    flops = sum(group.flops for group in distinct) + (node.op.flops if node else 0)
    reads = len({read for group in distinct for read in group.reads}) if len(distinct) > 1 else 0
    if nodes >= MOST_NODES or flops > MOST_FLOPS or reads > MOST_READS:
        return "the kernel would be too long"
    if any(len(group.reads) >= MOST_READS for group in distinct):
        return "the kernel would read too many arrays"
    return None
