"""Values that a kernel tests for floating-point events.

An event leaves a value that is not finite (``event_test`` covers those that do not). Such a value
makes what follows not finite too, unless an operation absorbs it; so it is enough to test a value
that an absorbing operand takes, and one that leaves the region. Underflow is not tested: NumPy does
not report it unless told to.

A value that is not finite proves no event where an operand was not finite either. Exact tests look
for a *rise*: values are finite, infinite or NaN, and an operation reports an event where its result
is of a higher class than every operand. Along a chain no class falls, so that its end is compared
with its beginning; where chains meet, the class of one would hide what happened in another, so each
is tested there first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.constant import constant_array, is_constant
from runmat_jit.graph.node import Node
from runmat_jit.lower.problem import Compute, Operand
from runmat_jit.passes.events import reports_events
from runmat_jit.passes.fusion.region import Region

_MOST_SOURCES = 4
"""Beginnings that the end of a chain is compared with; where more meet, it begins anew."""


def noted_values(region: Region) -> frozenset[Node]:
    """The members whose values must be tested.

    Law: if any member reports an event on some element, a tested value is not finite there or
    further on, or an ``event_test`` of that member holds.
    """
    members = set(region.nodes)
    open_: set[Node] = set()  # not finite if an event occurred, and not tested so far
    tested: set[Node] = set()
    for node in region.nodes:
        if node.op.name == "update":  # it is no computation, which could be tested
            tested |= open_.intersection(node.args)
            continue
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


@frozen
class Rise:
    """A test whether a value is of a higher class than each of these operands.

    The infinity of a ``strict`` one is no excuse for an infinity.
    """

    operands: tuple[Operand, ...]
    strict: tuple[Operand, ...] = ()


def rises(computes: Iterable[Compute], alone: Collection[Node] = ()) -> Mapping[Node, Rise]:
    """As few tests as tell whether any operation of a kernel reports an event; some stand alone.

    Law: an operation reports one if and only if some tested value rises, or an ``event_test``
    holds.
    """
    chains = _Chains(alone)
    for compute in computes:
        chains.add(compute)
    return chains.finish()


class _Chains:
    """Chains of operations that pass on every class, while computations are added in order.

    Attributes:
        sources: The values with which a value on a chain is compared; others begin one.
        open: Values that may have risen and are not tested so far.
        carried: Of those, the ones of which a later value of the same chain will tell.
        tests: What was found to need a test.

    """

    def __init__(self, alone: Collection[Node]) -> None:
        self.alone = alone
        self.sources: dict[Operand, tuple[Operand, ...]] = {}
        self.open: dict[Node, None] = {}
        self.carried: set[Node] = set()
        self.tests: dict[Node, Rise] = {}

    def add(self, compute: Compute) -> None:
        """Take one more operation into account."""
        if not compute.watched:
            return
        node, floats = compute.node, _floats(compute)
        is_float = node.type.dtype.kind == "f"
        passes = is_float and floats and not any(absorbs for _, absorbs in floats)
        if passes and node not in self.alone:
            self._continue(node, [operand for operand, _ in floats])
            return
        for operand, _ in floats:
            self._test(operand)
        if _may_rise(node):
            self.tests[node] = _own_rise(compute)

    def finish(self) -> Mapping[Node, Rise]:
        """All tests, those of the ends included."""
        for node in list(self.open):
            if node not in self.carried:
                self._test(node)
        return self.tests

    def _continue(self, node: Node, operands: Sequence[Operand]) -> None:
        together = dict.fromkeys(s for o in operands for s in self._sources(o))
        for operand in operands:
            if len(self._sources(operand)) < len(together):
                self._test(operand)
        if len(together) > _MOST_SOURCES:
            for operand in operands:
                self._test(operand)
            together = dict.fromkeys(operands)
        going = [operand for operand in operands if operand in self.open]
        self.sources[node] = tuple(together)
        if going or _may_rise(node):
            self.open[node] = None
            self.carried.update(operand for operand in going if isinstance(operand, Node))

    def _sources(self, operand: Operand) -> tuple[Operand, ...]:
        return self.sources.get(operand, (operand,))

    def _test(self, operand: Operand) -> None:
        if isinstance(operand, Node) and operand in self.open:
            self.tests[operand] = Rise(self.sources[operand])
            del self.open[operand]


def _own_rise(compute: Compute) -> Rise:
    """The test of one operation by its own operands."""
    strict = compute.node.op.strict
    floats = tuple(operand for operand, _ in _floats(compute))
    at = {compute.operands[n] for n in strict if n < len(compute.operands)}
    return Rise(floats, tuple(operand for operand in floats if operand in at))


def _floats(compute: Compute) -> list[tuple[Operand, bool]]:
    """The operands that may be infinite or NaN, and whether they are absorbed."""
    node = compute.node
    keeps = _is_float_cast(node)
    pairs = zip(node.args, compute.operands, _absorbs(node), strict=True)
    return [(o, absorbs and not keeps) for arg, o, absorbs in pairs if not _is_finite(arg)]


def _may_rise(node: Node) -> bool:
    """True if an operation may report an event, or hide a NaN that signals from what follows."""
    return node.type.dtype.kind == "f" and (reports_events(node) or _is_float_cast(node))


def _is_float_cast(node: Node) -> bool:
    dtypes = {kind.dtype.kind for kind in (node.type, *(arg.type for arg in node.args))}
    return node.op.name == "cast" and dtypes == {"f"}


def _is_finite(node: Node) -> bool:
    if node.type.dtype.kind != "f":
        return True
    return is_constant(node) and bool(np.isfinite(constant_array(node)[()]))


def _reports(node: Node) -> bool:
    return bool(node.op.events - {"underflow"}) and reports_events(node)


def _absorbs(node: Node) -> Sequence[bool]:
    if len(node.op.absorbs) == len(node.args):
        return node.op.absorbs
    absorbs = node.op.reduction is not None and node.op.reduction.combine != "add"
    return (absorbs,) * len(node.args)
