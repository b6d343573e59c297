"""Calls whose result may show the operand's memory: NumPy says whether it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record import escape_barrier, lengths
from runmat_jit.capture.record.concrete import MISS, concrete_integer, concrete_key
from runmat_jit.capture.record.encoder import holds_traced
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.shapes import symbolic_geometry
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import Compute, CoveredCall, Operation, View
from runmat_jit.capture.tape.storage import Storage, array_at
from runmat_jit.capture.tape.values import ARRAY, GENERIC, Unencodable
from runmat_jit.core.errstate import trial
from runmat_jit.core.types import is_compiled_dtype
from runmat_jit.ops.table import ROWS

_HARMLESS = ("copy", "subok", "ndmin")
"""What ``np.array`` may be told where it need not copy."""
_BASIC = (int, np.integer, slice, type(None), type(Ellipsis))


def is_basic(key: Any) -> bool:
    """True if a key gives a view (or a scalar), whatever the values are."""
    parts = key if type(key) is tuple else (key,)
    return all(
        (type(part) is not Traced or lengths.is_length(part))
        and isinstance(part, _BASIC)
        and not isinstance(part, bool)
        for part in parts
    )


def attempt(
    recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[bool, Any]:
    """True if the call gave views of its first operand, and the traced result."""
    getitem = fn is call_forms.GETITEM
    if not args or type(args[0]) is not Traced or args[0]._rm_kind != ARRAY:
        return MISS
    if not (is_basic(args[1]) if getitem else is_view(fn, kwargs)):
        return MISS
    rest = tuple(map(concrete_key, args[1:]))
    kwargs = {name: concrete_integer(value) for name, value in kwargs.items()}
    numbers = lengths.in_numbers(rest)
    if holds_traced(numbers) or holds_traced(kwargs) or unstable(args[0]):
        return MISS
    if copies(fn, args[0], rest, kwargs):
        return MISS
    source = shape_array(recording, args[0])
    try:
        made = fn(source, *numbers, **kwargs) if getitem else tried(fn, source, numbers, kwargs)
    except Warning:  # which the call gives where it is followed
        return MISS
    if made is source:
        if fn is np.ascontiguousarray:  # of another layout it is a copy
            symbolic_geometry.settle(args[0]._rm_geometry)
        return True, args[0]
    if getitem and not isinstance(made, np.ndarray):
        return element(recording, args[0], rest[0])
    try:
        traced = adopt(recording, args[0], made, (fn, rest, kwargs))
    except Unencodable:
        return MISS
    if traced is None:
        symbolic_geometry.settle(args[0]._rm_geometry)  # of another layout it may be a view
        return MISS
    return True, traced


def is_view(fn: Any, kwargs: Mapping[str, Any]) -> bool:
    """True if a call may show its first operand's memory."""
    if fn is np.array:
        return "copy" in kwargs and not kwargs["copy"]
    return callables.is_view(fn)


def tried(
    fn: Any, source: np.ndarray, rest: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> np.ndarray:
    """What a call shows of an array."""
    with trial():
        return fn(source, *rest, **kwargs)  # type: ignore[no-any-return]  # views


def unstable(value: Traced) -> bool:
    """True if the array shows its memory as another dtype, which stand-ins cannot tell."""
    at = value._rm_geometry
    return at is None or not at.shows_numbers()


def copies(fn: Any, value: Traced, rest: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """True if a conversion asks for more than the array itself, or a method for a copy."""
    if fn is np.array:
        return asks_for_more(value, rest, {n: v for n, v in kwargs.items() if n not in _HARMLESS})
    if fn in (np.asarray, np.asanyarray, np.ascontiguousarray, np.require):
        return asks_for_more(value, rest, kwargs)
    contiguous = value._rm_geometry is not None and value._rm_geometry.storage.memory is None
    return contiguous and getattr(fn, "__name__", "") == "__array__"


def asks_for_more(value: Traced, rest: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """True if a conversion is told more than the dtype that the array has."""
    told = [*rest, *kwargs.values()]
    if not told:
        return False
    at = value._rm_geometry
    if len(told) > 1 or at is None or (kwargs and "dtype" not in kwargs):
        return True
    return not isinstance(told[0], np.dtype) or told[0] is not at.dtype


def shape_array(recording: Recording, value: Traced) -> np.ndarray:
    """The real array, or a stand-in of its geometry while its memory is pending."""
    at = value._rm_geometry
    assert at is not None, "arrays have a geometry"
    if value._rm_kind != ARRAY:  # a scalar: its 0-d memory must not become its value
        return at.storage.array()
    if value._rm_held is not None:
        return value._rm_held  # type: ignore[no-any-return]  # arrays hold arrays
    if at.storage.memory is not None:
        # the memory exists: writes to it may be pending, but views of it are what they are
        held = at.storage.memory if value._rm_origin is None else remake(recording, value)
        value._rm_held = held
        recording.remember(held, value)
        return held
    if value._rm_origin is None:
        return at.storage.array()
    if value._rm_standin is None:
        value._rm_standin = remake(recording, value)
    return value._rm_standin  # type: ignore[no-any-return]  # remake() gives arrays


def remake(recording: Recording, value: Traced) -> np.ndarray:
    """Apply the call that made a view to its parent's array again."""
    parent, fn, rest, kwargs = value._rm_origin
    return fn(shape_array(recording, parent), *rest, **kwargs)  # type: ignore[no-any-return]  # as before


def adopt(recording: Recording, parent: Traced, made: Any, origin: tuple[Any, ...]) -> Any:
    """The traced value of a view, or of each view in a list; None if anything is no view."""
    fn, rest, kwargs = origin
    if isinstance(made, (list, tuple)):
        parts = [
            adopt(recording, parent, part, (pick(fn, number), rest, kwargs))
            for number, part in enumerate(made)
        ]
        return None if any(part is None for part in parts) else type(made)(parts)
    at = parent._rm_geometry
    assert at is not None, "arrays have a geometry"
    place = at.storage.locate(made) if made.size else None
    if place is None:
        return None
    place = symbolic_geometry.view_of(at, place, fn, lengths.in_formulas(rest), kwargs)
    slot = recording.slot()
    view = Traced(recording, slot, ARRAY, geometry=place.at_slot(slot))
    view._rm_origin = (parent, fn, lengths.in_numbers(rest), kwargs)
    if at.storage.memory is not None:
        view._rm_held = made
        recording.remember(made, view)
    else:
        view._rm_standin = made
    recording.watch(view)
    args = (recording.encode(parent), *map(recording.encode, rest))
    named = {name: recording.encode(value) for name, value in kwargs.items()}
    recording.tape.note(View(fn, args, named, slot, recording.here()))
    return view


def pick(fn: Any, number: int) -> Any:
    """The call that gives one of the views of ``fn``."""

    def picked(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)[number]

    picked.__name__ = f"{getattr(fn, '__name__', 'view')}[{number}]"
    return picked


def element(recording: Recording, value: Traced, key: Any) -> tuple[bool, Any]:
    """One element as a NumPy scalar: a deferred copy."""
    source = shape_array(recording, value)
    whole = with_ellipsis(key)
    at = value._rm_geometry
    assert at is not None, "arrays have a geometry"
    place = at.storage.locate(source[lengths.in_numbers(whole)])
    if place is None or not is_compiled_dtype(place.dtype):
        return MISS
    place = symbolic_geometry.view_of(
        at, place, call_forms.GETITEM, (lengths.in_formulas(whole),), {}
    )
    storage = Storage(recording.slot(), place.dtype, (), ())
    traced = recording.new_storage(storage, GENERIC)
    line = recording.here()
    meaning = Compute(ROWS["copy"], (place.dtype,), {"order": "K"}, place.dtype, ())
    cache = recording.inline_cache
    pattern = cache.pattern(meaning, cache.abstract(place.dtype, (), (), GENERIC))
    entry = (recording.encode(value), recording.encode(key))
    call = CoveredCall(pattern, call_forms.GETITEM, entry, {})
    slot, number = storage.slot, recording.tape.count
    operation = Operation(call, None, slot, line, number, (place,), storage.geometry())
    recording.tape.note_operation(operation)
    recording.defer(operation)
    escape_barrier.settle(recording, (place,), writes=False)
    return True, traced


def with_ellipsis(key: Any) -> tuple[Any, ...]:
    """A key whose end says that all other axes stay; its numbers are compared with nothing."""
    parts = key if type(key) is tuple else (key,)
    return parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)


def basic_view(recording: Recording, target: Any, key: Any) -> Traced | None:
    """The view that a basic key shows of an array, for writing to it."""
    if type(target) is not Traced or target._rm_kind != ARRAY or not is_basic(key):
        return None
    if unstable(target):
        return None
    whole = with_ellipsis(key)
    try:
        done, view = attempt(recording, call_forms.GETITEM, (target, whole), {})
    except (IndexError, TypeError, ValueError):
        return None  # NumPy says what is wrong when it is asked to write
    return view if done else None


def reads_what_it_writes(recording: Recording, target: Traced, value: Any) -> bool:
    """True if NumPy would assign an array to an overlapping one without a copy in between.

    It does so along one axis, where both have the same direction; only with equal strides is the
    result the same nevertheless.
    """
    if type(value) is not Traced or value._rm_kind != ARRAY or value._rm_geometry is None:
        return False
    if target.ndim != 1 or not value.ndim:
        return False
    stride, step = target.strides[0], value.strides[-1]
    return (
        stride * step > 0
        and stride != step
        and np.may_share_memory(shape_array(recording, target), shape_array(recording, value))
    )


def moved(recording: Recording, target: Traced) -> None:
    """An array's shape or strides were set in place: read its geometry again."""
    held = recording.value(target)
    at = target._rm_geometry
    if at is not None:
        symbolic_geometry.settle(at)
        storage, memory = at.storage, at.storage.memory
        if memory is not None and memory is held:  # programs take it for what it was made as
            storage.memory = array_at(memory, 0, storage.dtype, storage.shape, storage.strides)
        found = storage.locate(held)  # of empty arrays NumPy says that they share nothing
        found = found or Storage.of(storage.slot, held).geometry()
        target._rm_geometry = found.at_slot(target._rm_slot)
        target._rm_abstract = None
