"""``y.resize(shape)``: an array of the recording changes its length in place.

NumPy allows it while nobody else holds the array, which it tells by counting references. A traced
value has as many as its array would have in the plain program, so they are counted before anything
else is done. An array that nobody else holds becomes a new one, under the same traced value; what
others hold, or what came from outside, is resized by NumPy itself.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from runmat_jit.capture.record import host_calls, views
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.values import ARRAY


def resize(
    recording: Recording, value: Traced, args: tuple[Any, ...], kwargs: Mapping[str, Any], held: int
) -> None:
    """Resize an array that the program holds ``held`` times, beside the method that is called.

    Raises:
        ValueError: NumPy's own: the array is held elsewhere, or a view, or the shape is none.

    """
    if recording.passive:
        recording.value(value).resize(*args, **kwargs)
        return
    if held > 1 or not is_own(recording, value) or is_held_outside(recording, value):
        target = recording.value(value)
        detail = "an array that is held elsewhere changes its shape"
        host_calls.run_effect(recording, target.resize, args, kwargs, detail)
        views.moved(recording, value)
        return
    shape = args[0] if len(args) == 1 else args
    made = host_calls.run_host(recording, resized, (value, shape), {}, writes=False)
    if made is not None:  # it is when there is a real new shape: ``y.resize()`` changes nothing
        take_over(recording, value, made)


def is_own(recording: Recording, value: Traced) -> bool:
    """Whether an array is one that the recording made, and no view."""
    at = value._rm_geometry
    return (
        value._rm_kind == ARRAY
        and at is not None
        and value._rm_origin is None
        and not recording.is_input(value)
        and at.storage.is_owned_by(value)
        and at.whole()
        and (at.storage.memory is None or bool(at.storage.memory.flags.owndata))
    )


def is_held_outside(recording: Recording, value: Traced) -> bool:
    """Whether unknown code holds the real array."""
    array, at, resume = value._rm_held, value._rm_geometry, recording.tape.resume
    if array is None or at is None or not recording.escaped:
        return False
    ours = 3 + (at.storage.memory is array)  # the value's, and two of this function
    ours += 0 if resume is None else sum(slot is array for slot in resume.slots)
    return sys.getrefcount(array) > ours or bool(weakref.getweakrefcount(array))


def resized(array: np.ndarray, shape: Any) -> np.ndarray | None:
    """A copy with another shape, as ``array.resize(shape)`` would leave the array itself."""
    if shape in ((), None):
        return None
    made = array.copy(order="K")
    made.resize(shape, refcheck=False)
    return made


resized.__name__ = resized.__qualname__ = "resize"


def take_over(recording: Recording, value: Traced, made: Traced) -> None:
    """Let a traced value stand for the array that another one stands for."""
    before, at = value._rm_geometry, made._rm_geometry
    assert before is not None, "is_own() saw one"
    assert at is not None, "NumPy resizes arrays of numbers to arrays of numbers"
    before.storage.forsake(recording.tape.dead)
    value._rm_slot, value._rm_held = made._rm_slot, made._rm_held
    value._rm_geometry, value._rm_abstract, value._rm_standin = at, None, None
    at.storage.owned_by(value, recording.tape.dead, is_freed=at.storage.is_freed)
    recording.remember(made._rm_held, value)
