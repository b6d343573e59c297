"""Runs a tape with NumPy, entry by entry, on the caller's memory.

It knows nothing of storages, versions, graphs or batches: overlapping memory, views and identities
come out as in plain Python because it does what Python did. It is the oracle of what a replay
computes; values of rows that are our own differ within their bounds.
"""

from __future__ import annotations

from typing import Any

from runmat_jit.capture.replay.steps import RaiseStep, Stale
from runmat_jit.capture.replay.tree import Fork, Segment
from runmat_jit.capture.tape.entries import (
    Call,
    Draw,
    Guard,
    Operation,
    Raised,
    Read,
    Ref,
    Single,
    View,
    build,
    spread,
)


def interpret(root: Fork, leaves: list[Any]) -> Any:
    """The result of a tree on the leaves of a call, of each outcome the newest continuation.

    Raises:
        Stale: the tree does not hold for this call.

    """
    slots = list(leaves)
    leave: Fork | Any = root
    outcome = None
    while isinstance(leave, Fork):
        if outcome not in leave.outcomes:
            raise Stale("an outcome that no call has had")
        segment = leave.outcomes[outcome][0]
        slots.extend([None] * (segment.size - len(slots)))
        run(segment, slots)
        leave = segment.exit
        if isinstance(leave, Fork):
            outcome = leave.outcome(slots)
    for back in leave.write_backs:
        back.edits.apply(slots[back.slot], build(back.values, slots))
    return build(leave.tree, slots)


def run(segment: Segment, slots: list[Any]) -> None:
    """Run the entries of one segment.

    Raises:
        Stale: it does not hold for this call.

    """
    for entry in segment.log:
        match entry:
            case Call(raised=Raised() as caught):
                step = RaiseStep(
                    entry.fn, entry.args, entry.kwargs, caught.kind, caught.args, None, 0
                )
                step.run(slots)
            case Operation() | Call() | Single() | View():
                args = [build(arg, slots) for arg in entry.args]
                named = {name: build(arg, slots) for name, arg in (entry.kwargs or {}).items()}
                out = Ref(entry.out) if type(entry.out) is int else entry.out
                spread(out, entry.fn(*args, **named), slots)
            case Draw():
                generator = build(entry.generator, slots)
                position = generator.take_blocks(entry.blocks)
                if not entry.goes_on:
                    slots[entry.key], slots[entry.counter] = position
            case Read():
                slots[entry.slot] = entry.get(slots)
                if not entry.holds(slots[entry.slot], slots):
                    raise Stale(str(entry))
            case Guard():
                if not entry.holds(slots[entry.slot]):
                    raise Stale(str(entry))
