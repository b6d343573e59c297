"""Which values a kernel tests for floating-point events.

An event leaves a value that is not finite (``event_test`` covers those that do not). Such a value
makes what follows not finite too, unless an operation absorbs it; so it is enough to test a value
that an absorbing operand takes, and one that leaves the region. Underflow is not tested: NumPy does
not report it unless told to.
"""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.graph.node import Node
from runmat_jit.passes.events import reports_events
from runmat_jit.passes.fusion.region import Region


def noted_values(region: Region) -> frozenset[Node]:
    """The members whose values must be tested.

    Law: if any member reports an event on some element, a tested value is not finite there or
    further on, or an ``event_test`` of that member holds.
    """
    members = set(region.nodes)
    open_: set[Node] = set()  # not finite if an event occurred, and not tested so far
    tested: set[Node] = set()
    for node in region.nodes:
        carried = False
        for arg, absorbs in zip(node.args, _absorbs(node), strict=True):
            if arg not in open_:
                continue
            if absorbs:
                tested.add(arg)
            else:
                carried = True
        if node.type.dtype.kind == "f" and (carried or _reports(node)):
            open_.add(node)
    read = {arg for node in region.nodes for arg in node.args}
    tested |= {node for node in open_ if node in region.outputs or node not in read}
    return frozenset(tested & members)


def _reports(node: Node) -> bool:
    return bool(node.op.events - {"underflow"}) and reports_events(node)


def _absorbs(node: Node) -> Sequence[bool]:
    if len(node.op.absorbs) == len(node.args):
        return node.op.absorbs
    absorbs = node.op.reduction is not None and node.op.reduction.combine != "add"
    return (absorbs,) * len(node.args)
