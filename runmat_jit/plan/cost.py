"""What regions move and compute."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node

if TYPE_CHECKING:
    from runmat_jit.passes.fusion.region import Region

BYTES_BESIDE_BLAS = 1_000_000
"""Read and written by a share of a launch beside products of BLAS, some 100 us."""


@frozen
class Cost:
    """What a region reads and writes, each array once, and computes."""

    bytes_read: int
    bytes_written: int
    flops: float


def cost_of(region: Region, in_place: Mapping[Node, Node]) -> Cost:
    """The cost of a region; an update in place touches its part of the array alone."""
    flops = sum(node.op.flops * node.type.size for node in region.nodes)
    parts = [node for node in region.updates if node in in_place]
    bases = [node.args[0] for node in parts]
    read = sum(node.type.nbytes for node in region.inputs if node not in bases)
    whole = sum(node.type.nbytes for node in region.outputs if node not in parts)
    return Cost(read, whole + sum(map(_part_bytes, parts)), flops)


def _part_bytes(update: Node) -> int:
    """Of the part that an update writes."""
    return math.prod(cast("tuple[int, ...]", update.params["shape"])) * update.type.dtype.itemsize


def share_beside_blas(total: int, nbytes: int) -> int:
    """Iterations of a launch that one thread takes at least, where BLAS runs before or after it.

    BLAS's threads wait for the next product on the cores that others need: a second thread gains
    only what is more than it costs to get one of them.
    """
    return total * BYTES_BESIDE_BLAS // (nbytes + 1) + 1
