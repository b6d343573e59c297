"""Which values may report a floating-point event, and so must not be left uncomputed."""

from __future__ import annotations

import numpy as np

from runmat_jit.graph.node import Node


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
