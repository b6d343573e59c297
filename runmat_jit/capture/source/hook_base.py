"""The contract between rewritten code and what runs it.

Rewritten code calls one object, its free variable ``__rt__``: the abstract methods below, with the
arguments evaluated in Python's order, plus a few adapters that this class builds from them for
places where Python's grammar has no room for a call (targets of tuples and loops, decorators,
patterns). The adapters need no temporary variables, so nothing lives longer than in plain Python.
"""

import abc
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Final

from runmat_jit.core.frames import uncounted

CONVERSIONS: Final[Mapping[int, Callable[[Any], str]]] = {
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}
"""Conversions of f-strings, by the character after ``!``."""


class HookBase(abc.ABC):
    """Hooks: the functions that rewritten code calls. Each returns what plain Python would have."""

    slice_ = slice  # ``a[i:j]`` is ``item(a, slice_(i, j, None))``: the name may be the user's own

    @abc.abstractmethod
    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """``function(*args, **kwargs)``."""

    def starred(self, function: Any, /) -> "Starred":
        """Stands for a function that is called with ``*args`` or ``**kwargs``."""
        return Starred(partial(self.call, function), function)

    def unpacked(self, value: Any, stars: str, /) -> Any:
        """What ``*`` or ``**`` unpacks in a call or a display."""
        del stars
        return value

    @abc.abstractmethod
    def attr(self, obj: Any, name: str, /) -> Any:
        """``obj.name``; the name is mangled where Python does so."""

    @abc.abstractmethod
    def item(self, obj: Any, key: Any, /) -> Any:
        """``obj[key]``."""

    @abc.abstractmethod
    def glob(self, name: str, /) -> Any:
        """A global or builtin of the function's module."""

    @abc.abstractmethod
    def free(self, name: str, /) -> Any:
        """A variable of a function around the decorated one."""

    @abc.abstractmethod
    def setitem(self, value: Any, obj: Any, key: Any, /) -> None:
        """``obj[key] = value``."""

    @abc.abstractmethod
    def setattr_(self, value: Any, obj: Any, name: str, /) -> None:
        """``obj.name = value``."""

    @abc.abstractmethod
    def delitem(self, obj: Any, key: Any, /) -> None:
        """``del obj[key]``."""

    @abc.abstractmethod
    def delattr_(self, obj: Any, name: str, /) -> None:
        """``del obj.name``."""

    @abc.abstractmethod
    def iop(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        """The new value of ``lhs op= rhs``; ``operator`` has a function ``"i" + op``."""

    @abc.abstractmethod
    def fresh(self, container: Any, /) -> Any:
        """A list, dict or set just made by a display, a comprehension or a ``**`` parameter."""

    def tuple_(self, display: tuple[Any, ...], /) -> tuple[Any, ...]:
        """A tuple display, in which values have waited for later ones to be computed."""
        return display

    @abc.abstractmethod
    def iter_(self, obj: Any, /) -> Iterable[Any]:
        """Iterable of a comprehension."""

    @abc.abstractmethod
    def loop(self, obj: Any, rests: int, whole: int, /) -> Iterable[Any]:
        """Iterable of a ``for`` statement; ``rests``: it may end before its end.

        ``whole``: no ``break`` or ``return`` ends the loop.
        """

    def rest(self) -> Iterable[Any]:
        """What is left of an iterable that has ended before its end."""
        return ()

    @abc.abstractmethod
    def looped(self, number: int, /) -> tuple[tuple[Any, ...], ...]:
        """The values that a loop leaves in its variables, in a tuple; empty: it has not run.

        ``number``: which of the function's loops that may run natively.
        """

    def turn(self) -> bool:
        """Another iteration of a loop begins; true, so that it can stand before a condition."""
        return True

    def goes_on(self) -> bool:
        """Another turn of a ``while`` begins; false where the rest of the loop is elsewhere."""
        return self.turn()

    def has_rest(self) -> bool:
        """True if a ``while`` has ended before its condition was false."""
        return False

    @abc.abstractmethod
    def is_(self, lhs: Any, rhs: Any, /) -> bool:
        """``lhs is rhs``."""

    @abc.abstractmethod
    def is_not(self, lhs: Any, rhs: Any, /) -> bool:
        """``lhs is not rhs``."""

    @abc.abstractmethod
    def compare(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        """``lhs == rhs`` (``eq``), ``lhs != rhs`` (``ne``), ``lhs in rhs``, ``lhs not in rhs``."""

    @abc.abstractmethod
    def formatted(self, value: Any, conversion: int, spec: Any = "", /) -> Any:
        """A part of an f-string: ``conversion`` is the character's number, or -1."""

    @abc.abstractmethod
    def modulo(self, lhs: Any, rhs: Any, /) -> Any:
        """``lhs % rhs``, which may be text."""

    @abc.abstractmethod
    def power(self, base: Any, exponent: Any, /) -> Any:
        """``base ** exponent``."""

    @abc.abstractmethod
    def decorate(self, decorator: Any, definition: Any, /) -> Any:
        """``decorator(definition)``, for a function or class defined inside the function."""

    def decorator(self, decorator: Any, /) -> Callable[[Any], Any]:
        """Stands where the decorator stood."""
        return partial(self.decorate, decorator)

    def base(self, value: Any, /) -> Any:
        """A base, metaclass or other argument of a class defined inside the function."""
        return value

    def item_place(self, obj: Any, key: Any, /) -> "Place":
        """``obj[key]`` as a target inside a larger one, or of an augmented assignment."""
        return Place(self.iop, self.item, self.setitem, obj, key)

    def attr_place(self, obj: Any, name: str, /) -> "Place":
        """``obj.name`` as a target inside a larger one, or of an augmented assignment."""
        return Place(self.iop, self.attr, self.setattr_, obj, name)

    def hidden(self) -> AbstractContextManager[None]:
        """A block that exceptions leave without frames of hooks in their tracebacks."""
        return nullcontext()

    def caught(self) -> None:
        """Take frames of hooks out of the traceback of the exception that is handled."""
        return  # there are none

    @abc.abstractmethod
    def importing(self, module: str, /) -> None:
        """A module is about to be imported, by a name with dots."""

    def imported(self, value: Any, module: str, name: str, /) -> Any:
        """Value of ``from module import name``: an attribute read of the module, if it is one."""
        loaded = sys.modules.get(module)
        if getattr(loaded, "__dict__", {}).get(name) is not value:
            return value
        return self.attr(loaded, name)

    def class_pattern(self, value: Any, /) -> Any:
        """A class without subpatterns in a pattern of ``match``: it is asked like ``isinstance``.

        A class is made for it, for Python asks no other objects.
        """
        if not isinstance(value, type):
            return value  # Python says so
        asks: dict[str, Any] = {
            "__instancecheck__": lambda _cls, subject: self.call(isinstance, subject, value)
        }
        return type("Asking", (type,), asks)(value.__name__, (), {})

    @property
    def outside(self) -> "Outside":
        """Dotted outside names in patterns of ``match``."""
        return Outside(self)


def plain_part(value: Any, conversion: int, spec: Any) -> str:
    """A part of an f-string, as Python makes it."""
    if conversion != -1:
        value = CONVERSIONS[conversion](value)
    return format(value, spec)


class Starred:
    """A function whose arguments Python unpacks and merges, and names it where it refuses them."""

    __slots__ = ("_call", "_named")

    def __init__(self, call: Callable[..., Any], named: Any) -> None:
        self._call, self._named = call, named

    def __getattribute__(self, name: str) -> Any:
        if name in ("__qualname__", "__module__"):
            return getattr(self._named, name)
        return super().__getattribute__(name)

    def __str__(self) -> str:
        return str(self._named)

    @uncounted
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)


class Place:
    """Where a store goes: the object and the key have been evaluated, the value has not.

    ``place.value = v`` stores; ``place.load().update(op, v)`` is an augmented assignment.
    """

    __slots__ = ("_iop", "_key", "_obj", "_old", "_read", "_write")

    def __init__(
        self,
        iop: Callable[[str, Any, Any], Any],
        read: Callable[[Any, Any], Any],
        write: Callable[[Any, Any, Any], None],
        obj: Any,
        key: Any,
    ) -> None:
        self._iop, self._read, self._write = iop, read, write
        self._obj, self._key = obj, key
        self._old: Any = None

    def load(self) -> "Place":
        """Read the old value, before the right-hand side is evaluated."""
        self._old = self._read(self._obj, self._key)
        return self

    def load_late(self) -> "Place":
        """The same, where evaluating the right-hand side runs no code: it may be read after it."""
        return self.load()

    def update(self, op: str, rhs: Any) -> None:
        self._write(self._iop(op, self._old, rhs), self._obj, self._key)

    @property
    def value(self) -> Any:
        return self._read(self._obj, self._key)

    @value.setter
    def value(self, value: Any) -> None:
        self._write(value, self._obj, self._key)


class Outside:
    """Resolves ``outside."glob Color.RED"``: a pattern may hold dotted names, but no call."""

    __slots__ = ("_hooks",)

    def __init__(self, hooks: HookBase) -> None:
        self._hooks = hooks

    def __getattr__(self, path: str) -> Any:
        hook, _, dotted = path.rpartition(" ")
        is_class, hook = hook.startswith("class"), hook.removeprefix("class ")
        root, *names = dotted.split(".")
        value = self._hooks.glob(root) if hook == "glob" else self._hooks.free(root)
        for name in names:
            value = self._hooks.attr(value, name)
        return self._hooks.class_pattern(value) if is_class else value
