"""How the kernels of a program note floating-point events, and what its event word says then."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import Literal

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node
from runmat_jit.ops.spec import Op
from runmat_jit.passes.events import reports_events

Mode = Literal["results", "rises", "each"]
"""``results``: values that are not finite, wherever they come from. ``rises``: values that are less
finite than all that they are made of (finite, infinite, NaN), chains of operations by their ends.
``each``: likewise, and some operations by themselves, each kind of event by a bit of its own."""

OPEN = 0
"""Bit: something that only NumPy can decide."""
SUM, LARGE, POSITIVE, NEGATIVE = 1, 2, 3, 4
"""Bits of sums: a result that is not finite; terms near the limit, and infinite ones by sign."""
FIRST, LIMIT = 5, 31
"""Bits of operations begin at the first; words have no more than the limit."""


@frozen
class EventBits:
    """Bits of one operation: NaN or infinity from what was not, the latter by division by zero
    (``pole``), and its own test.
    """

    nan: int = OPEN
    infinite: int = OPEN
    pole: int = OPEN
    test: int = OPEN


@frozen
class Notes:
    """A mode, and in mode ``each`` the bits of the operations that are told apart."""

    mode: Mode = "results"
    bits: Mapping[Node, EventBits] = field(default_factory=dict)


RESULTS = Notes()
RISES = Notes("rises")


def notes_of_each(nodes: Iterable[Node], names: Collection[str] | None = None) -> Notes:
    """Bits for as many operations as a word has room for; the others share ``OPEN``.

    ``names``: those of the operations, as NumPy's warnings call them, that are to have bits; None:
    all.
    """
    bits: dict[Node, EventBits] = {}
    following = FIRST
    for node in nodes:
        if node.op.reduction is not None or not reports_events(node):
            continue
        if names is not None and node.op.ufunc not in names:
            continue
        wanted = _kinds(node)
        if following + len(wanted) <= LIMIT + 1:
            bits[node] = EventBits(**{kind: following + n for n, kind in enumerate(wanted)})
            following += len(wanted)
    return Notes("each", bits)


def _kinds(node: Node) -> list[str]:
    """Bits that tell the events of an operation apart."""
    events = node.op.events
    kinds = []
    if node.type.dtype.kind == "f":
        kinds += ["nan"] if "invalid" in events else []
        kinds += ["infinite"] if _has_sharp_limit(node.op) else []
        kinds += ["pole"] if {"overflow", "divide"} <= events else []
    if node.op.event_test is not None and node.type.dtype.kind != "f":
        kinds += ["test"] if node.op.divisor is None else ["test", "pole"]
    return kinds


def _has_sharp_limit(op: Op) -> bool:
    """True if it gives an infinity where NumPy does.

    Powers are rounded in another way, so that one may be infinite where NumPy's just is not.
    """
    if {"overflow", "divide"} <= op.events:
        return op.exactness == "bit-defined"
    return bool({"overflow", "divide"} & op.events)


def is_open(word: int) -> bool:
    """True if an event may have happened that no operation's bits tell of.

    Without terms near the limit no sum overflows, and without infinities of both signs none is
    invalid, in whatever order NumPy adds.
    """
    at = [bool(word >> bit & 1) for bit in range(FIRST)]
    return at[OPEN] or (at[SUM] and (at[LARGE] or (at[POSITIVE] and at[NEGATIVE])))


def is_event(word: int) -> bool:
    """True if an event may have happened, where kernels tell events from data."""
    return bool(word) and (bool(operations(word)) or is_open(word))


def operations(word: int) -> int:
    """The part of a word that tells of operations."""
    return word >> FIRST
