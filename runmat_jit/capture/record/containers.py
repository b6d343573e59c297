"""Containers and functions of the standard library that do nothing but hold and move values.

What a program makes of them is the recording's own, as its lists and dicts are. Keys are looked
at; comparisons of traced values inside (in a heap, a sorted list) are Python's decisions.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final

from runmat_jit.capture import callables
from runmat_jit.capture.record.concrete import concrete_integer
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.host_calls import run_effect
from runmat_jit.capture.record.release import slots_of
from runmat_jit.capture.tape.pytree import Structure, is_plain_dataclass
from runmat_jit.core.frozen import frozen

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]

_FACTORIES: Final = (list, dict, set, tuple, int, float, complex, str, bool, None)
_METHODS: Final = frozenset((Counter.most_common, Counter.elements, Counter.total))
_OF_TUPLES: Final = frozenset(("_replace", "_asdict", "_make"))


def make(hooks: Following, cls: type, args: Args, kwargs: Kwargs) -> Any:
    """An instance of one of the classes, empty or of what is given."""
    own = hooks.tracer.own
    if cls is SimpleNamespace and not args:
        return own(SimpleNamespace(**kwargs))
    if cls is deque and not kwargs.keys() - {"maxlen"}:
        most = {name: concrete_integer(value) for name, value in kwargs.items()}
        return own(deque(*map(hooks.shadowed, args[:1]), *map(concrete_integer, args[1:]), **most))
    if cls is defaultdict and args and any(args[0] is one for one in _FACTORIES):
        return filled(hooks, defaultdict(args[0]), args[1:], kwargs)
    if cls is OrderedDict:
        return filled(hooks, OrderedDict(), args, kwargs)
    if cls is Counter and len(args) < 2 and not kwargs:
        return counted(hooks, args)
    return run_effect(hooks.tracer, cls, args, kwargs, "capture does not follow these arguments")


def filled(hooks: Following, made: Any, args: Args, kwargs: Kwargs) -> Any:
    """A dict of pairs or of another dict, and of keywords."""
    (given,) = args or ((),)
    given = hooks.shadowed(given)
    for key, value in given.items() if isinstance(given, dict) else given:
        made[hooks.hashed(key)] = value
    made.update(kwargs)
    return hooks.tracer.own(made)


def counted(hooks: Following, args: Args) -> Any:
    """A counter of items, or of counts by item."""
    (given,) = args or ((),)
    given = hooks.shadowed(given)
    if isinstance(given, dict):
        return filled(hooks, Counter(), (given,), {})
    return hooks.tracer.own(Counter([hooks.hashed(item) for item in given]))


def call_on_list(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A function of ``heapq`` or ``bisect`` on a list, which it may change."""
    writes = callables.of(fn).writes is not None
    if writes and not (args and type(args[0]) is list and is_own(hooks, args[0])):
        return run_effect(hooks.tracer, fn, args, kwargs, "it may change what lies outside")
    seen = args if writes else tuple(map(hooks.given, args))
    made = fn(*seen, **{name: hooks.given(value) for name, value in kwargs.items()})
    return made if writes or type(made) is not list else hooks.fresh(made)


def is_own(hooks: Following, container: Any) -> bool:
    """True if nobody else holds a container."""
    return hooks.tracer.shadows.of_copy(container) is None and hooks.tracer.may_change(container)


def is_method(hooks: Following, fn: Any, args: Args) -> bool:
    """True if a Python function is a method of such a container, or one of ``namedtuple``'s."""
    owner = args[0] if args else None
    if fn in _METHODS:
        return type(owner) is Counter and hooks.tracer.owns(owner)
    kind = owner if isinstance(owner, type) else type(owner)
    found = getattr(kind, fn.__name__, None) if fn.__name__ in _OF_TUPLES else None
    return issubclass(kind, tuple) and getattr(found, "__func__", found) is fn


def replaced(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``dataclasses.replace``: the class is called with an object's fields, and with others."""
    instance: Any = args[0] if len(args) == 1 else None
    plain = dataclasses.is_dataclass(instance) and not isinstance(instance, type)
    fields = dataclasses.fields(instance) if plain else ()
    if not all(field.init for field in fields) or not plain:
        return run_effect(hooks.tracer, fn, args, kwargs, "fields without init")
    given = {field.name: hooks.attr(instance, field.name) for field in fields}
    return hooks.call(type(instance), **{**given, **kwargs})


def replaced_copy(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``copy.replace``: the object's ``__replace__`` is followed."""
    if len(args) != 1 or not hasattr(type(args[0]), "__replace__"):
        return run_effect(hooks.tracer, fn, args, kwargs, "it has no way to be replaced")
    return hooks.call(hooks.attr(args[0], "__replace__"), **kwargs)


def is_plain_enum(cls: Any) -> bool:
    """True if calling a class finds a member of an enumeration by its value."""
    if type(cls) is not enum.EnumType:
        return False
    own = [base for base in cls.__mro__ if base.__module__ not in ("enum", "builtins")]
    return not any("_missing_" in vars(base) for base in own)


# -- results ---------------------------------------------------------------------------------------
def rebuilt_of(hooks_own: Callable[[Any], bool], value: Any) -> tuple[Any, list[Any]] | None:
    """Constructor of such a container, for replays, and its children; None for anything else.

    ``hooks_own`` says whether the recording made an object.
    """
    kind = type(value)
    if kind is deque:
        return Rebuild(deque, (), value.maxlen), list(value)
    if kind is defaultdict:
        return Rebuild(kind, tuple(value), value.default_factory), list(value.values())
    if kind is OrderedDict or kind is Counter:
        return Rebuild(kind, tuple(value), None), list(value.values())
    if not hooks_own(value):
        return None
    if kind is SimpleNamespace:
        return Rebuild(kind, tuple(vars(value)), None), list(vars(value).values())
    plain = is_plain_dataclass(value) or is_plain_instance(value)
    return (Structure(kind, tuple(vars(value))), list(vars(value).values())) if plain else None


def is_plain_instance(value: Any) -> bool:
    """True if an object is its class and its attributes, and nothing happens when it dies."""
    kind = type(value)
    return (
        type(kind) is type
        and "__new__" not in [name for base in kind.__mro__[:-1] for name in vars(base)]
        and hasattr(value, "__dict__")
        and not hasattr(kind, "__del__")
        and next(slots_of(kind), None) is None
    )


@frozen
class Rebuild:
    """Makes a container of a class, with these keys; ``setting`` is its length or factory."""

    kind: Any
    names: tuple[Any, ...]
    setting: Any

    def __call__(self, items: list[Any]) -> Any:
        if self.kind is deque:
            return deque(items, self.setting)
        if self.kind is SimpleNamespace:
            return SimpleNamespace(**dict(zip(self.names, items, strict=True)))
        made = self.kind(self.setting) if self.kind is defaultdict else self.kind()
        for name, item in zip(self.names, items, strict=True):
            made[name] = item
        return made

    @property
    def __name__(self) -> str:
        return f"{self.kind.__name__}{self.names}"
