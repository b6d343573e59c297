"""Records one call.

Values of covered rows are deferred: recorded with their dtype, shape and layout, computed in
batches when something asks for a value. Everything else is run by NumPy or Python at once. What
cannot be repeated is an effect: pending values are computed first, and the trace is not published.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from runmat_jit.capture import batches, classify, deferral, host, views
from runmat_jit.capture.concrete import concrete_key
from runmat_jit.capture.outside import Outside
from runmat_jit.capture.pending import Pending
from runmat_jit.capture.storage import Storage
from runmat_jit.capture.tape import Effect, Entry, Guard, Op, Read, refs
from runmat_jit.capture.trace import Call, Step
from runmat_jit.capture.traced import ARRAY, GENERIC, PYTHON, Traced, TracedMethod
from runmat_jit.capture.values import Encoder, exact_value
from runmat_jit.core.errstate import ErrorStates, current_errstate, warnings_raise
from runmat_jit.core.protocols import Executor
from runmat_jit.core.source import SourceLine

PENDING_LIMIT = 2000
"""Pending operations after which a batch is computed: bounds memory and compile time."""
ENTRY_LIMIT = 200_000
"""Entries after which a trace is no longer kept."""
_PACKAGE = __name__.rpartition(".capture")[0].replace(".", "/") + "/"

NOTHING: Mapping[str, Any] = {}


class Tracer:
    """The state of one recording; operations of :class:`Traced` values arrive here."""

    def __init__(self, executor: Executor, states: ErrorStates, slots: int) -> None:
        self.executor, self.states = executor, states
        self.thread = threading.get_ident()
        self.count = slots
        self.entries: list[Entry] = []
        self.pending: list[Pending] = []
        self.steps: list[Step] = []
        self.reads: list[Read] = []
        self.guards: dict[int, Guard] = {}
        self.effects: list[Effect] = []
        self.encoder = Encoder(self)
        self.outside = Outside(self)
        self.inputs: set[int] = set()
        self.known: dict[int, tuple[Any, Traced]] = {}  # real array -> its traced value
        self.entry_token = current_errstate()
        self.token: Any = None
        self.refused: list[str] = []
        self.programs: list[Any] = []  # of every batch, for explanations
        self.owned: dict[int, Any] = {}  # objects that the recording itself made
        self.view_ops: dict[int, Op] = {}  # how each view was made, until a step needs it
        self.pending_line: SourceLine | None = None
        self.writes_pending = False
        self.wrote = False
        self.closed = False
        self.refresh_errstate()

    # -- errors of NumPy ---------------------------------------------------------------------------
    def refresh_errstate(self) -> None:
        """Follow ``np.errstate``: operations recorded under another state are computed first."""
        token = current_errstate()
        if token is not self.token:
            if self.token is not None:
                self.flush()
            self.token = token
            self.state = self.states.current()
            self.immediate = self.state.immediate or (bool(self.state.warn) and warnings_raise())
            if self.token is not self.entry_token and self.immediate:
                self.effect("events-raise", "np.errstate asks NumPy to report events at once")

    # -- effects and looks -------------------------------------------------------------------------
    def effect(self, reason: str, detail: str) -> None:
        """Something that a replay could not repeat: compute what is pending, publish nothing."""
        self.flush()
        entry = Effect(reason, detail, self.line())
        self.effects.append(entry)
        self.steps.clear()
        self.note(entry)

    def leak(self, value: Traced, detail: str) -> Any:
        """The real value, for code that is not captured."""
        if not self.closed:
            self.effect("value-leaves", detail)
        return self.value(value)

    def look(self, value: Traced, use: str) -> Any:
        """The real value, because Python decides by it: guarded on arguments, else an effect."""
        if value._rm_kind == PYTHON and value._rm_roots is not None:
            for slot in value._rm_roots:
                self.guard(slot)
            return value._rm_held
        if not self.closed:
            self.effect("value-looked-at", f"{use} needs the value of a traced {value._rm_kind}")
        return self.value(value)

    def guard(self, slot: int) -> None:
        """From here on the trace holds for this value of an argument only."""
        if slot not in self.guards:
            value = self.encoder.leaf_value(slot)
            self.guards[slot] = Guard(slot, exact_value(value), repr(value))
            self.note(self.guards[slot])

    # -- values ------------------------------------------------------------------------------------
    def slot(self) -> int:
        """A new slot."""
        self.count += 1
        return self.count - 1

    def value(self, traced: Traced) -> Any:
        """The real value of a traced one, computed if it is pending."""
        at = traced._rm_geometry
        if at is not None and (at.storage.memory is None or self.writes_pending):
            self.flush()
        if traced._rm_held is None:
            if traced._rm_origin is not None:
                parent, fn, args, kwargs = traced._rm_origin
                traced._rm_held = fn(self.value(parent), *args, **kwargs)
            else:
                assert at is not None, "a traced value has a value or a place"
                memory = at.storage.memory
                assert memory is not None, "flush() computes every live storage"
                traced._rm_held = memory[()] if traced._rm_kind == GENERIC else memory
        return traced._rm_held

    def raw(self, value: Any) -> Any:
        """Real values for the traced ones inside ``value``."""
        return self.encoder.raw(value)

    def look_at_all(self, values: tuple[Any, ...], result: Any) -> Any:
        """A result that only Python can use, such as text: what it came from was looked at."""
        for value in values:
            if type(value) is Traced:
                self.look(value, f"a result of type {type(result).__name__}")
        return result

    def adopt(self, array: np.ndarray) -> Traced | None:
        """The traced value of a real array that turned up in the program, if it was read before."""
        found = self.known.get(id(array))
        return found[1] if found is not None and found[0] is array else None

    def mark_input(self, value: Traced) -> None:
        """An array that a replay finds in a slot before anything runs."""
        self.inputs.add(value._rm_slot)

    def is_input(self, value: Traced) -> bool:
        """Whether the array is an argument or was read from outside."""
        return value._rm_slot in self.inputs

    def own(self, made: Any) -> Any:
        """Remember an object that the recording made: stores into it are no effects."""
        self.owned[id(made)] = made
        return made

    def owns(self, value: Any) -> bool:
        """Whether the recording made this object."""
        return self.owned.get(id(value)) is value

    def writable(self, value: Traced) -> bool:
        """Whether NumPy would let the program write to this array."""
        return bool(views.shape_array(self, value).flags.writeable)

    def lift(self, value: Any, slot: int | None = None, roots: frozenset[int] | None = None) -> Any:
        """The traced value of a real array or scalar (the same one for the same array)."""
        return self.encoder.lift(value, slot, roots)

    def flush(self) -> None:
        """Compute everything that is pending."""
        if self.pending:
            self.writes_pending = False
            batches.flush(self)

    def defer(self, operation: Pending) -> None:
        """Add a pending operation."""
        self.pending.append(operation)
        if len(self.pending) >= PENDING_LIMIT:
            self.flush()

    def new_storage(self, storage: Storage, kind: str) -> Traced:
        """The traced value of a storage whose contents are pending."""
        made = Traced(self, storage.slot, kind, geometry=storage.geometry())
        storage.owned_by(made)
        return made

    # -- steps of the trace ------------------------------------------------------------------------
    def add_step(self, step: Step, *, writes: bool = False) -> None:
        """Add to what a replay runs."""
        self.wrote = self.wrote or writes
        if self.publishable:
            self.steps.append(step)

    def add_call(self, op: Op, check: Any, *, varies: bool, writes: bool = False) -> None:
        """Add a call that a replay repeats; ``varies``: its check may fail for other values."""
        self.note(op)
        if varies and check is not None and self.wrote:
            self.effect("late-check", "a result of unknown structure follows a write")
        self.add_step(Call(op, check), writes=writes)

    def step_view(self, op: Op) -> None:
        """Note how a view is made: a replay makes it where something needs it."""
        self.note(op)
        self.view_ops[op.out.slot] = op

    def need(self, template: Any) -> None:
        """Have a replay make the views that a template mentions."""
        items = template if isinstance(template, tuple) else (template,)
        for slot in [slot for item in items for slot in refs(item)]:
            chain = []
            while (op := self.view_ops.pop(slot, None)) is not None:
                chain.append(op)
                slot = op.args[0].slot  # noqa: PLW2901  (walks from the view to its base)
            for op in reversed(chain):
                self.add_step(Call(op))

    def note(self, entry: Entry) -> None:
        """Append to the tape."""
        if len(self.entries) < ENTRY_LIMIT:
            self.entries.append(entry)
        elif not self.effects or self.effects[-1].reason != "trace-too-long":
            self.effects.append(Effect("trace-too-long", f"{ENTRY_LIMIT} entries", self.line()))

    @property
    def publishable(self) -> bool:
        """Whether the trace may be repeated without Python."""
        return not self.effects

    def line(self) -> SourceLine | None:
        """The user's line that is running."""
        frame = sys._getframe(1)
        while frame is not None and is_ours(frame.f_code.co_filename):
            frame = frame.f_back  # type: ignore[assignment]  # the loop ends at the outermost frame
        if frame is None:
            return None
        code = frame.f_code
        module = frame.f_globals.get("__name__", "")
        return SourceLine(code.co_filename, frame.f_lineno, code.co_name, module)

    # -- operations, as Traced sends them ----------------------------------------------------------
    def operator(self, fn: Any, args: tuple[Any, ...]) -> Any:
        """A Python operator or numeric builtin."""
        return self.call(fn, args, NOTHING)

    def ufunc(self, fn: np.ufunc, method: str, args: Any, kwargs: Any) -> Any:
        """A ufunc or one of its methods."""
        target: Any = fn if method == "__call__" else classify.bound_method(fn, method)
        return self.call(target, args, kwargs)

    def numpy(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A NumPy function."""
        return self.call(fn, args, kwargs)

    def method(self, value: Traced, name: str, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A method of a traced value."""
        return self.call(classify.method_of(name), (value, *args), kwargs)

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """One operation: defer it, find it to be a view, or run it."""
        if self.closed or threading.get_ident() != self.thread:
            return host.run_plain(self, fn, args, kwargs)
        self.refresh_errstate()
        if not self.immediate:
            done, result = deferral.attempt(self, fn, args, kwargs)
            if done:
                return result
        done, result = views.attempt(self, fn, args, kwargs)
        if done:
            return result
        return host.run(self, fn, args, kwargs)

    def inplace(self, fn: Any, target: Traced, other: Any) -> Any:
        """An augmented assignment: into the array, or a new scalar."""
        if target._rm_kind != ARRAY:
            return self.call(fn, (target, other), NOTHING)
        return self.call(classify.inplace_of(fn), (target, other), NOTHING)

    def getitem(self, value: Traced, key: Any) -> Any:
        """An item: a view, a scalar, or (for index arrays and masks) a copy."""
        return self.call(classify.GETITEM, (value, concrete_key(key)), NOTHING)

    def setitem(self, target: Traced, key: Any, value: Any) -> None:
        """An item assignment."""
        if self.raw_kind(target):
            self.call(classify.SETITEM, (target, concrete_key(key), value), NOTHING)

    def raw_kind(self, target: Traced) -> bool:
        """Arrays take items; scalars raise as NumPy's do."""
        if target._rm_kind == ARRAY:
            return True
        raise TypeError(
            f"{type(self.value(target)).__name__!r} object does not support item assignment"
        )

    def attribute(self, value: Traced, name: str) -> Any:
        """An attribute that is not one of the static facts."""
        kind = type(value._rm_held) if value._rm_kind == PYTHON else value.__class__
        if name.startswith("__array_") or not hasattr(kind, name):
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
        if callable(getattr(kind, name)):
            return TracedMethod(value, name)
        return self.call(classify.attribute_of(name), (value,), NOTHING)

    def set_attribute(self, target: Traced, name: str, value: Any) -> None:
        """``x.shape = …`` and the like: NumPy does it, on the real array."""
        setattr(self.leak(target, f"the attribute {name} is set"), name, self.raw(value))
        views.moved(self, target)

    # -- the end -----------------------------------------------------------------------------------
    def encode(self, value: Any) -> Any:
        """Refs for the traced values inside ``value``."""
        return self.encoder.encode(value)

    def close(self) -> None:
        """Compute what is pending; values that escaped behave as real ones from now on."""
        try:
            self.flush()
        finally:
            self.closed = True
            self.known.clear()


def is_ours(filename: str) -> bool:
    """Whether a code object's file is part of this package."""
    return _PACKAGE in filename
