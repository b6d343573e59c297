"""Runs what no row defers: with NumPy or Python, at once, on real values."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.capture import classify
from runmat_jit.capture.lines import call_at, stack_level
from runmat_jit.capture.pytree import take_apart
from runmat_jit.capture.storage import owner_of
from runmat_jit.capture.tape import Nest, Op, Ref, refs
from runmat_jit.capture.trace import Adopt, Call, Settle, fresh_adopted
from runmat_jit.capture.traced import ARRAY, PYTHON, Traced
from runmat_jit.capture.values import (
    RANDOM_STATES,
    SCALARS,
    Unencodable,
    is_number,
    is_traceable,
)
from runmat_jit.runtime.arrays import host_written

if TYPE_CHECKING:
    from runmat_jit.capture.tracer import Tracer

_WRITEABLE: Final = 0x400
"""The bit of ``flags.num``: ``flags.writeable`` warns for results of ``np.broadcast_arrays``."""


def run(tracer: Tracer, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run a call that is not deferred: scalar arithmetic, a pure host call, a writer, an effect."""
    if scalars_only(args) and not kwargs and classify.is_scalar_function(fn):
        return run_scalar(tracer, fn, args)
    written = classify.written_argument(fn)
    if written is None and "out" in kwargs and kwargs["out"] is not None:
        return run_effect(tracer, fn, args, kwargs, "the result goes to out=")
    if written is None and not classify.is_pure(fn):
        return run_effect(tracer, fn, args, kwargs, "what it does is not known")
    return run_host(tracer, fn, args, kwargs, writes=written is not None)


def scalars_only(args: tuple[Any, ...]) -> bool:
    """Whether the operands are Python numbers, traced ones among them."""
    return any(type(a) is Traced for a in args) and all(
        a._rm_kind == PYTHON if type(a) is Traced else type(a) in (*SCALARS, type(None))
        for a in args
    )


def run_scalar(tracer: Tracer, fn: Any, args: tuple[Any, ...]) -> Any:
    """Arithmetic of Python numbers: done by Python at each call, never compiled."""
    raw = tuple([tracer.raw(arg) for arg in args])
    line = tracer.here()
    try:
        value = call_at(line, fn, raw, {})
    except Exception as error:
        tracer.effect("exception", f"{type(error).__name__} in {name_of(fn)}")
        raise
    roots = merged_roots(args)
    if type(value) not in SCALARS:
        return tracer.look_at_all(args, value)
    made = tracer.lift(value, None, roots)
    wanted = type(value)
    source = None if line is None else line.source
    op = Op(fn, tuple(map(tracer.encode, args)), {}, tracer.encode(made), source)
    call = Call(op, lambda result, _: type(result) is wanted, line)
    tracer.steps.note(op)
    if roots is not None:
        tracer.steps.add_early(call)
        return made
    if tracer.steps.wrote:
        tracer.effect("late-check", "Python arithmetic on a value of an array follows a write")
    tracer.steps.add(call)
    return made


def merged_roots(args: tuple[Any, ...]) -> frozenset[int] | None:
    """The arguments that a scalar depends on; None if it depends on arrays."""
    roots: set[int] = set()
    for arg in args:
        if type(arg) is Traced:
            if arg._rm_roots is None:
                return None
            roots |= arg._rm_roots
    return frozenset(roots)


def run_host(
    tracer: Tracer, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, writes: bool
) -> Any:
    """A call that a replay repeats: NumPy runs it on real values in program order."""
    try:
        entry_args = tuple(map(tracer.encode, args))
        entry_kwargs = {name: tracer.encode(value) for name, value in kwargs.items()}
    except Unencodable as reason:
        return run_effect(tracer, fn, args, kwargs, str(reason))
    tracer.flush()
    line = tracer.here()
    raw_args, raw_kwargs = tracer.raw(tuple(args)), tracer.raw(dict(kwargs))
    if writes:
        for arg in (*raw_args, *raw_kwargs.values()):
            host_written(arg)
    if tracer.steps.wrote and not classify.is_sure(fn, args):
        tracer.effect("late-check", f"{name_of(fn)}, which may fail, follows a write")
    try:
        value = call_at(line, fn, raw_args, raw_kwargs)
    except Exception as error:
        tracer.effect("exception", f"{type(error).__name__} in {name_of(fn)}")
        raise
    known = tracer.count
    result, template = adopt(tracer, value, raw_args)
    op = Op(fn, entry_args, entry_kwargs, template, None if line is None else line.source)
    tracer.steps.need((*entry_args, *entry_kwargs.values()))
    if tracer.boundary is not None:
        used = [slot for entry in (*entry_args, *entry_kwargs.values()) for slot in refs(entry)]
        tracer.steps.add(Settle(tuple(used), host_writes=writes))
    check = same_structure(value, raw_args) if template is not None else None
    tracer.steps.note(op)
    tracer.steps.add(Call(op, check, line, writes), writes=writes)
    if tracer.boundary is not None:
        tracer.steps.add(Adopt(tuple([slot for slot in refs(template) if slot >= known])))
    return result


def run_effect(
    tracer: Tracer, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], why: str
) -> Any:
    """Code that capture does not know: everything is computed first, and Python runs it."""
    tracer.effect("unknown-call", f"{name_of(fn)}: {why}")
    line, fn = tracer.here(), tracer.release(fn)
    real_args = tuple([tracer.release(arg) for arg in args])
    real_kwargs = {name: tracer.release(value) for name, value in kwargs.items()}
    if getattr(fn, "__module__", "") in ("warnings", "_warnings"):
        tracer.at_once = True  # the filters may change: NumPy warns where the program is
        if fn is warnings.warn:
            number = real_args[2] if len(real_args) > 2 else real_kwargs.pop("stacklevel", 1)
            level = stack_level(number)
            real_args, real_kwargs = real_args[:2], {**real_kwargs, "stacklevel": level}
            return call_at(line, fn, real_args, real_kwargs)
    value = tracer.unknown(lambda: call_at(line, fn, real_args, real_kwargs))
    return adopt_loosely(tracer, value)


def name_of(fn: Any) -> str:
    """What messages call a callable."""
    return str(getattr(fn, "__qualname__", getattr(fn, "__name__", type(fn).__name__)))


# -- results ---------------------------------------------------------------------------------------
def adopt(tracer: Tracer, value: Any, raw_args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The traced form of a host call's result, and its template (None: nothing to keep)."""
    if value is None:
        return None, None
    if isinstance(value, np.ndarray):
        if not is_traceable(value):
            tracer.effect("untraceable-result", f"an array of dtype {value.dtype}")
            return value, None
        traced = adopt_array(tracer, value, raw_args)
        return traced, Ref(traced._rm_slot)
    if is_number(value) or type(value) in SCALARS:
        traced = tracer.lift(value, None, None)
        return traced, Ref(traced._rm_slot)
    if type(value) in RANDOM_STATES:
        if tracer.outside.slot_of(value) is None:
            tracer.outside.register(value, tracer.slot())
        return value, tracer.encode(value)
    apart = take_apart(value)
    if apart is None:
        tracer.effect("untraceable-result", f"a value of type {type(value).__name__}")
        return value, None
    structure, children = apart
    pairs = [adopt(tracer, child, raw_args) for child in children]
    rebuilt = structure([traced for traced, _ in pairs])
    if isinstance(rebuilt, list | dict):
        tracer.own(rebuilt)
    return rebuilt, Nest(structure, tuple(template for _, template in pairs))


def adopt_array(tracer: Tracer, value: np.ndarray, raw_args: tuple[Any, ...]) -> Traced:
    """A result array: an operand itself, a view of one, or new memory."""
    known = tracer.adopt(value)
    if known is not None:
        return known
    for arg in raw_args:
        base = tracer.adopt(arg) if isinstance(arg, np.ndarray) else None
        if base is None or owner_of(value) is not owner_of(arg):
            continue
        at = base._rm_geometry
        place = at.storage.locate(value) if at is not None else None
        if place is not None:
            slot = tracer.slot()
            view = Traced(tracer, slot, ARRAY, held=value, geometry=replace(place, slot=slot))
            view._rm_origin = (base, classify.method_of("view"), (), {})
            tracer.remember(value, view)
            return view
    if tracer.boundary is not None:
        value = fresh_adopted(value)
    lifted: Traced = tracer.lift(value)
    return lifted


def adopt_loosely(tracer: Tracer, value: Any) -> Any:
    """Arrays in the result of unknown code become inputs; the rest stays what it is."""
    if isinstance(value, np.ndarray):
        return tracer.lift(value)
    if type(value) is tuple:
        return tuple(adopt_loosely(tracer, item) for item in value)
    return value


def same_structure(value: Any, args: tuple[Any, ...]) -> Callable[[Any, tuple[Any, ...]], bool]:
    """A test that a result has the types, dtypes, shapes, strides and place of this one."""
    wanted = structure_of(value, args)
    return lambda other, other_args: structure_of(other, other_args) == wanted


def structure_of(value: Any, args: tuple[Any, ...]) -> Any:
    """What later entries rely on: everything but the numbers."""
    if isinstance(value, np.ndarray):
        writeable = value.flags.num & _WRITEABLE
        place = place_in(value, args)
        return type(value), value.dtype, value.shape, value.strides, writeable, place
    apart = take_apart(value)
    if apart is None:
        return type(value)
    structure, children = apart
    return structure, tuple([structure_of(child, args) for child in children])


def place_in(value: np.ndarray, args: tuple[Any, ...]) -> tuple[int, int] | None:
    """Which argument's memory an array shows, and from which byte on; an index may decide that."""
    if value.base is None:
        return None
    owner = owner_of(value)
    for number, arg in enumerate(args):
        if isinstance(arg, np.ndarray) and owner_of(arg) is owner:
            return number, value.ctypes.data - arg.ctypes.data
    return None
