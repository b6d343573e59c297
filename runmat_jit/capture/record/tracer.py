"""Records one call: operations of traced values arrive here.

Values of covered rows are deferred: recorded with their dtype, shape and layout, computed in
batches when something asks for a value. Everything else is run by NumPy or Python at once. What
cannot be repeated is an effect: pending values are computed first, and the trace is not published.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from threading import get_ident
from typing import Any, Final

import numpy as np

from runmat_jit.capture import operators
from runmat_jit.capture.record import (
    answers,
    batches,
    branches,
    constants,
    deferral,
    element_access,
    escape_barrier,
    gathers,
    host_calls,
    lengths,
    refusals,
    views,
)
from runmat_jit.capture.record.concrete import concrete_key
from runmat_jit.capture.record.encoder import Encoder
from runmat_jit.capture.record.fullgraph import not_whole
from runmat_jit.capture.record.outside import Outside
from runmat_jit.capture.record.recording import BATCH_TARGET, Recording
from runmat_jit.capture.record.release import Release
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import Effect
from runmat_jit.capture.tape.lines import call_at
from runmat_jit.capture.tape.values import ARRAY, NOTHING
from runmat_jit.core.errstate import current_errstate
from runmat_jit.core.reasons import Reason
from runmat_jit.core.source import SourceLine

_WRITEABLE: Final = 0x400
_WARNS_ON_WRITE: Final = 1 << 31
"""Bits of ``flags.num``: to ask ``flags.writeable`` is a warning where the second one is set."""
_AT_ONCE: Final = (views.attempt, deferral.literal)
_DEFERRED: Final = (deferral.attempt, *_AT_ONCE)


class Tracer(Recording):
    """A recording that operations of :class:`Traced` values can be sent to."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.encoder, self.outside = Encoder(self), Outside(self)

    # -- effects and looks -------------------------------------------------------------------------
    def effect(self, reason: str, detail: str, line: SourceLine | None = None) -> None:
        """Something that a replay could not repeat: compute what is pending, publish nothing.

        Raises:
            CaptureError: the function was to be captured whole. Exceptions of the program itself
                are left to it.

        """
        self.flush()
        entry = Effect(reason, detail, line or self.line())
        self.tape.stop(entry)
        self.tape.note(entry)
        if self.whole is not None and reason != "exception":
            raise not_whole(self.whole, Reason(reason, detail), entry.line)

    def unknown(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any] = NOTHING) -> Any:
        """Let unknown code run: it sees no traced value, and may change what it was given."""
        return escape_barrier.run(self, fn, args, kwargs)

    def release(self, value: Any) -> Any:
        """The real value, for outside code to keep: made real in place where it is mutable."""
        return Release(self, disown=True)(value)

    def returned(self, result: Any) -> Any:
        """The real result of the call.

        Arrays that the boundary makes arrays of ours of stay where they are: nobody has seen them.
        """
        parts = result if type(result) is tuple else (result,)
        self.unseen = all(type(each) is Traced for each in parts)
        try:
            return self.release(result)
        finally:
            self.unseen = False

    def leak(self, value: Traced, detail: str) -> Any:
        """The real value, for code that is not captured."""
        if not self.closed:
            self.effect("value-leaves", detail)
        return self.value(value)

    unseen = False
    """No code is to see the values that are asked for."""
    look, truth = branches.look, branches.truth  # Python decides by a value

    # -- values ------------------------------------------------------------------------------------
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
        if self.boundary is not None and not self.unseen:
            self.boundary.show(traced._rm_held)
        return traced._rm_held

    def raw(self, value: Any) -> Any:
        """Real values for the traced ones inside ``value``."""
        return self.encoder.raw(value)

    def stand_in(self, value: Traced) -> np.ndarray:
        """The real array, or an unfilled one of its geometry while its memory is pending."""
        return views.shape_array(self, value)

    def writable(self, value: Traced) -> bool:
        """True if a kernel may write to this array.

        NumPy itself writes to results of ``np.broadcast_arrays``, and warns each time.
        """
        flags = self.stand_in(value).flags.num
        if flags & _WARNS_ON_WRITE:
            self.leak(value, "NumPy warns of each write to it")
            return False
        return bool(flags & _WRITEABLE)

    def lift(self, value: Any, slot: int | None = None, roots: frozenset[int] | None = None) -> Any:
        """The traced value of a real array or scalar (the same one for the same array)."""
        return self.encoder.lift(value, slot, roots)

    def encode(self, value: Any) -> Any:
        """Refs for the traced values inside ``value``."""
        return self.encoder.encode(value)

    def flush(self) -> None:
        """Compute everything that is pending."""
        if self.pending:
            batches.flush(self)
            self.tape.free()
        if self.balance.runs_away(self.tape.count, kept=self.publishable):
            self.run_away("its programs, or its entries, are more than they can be worth")
        elif self.tape.too_long and not self.balance.is_worth_driving:
            self.run_away("more decisions than are kept")

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
        if name == "take" and (found := gathers.of_call((value, *args), kwargs)) is not None:
            made = gathers.take(self, *found)
            if made is not None:
                return made
        if name == "resize":  # NumPy does it, on the real array
            call_at(self.here(), self.leak(value, "it is resized").resize, args, kwargs)
            views.moved(self, value)
            return None
        return self.call(call_forms.method_of(name), (value, *args), kwargs)

    shape_of, count_of = lengths.shape_of, lengths.count_of

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """One operation: defer it, find it to be a view, or run it."""
        if self.leaving:
            self.leave()
        if self.closed or self._suspended or get_ident() != self._thread:  # as passive
            return self.execute(fn, self.raw(tuple(args)), self.raw(dict(kwargs)))
        if self.steps >= BATCH_TARGET:
            self.cut()
        if self.has_constants:
            args, kwargs = constants.unwrap(tuple(args)), constants.unwrap_named(kwargs)
        power = fn is operator.pow or fn is operator.ipow or fn is pow
        if power and len(args) == 2 and type(args[1]) is Traced:
            args = args[0], branches.exponent(self, *args)
        if not (args and type(args[0]) is Traced) and Traced not in map(type, args):
            made = constants.fold(self, fn, args, kwargs)
            if made is not constants.NO_CONSTANT:
                return made
        if self._resuming or current_errstate() is not self.token:
            self.refresh_errstate()
        for attempt in _AT_ONCE if self.immediate else _DEFERRED:
            done, result = attempt(self, fn, args, kwargs)
            if done:
                return result
        return host_calls.run(self, fn, args, kwargs)

    def execute(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """An operation that is not recorded."""
        return call_at(self.here(), fn, args, kwargs)

    def inplace(self, fn: Any, target: Any, other: Any) -> Any:
        """An augmented assignment: into the array, or a new scalar."""
        inplace = operators.inplace_of(fn)
        if type(target) is Traced and target._rm_kind == ARRAY:
            return self.call(inplace, (target, other), NOTHING)
        try:
            return self.call(fn, (target, other), NOTHING)
        except TypeError as error:
            refused = error
        try:
            call_at(self.here(), inplace, self.raw((target, other)), NOTHING)  # names the operator
            raise refused
        finally:
            del refused  # else this frame and the error hold each other

    def compare(self, fn: Any, value: Traced, other: Any) -> Any:
        """A comparison with what may refuse it: as the program has written it."""
        if refusals.is_reflected(self.lines, fn):
            return self.call(refusals.REFLECTED[fn], (other, value), NOTHING)
        return self.call(fn, (value, other), NOTHING)

    def iterated(self, value: Traced) -> Iterator[Any]:
        """The items of what is no array: Python's refusal."""
        real = self.look(value, "an iteration")
        refusals.refuse_iteration(self.lines, real)
        return iter(real)

    def entered(self, value: Traced) -> Any:
        """``with value:``, which Python refuses."""
        refusals.enter(self.value(value))

    def getitem(self, value: Traced, key: Any) -> Any:
        """An item: a view, a scalar, or (for index arrays and masks) a copy."""
        if self.leaving:
            self.leave()
        return element_access.item(self, value, concrete_key(key))

    def setitem(self, target: Traced, key: Any, value: Any) -> None:
        """An item assignment."""
        if self.leaving:
            self.leave()
        if target._rm_kind == ARRAY:
            element_access.set_item(self, target, concrete_key(key), value)
        else:  # scalars take no items, and say so themselves
            operator.setitem(self.value(target), key, value)

    def attribute(self, value: Traced, name: str) -> Any:
        """An attribute that is not one of the static facts."""
        if name.startswith("__array_"):  # protocols of NumPy that a traced value does not follow
            raise AttributeError(name)
        if not answers.has_attribute(value, name):
            return getattr(answers.alike(value), name)  # its own error
        if callable(getattr(value.__class__, name)):
            return TracedMethod(value, name)
        return self.call(call_forms.attribute_of(name), (value,), NOTHING)

    def set_attribute(self, target: Traced, name: str, value: Any) -> None:
        """``x.shape = …`` and the like: NumPy does it, on the real array."""
        real = self.leak(target, f"the attribute {name} is set")
        call_at(self.here(), setattr, (real, name, self.raw(value)), {})
        views.moved(self, target)

    # -- the end -----------------------------------------------------------------------------------
    def close(self) -> None:
        """Compute what is pending; values that escaped behave as real ones from now on."""
        try:
            self.flush()
            if not self._suspended:
                self.shadows.push(self.release)
            if self.boundary is not None and not self.publishable:
                self.boundary.distrust()
        finally:
            self.end()

    def forget(self) -> None:
        """Let go of all that the call held: values that escaped need the tracer, but nothing else.

        What the program lets go dies at once, as in plain Python, and not with the next search for
        cycles, of which a recording has some.
        """
        self.encoder, self.outside = Encoder(self), Outside(self)
        self.forget_values()
        self.tape.forget()
