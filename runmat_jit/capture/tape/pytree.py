"""Containers among arguments and results: taken apart, rebuilt, written back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from runmat_jit.capture.tape.values import bits_of

T = TypeVar("T")


def is_namedtuple(value: Any) -> bool:
    """True if ``value`` is an instance of a named tuple."""
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def is_plain_dataclass(value: Any) -> bool:
    """True if ``value`` is a dataclass instance whose attributes are stored as they are."""
    kind = type(value)
    return (
        dataclasses.is_dataclass(kind)
        and hasattr(value, "__dict__")
        and kind.__setattr__ is object.__setattr__
        and kind.__getattribute__ is object.__getattribute__
    )


class Structure:
    """How to rebuild one container from its children; equal structures build alike."""

    __slots__ = ("key", "kind", "names")

    def __init__(self, kind: type, names: tuple[Hashable, ...] = ()) -> None:
        self.kind, self.names = kind, names
        self.key: Hashable = kind
        if names:  # as keys of a dict, 1, 1.0 and True are equal, and so are 0.0 and -0.0
            kinds: tuple[Any, ...] = tuple(map(type, names))
            if kinds.count(str) != len(kinds):
                kinds = tuple(map(bits_of, names))
            self.key = kind, names, kinds

    def __call__(self, items: list[Any]) -> Any:
        kind = self.kind
        if kind is tuple or kind is list or kind is set:
            return kind(items)
        if kind is dict:
            return dict(zip(self.names, items, strict=True))
        if kind is slice:
            return slice(*items)
        if issubclass(kind, tuple):
            return kind(*items)
        instance = object.__new__(kind)
        instance.__dict__.update(zip(self.names, items, strict=True))  # type: ignore[arg-type]  # attribute names are strings
        return instance

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return self.kind.__name__


def take_apart(value: Any) -> tuple[Structure, list[Any]] | None:
    """Structure and children of a container; None where ``value`` is a leaf."""
    kind = type(value)
    if kind is tuple or kind is list:
        return Structure(kind), list(value)
    if kind is dict:
        found = value.copy()  # at once: another thread may change it
        return Structure(kind, tuple(found)), list(found.values())
    if is_namedtuple(value):
        return Structure(kind), list(value)
    if is_plain_dataclass(value):
        found = value.__dict__.copy()  # likewise
        return Structure(kind, tuple(found)), list(found.values())
    return None


def at_once(look: Callable[[], T]) -> T:
    """What iterating over a container gives, which other threads may change meanwhile."""
    while True:
        try:
            return look()
        except RuntimeError as error:  # memory is asked for on the way, and finalizers may run then
            if "changed size" not in str(error) and "mutated" not in str(error):
                raise


def write_back(target: Any, source: Any) -> None:
    """Make the container ``target`` hold what ``source``, of the same kind, holds."""
    kind = type(target)
    if kind is list:
        target[:] = source
    elif kind is dict:
        target.clear()
        target.update(source)
    else:
        target.__dict__.clear()
        target.__dict__.update(source.__dict__)
