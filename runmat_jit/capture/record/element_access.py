"""Reads and writes of single elements of memory that exists: by NumPy, in loops, and at once.

What an element is computed with is the business of :mod:`elements`. Elsewhere, and where a key is
no position, a read or write is a call like any other.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.capture.record import elements, host_calls, views
from runmat_jit.capture.record.balance import count, work_of
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.values import ARRAY, NOTHING, NUMBERS
from runmat_jit.runtime.arrays import host_written

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer

WRITES_DEFERRED: Final = 4
"""Elements that a recording writes in kernels: the others are written at once where that can be."""


def item(tracer: Tracer, array: Traced, key: Any) -> Any:
    """An item, as of :meth:`Tracer.getitem`."""
    found = read(tracer, array, key)
    return tracer.call(call_forms.GETITEM, (array, key), NOTHING) if found is None else found


def set_item(tracer: Tracer, array: Traced, key: Any, value: Any) -> None:
    """An item assignment."""
    if not write(tracer, array, key, value):
        tracer.call(call_forms.SETITEM, (array, key, value), NOTHING)


def read(tracer: Tracer, array: Traced, key: Any) -> Any:
    """``array[key]`` for a key of whole numbers, where the memory holds what it will show.

    A NumPy scalar, traced while the call may be repeated; None where it is not to be had so.
    """
    if tracer.passive:
        return None
    tracer.refresh_errstate()
    made = native_item(tracer, array, key) if tracer.balance.native else None
    if made is not None:
        return made
    position = elements.raw_position(key)
    if position is None or tracer.writes_pending or not is_at_hand(tracer, array, len(position)):
        return None
    if not elements.comes_again(tracer):
        made = tracer.call(call_forms.GETITEM, (array, key), NOTHING)
        return elements.remember(tracer, made, call_forms.GETITEM, (array, key))
    try:
        there = views.shape_array(tracer, array)[position]
    except IndexError:
        return None  # NumPy raises it where the call is followed
    made = elements.fed(tracer, call_forms.GETITEM, there)
    form = tracer.patterns.form_of_number(type(made))
    return elements.note(
        tracer, elements.Single(call_forms.GETITEM, (array, key), tracer.lines.here()), made, form
    )


def native_item(tracer: Tracer, array: Traced, key: Any) -> Any:
    """An element of an array that has been looked at before, for a program that gets real ones."""
    held = array._rm_held
    if (
        type(key) is not int
        or held is None
        or array._rm_kind != ARRAY
        or tracer.writes_pending
        or tracer.boundary
    ):
        return None
    try:
        made = held[key]
    except IndexError:
        return None  # as in read()
    return made if isinstance(made, np.generic) else None


def is_at_hand(tracer: Tracer, array: Traced, ndim: int) -> bool:
    """Whether the array, of ``ndim`` axes, has memory of this recording, and on the host."""
    at = array._rm_geometry
    if array._rm_kind != ARRAY or at is None or at.storage.memory is None or len(at.shape) != ndim:
        return False
    hollow = at.storage.hollow and not tracer.steps.feeding
    usual = at.dtype.char in NUMBERS and array._rm_tracer is tracer
    return usual and tracer.boundary is None and not hollow


def write(tracer: Tracer, array: Traced, key: Any, value: Any) -> bool:
    """``array[key] = value`` for one element and a elements.known number: whether it was done."""
    if tracer.passive:
        return False
    tracer.refresh_errstate()
    if tracer.balance.native and type(key) is int and native_store(tracer, array, key, value):
        return True
    position = elements.raw_position(key)
    if position is None or array._rm_kind != ARRAY or tracer.boundary is not None:
        return False
    count(tracer)
    tracer.balance.writes += 1
    if tracer.balance.writes <= WRITES_DEFERRED:
        return False
    if tracer.pending and tracer.balance.writes >= tracer.balance.next_look:
        tracer.balance.next_look = 2 * tracer.balance.writes
        if 4 * sum(map(work_of, tracer.pending)) <= tracer.balance.writes:
            tracer.flush()
    number = elements.known(tracer, value)
    if tracer.pending or number is elements.UNKNOWN or not is_at_hand(tracer, array, len(position)):
        return False
    if tracer.steps.keeps_entries:
        host_calls.run_host(tracer, call_forms.SETITEM, (array, key, value), {}, writes=True)
    else:
        source = views.shape_array(tracer, array)
        host_written(source)
        elements.called(tracer, tracer.lines.here(), operator.setitem, (source, position, number))
    return True


def native_store(tracer: Tracer, array: Traced, key: int, value: Any) -> bool:
    """Store a real number in a vector that has been looked at before: whether it was done."""
    held = array._rm_held
    if held is None or array._rm_kind != ARRAY or tracer.pending or tracer.boundary:
        return False
    if not isinstance(value, elements.SCALARS) or held.ndim != 1:
        return False
    host_written(held)
    elements.called(tracer, tracer.lines.here(), operator.setitem, (held, key, value))
    return True
