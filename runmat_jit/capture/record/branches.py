"""Python decides by a value: arguments are guarded, other values make a branch of the tree."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.entries import CONSTANT, Guard
from runmat_jit.capture.tape.values import ARRAY, PYTHON, bits_of, exact_value


def look(recording: Recording, value: Traced, use: str) -> Any:
    """The real value, because Python decides by it."""
    if value._rm_slot == CONSTANT:
        return value._rm_held
    if value._rm_kind == PYTHON and value._rm_roots is not None:
        return guard(recording, value)
    real = recording.value(value)
    if not recording.closed:
        if recording.passive or use == "text" or not isinstance(real, (int, np.integer, np.bool_)):
            detail = f"{use} needs the value of a traced {value._rm_kind}"
            recording.effect("value-looked-at", detail)
        else:  # other numbers hardly ever come again
            branch(recording, value, bits_of, bits_of(real))
    return real


def truth(recording: Recording, value: Traced) -> bool:
    """The truth of a value, because Python branches by it."""
    if value._rm_slot == CONSTANT:
        return bool(value._rm_held)
    if value._rm_kind == PYTHON and value._rm_roots is not None:
        return bool(guard(recording, value, test=True))
    fed = recording.tape.fed_outcome()
    if fed is not None:
        branch(recording, value, bool, fed)
        return bool(fed)
    real = recording.value(value)
    if not recording.closed:
        if recording.passive or np.size(real) != 1:
            recording.effect("value-looked-at", f"a branch on an array of shape {np.shape(real)}")
        else:
            branch(recording, value, bool, bool(real))
    return bool(real)


def branch(
    recording: Recording, value: Any, outcome_of: Callable[[Any], Any], outcome: Any
) -> None:
    """Python decides by a value: another outcome has another continuation."""
    recording.flush()  # what is pending belongs to all continuations
    recording.single()
    if recording.publishable:
        recording.tape.branch(
            recording.encode(value),
            outcome_of,
            outcome,
            recording.line(),
            recording.count,
            resident=recording.boundary is not None,
        )


def exponent(recording: Recording, base: Any, power: Any) -> Any:
    """An exponent, which ``**`` looks at: NumPy calls square, sqrt or reciprocal for three."""
    if type(base) is not Traced or base._rm_kind != ARRAY or base.dtype.kind not in "fc":
        return power
    if power._rm_kind != PYTHON or power._rm_roots is None or power._rm_slot == CONSTANT:
        return power
    if is_quick(power._rm_held):
        return guard(recording, power)
    own = Guard(power._rm_slot, lambda other: not is_quick(other), "an exponent of ``power``")
    recording.tape.guard(own, is_quick)
    return power


def is_quick(power: Any) -> bool:
    """True if ``**`` calls another function of NumPy's than ``power``."""
    return (type(power) is int and power in (2, -1)) or (type(power) is float and power == 0.5)


def guard(recording: Recording, value: Traced, *, test: bool = False) -> Any:
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
    recording.tape.guard(guard, test)
    return held
