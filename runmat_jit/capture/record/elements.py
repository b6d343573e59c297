"""Single numbers: elements of memory that exists, and arithmetic on them, by NumPy.

NumPy's scalars compute faster than a kernel is called, and a loop that looks at one element after
another would need a kernel for each. What is done is noted, for replays to do it again.

Beside work on arrays single numbers cost nothing in a kernel. So each instruction of the program is
deferred the first times, with a *recipe*: how NumPy computes it, if nothing but single numbers is
pending when a value is asked for, or if the instruction turns out to be part of a loop.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.capture.record import views
from runmat_jit.capture.record.recording import Recipe, Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import (
    AbstractValue,
    Compute,
    CoveredCall,
    Operation,
    Single,
)
from runmat_jit.capture.tape.lines import Line, call_at
from runmat_jit.capture.tape.storage import Storage
from runmat_jit.capture.tape.values import GENERIC, NOTHING, PYTHON
from runmat_jit.core.errstate import call_under, current_errstate

DEFERRED: Final = 64
"""Operations on single numbers of a recording that may be deferred."""
TIMES_DEFERRED: Final = 1
"""Times that one instruction of the program is deferred: it is part of a loop if it comes again."""
UNKNOWN = object()
SCALARS: Final = (bool, int, float, np.generic)


def raw_position(key: Any) -> tuple[Any, ...] | None:
    """A key as whole numbers, one for each axis; None if it is anything else."""
    parts = key if type(key) is tuple else (key,)
    for part in parts:
        if type(part) is not int and (type(part) is Traced or not isinstance(part, np.integer)):
            return None
    return parts


def comes_again(recording: Recording) -> bool:
    """Whether the program has been at this instruction before, or at many others like it."""
    balance = recording.balance
    if balance.deferred >= DEFERRED:
        return True
    place = recording.lines.place()
    times = balance.places[place] = balance.places.get(place, 0) + 1
    if times > TIMES_DEFERRED:
        return True
    balance.deferred += 1
    return False


# -- pending numbers -------------------------------------------------------------------------------
def remember(recording: Recording, made: Any, fn: Any, args: tuple[Any, ...]) -> Any:
    """Keep how NumPy computes a number that is now pending, if it can; gives the number back."""
    at = made._rm_geometry if type(made) is Traced else None
    if at is None or at.storage.memory is not None or recording.boundary is not None:
        return made
    if fn is call_forms.GETITEM:
        values: tuple[Any, ...] = views.shape_array(recording, args[0]), raw_position(args[1])
    else:
        values = tuple([ingredient(recording, arg) for arg in args])
        if any(value is UNKNOWN for value in values):
            return made
    recording.recipes[at.storage] = Recipe(fn, tuple(map(recording.encode, args)), values)
    return made


def ingredient(recording: Recording, value: Any) -> Any:
    """Operand of a recipe: a number, or its storage if that has a recipe too."""
    at = value._rm_geometry if type(value) is Traced else None
    if at is not None and at.storage in recording.recipes:
        return at.storage
    return known(recording, value)


def all_by_numpy(recording: Recording, pending: list[Operation]) -> bool:
    """Compute what is pending if that is single numbers alone: whether it was."""
    recipes = recording.recipes
    found = bool(recipes) and all(operation.target.storage in recipes for operation in pending)
    if found:
        for operation in pending:
            follow(recording, operation)
    recipes.clear()
    return found


def follow(recording: Recording, operation: Operation, quiet: Any = None) -> None:
    """Have NumPy compute a pending number, whose operands it has computed.

    Raises:
        FloatingPointError: there is something to warn of, which is not to be done under ``quiet``.

    """
    storage, line = operation.target.storage, operation.line
    recipe = recording.recipes[storage]
    values = [
        value.memory[()] if type(value) is Storage and value.memory is not None else value
        for value in recipe.values
    ]
    state = recording.token if quiet is None else quiet  # of the program where it was recorded
    made = called(recording, line, recipe.fn, tuple(values), state)
    storage.memory = np.asarray(made)
    recording.balance.elements += 1
    if recording.tape.keeps_entries:
        late = entry_of(
            recording,
            recipe.fn,
            recipe.args,
            storage.slot,
            line=line,
            what=operation,
            quiet=quiet,
        )
        recording.tape.mark(late)


def settle(recording: Recording) -> None:
    """Have NumPy compute the pending numbers, or all that is pending if there is a warning."""
    recipes, pending = recording.recipes, recording.pending
    ours = [operation for operation in pending if operation.target.storage in recipes]
    if len(ours) == len(pending):
        recording.flush()
        return
    resume = recording.tape.resume
    try:
        for operation in ours if resume is None else resume.left_of(ours):
            follow(recording, operation, quiet_for(recording, operation.meaning))
    except FloatingPointError:
        drop(recording, [each for each in ours if each.target.storage.memory is not None])
        recording.flush()
    else:
        drop(recording, ours)


def drop(recording: Recording, computed: list[Operation]) -> None:
    """Some of what is pending has been computed."""
    gone = set(map(id, computed))
    recording.keep_pending([each for each in recording.pending if id(each) not in gone])
    for each in computed:
        each.done()


def quiet_for(recording: Recording, meaning: Compute | None) -> Any:
    """The state of errors for what is computed before operations that came before it.

    None if that makes no difference: it warns of nothing.
    """
    events = meaning is not None and meaning.row.events and recording.state.warn
    return recording.state.raising if events and recording.pending else None


# -- numbers that are known ------------------------------------------------------------------------
def known(recording: Recording, value: Any) -> Any:
    """The real number behind a value; nothing where it is no single number, or not to be had."""
    if type(value) is not Traced:
        return value if isinstance(value, SCALARS) else UNKNOWN
    if value._rm_kind not in (GENERIC, PYTHON) or value._rm_tracer is not recording:
        return UNKNOWN
    if value._rm_held is not None:
        return value._rm_held
    at = value._rm_geometry
    if at is None or recording.boundary is not None:
        return UNKNOWN
    if at.storage.memory is None:
        if at.storage not in recording.recipes:
            return UNKNOWN
        settle(recording)
    return recording.materialize(value)


def compute(recording: Recording, fn: Any, args: tuple[Any, ...], call: CoveredCall) -> Any:
    """An operation on single numbers, all of which are known; None where it is to be deferred."""
    operands = []
    if not comes_again(recording):
        return None
    for arg in args:
        number = known(recording, arg)
        if number is UNKNOWN:
            return None
        operands.append(number)
    line, pattern = recording.lines.here(), call.pattern
    made = recording.tape.fed_value(fn, UNKNOWN)
    quiet = quiet_for(recording, pattern.meaning)
    if made is UNKNOWN and quiet is not None:
        try:
            made = called(recording, line, fn, tuple(operands), quiet)
        except FloatingPointError:
            recording.flush()
            quiet = None
    if made is UNKNOWN:
        made = called(recording, line, fn, tuple(operands))
    return note(
        recording,
        fn,
        args,
        line=line,
        made=made,
        abstract=pattern.result,
        meaning=pattern.meaning,
        quiet=quiet,
    )


def called(
    recording: Recording, line: Line | None, fn: Any, args: tuple[Any, ...], state: Any = None
) -> Any:
    """A call on real values, under a state of errors; an exception is an effect.

    Raises:
        FloatingPointError: the state is one under which there is to be nothing to warn of.

    """
    try:
        if state is None or state is current_errstate():
            return call_at(line, fn, args, NOTHING)
        return call_under(state, partial(call_at, line, fn, args, NOTHING))
    except FloatingPointError:
        raise
    except Exception as error:
        recording.effect("exception", f"{type(error).__name__} in {call_forms.name_of(fn)}")
        raise


def note(
    recording: Recording,
    fn: Any,
    args: tuple[Any, ...],
    *,
    line: Line | None,
    made: Any,
    abstract: AbstractValue,
    meaning: Compute | None = None,
    quiet: Any = None,
) -> Any:
    """The traced form of a number that has just been computed."""
    recording.single()
    slot, tape = recording.slot(), recording.tape
    traced = Traced(recording, slot, GENERIC, held=made, abstract=abstract)
    if tape.keeps_entries:
        encoded = tuple([recording.encode(a) for a in args])
        tape.note(entry_of(recording, fn, encoded, slot, line=line, what=meaning, quiet=quiet))
    return traced


def entry_of(
    recording: Recording,
    fn: Any,
    args: tuple[Any, ...],
    slot: int,
    *,
    line: Line | None,
    what: Operation | Compute | None,
    quiet: Any,
) -> Single:
    """The entry of a call that NumPy made; or, of an operation noted before, the mark that it did.

    ``quiet``: the state of errors under which there was to be nothing to warn of.
    """
    late = type(what) is Operation
    meaning = what.meaning if type(what) is Operation else what
    number = what.number if type(what) is Operation else recording.tape.count
    warns = type(meaning) is Compute and meaning.row.events and recording.state.warn
    return Single(
        fn,
        args,
        slot,
        line,
        number,
        raising=quiet or (recording.state.raising if warns else None),
        quiet=quiet is not None,
        errstate=recording.own_errstate,
        late=late,
    )
