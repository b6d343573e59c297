"""Real values for traced ones, everywhere inside a value that leaves the recording.

Mutable containers, objects and cells that the recording made are changed in place, so that they
stay the objects that they are; tuples are made anew where something in them changes.
"""

from __future__ import annotations

import functools
import gc
import itertools
import operator
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.source.hook_calls import RUNTIME
from runmat_jit.capture.tape.pytree import at_once, is_namedtuple, is_plain_dataclass
from runmat_jit.capture.tape.values import is_bound
from runmat_jit.core.errstate import unwarned

MUTABLE = (list, dict, set, deque)
_DICTS: tuple[dict[str, Any], ...] = ({}, OrderedDict())
_VIEWS = tuple([type(getattr(d, name)()) for d in _DICTS for name in ("keys", "values", "items")])
_OF_DICTS = {type(iter(getattr({}, name)())): name for name in ("keys", "values", "items")}
"""Iterators of dicts, by the view that they go through."""
_LEAVES = (int, float, complex, bool, str, bytes, type(None), type, types.ModuleType)


_AROUND_FUNCTIONS: Final = (staticmethod, classmethod, property)


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
        if kind in _LEAVES and not (kind is type and "<locals>" in value.__qualname__):
            return value
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
        if isinstance(value, MUTABLE):
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
        if kind is types.MethodType or kind in _AROUND_FUNCTIONS:
            return self.around(value, kind)
        if isinstance(value, type):
            self.class_(value)
        elif kind is functools.partial:
            state = (self(value.func), self(value.args), self(value.keywords), value.__dict__)
            value.__setstate__(state)
        elif kind is types.GeneratorType:
            return self.generator(value)
        elif isinstance(value, BaseException):
            self.error(value)
        elif isinstance(value, _VIEWS):
            return self.view(value)
        elif is_bound(value) or kind is types.MethodWrapperType:
            owner = self(value.__self__)
            return value if owner is value.__self__ else getattr(owner, value.__name__)
        elif is_reduced(value):
            return self.reduced(value)
        elif self.recording.owns(value) or is_plain_dataclass(value):
            self.attributes(value)
        return value

    def around(self, value: Any, kind: type) -> Any:
        """Release a bound method, property or static method: anew if its function changes."""
        parts: tuple[Any, ...]
        if kind is types.MethodType:
            parts = value.__func__, value.__self__
        elif kind is property:
            parts = value.fget, value.fset, value.fdel, value.__doc__
        else:
            parts = (value.__func__,)
        real = tuple(map(self, parts))
        same = all(new is old for new, old in zip(real, parts, strict=True))
        return value if same else kind(*real)

    def view(self, value: Any) -> Any:
        """A view of a dict: of the original, where the dict is a copy of one from outside."""
        (held,) = gc.get_referents(value)
        real = self(held)
        name = type(value).__name__.rpartition("_")[2]
        return value if real is held else getattr(real, name)()

    def reduced(self, value: Any) -> Any:
        """A builtin object of parts, such as an iterator: anew, if the real parts are others."""
        parts = gc.get_referents(value)
        if type(value) in _OF_DICTS:
            real = self(parts[0])
            made = value if real is parts[0] else iter(getattr(real, _OF_DICTS[type(value)])())
            gone = 0 if made is value else len(real) - operator.length_hint(value)
            deque(itertools.islice(made, gone), 0)
            return made
        if all(real is part for real, part in zip(map(self, parts), parts, strict=True)):
            return value
        with unwarned():  # Python 3.12 says that iterators will not be pickled any more
            try:
                recipe = value.__reduce__()
            except TypeError:  # it does not tell: another that gives the same
                return without_recipe(value, self)
            make, args, *state = self(recipe)
            made = make(*args)
            if state and state[0] is not None:
                made.__setstate__(state[0])
        return made

    def item(self, value: Any) -> Any:
        """An item that comes later, and is not kept."""
        return Release(self.recording, disown=self.disown)(value)

    def generator(self, value: types.GeneratorType[Any, Any, Any]) -> Any:
        """A generator: what it holds in place, where it can be; else another, of real values."""
        held = [] if value.gi_frame is None else list(value.gi_frame.f_locals.values())
        if is_made_here(value) or any(self(item) is not item for item in held):
            return released_generator(value, self)
        return value

    def container(self, value: Any) -> Any:
        """A mutable container, in place."""
        if self.disown:
            self.recording.disown(value)
        if isinstance(value, dict):
            self.dict(value)
        elif isinstance(value, set):
            members = at_once(lambda: list(value))
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

    def dict(self, value: dict[Any, Any]) -> None:
        """A dict, in place, and in its order."""
        items = at_once(lambda: list(value.items()))
        real = [(self(key), self(item)) for key, item in items]
        if any(new[0] is not old[0] for new, old in zip(real, items, strict=True)):
            value.clear()
            value.update(real)
            return
        for (key, item), (_, old) in zip(real, items, strict=True):
            if item is not old:  # others stay as threads have left them meanwhile
                value[key] = item

    def tuple(self, value: Any, kind: type) -> Any:
        """A tuple: itself if nothing in it changes."""
        items = list(map(self, value))
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        if is_namedtuple(value):
            return kind(*items)
        return tuple(items) if kind is tuple else value

    def function(self, value: types.FunctionType) -> Any:
        """A function made in the recording: without hooks, with its cells and defaults in place."""
        made = self.as_others_have_it(value)
        self.done[id(value)] = value, made  # which its own cells may hold
        for cell in value.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
            real = self(content)
            if real is not content:
                cell.cell_contents = real
        if value.__defaults__:
            made.__defaults__ = value.__defaults__ = self(value.__defaults__)
        if value.__kwdefaults__:
            self(value.__kwdefaults__)
        if value.__dict__:
            self(value.__dict__)
        return made

    def as_others_have_it(self, value: types.FunctionType) -> types.FunctionType:
        """A function made in the recording, with the program's own code."""
        return self.recording.without_hooks(value)

    def class_(self, value: type) -> None:
        """What a class made in the recording holds, in place."""
        if "<locals>" in value.__qualname__ and id(value) not in self.recording.outside.classes:
            for name, item in list(vars(value).items()):
                real = self(item)
                if real is not item:
                    type.__setattr__(value, name, real)

    def attributes(self, value: Any) -> None:
        """The attributes of an object, in place, and those of its class."""
        self(type(value))
        if self.disown:
            self.recording.disown(value)
        if hasattr(value, "__dict__"):
            for name, item in vars(value).copy().items():
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


def is_reduced(value: Any) -> bool:
    """True if a value is a builtin object, such as an iterator, that may tell how to make it."""
    kind = type(value)
    if kind in (operator.itemgetter, operator.methodcaller):
        return True
    return isinstance(value, Iterator) and kind.__module__ in ("builtins", "itertools")


def without_recipe(value: Any, release: Release) -> Any:
    """An iterator of real values in place of one that cannot be pickled: of ``itertools``.

    It is of the same class where its parts, or its rest, tell what it will give.
    """
    kind, rest = type(value), map(release.item, value)
    parts = [release(part) for part in gc.get_referents(value) if part is not kind]
    if kind is itertools.repeat:
        left = operator.length_hint(value, -1)
        return itertools.repeat(parts[0]) if left < 0 else itertools.repeat(parts[0], left)
    if kind is itertools.count and len(parts) == 2:
        return itertools.count(*parts)
    if kind is itertools.cycle and len(parts) == 2:  # in its first round
        iterator, seen = parts
        made = itertools.cycle(itertools.chain(seen, iterator))
        deque(itertools.islice(made, len(seen)), 0)
        return made
    if kind is itertools.product and all(type(part) is tuple for part in parts):
        found = itertools.product(*parts[0]) if len(parts) == 1 else None
        return rest if found is None else found  # begun: where it is nobody can ask
    if kind is itertools.islice:
        return itertools.islice(rest, None)
    if kind is itertools.chain:
        *active, iterables = parts
        return itertools.chain.from_iterable(itertools.chain(active, iterables))
    return rest


def is_made_here(generator: Any) -> bool:
    """True if a generator runs code of the recording."""
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
