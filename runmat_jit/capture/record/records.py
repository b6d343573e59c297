"""Records of the calls of a decorated function."""

from __future__ import annotations

import operator
import types
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record.balance import Balance
from runmat_jit.capture.record.fullgraph import not_whole
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.replay.bailout import (
    BAILOUT_CALLS,
    EVERY,
    RAISED,
    RECORDED_AGAIN,
    Patience,
    Tally,
    below,
)
from runmat_jit.capture.replay.tree import Fork
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import (
    Branch,
    Call,
    Draw,
    Effect,
    Entry,
    Mark,
    Nest,
    Operation,
    Ref,
    Return,
    Single,
    refs,
)
from runmat_jit.core.prices import COMPILING, DECISION, ENTRY, GUARDED, RECORDING, REPLAY
from runmat_jit.core.reasons import Reason
from runmat_jit.core.slotted import slotted
from runmat_jit.core.source import SourceLine

_NUMBERS: Final = (bool, int, float, complex)


@slotted
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
    poor_below: int = 0
    """Arguments all smaller than that: a replay gains nothing; and all bits are NumPy's."""
    gains_at_gate: bool = True
    """Likewise, of a replay that needs no Python but for its calls: whether it gains something."""
    ours: bool = False
    """A call had values whose bits are our own."""
    loops: int = 0
    """Of :attr:`work`, that of native loops."""
    work: int = 0
    """Of the kernels in one call, in calls of NumPy."""
    fruitless: int = 0
    """Recordings that no replay can repeat, as many calls as they count, less the replays since."""
    given_up: bool = False
    """Recordings ran away, or were fruitless: such calls are plain Python."""
    patience: Patience | None = None
    """Set if they raise: until some do not."""
    below: int = EVERY
    """The elements below which fruitless recordings are taken to be so."""
    first_reason: Reason | None = None
    """The reason, in the form of :attr:`reason`."""
    ordered: bool = False
    """It made ordered calls, of draws or prints: a second run would make them again."""

    def prepare(self, tracer: Tracer) -> None:
        """Have another such call recorded as is known to be best."""
        ended = [effect for effect in self.effects if effect.reason == "trace-too-long"]
        if ended or self.driven:
            tracer.tape.repeat_nothing()
        tracer.tape.expect(ended)  # others turn up again

    def learn(self, tracer: Tracer, size: int) -> None:
        """Take in what a recording found out; ``size``: of the largest array it was given."""
        tape, balance = tracer.tape, tracer.balance
        resume, noted, programs = tape.resume, tape.items, tracer.programs
        if resume is not None:
            noted = [*resume.log[: resume.end], *noted]
            programs = [*resume.programs, *programs]
        self.ours = self.ours or balance.ours
        self.work = balance.work if resume is None else max(self.work, balance.work)
        self.loops = max(self.loops, balance.loops)
        self.look_at(noted)
        self.effects, self.first_reason = tuple(tape.effects), None
        self.refused = tuple(dict.fromkeys(tracer.refused))
        self.programs = tuple(programs)
        self.misses += 1
        if resume is None:
            self.poor_below = poor_below(balance, noted, size)
            self.gains_at_gate = balance.work > price_at_gate(noted)
            too_long = any(effect.reason == "trace-too-long" for effect in self.effects)
            driven = tracer.boundary is not None or balance.is_worth_driving
            driven = driven or balance.ours or bool(balance.loops)
            self.given_up = too_long and not driven
        self.given_up = self.given_up or tracer.left is not None

    def repays(self, entries: int, programs: int, *, repeats: bool) -> bool:
        """True if kernels gain more than recording so many entries costs, at each call.

        ``programs``: those that were made for it, which the next recording may need, too;
        ``repeats``: a replay can repeat it. Else plain execution gains what native loops do.

        What other devices have computed may have bits of its own, of every row.
        """
        on_devices = any(program.device != "cpu" for program in self.programs)
        work = self.work if repeats else self.work - self.loops
        return on_devices or work > price_of(entries) + COMPILING * programs

    def gains_from(self, size: int) -> int:
        """The elements from which on kernels may do more than in a call with so many."""
        return below(size) if self.work else EVERY

    def count_fruitless(self, below: int, *, raised: bool, begun: bool) -> None:
        """Count a recording that no replay can repeat; after some there are no more.

        ``below``: the elements up to which that is known of such calls; ``begun``: by a replay,
        which is not to begin again, then: that takes twice as many.
        """
        self.below = below
        self.fruitless += RAISED if raised else RECORDED_AGAIN
        if self.fruitless >= BAILOUT_CALLS * (1 + begun):
            self.root, self.fruitless = Fork() if begun else self.root, 0
            self.given_up = True
            self.patience = Patience(self.work) if raised else None

    def count_returned(self) -> None:
        """Count a call that was not recorded because such calls raise, and has not."""
        if self.patience is not None and self.patience.ends():
            self.patience, self.given_up = None, False

    @property
    def reason(self) -> Reason:
        """The first reason why Python is needed."""
        if self.first_reason is None:
            found = reasons_of(self)
            alike = Reason("value-looked-at", "no two calls were alike")
            self.first_reason = found[0] if found else alike
        return self.first_reason

    def look_at(self, noted: Sequence[Entry | Mark]) -> None:
        """See what NumPy itself does in what was noted."""
        calls = [entry for entry in noted if type(entry) is Call]
        self.host_calls = host_calls(noted) if calls else ()
        drawn = any(type(entry) is Draw for entry in noted)
        self.ordered = drawn or any(callables.of(call.fn).ordered for call in calls)


def price_of(entries: int) -> int:
    """Price of a recording of so many entries."""
    return RECORDING + ENTRY * entries


def poor_below(balance: Balance, noted: Sequence[Entry | Mark], size: int) -> int:
    """The elements below which replays of a recording gain nothing; 0 where they always do."""
    calls = sum(type(entry) in (Call, Single) for entry in noted)
    if noted and type(noted[-1]) is Return:
        calls += rebuilt(noted[-1].tree) + len(noted[-1].write_backs)
    price = REPLAY + GUARDED * calls if calls else DECISION
    price += DECISION * sum(type(entry) is Branch for entry in noted)
    if balance.work > price and balance.gains:
        return 0
    return below(size) if balance.work else EVERY


def price_at_gate(noted: Sequence[Entry | Mark]) -> int:
    """What a replay by native code costs beyond plain Python: its calls, which are guarded."""
    return GUARDED * sum(type(entry) in (Call, Single) for entry in noted)


def rebuilt(template: Any) -> int:
    """Containers and objects, other than tuples, that a replay makes for its result."""
    if type(template) is not Nest:
        return 0
    own = getattr(template.build, "kind", None) is not tuple
    return own + sum(map(rebuilt, template.items))


@slotted
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
    """True if it computes with single numbers, or reads or writes one element.

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
    """True if the result is a single number, of NumPy's or of Python's."""
    if type(call.out) is not Ref:
        return False
    known = call.structure
    return known is None or known in _NUMBERS or is_generic(known)


def is_generic(structure: Any) -> bool:
    """True if a structure is that of NumPy's numbers."""
    return isinstance(structure, type) and issubclass(structure, np.number | np.bool_)


def is_position(key: Any, numbers: set[int]) -> bool:
    """True if an encoded key is made of single numbers alone, some of them computed."""
    is_tuple = type(key) is Nest and getattr(key.build, "kind", None) is tuple
    parts = key.items if is_tuple else (key,)
    plain = all(type(part) in (Ref, int) or isinstance(part, np.integer) for part in parts)
    return plain and numbers.issuperset(refs(key))


def is_host_call(op: Call) -> bool:
    """True if NumPy computes it; views and Python's own arithmetic are nobody's work."""
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
    driven = [Reason("value-looked-at", "Python decides otherwise in each call")] * record.driven
    return tuple(dict.fromkeys((*effects, *refused, *devices, *driven)))


def require_whole(fn: types.FunctionType, record: Record) -> None:
    """Refuse a recording of which Python, or NumPy, would have to do a part at each call.

    Raises:
        CaptureError: with the first reason.

    """
    reasons = reasons_of(record)
    if reasons:
        line = record.effects[0].line if record.effects else None
        raise not_whole(fn, reasons[0], line)
