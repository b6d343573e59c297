"""Containers that a program sees as copies: its own arguments, and those it reads from outside.

The copy holds traced values; the original is the caller's. Argument containers may be changed by
the program: changes go to the original before unknown code runs and at the end. Outside
containers are changed by effects alone, which work on the original; afterwards copies follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runmat_jit.capture.tape.pytree import take_apart, write_back


@dataclass(slots=True)
class ShadowCopy:
    """A container and its copy.

    ``before`` holds the copy's children as they were made, ``real`` the original's as they were
    when both were last alike. ``slot`` is where a replay finds the original.
    """

    slot: int
    original: Any
    copy: Any
    argument: bool
    before: list[Any] = field(default_factory=list)
    real: list[Any] = field(default_factory=list)
    whole: bool = True
    """False while the copy is being made."""

    def changed(self) -> bool:
        """Whether the program changed the copy since it was made."""
        after, target = take_apart(self.copy), take_apart(self.original)
        assert after is not None, "shadow copies are containers"
        assert target is not None, "originals are containers"
        return after[0] != target[0] or not same_items(after[1], self.before)


def same_items(a: list[Any], b: list[Any]) -> bool:
    """Whether two lists hold the same objects."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


class ShadowCopies:
    """The shadow copies of one recording."""

    def __init__(self) -> None:
        self.all: list[ShadowCopy] = []
        self._by_copy: dict[int, ShadowCopy] = {}
        self._by_original: dict[int, ShadowCopy] = {}

    def add(self, shadow: ShadowCopy) -> None:
        """Remember a pair."""
        self.all.append(shadow)
        self._by_copy[id(shadow.copy)] = shadow
        self._by_original[id(shadow.original)] = shadow

    def of_copy(self, value: Any) -> ShadowCopy | None:
        """The pair whose copy this is."""
        found = self._by_copy.get(id(value))
        return found if found is not None and found.copy is value else None

    def of_original(self, value: Any) -> ShadowCopy | None:
        """The pair whose original this is."""
        found = self._by_original.get(id(value))
        return found if found is not None and found.original is value else None

    def push(self, release: Callable[[Any], Any]) -> None:
        """Bring changes of copies into the originals.

        The program's own go to its arguments; those to outside containers were made by code that
        no hook sees, such as ``__enter__``, and that was given a copy.
        """
        for shadow in self.all:
            if isinstance(shadow.original, tuple) or not shadow.whole or not shadow.changed():
                continue
            apart = take_apart(shadow.copy)
            assert apart is not None, "shadow copies are containers"
            structure, children = apart
            shadow.before = children
            shadow.real = [release(child) for child in children]
            write_back(shadow.original, structure(shadow.real))

    def pull(self, lift: Callable[[Any], Any]) -> None:
        """Bring what unknown code changed in the originals into the copies."""
        for shadow in self.all:
            if isinstance(shadow.original, tuple) or not shadow.whole:
                continue
            apart = take_apart(shadow.original)
            copy = take_apart(shadow.copy)
            assert apart is not None, "originals are containers"
            assert copy is not None, "shadow copies are containers"
            structure, children = apart
            if structure == copy[0] and same_items(children, shadow.real):
                continue
            seen = [self._seen(child, lift) for child in children]
            write_back(shadow.copy, structure(seen))
            shadow.real, shadow.before = children, seen

    def _seen(self, child: Any, lift: Callable[[Any], Any]) -> Any:
        shadow = self.of_original(child)
        return lift(child) if shadow is None else shadow.copy
