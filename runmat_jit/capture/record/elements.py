"""Single numbers: elements of memory that exists, and arithmetic on them, by NumPy.

NumPy's scalars compute faster than a kernel is called, and a loop that looks at one element after
another would need a kernel for each. What is done is noted, for replays to do it again.

Beside work on arrays single numbers cost nothing in a kernel. So each instruction of the program is
deferred the first time, as any operation is; when it comes again it is part of a loop.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import (
    AbstractValue,
    Compute,
    CoveredCall,
    Single,
)
from runmat_jit.capture.tape.lines import Line, call_at
from runmat_jit.capture.tape.values import GENERIC, NOTHING, PYTHON
from runmat_jit.core.errstate import call_under, current_errstate
from runmat_jit.core.hotness import AGAIN
from runmat_jit.core.prices import DECISION

DEFERRED: Final = 4 * DECISION
"""Operations on single numbers of a recording that may be deferred."""
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
    """True if the program has been at this instruction before, or at many others like it.

    What a replay has done here is done as it was: CPython may have specialized the instruction
    since, and then gives it another place.
    """
    again, done = _comes_again(recording), recording.tape.fed_entry()
    return again if done is None else type(done) is Single


def _comes_again(recording: Recording) -> bool:
    balance = recording.balance
    if balance.deferred >= DEFERRED:
        return True
    place = recording.lines.place()
    times = balance.places[place] = balance.places.get(place, 0) + 1
    if times >= AGAIN and times > recording.lines.unpacked():  # an instruction of a loop
        return True
    balance.deferred += 1
    return False


def quiet_for(recording: Recording, meaning: Compute | None) -> Any:
    """The state of errors for what is computed before operations that came before it.

    None if that makes no difference: it warns of nothing.
    """
    events = meaning is not None and meaning.row.events and recording.state.warn
    return recording.state.raising if events and recording.pending else None


def known(recording: Recording, value: Any) -> Any:
    """The real number behind a value; nothing where it is no single number, or not to be had."""
    if type(value) is not Traced:
        return value if isinstance(value, SCALARS) else UNKNOWN
    if value._rm_kind not in (GENERIC, PYTHON) or value._rm_tracer is not recording:
        return UNKNOWN
    if value._rm_held is not None:
        return value._rm_held
    at = value._rm_geometry
    if at is None or at.storage.memory is None or recording.boundary is not None:
        return UNKNOWN
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
        tape.note(entry_of(recording, fn, encoded, slot, line=line, meaning=meaning, quiet=quiet))
    return traced


def entry_of(
    recording: Recording,
    fn: Any,
    args: tuple[Any, ...],
    slot: int,
    *,
    line: Line | None,
    meaning: Compute | None,
    quiet: Any,
) -> Single:
    """The entry of a call that NumPy made.

    ``quiet``: the state of errors under which there was to be nothing to warn of.
    """
    warns = meaning is not None and meaning.row.events and recording.state.warn
    return Single(
        fn,
        args,
        slot,
        line,
        recording.tape.count,
        raising=quiet or (recording.state.raising if warns else None),
        quiet=quiet is not None,
        errstate=recording.own_errstate,
    )
