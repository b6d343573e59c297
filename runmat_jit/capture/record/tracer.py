"""Records one call.

Values of covered rows are deferred: recorded with their dtype, shape and layout, computed in
batches when something asks for a value. Everything else is run by NumPy or Python at once. What
cannot be repeated is an effect: pending values are computed first, and the trace is not published.
"""

from __future__ import annotations

import operator
import types
import weakref
from collections.abc import Callable, Mapping
from threading import get_ident
from typing import Any

import numpy as np

from runmat_jit.capture import operators
from runmat_jit.capture.array import Boundary
from runmat_jit.capture.record import (
    batches,
    branches,
    deferral,
    element_access,
    elements,
    escape_barrier,
    host_calls,
    lengths,
    resized,
    views,
)
from runmat_jit.capture.record.balance import Balance
from runmat_jit.capture.record.batch_cache import KnownBatches
from runmat_jit.capture.record.concrete import concrete_key
from runmat_jit.capture.record.encoder import Encoder
from runmat_jit.capture.record.fullgraph import not_whole
from runmat_jit.capture.record.inline_cache import Patterns
from runmat_jit.capture.record.outside import Outside
from runmat_jit.capture.record.release import Release
from runmat_jit.capture.record.shadow_copies import Twins
from runmat_jit.capture.record.step_log import Steps
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.replay.resume import Feed
from runmat_jit.capture.shapes.families import Symbols
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import Effect
from runmat_jit.capture.tape.lines import Line, Lines
from runmat_jit.capture.tape.pending import Pending
from runmat_jit.capture.tape.storage import Storage, Watch, watch
from runmat_jit.capture.tape.values import ARRAY, GENERIC, NOTHING, PYTHON, TEXT
from runmat_jit.core.errstate import ErrorState, ErrorStates, current_errstate, warnings_raise
from runmat_jit.core.protocols import Executor
from runmat_jit.core.reasons import Reason
from runmat_jit.core.source import SourceLine

PENDING_LIMIT = 2000
"""Pending operations after which a batch is computed: bounds memory and compile time."""


class Tracer:
    """The state of one recording; operations of :class:`Traced` values arrive here."""

    def __init__(
        self,
        executor: Executor,
        states: ErrorStates,
        lines: Lines,
        slots: int,
        *,
        patterns: Patterns | None = None,
        known_batches: KnownBatches | None = None,
        feed: Feed | None = None,
        whole: types.FunctionType | None = None,
        boundary: Boundary | None = None,
        symbols: Symbols | None = None,
        varying: frozenset[str] = frozenset(),
    ) -> None:
        self.executor = executor if boundary is None else executor.resident()
        self.states, self.lines, self.boundary = states, lines, boundary
        self.symbols = symbols  # what the extents of arguments are called, if they have names
        self.varying = varying  # the names of reads that give data
        self.whole = whole  # the function that is to be captured whole, or else to raise
        self.patterns = Patterns() if patterns is None else patterns
        self.known_batches = known_batches
        self.thread = get_ident()
        self.count = slots
        self.pending: list[Pending] = []
        self.steps = Steps(feed, measured=symbols is not None)
        self.encoder, self.outside, self.twins = Encoder(self), Outside(self), Twins()
        self.inputs: set[int] = set()
        self.known: dict[int, weakref.ref[Traced]] = {}  # a real array's traced value, by identity
        self.lifted: list[Traced] = []  # the inputs: each has one traced value to the end
        self.token: Any = None
        self.first_token: Any = None
        self.state = ErrorState(frozenset(), immediate=False)
        self.immediate = self.writes_pending = False
        self.at_once = False  # from here on to the end of the call
        self.refused: list[str] = []
        self.programs: list[Any] = []  # of every batch, for explanations
        self.owned: dict[int, Any] = {}  # objects that the recording itself made
        self.balance, self.recipes = Balance(), elements.Recipes()
        self.loose = False  # the program may hold real arrays, and read their memory unseen
        self.wary = False  # code that no hook sees may run at any time, and write to them, too
        self.closed, self.suspended = False, 0  # the call is over; unknown code is running
        self.dead: list[Watch] = []  # what the program has forgotten since steps were told
        self.watches: list[Watch] = []
        self.resuming = feed is not None  # a replay has done the beginning

    @property
    def passive(self) -> bool:
        """Whether code that runs now is not to be recorded: it is unknown, or it came later."""
        return self.closed or bool(self.suspended) or get_ident() != self.thread

    def begin_boundary(self, kind: type[Boundary] = Boundary) -> Boundary:
        """The call's boundary, made where arrays of ours turn up first: then nothing is kept."""
        if self.boundary is None:
            self.boundary, self.executor = kind(), self.executor.resident()
        return self.boundary

    # -- errors of NumPy ---------------------------------------------------------------------------
    def refresh_errstate(self) -> None:
        """Follow ``np.errstate``: operations recorded under another state are computed first."""
        if self.resuming and not self.steps.feeding:
            self.resuming, self.token = False, None
        token = current_errstate()
        if token is not self.token:
            self.flush()
            self.token = token
            state = self.state = self.states.current()
            raising = bool(state.warn) and warnings_raise()
            self.immediate = self.at_once or state.immediate or raising
            self.immediate = self.immediate and not self.resuming  # a replay has reported them
            if self.immediate and self.publishable:
                self.effect("events-raise", "NumPy is to report floating-point events at once")

    # -- effects and looks -------------------------------------------------------------------------
    def effect(self, reason: str, detail: str, line: SourceLine | None = None) -> None:
        """Something that a replay could not repeat: compute what is pending, publish nothing.

        Raises:
            CaptureError: the function was to be captured whole. Exceptions of the program itself
                are left to it.

        """
        self.flush()
        entry = Effect(reason, detail, line or self.line())
        self.steps.stop(entry)
        self.steps.note(entry)
        if self.whole is not None and reason != "exception":
            raise not_whole(self.whole, Reason(reason, detail), entry.line)

    def unknown(self, run: Callable[[], Any]) -> Any:
        """Let unknown code run: it sees no traced value, and may change what it was given."""
        return escape_barrier.run(self, run)

    def release(self, value: Any) -> Any:
        """The real value, for outside code to keep: made real in place where it is mutable."""
        return Release(self, disown=True)(value)

    def leak(self, value: Traced, detail: str) -> Any:
        """The real value, for code that is not captured."""
        if not self.closed:
            self.effect("value-leaves", detail)
        return self.value(value)

    look, truth = branches.look, branches.truth  # Python decides by a value

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
        if at is not None:
            at.storage.exposed = True
        if traced._rm_held is None:
            traced._rm_held = self.materialize(traced)
            if traced._rm_kind == ARRAY:
                self.remember(traced._rm_held, traced)
        if self.boundary is not None:
            self.boundary.show(traced._rm_held)
        return traced._rm_held

    def materialize(self, traced: Traced) -> Any:
        """The value of a traced array or NumPy scalar that has just been computed."""
        if traced._rm_origin is not None:
            parent, fn, args, kwargs = traced._rm_origin
            return fn(self.value(parent), *args, **kwargs)
        assert traced._rm_geometry is not None, "a traced value has a value or a place"
        memory, hollow = traced._rm_geometry.storage.memory, traced._rm_geometry.storage.hollow
        assert self.steps.feeding or not hollow, "a value that a replay had freed is asked for"
        assert memory is not None, "flush() computes every live storage"
        return memory[()] if traced._rm_kind == GENERIC else memory

    def is_pending(self, value: Traced) -> bool:
        """Whether the value of a traced one is not computed yet."""
        at = value._rm_geometry
        return at is not None and at.storage.memory is None

    def raw(self, value: Any) -> Any:
        """Real values for the traced ones inside ``value``."""
        return self.encoder.raw(value)

    def remember(self, array: np.ndarray, traced: Traced) -> None:
        """The traced value of a real array, while the program holds it."""
        self.known[id(array)] = weakref.ref(traced)

    def adopt(self, array: np.ndarray) -> Traced | None:
        """The traced value of a real array that turned up in the program, if there is one."""
        reference = self.known.get(id(array))
        found = None if reference is None else reference()
        return found if found is not None and found._rm_held is array else None

    def mark_input(self, value: Traced) -> None:
        """An array that a replay finds in a slot before anything runs."""
        self.inputs.add(value._rm_slot)
        self.lifted.append(value)

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

    def may_change(self, container: Any) -> bool:
        """Whether a container is the recording's own.

        Others are copies of what lies outside, or, after an effect, may have come from anywhere.
        """
        if self.owns(container):
            return True
        if self.twins.of_copy(container) is not None or not self.publishable:
            return False
        self.own(container)  # made by Python, such as the list of a starred target
        return True

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
            self.steps.free(self.dead)

    def defer(self, operation: Pending) -> None:
        """Add a pending operation."""
        self.pending.append(operation)
        if len(self.pending) >= PENDING_LIMIT:
            self.flush()

    def new_storage(self, storage: Storage, kind: str) -> Traced:
        """The traced value of a storage whose contents are pending."""
        made = Traced(self, storage.slot, kind, geometry=storage.geometry())
        storage.scalar = kind == GENERIC
        storage.owned_by(made, self.dead, is_freed=storage.is_freed)
        return made

    def watch(self, value: Traced) -> None:
        """Have a replay forget a view when the program does."""
        self.watches.append(watch(value, value._rm_slot, self.dead))

    # -- where the program is ----------------------------------------------------------------------
    @property
    def publishable(self) -> bool:
        """Whether the trace may be repeated without Python."""
        return self.steps.publishable

    def here(self) -> Line | None:
        """The user's line that is running."""
        return self.lines.here()

    def line(self) -> SourceLine | None:
        """The user's line that is running, for messages."""
        line = self.lines.here()
        return None if line is None else line.source

    # -- operations, as Traced sends them ----------------------------------------------------------
    def operator(self, fn: Any, args: tuple[Any, ...]) -> Any:
        """A Python operator or numeric builtin."""
        return self.call(fn, args, NOTHING)

    def ufunc(self, fn: np.ufunc, method: str, args: Any, kwargs: Any) -> Any:
        """A ufunc or one of its methods."""
        if method != "__call__":
            return self.call(call_forms.bound_method(fn, method), args, kwargs)
        return self.call(deferral.spelled(self, fn, args), args, kwargs)

    def numpy(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A NumPy function."""
        return self.call(fn, args, kwargs)

    def method(self, value: Traced, name: str, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A method of a traced value."""
        if value._rm_kind == TEXT:
            if name.startswith("format"):
                self.outside.print_options()
            return self.call(call_forms.text_method(name), (value, *args), kwargs)
        return self.call(call_forms.method_of(name), (value, *args), kwargs)

    resize, shape_of, count_of = resized.resize, lengths.shape_of, lengths.count_of

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """One operation: defer it, find it to be a view, or run it."""
        if self.closed or self.suspended or get_ident() != self.thread:  # as passive
            return fn(*self.raw(tuple(args)), **self.raw(dict(kwargs)))
        if self.resuming or current_errstate() is not self.token:
            self.refresh_errstate()
        if not self.immediate:
            done, result = deferral.attempt(self, fn, args, kwargs)
            if done:
                return result
        done, result = views.attempt(self, fn, args, kwargs)
        if done:
            return result
        return host_calls.run(self, fn, args, kwargs)

    def inplace(self, fn: Any, target: Traced, other: Any) -> Any:
        """An augmented assignment: into the array, or a new scalar."""
        made = operators.inplace_of(fn) if target._rm_kind == ARRAY else fn
        return self.call(made, (target, other), NOTHING)

    def getitem(self, value: Traced, key: Any) -> Any:
        """An item: a view, a scalar, or (for index arrays and masks) a copy."""
        return element_access.item(self, value, concrete_key(key))

    def setitem(self, target: Traced, key: Any, value: Any) -> None:
        """An item assignment."""
        if target._rm_kind == ARRAY:
            element_access.set_item(self, target, concrete_key(key), value)
        else:  # scalars take no items, and say so themselves
            operator.setitem(self.value(target), key, value)

    def attribute(self, value: Traced, name: str) -> Any:
        """An attribute that is not one of the static facts."""
        kind = type(value._rm_held) if value._rm_kind == PYTHON else value.__class__
        if name.startswith("__array_"):  # protocols of NumPy that a traced value does not follow
            raise AttributeError(name)
        if not hasattr(kind, name):
            held = value._rm_held if value._rm_geometry is None else None
            like = (np.empty(0) if kind is np.ndarray else kind(0)) if held is None else held
            return getattr(like, name)  # its own error
        if callable(getattr(kind, name)):
            return TracedMethod(value, name)
        return self.call(call_forms.attribute_of(name), (value,), NOTHING)

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
            self.twins.push(self.release)
            if self.boundary is not None and not self.publishable:
                self.boundary.distrust()
        finally:
            self.closed = True
            self.known.clear()
            self.lifted.clear()

    def forget(self) -> None:
        """Let the values of the call go, which did not escape: nobody else may find them alive."""
        self.encoder.leaves.clear()
        self.outside, self.twins = Outside(self), Twins()
        self.owned.clear()
        self.steps.view_ops.clear()
        if self.steps.feed is not None:
            self.steps.feed.slots.clear()
