"""Code that no hook sees: operators of the program's classes, managers, iterators.

Python runs it by itself, and it may hold real arrays: arguments, what lies outside, and whatever
was given to unknown code. Once there may be such code, nothing stays pending that reads or writes
memory that it can get at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runmat_jit.capture.record import caller_frames
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.replay.plain_objects import is_inert
from runmat_jit.capture.tape.entries import Operand
from runmat_jit.capture.tape.storage import Geometry


def beware(recording: Recording, detail: str) -> None:
    """Something has turned up that runs code of its own, such as an object with operators."""
    recording.effect("outside-object", detail)
    recording.distrust(unseen_code=True)


def run(recording: Recording, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Let unknown code run: it sees no traced value, and may change what it was given."""
    recording.shadows.push(recording.release)
    recording.balance.looked_at(recording.shadows.count_items())
    recording.suspend()
    inert = True
    try:
        found = caller_frames.call(recording.lines, recording, fn, args, kwargs)
        inert = is_inert(found)
        return found
    finally:
        recording.resume_after(inert=inert)
        recording.shadows.pull(recording.lift)


def from_line(recording: Recording, fn: Any, *args: Any, **kwargs: Any) -> Any:
    """An operation of Python's, by which such code may run: it finds the user's line above it."""
    if not recording.unseen_code:
        return fn(*args, **kwargs)
    return caller_frames.call(recording.lines, recording, fn, args, kwargs)


def settle(recording: Recording, operands: Iterable[Operand], *, writes: bool) -> None:
    """Compute an operation that was just noted, if such code might see that it is pending."""
    if (writes and (recording.escaped or recording.unseen_code)) or (
        recording.unseen_code and any(map(is_exposed, operands))
    ):
        recording.flush()


def is_exposed(operand: Operand) -> bool:
    """True if code that no hook sees may write to what an operation reads."""
    return isinstance(operand, Geometry) and operand.storage.exposed
