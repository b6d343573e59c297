"""Runs what no row defers: with NumPy or Python, at once, on real values."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record import lengths
from runmat_jit.capture.record.branches import branch
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.result_shape import result_shape
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay import raised
from runmat_jit.capture.replay.resume import placed_structure, structure_of
from runmat_jit.capture.replay.steps import fresh_adopted
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import Call, Nest, Ref, refs
from runmat_jit.capture.tape.lines import Line, call_at, hide_our_frames, stack_level
from runmat_jit.capture.tape.pytree import take_apart
from runmat_jit.capture.tape.storage import FREED_BYTES, owner_of
from runmat_jit.capture.tape.values import (
    ARRAY,
    GENERIC,
    PYTHON,
    SCALARS,
    TEXTS,
    Unencodable,
    is_number,
    is_opaque,
    is_opaque_scalar,
    is_random_state,
    is_traceable,
)
from runmat_jit.runtime.arrays import host_written

LIST_LIMIT = 200
"""Elements of an array up to which the numbers of its ``tolist()`` are followed one by one."""


def run(recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run a call that is not deferred: scalar arithmetic, a pure host call, a writer, an effect."""
    if fn is operator.mul and any(type(arg) in (list, tuple) for arg in args):
        args = tuple([repetition(recording, arg) for arg in args])
        if Traced not in map(type, args):
            return recording.own(call_at(recording.here(), fn, args, {}))
    callee = callables.of(fn)
    if not kwargs and (is_scalar_call(fn, callee, args) or is_conversion(fn, args)):
        return run_scalar(recording, fn, args)
    writes = callee.writes is not None
    if not (writes or callee.pure):
        return run_effect(recording, fn, args, kwargs, "what it does is not known")
    if too_long(fn, args):
        return run_effect(recording, fn, args, kwargs, f"a list of more than {LIST_LIMIT} numbers")
    targets = out_arguments(fn, args, kwargs)
    if any(type(target) is not Traced or target._rm_kind != ARRAY for target in targets):
        return run_effect(recording, fn, args, kwargs, "the result goes to an unknown array")
    return run_host(recording, fn, args, kwargs, writes=writes or bool(targets))


def repetition(recording: Recording, value: Any) -> Any:
    """The other operand of a list or tuple: how often Python is to repeat what that holds."""
    is_count = type(value) is Traced and value._rm_kind != ARRAY
    return recording.look(value, "a count") if is_count else value


def out_arguments(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arrays that a call is told to put its results into."""
    out = kwargs.get("out")
    if out is None and isinstance(fn, np.ufunc):
        out = args[fn.nin :]
    return [target for target in (out if type(out) is tuple else (out,)) if target is not None]


def too_long(fn: Any, args: tuple[Any, ...]) -> bool:
    """True if the result is a list in which a trace would follow too many numbers."""
    return fn == call_forms.TOLIST and bool(args[0].size > LIST_LIMIT)


def is_scalar_call(fn: Any, callee: callables.Callee, args: tuple[Any, ...]) -> bool:
    """True if it is Python's own arithmetic on Python numbers, traced ones among them."""
    of_numbers = isinstance(fn, call_forms.MethodCall | call_forms.AttributeCall)
    if not (of_numbers or callee.follow == "scalar"):
        return False
    return any(type(a) is Traced for a in args) and all(
        a._rm_kind == PYTHON if type(a) is Traced else type(a) in (*SCALARS, type(None))
        for a in args
    )


def is_conversion(fn: Any, args: tuple[Any, ...]) -> bool:
    """True if a NumPy scalar becomes a Python number: of one type, whatever its value."""
    if len(args) != 1 or type(args[0]) is not Traced or args[0]._rm_kind != GENERIC:
        return False
    return fn is float or fn is int or fn is complex or fn == call_forms.method_of("item")


def run_scalar(recording: Recording, fn: Any, args: tuple[Any, ...]) -> Any:
    """Arithmetic of Python numbers: done by Python at each call, never compiled."""
    raw = tuple([recording.raw(arg) for arg in args])
    line, tape = recording.here(), recording.tape
    tape.pass_attempt()
    if (known_error := tape.fed_raise(fn)) is not None:
        encoded = tuple(map(recording.encode, args))
        tape.note(Call(fn, encoded, {}, None, line, raised=known_error))
        raise known_error.error()
    try:
        found, value = tape.fed_number(fn)
        if not found:
            value = call_at(line, fn, raw, {})
    except Exception as error:
        call = Call(fn, tuple(map(recording.encode, args)), {}, None, line)
        note_exception(recording, call, error)
        raise
    recording.single()
    roots = merged_roots(args)
    if type(value) not in SCALARS:
        return look_at_all(recording, args, value)
    made = recording.lift(value, None, roots)
    made._rm_extent = lengths.formula_of(fn, args)
    forks = roots is None and fn in (operator.pow, pow)  # the result's type depends on the values
    call = Call(
        fn,
        tuple(map(recording.encode, args)),
        {},
        recording.encode(made),
        line,
        structure=type(value),
        checked=not forks,
        again=True,
        early=roots is not None,
    )
    tape.note(call)
    if forks:
        branch(recording, made, type, type(value))
    return made


def look_at_all(recording: Recording, values: tuple[Any, ...], result: Any) -> Any:
    """A result that only Python can use, such as text: what it came from was looked at."""
    for value in values:
        if type(value) is Traced:
            recording.look(value, f"a result of type {type(result).__name__}")
    return result


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
    recording: Recording,
    fn: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    writes: bool,
    line: Line | None = None,
) -> Any:
    """A call that a replay repeats: NumPy runs it on real values in program order.

    ``line``: where it is called from; None: the line that is running.
    """
    found = encoded(recording, args, kwargs)
    if isinstance(found, str):
        return run_effect(recording, fn, args, kwargs, found)
    recording.flush()
    line, tape = line or recording.here(), recording.tape
    tape.pass_attempt()
    call = Call(fn, *found, None, line, writes=writes)
    call.errstate, call.resident = recording.own_errstate, recording.boundary is not None
    call.raised = tape.fed_raise(fn)
    if call.raised is not None:
        tape.note(call)
        raise call.raised.error()
    fed = tape.fed_operation(fn)
    if fed is None or tape.resume is None:
        try:
            value, real = call_host(recording, fn, args, kwargs, line, writes=writes)
        except Exception as error:
            note_exception(recording, call, error)
            raise
    else:  # a replay has made the call
        known = operands(recording, (*args, *kwargs.values()))
        value, real = tape.resume.result(tape.count, known), list(known.values())
    first = recording.count
    law = None if recording.symbols is None else result_shape(fn, args, kwargs)
    result, call.out, call.shape = adopt_in_formulas(recording, value, real, law)
    call.structure = None if call.out is None else structure_of(value)
    forks = call.structure not in (None, *TEXTS) and not is_fixed(fn, args, value)
    call.checked = not forks and call.structure is not None
    call.new_slots = tuple([slot for slot in refs(call.out) if slot >= first])
    if call.shape is None:
        call.large = tuple(large_arrays(call.out, value))
    tape.note(call)
    tape.free()
    if forks:
        fork(recording, call, result, value)
    return result


def encoded(
    recording: Recording, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | str:
    """Arguments as a tape mentions them; or why it cannot."""
    try:
        named = {name: recording.encode(value) for name, value in kwargs.items()}
        return tuple(map(recording.encode, args)), named
    except Unencodable as reason:
        return str(reason)


def adopt_in_formulas(
    recording: Recording, value: Any, real: list[Any], shape: tuple[int, ...] | None
) -> tuple[Any, Any, tuple[int, ...] | None]:
    """Like :func:`adopt`; and the shape that a law tells, if it is that of a new array."""
    symbols = recording.symbols
    if symbols is None:
        return *adopt(recording, value, real), None
    symbols.shape = shape
    result, template = adopt(recording, value, real)
    symbols.shape = None
    made = type(result) is Traced and result._rm_geometry is not None and shape is not None
    return result, template, shape if made and result._rm_geometry.shape is shape else None


def is_fixed(fn: Any, args: tuple[Any, ...], value: Any) -> bool:
    """True if a result has the same structure for all values; the dtype of text says its length."""
    has_text = isinstance(value, np.ndarray) and value.dtype.kind in "SUV"
    return callables.cannot_raise(fn, args) and not has_text


def fork(recording: Recording, call: Call, result: Any, value: Any) -> None:
    """With other values the call may give another structure, or show another part of an operand."""
    views = [traced for traced in traced_in(result) if traced._rm_origin is not None]
    if not views:
        own = [slot for slot in refs(call.out) if any(slot in refs(arg) for arg in call.args)]
        if own and not call.writes:
            recording.effect(
                "untraceable-result",
                f"{call_forms.name_of(call.fn)} gives its operand, now at least",
            )
        branch(recording, result, structure_of, call.structure)
        return
    bases = tuple({id(view._rm_origin[0]): view._rm_origin[0] for view in views}.values())
    placed = placed_structure((value, *map(recording.value, bases)))
    branch(recording, (result, *bases), placed_structure, placed)


def traced_in(value: Any) -> Iterator[Traced]:
    """The traced values in a result."""
    if type(value) is Traced:
        yield value
    elif (apart := take_apart(value)) is not None:
        for child in apart[1]:
            yield from traced_in(child)


def call_host(
    recording: Recording,
    fn: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    line: Line | None,
    *,
    writes: bool,
) -> tuple[Any, list[Any]]:
    """Call it on real values: the result and the arguments."""
    real, named = recording.raw(tuple(args)), recording.raw(dict(kwargs))
    if writes:
        for arg in (*real, *named.values()):
            host_written(arg)
    if recording.immediate:  # a handler of events may run
        return recording.unknown(fn, real, named), list(real)
    return call_at(line, fn, real, named), list(real)


def large_arrays(template: Any, value: Any) -> Iterator[int]:
    """The slots of arrays in a result that a replay forgets when the program does."""
    if type(template) is Ref and getattr(value, "nbytes", 0) >= FREED_BYTES:
        yield template.slot
    elif type(template) is Nest:
        children = value.values() if isinstance(value, dict) else value
        for item, child in zip(template.items, children, strict=True):
            yield from large_arrays(item, child)


def operands(recording: Recording, values: Iterable[Any]) -> dict[int, Any]:
    """The real values of traced operands, by slot."""
    found: dict[int, Any] = {}
    for value in values:
        if type(value) is Traced:
            found[value._rm_slot] = recording.value(value)
        elif isinstance(value, (list, tuple)):
            found.update(operands(recording, value))
    return found


def run_effect(
    recording: Recording,
    fn: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    why: str,
    *,
    reason: str = "unknown-call",
) -> Any:
    """Code that capture does not know: everything is computed first, and Python runs it."""
    recording.effect(reason, f"{call_forms.name_of(fn)}: {why}")
    line, fn = recording.here(), recording.release(fn)
    handled = sys.exc_info()[1]
    if handled is not None:  # the code may show it
        hide_our_frames(handled)
    real_args = tuple([recording.release(arg) for arg in args])
    real_kwargs = {name: recording.release(value) for name, value in kwargs.items()}
    if getattr(fn, "__module__", "") in ("warnings", "_warnings"):
        recording.report_at_once()  # the filters may change: NumPy warns where the program is
        if fn is warnings.warn:
            number = real_args[2] if len(real_args) > 2 else real_kwargs.pop("stacklevel", 1)
            level = stack_level(number)
            real_args, real_kwargs = real_args[:2], {**real_kwargs, "stacklevel": level}
            return call_at(line, fn, real_args, real_kwargs)
    value = recording.unknown(fn, real_args, real_kwargs)
    return adopt_loosely(recording, value)


# -- results ---------------------------------------------------------------------------------------
def adopt(recording: Recording, value: Any, raw_args: list[Any]) -> tuple[Any, Any]:
    """The traced form of a host call's result, and its template (None: nothing to keep)."""
    if value is None:
        return None, None
    if isinstance(value, np.ndarray):
        if not (is_traceable(value) or is_opaque(value)):
            recording.effect("untraceable-result", f"an array of dtype {value.dtype}")
            return value, None
        traced = adopt_array(recording, value, raw_args)
        return traced, Ref(traced._rm_slot)
    if is_number(value) or is_opaque_scalar(value) or type(value) in SCALARS:
        traced = recording.lift(value, None, None)
        return traced, Ref(traced._rm_slot)
    if type(value) in TEXTS:
        recording.effect("untraceable-result", "it is text")
        return value, None
    if is_random_state(type(value)):
        if recording.slot_of(value) is None:
            recording.hold(value, recording.slot())
        return value, recording.encode(value)
    apart = take_apart(value)
    if apart is None:
        recording.effect("untraceable-result", f"a value of type {type(value).__name__}")
        return value, None
    structure, children = apart
    pairs = [adopt(recording, child, raw_args) for child in children]
    rebuilt = structure([traced for traced, _ in pairs])
    if isinstance(rebuilt, list | dict):
        recording.own(rebuilt)
    return rebuilt, Nest(structure, tuple(template for _, template in pairs))


def adopt_array(recording: Recording, value: np.ndarray, raw_args: list[Any]) -> Traced:
    """A result array: an operand itself, a view of one, or new memory."""
    known = recording.adopt(value)
    if known is not None:
        return known
    for arg in raw_args:
        base = recording.adopt(arg) if isinstance(arg, np.ndarray) else None
        if base is None or owner_of(value) is not owner_of(arg):
            continue
        at = base._rm_geometry
        place = at.storage.locate(value) if at is not None else None
        if place is not None:
            slot = recording.slot()
            view = Traced(recording, slot, ARRAY, held=value, geometry=place.at_slot(slot))
            view._rm_origin = (base, call_forms.method_of("view"), (), {})
            recording.remember(value, view)
            recording.watch(view)
            return view
    if recording.boundary is not None:
        value = fresh_adopted(value)
    lifted: Traced = recording.lift(value)
    return lifted


def adopt_loosely(recording: Recording, value: Any) -> Any:
    """Arrays in the result of unknown code become inputs, known containers their copies."""
    if isinstance(value, np.ndarray):
        return recording.lift(value)
    if type(value) is tuple:
        return tuple(adopt_loosely(recording, item) for item in value)
    shadow = recording.shadows.of_original(value)
    return value if shadow is None else shadow.copy


def note_exception(recording: Recording, call: Call, error: Exception) -> None:
    """Note that a call raises, if a replay may find that out; else it is an effect."""
    caught = raised.raised_by(error)
    if caught is None or call.writes or not recording.publishable or recording.boundary is not None:
        name = call_forms.name_of(call.fn)
        recording.effect("exception", f"{type(error).__name__} in {name}")
        return
    tape = recording.tape
    if not tape.at_attempt:
        tape.branch(None, raised.attempt, None, recording.line(), recording.count)
    call.raised, call.errstate = caught, recording.own_errstate
    tape.note(call)
