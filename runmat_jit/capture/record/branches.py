"""Python decides by a value: arguments are guarded, other values make a branch of the tree."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture.record.balance import count
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.steps import Settle
from runmat_jit.capture.tape.entries import Guard, refs
from runmat_jit.capture.tape.values import PYTHON, TEXT, bits_of, exact_value

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer


TEXT_LIMIT = 1000
"""Characters of a text up to which Python may decide by it."""


def look(tracer: Tracer, value: Traced, use: str) -> Any:
    """The real value, because Python decides by it."""
    if value._rm_kind == PYTHON and value._rm_roots is not None:
        return guard(tracer, value)
    real = tracer.value(value)
    if not tracer.closed:
        if tracer.passive or not may_recur(value, real, use):
            detail = f"{use} needs the value of a traced {value._rm_kind}"
            tracer.effect("value-looked-at", detail)
        else:  # other numbers hardly ever come again
            branch(tracer, value, bits_of, bits_of(real))
    return real


def may_recur(value: Traced, real: Any, use: str) -> bool:
    """Whether a value may well come again: short text and integers, unless text is made of them."""
    if value._rm_kind == TEXT:
        return len(real) <= TEXT_LIMIT
    return use != "text" and isinstance(real, (int, np.integer, np.bool_))


def truth(tracer: Tracer, value: Traced) -> bool:
    """The truth of a value, because Python branches by it."""
    if value._rm_kind == PYTHON and value._rm_roots is not None:
        return bool(guard(tracer, value, test=True))
    fed = tracer.steps.fed_outcome()
    if fed is not None:
        branch(tracer, value, bool, fed)
        return bool(fed)
    real = tracer.value(value)
    if not tracer.closed:
        if tracer.passive or np.size(real) != 1:
            tracer.effect("value-looked-at", f"a branch on an array of shape {np.shape(real)}")
        else:
            branch(tracer, value, bool, bool(real))
    return bool(real)


def branch(tracer: Tracer, value: Any, outcome_of: Callable[[Any], Any], outcome: Any) -> None:
    """Python decides by a value: another outcome has another continuation."""
    tracer.flush()  # what is pending belongs to all continuations
    count(tracer)
    if tracer.publishable:
        template = tracer.encode(value)
        tracer.steps.need(template)
        if tracer.boundary is not None:
            tracer.steps.add(Settle(refs(template), host_writes=False))
        tracer.steps.branch(template, outcome_of, outcome, tracer.line(), tracer.count)


def guard(tracer: Tracer, value: Traced, *, test: bool = False) -> Any:
    """From here on the trace holds for this number (or its truth) only, made of arguments."""
    held, slot = value._rm_held, value._rm_slot
    if value._rm_extent is not None and not test:
        operator.index(value._rm_extent)  # a condition of its formulas, too
    same = exact_value(held)
    if test:
        truth, seen = bool(held), f"{bool(held)} as a condition"
        guard = Guard(slot, lambda other: bool(other) is truth, seen)
    else:
        guard = Guard(slot, same, repr(held))
    tracer.steps.check(guard, test)
    return held
