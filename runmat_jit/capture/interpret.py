"""Runs a tape with NumPy, entry by entry, on the caller's memory.

It knows nothing of storages, versions, graphs or batches: overlapping memory, views and identities
come out as in plain Python because it does what Python did. It is the oracle of what a replay
computes; values of rows that are our own differ within their bounds.
"""

from __future__ import annotations

from typing import Any

from runmat_jit.capture.pytree import write_back
from runmat_jit.capture.tape import Guard, Op, Read, Return, build
from runmat_jit.capture.trace import Stale, Trace, spread


def interpret(trace: Trace, leaves: list[Any]) -> Any:
    """The result of a published trace on the leaves of a call.

    Raises:
        Stale: the trace does not hold for this call.

    """
    slots = leaves + [None] * (trace.size - len(leaves))
    for entry in trace.entries:
        match entry:
            case Op():
                args = [build(arg, slots) for arg in entry.args]
                kwargs = {name: build(arg, slots) for name, arg in entry.kwargs.items()}
                spread(entry.out, entry.fn(*args, **kwargs), slots)
            case Read():
                slots[entry.slot] = entry.get(slots)
                if not entry.holds(slots[entry.slot], slots):
                    raise Stale(str(entry))
            case Guard():
                if not entry.holds(slots[entry.slot]):
                    raise Stale(str(entry))
            case Return():
                for slot, template in entry.write_backs:
                    write_back(slots[slot], build(template, slots))
                return build(entry.tree, slots)
    raise AssertionError("a published tape ends with its result")
