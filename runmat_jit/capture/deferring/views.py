"""Calls whose result may show the operand's memory: NumPy says whether it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture.deferring import lengths, unseen
from runmat_jit.capture.deferring.pending import Pending
from runmat_jit.capture.objects import classify, symbolic
from runmat_jit.capture.objects.concrete import MISS, concrete_integer, concrete_key
from runmat_jit.capture.objects.storage import Storage, array_at
from runmat_jit.capture.objects.traced import ARRAY, GENERIC, Traced
from runmat_jit.capture.objects.values import holds_traced
from runmat_jit.capture.tape import Compute, Op
from runmat_jit.core.types import COMPILED_DTYPES
from runmat_jit.ops.table import ROWS

if TYPE_CHECKING:
    from runmat_jit.capture.tracer import Tracer

_BASIC = (int, np.integer, slice, type(None), type(Ellipsis))


def is_basic(key: Any) -> bool:
    """Whether a key gives a view (or a scalar), whatever the values are."""
    parts = key if type(key) is tuple else (key,)
    return all(
        (type(part) is not Traced or lengths.is_length(part))
        and isinstance(part, _BASIC)
        and not isinstance(part, bool)
        for part in parts
    )


def attempt(
    tracer: Tracer, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[bool, Any]:
    """Whether the call gave views of its first operand, and the traced result."""
    getitem = fn is classify.GETITEM
    if not args or type(args[0]) is not Traced or args[0]._rm_kind != ARRAY:
        return MISS
    if not (is_basic(args[1]) if getitem else classify.is_view(fn)):
        return MISS
    rest = tuple(map(concrete_key, args[1:]))
    kwargs = {name: concrete_integer(value) for name, value in kwargs.items()}
    numbers = lengths.in_numbers(rest)
    if holds_traced(numbers) or holds_traced(kwargs) or unstable(args[0]):
        return MISS
    if copies(fn, args[0], rest, kwargs):
        return MISS
    source = shape_array(tracer, args[0])
    made = fn(source, *numbers, **kwargs)
    if made is source:
        if fn is np.ascontiguousarray:  # of another layout it is a copy
            symbolic.settle(args[0]._rm_geometry)
        return True, args[0]
    if getitem and not isinstance(made, np.ndarray):
        return element(tracer, args[0], rest[0])
    traced = adopt(tracer, args[0], made, (fn, rest, kwargs))
    if traced is None:
        symbolic.settle(args[0]._rm_geometry)  # of another layout it may be a view
        return MISS
    return True, traced


def unstable(value: Traced) -> bool:
    """Whether the array shows its memory as another dtype, which stand-ins cannot tell."""
    at = value._rm_geometry
    return at is None or at.dtype != at.storage.dtype


def copies(fn: Any, value: Traced, rest: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a conversion asks for more than the array itself, or a method for a copy."""
    if fn in (np.asarray, np.asanyarray, np.ascontiguousarray, np.require):
        return bool(rest or kwargs)
    contiguous = value._rm_geometry is not None and value._rm_geometry.storage.memory is None
    return contiguous and getattr(fn, "__name__", "") == "__array__"


def shape_array(tracer: Tracer, value: Traced) -> np.ndarray:
    """The real array, or a stand-in of its geometry while its memory is pending."""
    at = value._rm_geometry
    assert at is not None, "arrays have a geometry"
    if value._rm_kind != ARRAY:  # a scalar: its 0-d memory must not become its value
        return at.storage.array()
    if value._rm_held is not None:
        return value._rm_held  # type: ignore[no-any-return]  # arrays hold arrays
    if at.storage.memory is not None:
        # the memory exists: writes to it may be pending, but views of it are what they are
        held = at.storage.memory if value._rm_origin is None else remake(tracer, value)
        value._rm_held = held
        return held
    if value._rm_origin is None:
        return at.storage.array()
    if value._rm_standin is None:
        value._rm_standin = remake(tracer, value)
    return value._rm_standin  # type: ignore[no-any-return]  # remake() gives arrays


def remake(tracer: Tracer, value: Traced) -> np.ndarray:
    """Apply the call that made a view to its parent's array again."""
    parent, fn, rest, kwargs = value._rm_origin
    return fn(shape_array(tracer, parent), *rest, **kwargs)  # type: ignore[no-any-return]  # as before


def adopt(tracer: Tracer, parent: Traced, made: Any, origin: tuple[Any, ...]) -> Any:
    """The traced value of a view, or of each view in a list; None if anything is no view."""
    fn, rest, kwargs = origin
    if isinstance(made, (list, tuple)):
        parts = [
            adopt(tracer, parent, part, (pick(fn, number), rest, kwargs))
            for number, part in enumerate(made)
        ]
        return None if any(part is None for part in parts) else type(made)(parts)
    at = parent._rm_geometry
    assert at is not None, "arrays have a geometry"
    place = at.storage.locate(made) if made.size else None
    if place is None:
        return None
    place = symbolic.view_of(at, place, fn, lengths.in_formulas(rest), kwargs)
    slot = tracer.slot()
    view = Traced(tracer, slot, ARRAY, geometry=place.at_slot(slot))
    view._rm_origin = (parent, fn, lengths.in_numbers(rest), kwargs)
    if at.storage.memory is not None:
        view._rm_held = made
        tracer.remember(made, view)
    else:
        view._rm_standin = made
    tracer.watch(view)
    args = (tracer.encode(parent), *map(tracer.encode, rest))
    named = {name: tracer.encode(value) for name, value in kwargs.items()}
    tracer.steps.add_view(Op(fn, args, named, tracer.encode(view), tracer.line(), view=True))
    return view


def pick(fn: Any, number: int) -> Any:
    """The call that gives one of the views of ``fn``."""

    def picked(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)[number]

    picked.__name__ = f"{getattr(fn, '__name__', 'view')}[{number}]"
    return picked


def element(tracer: Tracer, value: Traced, key: Any) -> tuple[bool, Any]:
    """One element as a NumPy scalar: a deferred copy."""
    source = shape_array(tracer, value)
    parts = key if type(key) is tuple else (key,)
    whole = parts if Ellipsis in parts else (*parts, Ellipsis)
    at = value._rm_geometry
    assert at is not None, "arrays have a geometry"
    place = at.storage.locate(source[lengths.in_numbers(whole)])
    if place is None or place.dtype not in COMPILED_DTYPES:
        return MISS
    place = symbolic.view_of(at, place, classify.GETITEM, (lengths.in_formulas(whole),), {})
    storage = Storage(tracer.slot(), place.dtype, (), ())
    traced = tracer.new_storage(storage, GENERIC)
    line = tracer.here()
    meaning = Compute(ROWS["copy"], (place.dtype,), {"order": "K"}, place.dtype, ())
    pattern = tracer.patterns.pattern(meaning, tracer.patterns.form(place.dtype, (), (), GENERIC))
    tracer.defer(Pending(pattern, (place,), storage.geometry(), line, tracer.steps.count))
    entry = (tracer.encode(value), tracer.encode(key))
    where = None if line is None else line.source
    tracer.steps.note(Op(classify.GETITEM, entry, {}, tracer.encode(traced), where))
    unseen.settle(tracer, (place,), writes=False)
    return True, traced


def basic_view(tracer: Tracer, target: Any, key: Any) -> Traced | None:
    """The view that a basic key shows of an array, for writing to it."""
    if type(target) is not Traced or target._rm_kind != ARRAY or not is_basic(key):
        return None
    if unstable(target):
        return None
    parts = key if type(key) is tuple else (key,)
    whole = parts if Ellipsis in parts else (*parts, Ellipsis)
    try:
        done, view = attempt(tracer, classify.GETITEM, (target, whole), {})
    except (IndexError, TypeError, ValueError):
        return None  # NumPy says what is wrong when it is asked to write
    return view if done else None


def reads_what_it_writes(tracer: Tracer, target: Traced, value: Any) -> bool:
    """Whether NumPy would assign an array to an overlapping one without a copy in between.

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
        and np.may_share_memory(shape_array(tracer, target), shape_array(tracer, value))
    )


def moved(tracer: Tracer, target: Traced) -> None:
    """An array's shape or strides were set in place: read its geometry again."""
    held = tracer.value(target)
    at = target._rm_geometry
    if at is not None:
        symbolic.settle(at)
        storage, memory = at.storage, at.storage.memory
        if memory is not None and memory is held:  # programs take it for what it was made as
            storage.memory = array_at(memory, 0, storage.dtype, storage.shape, storage.strides)
        found = storage.locate(held)  # of empty arrays NumPy says that they share nothing
        target._rm_geometry = found or Storage.of(storage.slot, held).geometry()
        target._rm_form = None
