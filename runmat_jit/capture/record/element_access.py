"""Reads and writes of single elements of memory that exists: by NumPy, in loops, and at once.

What an element is computed with is the business of :mod:`elements`. Elsewhere, and where a key is
no position, a read or write is a call like any other.
"""

from __future__ import annotations

import operator
from typing import Any, Final

from runmat_jit.capture.record import elements, gathers, host_calls, views
from runmat_jit.capture.record.balance import work_of
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.values import ARRAY, NOTHING, NUMBERS
from runmat_jit.runtime.arrays import host_written

WRITES_DEFERRED: Final = 4
"""Elements that a recording writes in kernels: the others are written at once where that can be."""


def item(recording: Recording, array: Traced, key: Any) -> Any:
    """An item, as of :meth:`Tracer.getitem`."""
    found = read(recording, array, key)
    if found is None:
        found = gathers.item(recording, array, key)
    return recording.call(call_forms.GETITEM, (array, key), NOTHING) if found is None else found


def set_item(recording: Recording, array: Traced, key: Any, value: Any) -> None:
    """An item assignment."""
    if not write(recording, array, key, value):
        recording.call(call_forms.SETITEM, (array, key, value), NOTHING)


def read(recording: Recording, array: Traced, key: Any) -> Any:
    """``array[key]`` for a key of whole numbers, where the memory holds what it will show.

    A NumPy scalar, traced while the call may be repeated; None where it is not to be had so.
    """
    if recording.passive:
        return None
    recording.refresh_errstate()
    position = elements.raw_position(key)
    if (
        position is None
        or recording.writes_pending
        or not is_at_hand(recording, array, len(position))
    ):
        return None
    if not elements.comes_again(recording):
        return recording.call(call_forms.GETITEM, (array, key), NOTHING)
    try:
        there = views.shape_array(recording, array)[position]
    except IndexError:
        return None  # NumPy raises it where the call is followed
    made = recording.tape.fed_value(call_forms.GETITEM, there)
    abstract = recording.inline_cache.abstract_number(type(made))
    line = recording.lines.here()
    return elements.note(
        recording, call_forms.GETITEM, (array, key), line=line, made=made, abstract=abstract
    )


def is_at_hand(recording: Recording, array: Traced, ndim: int) -> bool:
    """True if the array, of ``ndim`` axes, has memory of this recording, and on the host."""
    at = array._rm_geometry
    if array._rm_kind != ARRAY or at is None or at.storage.memory is None or len(at.shape) != ndim:
        return False
    hollow = at.storage.hollow and not recording.tape.feeding
    usual = at.dtype.char in NUMBERS and array._rm_tracer is recording
    return usual and recording.boundary is None and not hollow


def write(recording: Recording, array: Traced, key: Any, value: Any) -> bool:
    """``array[key] = value`` for one element and a known number: whether it was done."""
    if recording.passive:
        return False
    recording.refresh_errstate()
    position = elements.raw_position(key)
    if position is None or array._rm_kind != ARRAY or recording.boundary is not None:
        return False
    recording.single()
    recording.balance.writes += 1
    if recording.balance.writes <= WRITES_DEFERRED:
        return False
    if recording.pending and recording.balance.writes >= recording.balance.next_look:
        recording.balance.next_look = 2 * recording.balance.writes
        if 4 * sum(map(work_of, recording.pending)) <= recording.balance.writes:
            recording.flush()
    number = elements.known(recording, value)
    if (
        recording.pending
        or number is elements.UNKNOWN
        or not is_at_hand(recording, array, len(position))
    ):
        return False
    if recording.tape.keeps_entries:
        host_calls.run_host(recording, call_forms.SETITEM, (array, key, value), {}, writes=True)
    else:
        source = views.shape_array(recording, array)
        host_written(source)
        elements.called(
            recording, recording.lines.here(), operator.setitem, (source, position, number)
        )
    return True
