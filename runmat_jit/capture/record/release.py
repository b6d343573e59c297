"""Real values for traced ones, everywhere inside a value that leaves the recording.

Mutable containers, objects and cells that the recording made are changed in place, so that they
stay the objects that they are; tuples are made anew where something in them changes.
"""

from __future__ import annotations

import functools
import gc
import types
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any

from runmat_jit.capture.record.flags import TracedFlags
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.source.hook_calls import RUNTIME
from runmat_jit.capture.tape.pytree import is_namedtuple, is_plain_dataclass

_LEAVES = (int, float, complex, bool, str, bytes, type(None), type, types.ModuleType)


class Release:
    """Walks values once; ``disown``: the recording may no longer store into what it meets."""

    def __init__(self, recording: Recording, *, disown: bool) -> None:
        self.recording, self.disown = recording, disown
        self.done: dict[int, tuple[Any, Any]] = {}

    def __call__(self, value: Any) -> Any:
        """The value with nothing traced in it."""
        kind = type(value)
        if kind is Traced:
            return self.recording.value(value)
        if kind in _LEAVES:
            return value
        if kind is TracedFlags:
            return self.recording.value(value._rm_value).flags
        if kind is TracedMethod:
            return getattr(self.recording.value(value.__self__), value.__name__)
        found = self.done.get(id(value))
        if found is not None:
            return found[1]
        twin = self.recording.shadows.of_copy(value)
        if twin is not None:
            return twin.original
        self.done[id(value)] = value, value
        real = self.walk(value, kind)
        self.done[id(value)] = value, real
        return real

    def walk(self, value: Any, kind: type) -> Any:
        """The children of one value."""
        if isinstance(value, (list, deque, dict, set)):
            return self.container(value)
        if isinstance(value, tuple):
            return self.tuple(value, kind)
        if kind is frozenset:
            return frozenset(map(self, value))
        if kind is slice:
            return slice(self(value.start), self(value.stop), self(value.step))
        return self.function(value) if kind is types.FunctionType else self.object(value, kind)

    def object(self, value: Any, kind: type) -> Any:
        """An object that is no container, in place; of a generator, another one."""
        if kind is types.MethodType:
            self(value.__self__)
        elif kind is functools.partial:
            state = (self(value.func), self(value.args), self(value.keywords), value.__dict__)
            value.__setstate__(state)
        elif kind is types.GeneratorType and is_made_here(value):
            return released_generator(value, self)
        elif isinstance(value, Iterator) and kind.__module__ in ("builtins", "itertools"):
            for below in gc.get_referents(value):  # lists and iterators that it goes through
                self(below)
        elif isinstance(value, BaseException):
            self.error(value)
        elif self.recording.owns(value) or is_plain_dataclass(value):
            self.attributes(value)
        return value

    def container(self, value: Any) -> Any:
        """A mutable container, in place."""
        if self.disown:
            self.recording.disown(value)
        if isinstance(value, dict):
            for key, item in list(value.items()):
                real_key, real = self(key), self(item)
                if real_key is not key:
                    del value[key]
                    value[real_key] = real
                elif real is not item:
                    value[key] = real
        elif isinstance(value, set):
            members = list(value)
            real_members = list(map(self, members))
            if any(a is not b for a, b in zip(members, real_members, strict=True)):
                value.clear()
                value.update(real_members)
        else:
            for number, item in enumerate(list(value)):
                real = self(item)
                if real is not item:
                    value[number] = real
        if getattr(value, "__dict__", None):
            self.attributes(value)
        return value

    def tuple(self, value: Any, kind: type) -> Any:
        """A tuple: itself if nothing in it changes."""
        items = list(map(self, value))
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        if is_namedtuple(value):
            return kind(*items)
        return tuple(items) if kind is tuple else value

    def function(self, value: types.FunctionType) -> Any:
        """A function made in the recording: its cells and defaults, in place."""
        for cell in value.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
            real = self(content)
            if real is not content:
                cell.cell_contents = real
        if value.__defaults__:
            value.__defaults__ = self(value.__defaults__)
        if value.__kwdefaults__:
            self(value.__kwdefaults__)
        return value

    def attributes(self, value: Any) -> None:
        """The attributes of an object, in place."""
        if self.disown:
            self.recording.disown(value)
        if hasattr(value, "__dict__"):
            for name, item in list(vars(value).items()):
                real = self(item)
                if real is not item:
                    vars(value)[name] = real
        for name in slots_of(type(value)):
            item = getattr(value, name, None)
            real = self(item)
            if real is not item:
                object.__setattr__(value, name, real)

    def error(self, error: BaseException) -> None:
        """An exception: its arguments and attributes, and what led to it."""
        error.args = self(error.args)
        for name, item in list(error.__dict__.items()):
            error.__dict__[name] = self(item)
        for other in (error.__cause__, error.__context__):
            if other is not None:
                self(other)
        if isinstance(error, StopIteration):
            error.value = self(error.value)


def is_made_here(generator: Any) -> bool:
    """Whether a generator runs code of the recording."""
    frame = generator.gi_frame
    return RUNTIME in generator.gi_code.co_freevars or (
        frame is not None and any(type(value) is Traced for value in frame.f_locals.values())
    )


def slots_of(kind: type) -> Iterator[str]:
    """The names in ``__slots__`` of a class and its bases."""
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                yield name


def released_generator(
    generator: types.GeneratorType[Any, Any, Any], release: Callable[[Any], Any]
) -> Generator[Any, Any, Any]:
    """A generator that gives what another gives, with nothing traced in it."""

    def released() -> Generator[Any, Any, Any]:
        step: Callable[..., Any] = generator.__next__
        sent: tuple[Any, ...] = ()
        while True:
            try:
                item = step(*sent)
            except StopIteration as stop:
                return release(stop.value)
            try:
                got = yield release(item)
            except GeneratorExit:  # the other one is closed when nobody holds it any more
                raise
            except BaseException as error:  # noqa: BLE001  (whatever is thrown in goes through)
                step, sent = generator.throw, (error,)
            else:
                step, sent = (generator.__next__, ()) if got is None else (generator.send, (got,))

    made: Any = released()
    made.__name__, made.__qualname__ = generator.__name__, generator.__qualname__
    return made  # type: ignore[no-any-return]  # the stubs know no names of generators
