"""Records of the calls of a decorated function."""

from __future__ import annotations

import operator
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record.fullgraph import not_whole
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.replay.bailout import Tally
from runmat_jit.capture.replay.tree import Fork
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import (
    Call,
    Effect,
    Entry,
    Mark,
    Nest,
    Operation,
    Ref,
    Single,
    refs,
)
from runmat_jit.core.reasons import Reason
from runmat_jit.core.source import SourceLine

_NUMBERS: Final = (bool, int, float, complex)


@dataclass(slots=True)
class Record:
    """Knowledge of calls with one key: their tree, and why Python is needed."""

    root: Fork = field(default_factory=Fork)
    misses: int = 0
    """Calls in a row that no replay has finished."""
    tally: Tally = field(default_factory=Tally)
    """The unprofitable calls of this kind."""
    driven: bool = False
    """Python runs in each call: replays did not come to an end."""
    effects: tuple[Effect, ...] = ()
    refused: tuple[str, ...] = ()
    programs: tuple[Any, ...] = ()
    """The programs of the last recording."""
    host_calls: tuple[tuple[str, SourceLine | None], ...] = ()
    """Host calls of it that are no nodes of a graph, and where."""
    single: bool = False
    """More was done with single numbers than kernels did, and all of it has NumPy's bits."""
    native: bool = False
    """So much was done with single numbers that nothing is to be recorded again."""
    given_up: bool = False
    """The call was too long to be kept, and such calls are not worth driving."""
    ordered: bool = False
    """It made ordered calls, of draws or prints: a second run would make them again."""

    def prepare(self, tracer: Tracer) -> None:
        """Have another such call recorded as is known to be best."""
        tracer.balance.native = self.native
        ended = [effect for effect in self.effects if effect.reason == "trace-too-long"]
        if ended or self.native or self.driven:
            tracer.tape.repeat_nothing()
        tracer.tape.expect(ended)  # others turn up again

    def learn(self, tracer: Tracer) -> None:
        """Take in what a recording found out."""
        tape, balance = tracer.tape, tracer.balance
        resume, noted, programs = tape.resume, tape.items, tracer.programs
        if resume is not None:
            noted = [*resume.log[: resume.end], *noted]
            programs = [*resume.programs, *programs]
        self.look_at(noted)
        self.effects = tuple(tape.effects)
        self.refused = tuple(dict.fromkeys(tracer.refused))
        self.programs = tuple(programs)
        self.misses += 1
        if resume is None:
            self.single = balance.elements > 0 and not (balance.gains or balance.ours)
            self.native = balance.native
            too_long = any(effect.reason == "trace-too-long" for effect in self.effects)
            driven = tracer.boundary is not None or balance.is_worth_driving
            self.given_up = too_long and not driven

    def look_at(self, noted: Sequence[Entry | Mark]) -> None:
        """See what NumPy itself does in what was noted."""
        calls = [entry for entry in noted if type(entry) is Call]
        self.host_calls = host_calls(noted) if calls else ()
        self.ordered = any(callables.of(call.fn).ordered for call in calls)

    @property
    def is_plain(self) -> bool:
        """Whether such calls are plain Python from now on."""
        return self.given_up and bool(self.effects)


@dataclass(slots=True)
class Counts:
    """Calls of one function, by what happened."""

    replayed: int = 0
    recorded: int = 0
    plain: int = 0
    retraced: int = 0
    """Recordings that took over where a replay had left its tree."""


def host_calls(noted: Sequence[Entry | Mark]) -> tuple[tuple[str, SourceLine | None], ...]:
    """The calls on arrays that are no nodes of a graph, each once, in order."""
    found: dict[tuple[str, SourceLine | None], None] = {}
    numbers: set[int] = set()
    for entry in noted:
        if type(entry) is Operation:
            if entry.out is not None and entry.meaning.shape == ():
                numbers.add(entry.out)
        elif type(entry) is Single:
            numbers.add(entry.out)
        elif type(entry) is Call and not is_single(entry, numbers) and is_host_call(entry):
            line = None if entry.line is None else entry.line.source
            found[str(entry.fn.__name__), line] = None
    return tuple(found)


def is_single(call: Call, numbers: set[int]) -> bool:
    """Whether it computes with single numbers, or reads or writes one element.

    ``numbers`` has the slots of those that entries have given, and gets this one's.
    """
    if call.fn is call_forms.SETITEM:
        return is_position(call.args[1], numbers)
    if not gives_number(call):
        return False
    numbers.add(call.out.slot)
    if call.fn is call_forms.GETITEM:
        return is_position(call.args[1], numbers)
    operands = [slot for arg in (*call.args, *call.kwargs.values()) for slot in refs(arg)]
    return bool(operands) and numbers.issuperset(operands)


def gives_number(call: Call) -> bool:
    """Whether the result is a single number, of NumPy's or of Python's."""
    if type(call.out) is not Ref:
        return False
    known = call.structure
    return known is None or known in _NUMBERS or is_generic(known)


def is_generic(structure: Any) -> bool:
    """Whether a structure is that of NumPy's numbers."""
    return isinstance(structure, type) and issubclass(structure, np.number | np.bool_)


def is_position(key: Any, numbers: set[int]) -> bool:
    """Whether an encoded key is made of single numbers alone, some of them computed."""
    is_tuple = type(key) is Nest and getattr(key.build, "kind", None) is tuple
    parts = key.items if is_tuple else (key,)
    plain = all(type(part) in (Ref, int) or isinstance(part, np.integer) for part in parts)
    return plain and numbers.issuperset(refs(key))


def is_host_call(op: Call) -> bool:
    """Whether NumPy computes it; views and Python's own arithmetic are nobody's work."""
    if op.fn is call_forms.SETATTR:
        return False
    if op.fn is call_forms.GETITEM or op.fn is call_forms.SETITEM:
        return bool(refs(op.args[1]))  # by arrays; other keys are views and elements
    kinds = call_forms.MethodCall | call_forms.UfuncMethod | np.ufunc
    module = str(getattr(op.fn, "__module__", ""))
    return op.fn is operator.matmul or isinstance(op.fn, kinds) or module.startswith("numpy")


def reasons_of(record: Record) -> tuple[Reason, ...]:
    """Everything that a recording found which keeps it from being one compiled whole."""
    effects = [Reason(e.reason, e.detail, e.line.short() if e.line else "") for e in record.effects]
    refused = [
        Reason("one-by-one", f"operations ran one by one: {detail}") for detail in record.refused
    ]
    devices = [
        Reason("not-on-device", program.device_reason)
        for program in record.programs
        if program.device_reason
    ]
    return tuple(dict.fromkeys((*effects, *refused, *devices)))


def require_whole(fn: types.FunctionType, record: Record) -> None:
    """Refuse a recording of which Python, or NumPy, would have to do a part at each call.

    Raises:
        CaptureError: with the first reason.

    """
    reasons = reasons_of(record)
    if reasons:
        line = record.effects[0].line if record.effects else None
        raise not_whole(fn, reasons[0], line)
