"""Groups: regions while they grow.

Every group has a depth, and what a group reads from other groups lies at smaller depths. That makes
cycles between regions impossible, and two groups of one depth may be joined without looking at the
rest of the graph.

Host calls lie between the depths of kernels, so that what comes before and after them is at the
same depths, and is joined, as if their results were inputs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import field

from runmat_jit.core.hardware import IN_REGISTERS
from runmat_jit.core.reasons import Reason
from runmat_jit.core.slotted import slotted_object
from runmat_jit.graph.node import Node
from runmat_jit.passes.fusion.reduction_shape import Step, in_registers

Shape = tuple[int, ...]
Axes = tuple[int, ...]
Depth = tuple[int, int]
"""The greatest number of kernels before it, and of host calls after the last of these."""
Site = tuple[Node, int]
"""Where reading begins: a stored value, and the offset in it."""

MOST_NODES = 200
"""Operations of a kernel."""
MOST_COPIES = 2048
"""The same where threads of a GPU have rows or columns in registers: each of a thread's elements
has code of its own, also in iterations of a loop."""
ENOUGH_NODES, ENOUGH_COPIES = 80, 1280
"""A kernel with this many nodes, or copies of them, takes no further iteration of a loop."""
ENOUGH_FLOPS, ENOUGH_FLOPS_OF_COPIES = 1000.0, 2500.0
"""Likewise for floating-point operations: of the nodes, and of all their copies."""
MOST_FLOPS = 1500.0
"""Together with the operations they bound the time that a kernel takes to compile."""
MOST_READS = 24
"""Arrays that a region reads from memory."""
MOST_PLACES = 240
"""Addresses that a kernel may have to read from or to write to; a launch takes 256."""
_PLACES_OF_REDUCTION = 4
"""Its result, partial results, and running ones of a column and of a block."""
MOST_REASONS = 8
"""Reasons that a region reports for being no larger."""


INPUTS: Depth = (-1, 0)
"""Where the inputs of a graph lie."""


def behind(depth: Depth, node: Node) -> Depth:
    """The depth of a new group of ``node`` that reads what lies at ``depth``."""
    kernels, host_calls = depth
    return (kernels, host_calls + 1) if node.op.kind == "host" else (kernels + 1, 0)


@slotted_object
class Group:
    """Nodes that will be one region.

    Attributes:
        depth: Greater than that of every group this one reads.
        space: The shape over which elements are computed.
        step: The first step of its reductions, None as long as it has none.
        on_gpu: It is to run on a GPU.
        closed: It is one node alone.
        ended: Nothing reads its last node in it: the position of an extreme, or a scan.
        gathers: It reads elements at computed places.
        walks: It has scans, which walk along lines.
        draws: It makes random numbers, some at a time.
        updates: Some of its values are stored over parts of arrays.
        reads: The stored values that it reads, and ``sites`` the places in them.
        places: How many places in memory its nodes may be written to.
        flops: Of its code, and ``size`` its operations: turns of loops share what they have.

    """

    depth: Depth
    space: Shape
    step: Step | None = None
    on_gpu: bool = False
    closed: bool = False
    ended: bool = False
    gathers: bool = False
    walks: bool = False
    draws: bool = False
    updates: bool = False
    nodes: list[Node] = field(default_factory=list)
    reads: dict[Node, None] = field(default_factory=dict)
    sites: set[Site] = field(default_factory=set)
    reasons: dict[Reason, None] = field(default_factory=dict)
    flops: float = 0.0
    size: int = 0
    places: int = 0
    _joined: Group | None = None

    @property
    def is_host(self) -> bool:
        """True if it is a host call."""
        return bool(self.nodes) and self.nodes[0].op.kind == "host"

    @property
    def in_registers(self) -> int:
        """Elements of a row or column per GPU thread if registers hold all of them, else 0."""
        return in_registers(self.step, self.space) if self.on_gpu and self.step else 0

    @property
    def is_open(self) -> bool:
        """True if it takes other nodes in."""
        return not self.closed and not self.ended

    def root(self) -> Group:
        """The group that this one has become part of."""
        group = self
        while group._joined is not None:
            if group._joined._joined is not None:
                group._joined = group._joined._joined  # halve the way for the next question
            group = group._joined
        return group

    def add(self, node: Node, sites: Collection[Site], *, shared: bool) -> None:
        """Take in a node that reads from memory at ``sites``; ``shared``: others have its code."""
        self.nodes.append(node)
        self.gathers = self.gathers or node.op.kind == "gather"
        self.walks = self.walks or node.op.scan is not None
        self.draws = self.draws or makes_blocks(node)
        self.updates = self.updates or node.op.name == "update"
        self.sites.update(sites)
        self.reads.update(dict.fromkeys(base for base, _ in sites))
        self.flops += 0 if shared else node.op.flops
        self.size += not shared
        self.places += 1 if node.op.reduction is None else _PLACES_OF_REDUCTION

    def absorb(self, other: Group) -> Group:
        """Become one with another group; the one that remains."""
        small, large = sorted((self, other), key=lambda group: len(group.nodes))
        large.nodes += small.nodes
        large.reads.update(small.reads)
        large.sites |= small.sites
        large.flops += small.flops
        large.size += small.size
        large.places += small.places
        large.step = large.step or small.step
        large.ended = large.ended or small.ended
        large.gathers = large.gathers or small.gathers
        large.walks = large.walks or small.walks
        large.draws = large.draws or small.draws
        large.updates = large.updates or small.updates
        large.depth = max(large.depth, small.depth)
        large.space = max(large.space, small.space, key=lambda s: (math.prod(s), len(s)))
        large.reasons.update(small.reasons)
        small._joined = large
        small.nodes, small.reads, small.sites = [], {}, set()
        return large

    def explain(self, reason: Reason) -> None:
        """Remember why something is not part of it."""
        if len(self.reasons) < MOST_REASONS:
            self.reasons[reason] = None


def makes_blocks(node: Node) -> bool:
    """True if an operation makes random numbers, of which a lane of a kernel computes blocks."""
    return node.op.name in ("random_uniform", "random_normal")


def kept(step: Step, shape: Shape) -> int:
    """Elements of a reduction that a lane keeps, each with code of its own; 1: it walks them."""
    extent = step.extent(shape)
    return extent if step.style != "row" and 1 < extent <= IN_REGISTERS else 1


def obstacle(
    groups: Iterable[Group], node: Node | None = None, *, before: Group | None = None
) -> Reason | None:
    """Reason why groups (and a node that joins them) cannot be one; None where they can.

    The others go ``before`` a group whose last node is a reduction: it may have ended.
    """
    distinct = list(dict.fromkeys(groups))
    if any(not g.is_open and (g is not before or g.closed or g.step is None) for g in distinct):
        return Reason("region-of-its-own", "it is a region of its own")
    return _clash(distinct, node) or _excess(distinct, node)


def _clash(groups: Sequence[Group], node: Node | None) -> Reason | None:
    """What groups do that one kernel does not do together."""
    op = None if node is None else node.op
    reduces = any(group.step is not None for group in groups) or bool(op and op.reduction)
    walks = any(group.walks for group in groups) or bool(op and op.scan)
    if not (reduces or walks):
        return None
    if any(group.gathers for group in groups) or (op and op.kind == "gather"):
        which = "reduction" if reduces else "scan"
        return Reason("other-order", f"a {which} reads no elements at computed places")
    if any(group.draws for group in groups) or (node and makes_blocks(node)):
        return Reason("other-order", "random numbers come some at a time, in the order of memory")
    if any(group.updates for group in groups):
        return Reason("other-order", "its values are stored over a part of an array")
    reducing = [group for group in groups if group.step is not None]
    if len({group.step for group in reducing}) > 1:
        return Reason("other-order", "the reductions run over different axes")
    if len({group.space for group in reducing}) > 1:
        return Reason("different-extents", "the reductions run over different spaces")
    return None


def _excess(groups: Sequence[Group], node: Node | None) -> Reason | None:
    """What a kernel would have too much of."""
    copies = max([kept(g.step, g.space) for g in groups if g.step is not None], default=1)
    nodes = copies * sum(group.size for group in groups)
    flops = copies * (sum(group.flops for group in groups) + (node.op.flops if node else 0))
    reads = len({read for group in groups for read in group.reads}) if len(groups) > 1 else 0
    if nodes >= MOST_NODES or flops > MOST_FLOPS or reads > MOST_READS:
        return Reason("kernel-too-long", "the kernel would be too long")
    if sum(group.places + len(group.sites) for group in groups) >= MOST_PLACES:
        return Reason("kernel-too-long", "the kernel would read and write too many places")
    if any(len(group.reads) >= MOST_READS for group in groups):
        return Reason("kernel-too-long", "the kernel would read too many arrays")
    return None
