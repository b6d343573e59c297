"""Hooks that rewritten code calls while a call is recorded (``hook_base`` is the contract)."""

from __future__ import annotations

import functools
import itertools
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from runmat_jit.capture import callables, operators
from runmat_jit.capture.record import (
    answers,
    attributes,
    builtin_calls,
    calls,
    constants,
    escape_barrier,
    native_loops,
    refusals,
)
from runmat_jit.capture.record.encoder import children_of, holds_traced
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.forecast import Forecast
from runmat_jit.capture.record.host_calls import adopt_loosely, repetition, run_host
from runmat_jit.capture.record.masked_stores import MaskedPlace
from runmat_jit.capture.record.release import is_reduced
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.replay.plain_objects import (
    answers_builtins,
    computes_items,
    has_own,
    in_class,
    makes_classes,
)
from runmat_jit.capture.source.hook_base import CONVERSIONS, Place, Starred
from runmat_jit.capture.source.refusal import Refused
from runmat_jit.capture.source.rewrite import Rewritten
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.lines import HIDDEN, call_at, hide_our_frames
from runmat_jit.capture.tape.pytree import is_namedtuple
from runmat_jit.capture.tape.values import ARRAY, CONSTANTS, TEXTS, is_traceable
from runmat_jit.core.frames import uncounted
from runmat_jit.loops.source import LoopSource

_FOLLOWED = (types.FunctionType, types.MethodType, types.MethodDescriptorType, functools.partial)
"""Classes of functions that hooks call where a builtin would."""
_SIMPLE = (
    int,
    float,
    complex,
    str,
    bytes,
    bool,
    type(None),
    type,
    np.dtype,
    tuple,
    list,
    dict,
    set,
)
"""Classes of values that are compared by value, or whose items are."""


class Converter(Protocol):
    """Rewrites functions, each once."""

    def find(self, fn: types.FunctionType) -> Rewritten | Refused:
        """The rewritten form of a function, or why there is none."""

    def is_rewritten(self, code: types.CodeType) -> bool:
        """True if a code object calls hooks."""

    def undecorated(self, fn: Any) -> Any:
        """The function beneath our own decorator; None where that is not."""


class Hooks(Following):
    """Hooks of one function in one recording."""

    def __init__(self, tracer: Tracer, converter: Converter, fn: types.FunctionType) -> None:
        self.tracer, self.converter = tracer, converter
        self.globals, self.fn = fn.__globals__, fn
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))

    # -- converting helpers ------------------------------------------------------------------------
    def undecorated(self, fn: Any) -> Any:
        """The function beneath our own decorator; None where that is not."""
        return self.converter.undecorated(fn)

    def is_rewritten(self, fn: types.FunctionType) -> bool:
        """True if a function calls hooks itself."""
        return self.converter.is_rewritten(fn.__code__)

    def convert(self, fn: types.FunctionType) -> types.FunctionType | Refused:
        """A helper function, rewritten for this recording, or why it cannot be."""
        from runmat_jit.capture.source.rewrite import bind  # noqa: PLC0415  (loads ast: first call only)

        rewritten = self.converter.find(fn)
        if isinstance(rewritten, Refused):
            return rewritten
        return bind(rewritten, fn, Hooks(self.tracer, self.converter, fn))

    def of(self, fn: types.FunctionType) -> Hooks:
        """Hooks of another function in the same recording."""
        return Hooks(self.tracer, self.converter, fn)

    # -- calls and reads ---------------------------------------------------------------------------
    @uncounted
    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self.tracer.leaving:
            self.tracer.leave()
        if self.tracer.passive:
            return self.after("call", function, *args, **kwargs)
        return self.real(calls.call(self, function, args, kwargs))

    def starred(self, function: Any, /) -> Starred:
        named = answers.alike(function) if type(function) is TracedMethod else function
        return Starred(functools.partial(self.call, function), named)

    def unpacked(self, value: Any, stars: str, /) -> Any:
        if type(value) is not Traced or (stars == "*" and hasattr(value.__class__, "__iter__")):
            return value
        return self.tracer.value(value)  # Python says why it cannot be

    def real(self, value: Any) -> Any:
        """The value that a hook gives: in its course the recording may have been left."""
        left = self.tracer.left
        return value if left is None else left.real(value)

    def after(self, hook: str, *args: Any, **kwargs: Any) -> Any:
        """A hook that is called while nothing is recorded, on real values."""
        plain, left = self.tracer.plain, self.tracer.left
        assert plain is not None, "recordings that follow functions have it"
        if left is not None:
            args, kwargs = left.real(args), left.real(kwargs)
        return getattr(plain.hooks(self.fn), hook)(*args, **kwargs)

    def attr(self, obj: Any, name: str, /) -> Any:
        return self.real(attributes.read(self, obj, name))

    def item(self, obj: Any, key: Any, /) -> Any:
        if self.tracer.passive:
            return self.after("item", obj, key)
        return self.real(self.item_of(obj, key))

    def item_of(self, obj: Any, key: Any) -> Any:
        """``obj[key]``, recorded."""
        if type(obj) is Traced:
            return obj[key]
        if isinstance(obj, (list, tuple, dict)):
            self.tracer.outside.look_again()
            if not self.is_known(obj):
                self.tracer.effect("outside-item", f"an item of a {type(obj).__name__}")
            found = escape_barrier.from_line(self.tracer, operator.getitem, obj, self.hashed(key))
            return self.adopted(found)
        if (getter := self.special(obj, "__getitem__")) is not None:
            return calls.call(self, getter, (obj, key), {})
        if self.tracer.slot_of(obj) is not None:
            self.tracer.effect("outside-item", f"an item of a {type(obj).__name__}")
        elif isinstance(obj, np.ndarray) and is_traceable(obj):
            self.tracer.effect("outside-object", "an array of unknown origin is read")
            return self.tracer.lift(obj)[key]
        elif any(obj is builder for builder in call_forms.INDEX_BUILDERS):
            return self.tracer.call(call_forms.IndexBuilder(obj), (key,), {})
        elif isinstance(obj, type) and computes_items(obj):
            escape_barrier.beware(self.tracer, f"an item of the class {obj.__qualname__}")
            items: Any = obj
            return self.tracer.unknown(operator.getitem, (items, self.tracer.release(key)))
        return self.adopted(obj[self.hashed(key)])

    def hidden(self) -> AbstractContextManager[None]:
        return HIDDEN

    def caught(self) -> None:
        error = sys.exception()
        if error is not None:
            hide_our_frames(error)
            del error  # else this frame and the error hold each other

    def importing(self, module: str, /) -> None:
        if self.tracer.passive:
            return
        for end, character in enumerate(f"{module}."):
            if character == ".":
                self.tracer.outside.module(module[:end])

    def special(self, obj: Any, name: str) -> Any:
        """A special method that the program wrote for a known object, to be followed; or None."""
        if self.tracer.slot_of(obj) is None and not self.tracer.owns(obj):
            return None
        if not isinstance(in_class(type(obj), name), types.FunctionType) or self.tracer.passive:
            return None
        return attributes.of_class(self, type(obj), name) if has_own(type(obj), name) else None

    def glob(self, name: str, /) -> Any:
        if self.tracer.passive:
            return self.globals[name] if name in self.globals else getattr_builtin(name)
        return self.tracer.outside.glob(self.globals, name)

    def free(self, name: str, /) -> Any:
        if self.tracer.passive:
            return self.cells[name].cell_contents
        return self.tracer.outside.free(self.fn, self.cells[name], name)

    # -- stores ------------------------------------------------------------------------------------
    def item_place(self, obj: Any, key: Any, /) -> Place:
        if type(obj) is Traced and type(key) is Traced:
            return MaskedPlace(self.tracer, self.iop, self.item, self.setitem, obj, key)
        return super().item_place(obj, key)

    def setitem(self, value: Any, obj: Any, key: Any, /) -> None:
        if self.tracer.passive:
            self.after("setitem", value, obj, key)
        elif type(obj) is Traced:
            obj[key] = value
        elif self.tracer.owns(obj) and (setter := self.special(obj, "__setitem__")) is not None:
            calls.call(self, setter, (obj, key, value), {})
        elif self.tracer.owns(obj) or (is_builtin(obj) and self.tracer.may_change(obj)):
            obj[self.hashed(key)] = value
        elif isinstance(obj, np.ndarray) and is_traceable(obj):
            self.tracer.effect("outside-object", "an array of unknown origin is written")
            self.tracer.lift(obj)[key] = value
        else:
            self.stored(obj, "item", operator.setitem, key, value)

    def setattr_(self, value: Any, obj: Any, name: str, /) -> None:
        if self.tracer.passive:
            self.after("setattr_", value, obj, name)
        elif type(obj) is Traced:
            obj._rm_tracer.set_attribute(obj, name, value)
        elif self.tracer.owns(obj):
            attributes.store(self, obj, name, value)
        else:
            self.stored(obj, name, setattr, name, value)

    def delitem(self, obj: Any, key: Any, /) -> None:
        if self.tracer.passive:
            self.after("delitem", obj, key)
            return
        if self.tracer.owns(obj) and (remover := self.special(obj, "__delitem__")) is not None:
            calls.call(self, remover, (obj, key), {})
            return
        own = self.tracer.owns(obj) and self.tracer.shadows.of_copy(obj) is None
        plain = type(obj) is Traced or own
        if plain or (is_builtin(obj) and self.tracer.may_change(obj)):
            del obj[key if type(obj) is Traced else self.hashed(key)]
        else:
            self.stored(obj, "item", operator.delitem, key)

    def delattr_(self, obj: Any, name: str, /) -> None:
        if self.tracer.passive:
            self.after("delattr_", obj, name)
        elif type(obj) is Traced:
            delattr(self.tracer.value(obj), name)  # NumPy says why it cannot be
        elif self.tracer.owns(obj):
            delattr(obj, name)
        else:
            self.stored(obj, name, delattr, name)

    def stored(self, obj: Any, what: str, store: Callable[..., Any], *args: Any) -> Any:
        """Change an object that the recording did not make."""
        tracer = self.tracer
        tracer.effect("outside-store", f"{type(obj).__name__}: its {what} is changed")
        twin = tracer.shadows.of_copy(obj)
        target = obj if twin is None else twin.original
        real = tuple([tracer.release(arg) for arg in args])
        if tracer.boundary is not None and (store is setattr or is_builtin(target)):
            real = tuple(map(tracer.boundary.lift, real))  # as if they had been a result
        return tracer.unknown(store, (target, *real))

    def iop(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        if self.tracer.passive:
            return self.after("iop", op, lhs, rhs)
        return self.real(self.inplace(op, lhs, rhs))

    def inplace(self, op: str, lhs: Any, rhs: Any) -> Any:
        """``lhs op= rhs``, recorded."""
        fn = getattr(operator, "i" + op)
        if op == "mod" and isinstance(lhs, TEXTS):
            return self.modulo(lhs, rhs)
        if refusals.refuses(op, fn, lhs, rhs):
            return run_host(self.tracer, fn, (lhs, rhs), {}, writes=False)
        if type(lhs) is not Traced and isinstance(lhs, CONSTANTS):
            if type(rhs) is Traced:
                return self.tracer.inplace(operators.OUT_OF_PLACE[fn], lhs, rhs)
            return call_at(self.tracer.here(), fn, (lhs, rhs), {})  # numbers of NumPy's may warn
        if isinstance(lhs, (list, tuple)):
            if type(rhs) is Traced and op not in ("add", "mul"):
                return self.tracer.inplace(operators.OUT_OF_PLACE[fn], lhs, rhs)
            rhs = repetition(self.tracer, rhs)
        if self.special(lhs, f"__i{op.rstrip('_')}__") is not None and self.tracer.owns(lhs):
            escape_barrier.beware(self.tracer, f"{op}= of a {type(lhs).__name__}")
        if type(lhs) is Traced or self.tracer.owns(lhs):
            return escape_barrier.from_line(self.tracer, fn, lhs, rhs)
        return self.augmented(op, fn, lhs, rhs)

    def augmented(self, op: str, fn: Any, lhs: Any, rhs: Any) -> Any:
        """``lhs op= rhs`` for an object that the recording did not make."""
        if isinstance(lhs, np.ndarray) and is_traceable(lhs):
            self.tracer.effect("outside-object", "an array of unknown origin is written")
            return fn(self.tracer.lift(lhs), rhs)
        if is_builtin(lhs) and self.tracer.may_change(lhs):
            return fn(lhs, rhs)
        if hasattr(type(lhs), f"__i{op.rstrip('_')}__"):
            return self.stored(lhs, "value", fn, rhs)
        return fn(lhs, rhs)

    # -- containers and loops ----------------------------------------------------------------------
    def fresh(self, container: Any, /) -> Any:
        if self.tracer.passive:
            return self.real(container)
        if isinstance(container, dict) and any(map(holds_traced, container)):
            container = {self.hashed(key): value for key, value in container.items()}
        elif isinstance(container, set):
            container = {self.hashed(item) for item in container}
        return self.tracer.own(container)

    def tuple_(self, display: tuple[Any, ...], /) -> tuple[Any, ...]:
        return self.real(display)  # type: ignore[no-any-return]  # a tuple, too

    def iter_(self, obj: Any, /) -> Iterable[Any]:
        if self.tracer.passive:
            return self.real(obj)  # type: ignore[no-any-return]  # what is iterated is iterable
        return self.items_of(self.shadowed(obj))

    def loop(self, obj: Any, rests: int, whole: int, /) -> Iterable[Any]:
        if self.tracer.leaving:
            self.tracer.leave()
        if self.tracer.passive:
            return self.after("loop", obj, 0, 0)  # type: ignore[no-any-return]  # as above
        found = self.items_of(self.shadowed(obj))
        if not (rests and self.tracer.may_leave):
            return found
        iterator = iter(found)
        forecast = Forecast.of(self.tracer, found) if whole else None
        stays = functools.partial(self.stays, iterator, forecast)
        return itertools.takewhile(stays, iterator)

    def stays(self, iterator: Iterator[Any], forecast: Forecast | None, item: Any) -> bool:
        """Return True if a loop goes on with its hooks; else what is left of it is kept for it."""
        left = self.tracer.left
        if left is not None:
            left.rests.append(itertools.chain((item,), iterator))
        elif forecast is not None:
            forecast.begin()
        return left is None

    def rest(self) -> Iterable[Any]:
        return ()

    def has_rest(self) -> bool:
        return False

    @property
    def loops(self) -> tuple[LoopSource, ...]:
        """The loops of the function that may run natively, by number."""
        rewritten = self.converter.find(self.fn)
        return () if isinstance(rewritten, Refused) else rewritten.loops

    def looped(self, number: int, /) -> tuple[tuple[Any, ...], ...]:
        if self.tracer.passive:
            plain = self.tracer.plain
            assert plain is not None, "as in after()"
            return plain.hooks(self.fn).loop_of(number).run(sys._getframe(1))  # type: ignore[no-any-return]  # of plain hooks
        return native_loops.looped(self, number, sys._getframe(1))

    def items_of(self, obj: Any) -> Iterable[Any]:
        """What is iterated: no copies and traced values any more from where it is left."""
        if type(obj) is list and self.tracer.shadows.of_copy(obj) is not None:
            return self.items(obj)
        if (type(obj) is tuple and holds_traced(obj)) or is_iterator(obj):
            return map(self.real, obj)
        return obj  # type: ignore[no-any-return]  # what is iterated is iterable

    def items(self, container: list[Any]) -> Iterator[Any]:
        """The items of a copy of a list; of the list itself from where the recording is left."""
        number = 0
        while True:
            left = self.tracer.left
            seen = container if left is None else left.real(container)
            if number >= len(seen):
                return
            yield seen[number]
            number += 1

    def turn(self) -> bool:
        if not self.tracer.passive:
            self.tracer.turn()
            self.tracer.outside.turn()
            if self.tracer.leaving:
                self.tracer.leave()
        return True

    goes_on = turn

    def is_(self, lhs: Any, rhs: Any, /) -> bool:
        lhs, rhs = constants.real(lhs), constants.real(rhs)
        traced, other = (lhs, rhs) if type(lhs) is Traced else (rhs, lhs)
        if type(traced) is not Traced:
            return self.is_object(lhs, rhs)
        if type(other) is Traced or other is None:
            return lhs is rhs or (other is not None and self.is_number(traced, other))
        if isinstance(other, np.ndarray):
            return self.tracer.adopt(other) is traced
        if isinstance(other, (int, str, np.bool_)) and traced._rm_kind != ARRAY:
            return self.tracer.look(traced, "an identity test") is other
        return False

    def is_number(self, lhs: Traced, rhs: Traced) -> bool:
        """``is`` of two numbers: small integers are one object each, arguments may be one."""
        if all(issubclass(each.__class__, (int, np.bool_)) for each in (lhs, rhs)):
            seen = [self.tracer.look(each, "an identity test") for each in (lhs, rhs)]
            return seen[0] is seen[1]
        if any(each._rm_roots != frozenset((each._rm_slot,)) for each in (lhs, rhs)):
            return False  # they are no arguments
        same = lhs._rm_held is rhs._rm_held
        self.tracer.outside.relate(lhs._rm_slot, rhs._rm_slot, same=same)
        return same

    def is_object(self, lhs: Any, rhs: Any) -> bool:
        """``is`` of two objects that are no traced values: those from outside may be replaced."""
        slots = self.tracer.slot_of(lhs), self.tracer.slot_of(rhs)
        same = lhs is rhs or self.tracer.as_released(lhs) is self.tracer.as_released(rhs)
        if self.tracer.passive or None in slots:
            functions = (types.FunctionType, types.MethodType)
            outside = isinstance(lhs, functions) and isinstance(rhs, functions)
            if outside and not self.tracer.passive:
                self.tracer.effect("identity", "functions from outside are compared by identity")
            return same
        if slots[0] != slots[1]:
            self.tracer.outside.relate(*slots, same=same)
        return same

    def is_not(self, lhs: Any, rhs: Any, /) -> bool:
        return not self.is_(lhs, rhs)

    def compare(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        if not self.tracer.passive and type(lhs) is not Traced and type(rhs) is not Traced:
            self.meet(lhs, rhs)
        if op in ("in", "not in") and type(lhs) is Traced and isinstance(rhs, TEXTS):
            found = builtin_calls.call_text(self, operator.contains, (rhs, lhs), {})
            return found if op == "in" else not found
        released = self.tracer.as_released(lhs)
        if released is not lhs and op in ("in", "not in"):  # others may hold either
            found = operator.contains(rhs, lhs) or operator.contains(rhs, released)
            return found if op == "in" else not found
        lhs, rhs = released, self.tracer.as_released(rhs)
        if op in ("eq", "ne"):
            return escape_barrier.from_line(self.tracer, getattr(operator, op), lhs, rhs)
        found = escape_barrier.from_line(self.tracer, operator.contains, rhs, lhs)
        return found if op == "in" else not found

    def meet(self, lhs: Any, rhs: Any) -> None:
        """Note what is compared by identity, a function or a plain object from outside."""
        others = rhs if isinstance(rhs, (tuple, list, set, frozenset, dict)) else (rhs,)
        if isinstance(lhs, _SIMPLE) or lhs is others:
            return
        for other in others:
            if not isinstance(other, _SIMPLE) and type(other) is not Traced:
                self.is_object(lhs, other)

    def formatted(self, value: Any, conversion: int, spec: Any = "", /) -> Any:
        if self.tracer.passive:
            return self.after("formatted", value, conversion, spec)
        text = value if conversion == -1 else self.call(CONVERSIONS[conversion], value)
        return self.call(format, text, spec)

    def modulo(self, lhs: Any, rhs: Any, /) -> Any:
        if self.tracer.passive:
            return self.after("modulo", lhs, rhs)
        if type(lhs) in TEXTS:
            return self.real(builtin_calls.call_text(self, operator.mod, (lhs, rhs), {}))
        return escape_barrier.from_line(self.tracer, operator.mod, lhs, rhs)

    def power(self, base: Any, exponent: Any, /) -> Any:
        if self.tracer.passive:
            return self.after("power", base, exponent)
        if type(exponent) is Traced and isinstance(base, np.generic):
            return self.tracer.operator(operator.pow, (base, exponent))
        real = type(base) is not Traced and type(exponent) is not Traced
        if real and isinstance(base, np.generic | np.ndarray):
            return call_at(self.tracer.here(), operator.pow, (base, exponent), {})
        return escape_barrier.from_line(self.tracer, operator.pow, base, exponent)

    def decorate(self, decorator: Any, definition: Any, /) -> Any:
        return self.call(decorator, definition)

    def base(self, value: Any, /) -> Any:
        if isinstance(value, type) and not self.tracer.passive and makes_classes(value):
            escape_barrier.beware(
                self.tracer, f"{value.__qualname__} runs code of its own for a subclass"
            )
        return value

    def is_known(self, container: Any) -> bool:
        """True if a container is immutable, the recording's own, or a copy of one outside."""
        return (
            isinstance(container, tuple)
            or self.tracer.may_change(container)
            or self.tracer.shadows.of_copy(container) is not None
        )

    # -- what builtins get -------------------------------------------------------------------------
    def length(self, value: Any) -> int:
        """``len``, guarded where the container is outside."""
        seen = self.given(value)
        if type(seen) is Traced and seen._rm_kind == ARRAY and seen.ndim:
            return seen.shape[0]  # type: ignore[no-any-return]  # a number, which may be traced
        number: int = escape_barrier.from_line(self.tracer, len, seen)
        return number

    def shadowed(self, value: Any) -> Any:
        """A value to be iterated: arrays lifted, the rest as it is (an effect if not known)."""
        if self.tracer.passive or type(value) is Traced:
            return value
        if isinstance(value, (list, tuple, dict)):
            self.tracer.outside.look_again()
            if not self.is_known(value):
                self.tracer.effect("outside-container", f"a {type(value).__name__} is read")
            return value
        if isinstance(value, np.ndarray) and is_traceable(value):
            if self.tracer.adopt(value) is None:
                self.tracer.effect("outside-object", "an array of unknown origin is read")
            return self.tracer.lift(value)
        if isinstance(value, set) and not self.tracer.may_change(value):
            self.tracer.effect("outside-container", "a set is read")
        elif self.tracer.slot_of(value) is not None and hasattr(type(value), "__iter__"):
            self.tracer.effect("outside-container", f"a {type(value).__name__} is iterated")
        return value

    def given(self, value: Any) -> Any:
        """An argument of a builtin: functions are followed, outside objects are an effect."""
        followed = isinstance(value, _FOLLOWED) or calls.does_more(value)
        followed = followed or self.is_of_shared(value)
        if followed or self.undecorated(value) is not None:
            if isinstance(value, types.FunctionType) and self.is_rewritten(value):
                return value
            return lambda *args, **kwargs: self.call(value, *args, **kwargs)
        seen = self.shadowed(value)
        if isinstance(seen, (list, tuple, dict)):
            return seen
        plain = isinstance(seen, (type, types.ModuleType, types.BuiltinFunctionType))
        if seen is value and not plain and self.tracer.slot_of(value) is not None:
            self.tracer.effect("outside-object", f"a {type(value).__name__} is used by a builtin")
        elif seen is value and self.tracer.owns(value) and answers_builtins(type(value)):
            escape_barrier.beware(self.tracer, f"a {type(value).__name__} answers a builtin")
        return seen

    def is_of_shared(self, value: Any) -> bool:
        """True if a value is a method of a container that others hold, too."""
        method = isinstance(value, types.BuiltinFunctionType)
        return method and self.tracer.shadows.of_copy(value.__self__) is not None

    def called(self, value: Any) -> Any:
        """An argument of a builtin that calls it: what makes text is followed, too."""
        if callables.of(value).follow == "string":
            return lambda *args, **kwargs: self.call(value, *args, **kwargs)
        return self.given(value)

    def hashed(self, key: Any) -> Any:
        """A key or position: traced values in it are looked at."""
        if type(key) is Traced:
            return key if key._rm_kind == ARRAY else self.tracer.look(key, "a key")
        if not isinstance(key, (tuple, frozenset, slice)) or not holds_traced(key):
            return key
        items = list(map(self.hashed, children_of(key)))
        if isinstance(key, slice):
            return slice(*items)
        return type(key)(*items) if is_namedtuple(key) else type(key)(items)

    def adopted(self, value: Any) -> Any:
        """An array that came out of an object capture knows nothing of is lifted, as an effect."""
        if type(value) is not Traced and isinstance(value, np.ndarray):
            if self.tracer.adopt(value) is None and is_traceable(value):
                self.tracer.effect("outside-object", "an array of unknown origin is read")
            return adopt_loosely(self.tracer, value)
        return value


def is_iterator(value: Any) -> bool:
    """True if a value is a generator, or an iterator of Python's own."""
    return type(value) is types.GeneratorType or is_reduced(value)


def is_builtin(value: Any) -> bool:
    """True if a value is a builtin container that can be changed."""
    return isinstance(value, (list, dict, set))


def getattr_builtin(name: str) -> Any:
    """A builtin by name, with Python's own error."""
    import builtins  # noqa: PLC0415  (only code that outlived its recording comes here)

    try:
        return getattr(builtins, name)
    except AttributeError:
        raise NameError(f"name {name!r} is not defined", name=name) from None
