"""Runs what no row defers: with NumPy or Python, at once, on real values."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record import lengths
from runmat_jit.capture.record.balance import count
from runmat_jit.capture.record.branches import branch
from runmat_jit.capture.record.result_shape import result_shape
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay import raised
from runmat_jit.capture.replay.resume import placed_structure, structure_of
from runmat_jit.capture.replay.steps import Adopt, Call, Raises, Settle, fresh_adopted
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import Nest, Op, Ref, refs
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

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer

LIST_LIMIT = 200
"""Elements of an array up to which the numbers of its ``tolist()`` are followed one by one."""


def run(tracer: Tracer, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run a call that is not deferred: scalar arithmetic, a pure host call, a writer, an effect."""
    callee = callables.of(fn)
    if not kwargs and (is_scalar_call(fn, callee, args) or is_conversion(fn, args)):
        return run_scalar(tracer, fn, args)
    writes = callee.writes is not None
    if not (writes or callee.pure):
        return run_effect(tracer, fn, args, kwargs, "what it does is not known")
    if too_long(fn, args):
        return run_effect(tracer, fn, args, kwargs, f"a list of more than {LIST_LIMIT} numbers")
    targets = out_arguments(fn, args, kwargs)
    if any(type(target) is not Traced or target._rm_kind != ARRAY for target in targets):
        return run_effect(tracer, fn, args, kwargs, "the result goes to an unknown array")
    return run_host(tracer, fn, args, kwargs, writes=writes or bool(targets))


def out_arguments(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arrays that a call is told to put its results into."""
    out = kwargs.get("out")
    if out is None and isinstance(fn, np.ufunc):
        out = args[fn.nin :]
    return [target for target in (out if type(out) is tuple else (out,)) if target is not None]


def too_long(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether the result is a list in which a trace would follow too many numbers."""
    return fn == call_forms.TOLIST and bool(args[0].size > LIST_LIMIT)


def is_scalar_call(fn: Any, callee: callables.Callee, args: tuple[Any, ...]) -> bool:
    """Whether it is Python's own arithmetic on Python numbers, traced ones among them."""
    of_numbers = isinstance(fn, call_forms.MethodCall | call_forms.AttributeCall)
    if not (of_numbers or callee.follow == "scalar"):
        return False
    return any(type(a) is Traced for a in args) and all(
        a._rm_kind == PYTHON if type(a) is Traced else type(a) in (*SCALARS, type(None))
        for a in args
    )


def is_conversion(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether a NumPy scalar becomes a Python number: of one type, whatever its value."""
    if len(args) != 1 or type(args[0]) is not Traced or args[0]._rm_kind != GENERIC:
        return False
    return fn is float or fn is int or fn is complex or fn == call_forms.method_of("item")


def run_scalar(tracer: Tracer, fn: Any, args: tuple[Any, ...]) -> Any:
    """Arithmetic of Python numbers: done by Python at each call, never compiled."""
    raw = tuple([tracer.raw(arg) for arg in args])
    line = tracer.here()
    steps = tracer.steps
    source = None if line is None else line.source
    steps.pass_attempt()
    if (known_error := steps.fed_raise(fn)) is not None:
        steps.note(Op(fn, tuple(map(tracer.encode, args)), {}, None, source, structure=known_error))
        raise known_error.error()
    try:
        found, value = steps.fed_number(fn)
        if not found:
            value = call_at(line, fn, raw, {})
    except Exception as error:
        caught = raised.raised_by(error)
        op = Op(fn, tuple(map(tracer.encode, args)), {}, None, source, structure=caught)
        detail = f"{type(error).__name__} in {call_forms.name_of(fn)}"
        note_exception(tracer, op, caught, line, writes=False, detail=detail)
        raise
    count(tracer)
    if tracer.balance.native:
        return value
    roots = merged_roots(args)
    if type(value) not in SCALARS:
        return look_at_all(tracer, args, value)
    made = tracer.lift(value, None, roots)
    made._rm_extent = lengths.formula_of(fn, args)
    wanted = type(value)
    op = Op(fn, tuple(map(tracer.encode, args)), {}, tracer.encode(made), source)
    if roots is not None:
        tracer.steps.add_early(Call(op, lambda result: type(result) is wanted, line))
        tracer.steps.note(op)
        return made
    forks = fn in (operator.pow, pow)  # the type of the result depends on the values
    tracer.steps.add(Call(op, None if forks else lambda result: type(result) is wanted, line))
    tracer.steps.note(op)
    if forks:
        branch(tracer, made, type, wanted)
    return made


def look_at_all(tracer: Tracer, values: tuple[Any, ...], result: Any) -> Any:
    """A result that only Python can use, such as text: what it came from was looked at."""
    for value in values:
        if type(value) is Traced:
            tracer.look(value, f"a result of type {type(result).__name__}")
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
    tracer: Tracer,
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
    try:
        entry_args = tuple(map(tracer.encode, args))
        entry_kwargs = {name: tracer.encode(value) for name, value in kwargs.items()}
    except Unencodable as reason:
        return run_effect(tracer, fn, args, kwargs, str(reason))
    tracer.flush()
    line, steps = line or tracer.here(), tracer.steps
    source = None if line is None else line.source
    steps.pass_attempt()
    if (known_error := steps.fed_raise(fn)) is not None:
        steps.note(Op(fn, entry_args, entry_kwargs, None, source, structure=known_error))
        raise known_error.error()
    fed = steps.fed_operation(fn)
    if fed is None or steps.feed is None:
        try:
            value, real = call_host(tracer, fn, args, kwargs, line, writes=writes)
        except Exception as error:
            caught = raised.raised_by(error)
            op = Op(fn, entry_args, entry_kwargs, None, source, structure=caught)
            detail = f"{type(error).__name__} in {call_forms.name_of(fn)}"
            note_exception(tracer, op, caught, line, writes=writes, detail=detail)
            raise
    else:  # a replay has made the call
        known = operands(tracer, (*args, *kwargs.values()))
        value, real = steps.feed.result(steps.count, known), list(known.values())
    first = tracer.count
    law = None if tracer.symbols is None else result_shape(fn, args, kwargs)
    result, template, shape = adopt_in_formulas(tracer, value, real, law)
    structure = None if template is None else structure_of(value)
    steps.need((*entry_args, *entry_kwargs.values()))
    op = Op(fn, entry_args, entry_kwargs, template, source, structure=structure)
    forks = structure not in (None, *TEXTS) and not is_fixed(fn, args, value)
    check = None if forks or structure is None else same_structure(structure)
    if tracer.boundary is not None:
        used = [slot for entry in (*entry_args, *entry_kwargs.values()) for slot in refs(entry)]
        steps.add(Settle(tuple(used), host_writes=writes))
    errstate = None if tracer.token is tracer.first_token else tracer.token
    steps.add(Call(op, check, line, writes, steps.count + 1, errstate, shape))
    steps.note(op)
    if tracer.boundary is not None:
        steps.add(Adopt(tuple([slot for slot in refs(template) if slot >= first])))
    if shape is None:
        steps.filled.update(large_arrays(template, value))
    steps.free(tracer.dead)
    if forks:
        fork(tracer, op, result, value, writes=writes)
    return result


def adopt_in_formulas(
    tracer: Tracer, value: Any, real: list[Any], shape: tuple[int, ...] | None
) -> tuple[Any, Any, tuple[int, ...] | None]:
    """As :func:`adopt`; and the shape that a law tells, if it is that of a new array."""
    symbols = tracer.symbols
    if symbols is None:
        return *adopt(tracer, value, real), None
    symbols.shape = shape
    result, template = adopt(tracer, value, real)
    symbols.shape = None
    made = type(result) is Traced and result._rm_geometry is not None and shape is not None
    return result, template, shape if made and result._rm_geometry.shape is shape else None


def is_fixed(fn: Any, args: tuple[Any, ...], value: Any) -> bool:
    """Whether a result has the same structure for all values; the dtype of text says its length."""
    has_text = isinstance(value, np.ndarray) and value.dtype.kind in "SUV"
    return callables.cannot_raise(fn, args) and not has_text


def fork(tracer: Tracer, op: Op, result: Any, value: Any, *, writes: bool) -> None:
    """With other values the call may give another structure, or show another part of an operand."""
    views = [traced for traced in traced_in(result) if traced._rm_origin is not None]
    if not views:
        own = [slot for slot in refs(op.out) if any(slot in refs(arg) for arg in op.args)]
        if own and not writes:
            tracer.effect(
                "untraceable-result", f"{call_forms.name_of(op.fn)} gives its operand, now at least"
            )
        branch(tracer, result, structure_of, op.structure)
        return
    bases = tuple({id(view._rm_origin[0]): view._rm_origin[0] for view in views}.values())
    placed = placed_structure((value, *map(tracer.value, bases)))
    branch(tracer, (result, *bases), placed_structure, placed)


def traced_in(value: Any) -> Iterator[Traced]:
    """The traced values in a result."""
    if type(value) is Traced:
        yield value
    elif (apart := take_apart(value)) is not None:
        for child in apart[1]:
            yield from traced_in(child)


def call_host(
    tracer: Tracer,
    fn: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    line: Line | None,
    *,
    writes: bool,
) -> tuple[Any, list[Any]]:
    """Call it on real values: the result and the arguments."""
    real, named = tracer.raw(tuple(args)), tracer.raw(dict(kwargs))
    if writes:
        for arg in (*real, *named.values()):
            host_written(arg)
    return call_at(line, fn, real, named), list(real)


def large_arrays(template: Any, value: Any) -> Iterator[int]:
    """The slots of arrays in a result that a replay forgets when the program does."""
    if type(template) is Ref and getattr(value, "nbytes", 0) >= FREED_BYTES:
        yield template.slot
    elif type(template) is Nest:
        children = value.values() if isinstance(value, dict) else value
        for item, child in zip(template.items, children, strict=True):
            yield from large_arrays(item, child)


def operands(tracer: Tracer, values: Iterable[Any]) -> dict[int, Any]:
    """The real values of traced operands, by slot."""
    found: dict[int, Any] = {}
    for value in values:
        if type(value) is Traced:
            found[value._rm_slot] = tracer.value(value)
        elif isinstance(value, (list, tuple)):
            found.update(operands(tracer, value))
    return found


def run_effect(
    tracer: Tracer,
    fn: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    why: str,
    *,
    reason: str = "unknown-call",
) -> Any:
    """Code that capture does not know: everything is computed first, and Python runs it."""
    tracer.effect(reason, f"{call_forms.name_of(fn)}: {why}")
    line, fn = tracer.here(), tracer.release(fn)
    handled = sys.exc_info()[1]
    if handled is not None:  # the code may show it
        hide_our_frames(handled)
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


# -- results ---------------------------------------------------------------------------------------
def adopt(tracer: Tracer, value: Any, raw_args: list[Any]) -> tuple[Any, Any]:
    """The traced form of a host call's result, and its template (None: nothing to keep)."""
    if value is None:
        return None, None
    if isinstance(value, np.ndarray):
        if not (is_traceable(value) or is_opaque(value)):
            tracer.effect("untraceable-result", f"an array of dtype {value.dtype}")
            return value, None
        traced = adopt_array(tracer, value, raw_args)
        return traced, Ref(traced._rm_slot)
    if is_number(value) or is_opaque_scalar(value) or type(value) in SCALARS:
        traced = tracer.lift(value, None, None)
        return traced, Ref(traced._rm_slot)
    if type(value) in TEXTS:
        text = tracer.encoder.lift_text(value)
        return text, Ref(text._rm_slot)
    if is_random_state(type(value)):
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


def adopt_array(tracer: Tracer, value: np.ndarray, raw_args: list[Any]) -> Traced:
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
            view = Traced(tracer, slot, ARRAY, held=value, geometry=place.at_slot(slot))
            view._rm_origin = (base, call_forms.method_of("view"), (), {})
            tracer.remember(value, view)
            tracer.watch(view)
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


def same_structure(wanted: Any) -> Callable[[Any], bool]:
    """A test that a result has these types, dtypes, shapes and strides."""
    return lambda other: structure_of(other) == wanted


def note_exception(
    tracer: Tracer,
    op: Op,
    caught: raised.Raised | None,
    line: Line | None,
    *,
    writes: bool,
    detail: str,
) -> None:
    """Record that a call raises, if a replay may find that out; else it is an effect."""
    if caught is None or writes or not tracer.publishable or tracer.boundary is not None:
        tracer.effect("exception", detail)
        return
    steps = tracer.steps
    if not steps.at_attempt:
        steps.branch(None, raised.attempt, None, tracer.line(), tracer.count)
    steps.need((*op.args, *op.kwargs.values()))
    errstate = None if tracer.token is tracer.first_token else tracer.token
    steps.add(Raises(op, caught.kind, caught.args, line, steps.count + 1, errstate))
    steps.note(op)
