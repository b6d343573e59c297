"""Values that may report a floating-point event, and so must not be left uncomputed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from runmat_jit.graph.node import Graph, Node
from runmat_jit.ops.spec import Event

KEYWORDS: Final[Mapping[Event, str]] = {
    "divide": "divide",
    "overflow": "over",
    "underflow": "under",
    "invalid": "invalid",
}
"""What ``numpy.errstate`` calls the events, in the order in which NumPy reports them."""


def possible_events(graph: Graph) -> frozenset[str]:
    """The events that NumPy may report in any run of a graph, as ``numpy.errstate`` calls them."""
    noisy = filter(reports_events, graph.nodes)
    return frozenset(KEYWORDS[event] for node in noisy for event in node.op.events)


def reports_events(node: Node) -> bool:
    """May NumPy report a floating-point event when it computes this value?

    Integers report none but a division by zero, and a cast none that keeps every value.
    """
    events = node.op.events
    if not events:
        return False
    dtypes = [arg.type.dtype for arg in node.args]
    if node.op.name == "cast" and np.can_cast(dtypes[0], node.type.dtype, "safe"):
        return False
    inexact = any(dtype.kind in "fc" for dtype in (node.type.dtype, *dtypes))
    return inexact or "divide" in events
