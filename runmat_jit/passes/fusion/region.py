"""A region: nodes of a graph that run as one unit."""

from __future__ import annotations

from runmat_jit.core.frozen import frozen
from runmat_jit.core.reasons import Reason
from runmat_jit.core.types import broadcast_shapes
from runmat_jit.graph.node import Node

PRODUCT = "product"
"""The kind of a product alone that a kernel computes."""
BLAS = "blas"
"""The kind of a product alone that NumPy's inner loop computes, called by a kernel."""


@frozen
class Region:
    """Nodes that become one kernel, or one short sequence of kernels over one iteration space.

    ``inputs`` are nodes computed elsewhere (or graph inputs) that members read; ``outputs`` are
    members that are read elsewhere and must be stored. ``kind`` is the fusion kind's name,
    :data:`PRODUCT`, :data:`BLAS`, or ``host`` for a call that stays with NumPy and is of no kind.
    """

    kind: str
    nodes: tuple[Node, ...]
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    depth: tuple[int, int]
    """Greater than that of every region it reads."""
    reasons: tuple[Reason, ...] = ()
    """Reason why it did not grow further, for ``explain()``."""

    @property
    def updates(self) -> tuple[Node, ...]:
        """The arrays of which it computes a part: what it computes is stored there."""
        return tuple([node for node in self.nodes if node.op.name == "update"])

    @property
    def space(self) -> tuple[int, ...]:
        """What its members broadcast to, but for arrays of which it computes a part."""
        members = [node for node in self.nodes if node.op.name != "update"]
        return broadcast_shapes(*(node.type.shape for node in members or self.nodes))

    @property
    def is_host(self) -> bool:
        """True if NumPy computes it."""
        by_kernel = self.kind in (PRODUCT, BLAS)
        return not by_kernel and all(node.op.kind == "host" for node in self.nodes)
