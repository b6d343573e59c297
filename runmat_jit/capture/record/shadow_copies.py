"""Containers that a program sees as copies: its own arguments, and those it reads from outside.

The copy holds traced values; the original is the caller's. Argument containers may be changed by
the program: what it changes is done to the original before unknown code runs and at the end, and
what others have changed there meanwhile stays. Outside containers are changed by effects alone,
which work on the original; afterwards copies follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from runmat_jit.capture.tape.edits import Edits, edits_of
from runmat_jit.capture.tape.pytree import Structure, take_apart, write_back
from runmat_jit.core.slotted import slotted


@slotted
class ShadowCopy:
    """A container and its copy.

    ``before`` holds the copy's children as they were made, ``real`` the original's as they were
    when both were last alike, ``structure`` that of both then. ``slot`` is where a replay finds the
    original.
    """

    slot: int
    original: Any
    copy: Any
    argument: bool
    structure: Structure
    before: list[Any] = field(default_factory=list)
    real: list[Any] = field(default_factory=list)
    whole: bool = True
    """False while the copy is being made."""

    def state(self) -> tuple[Structure, list[Any]]:
        """Structure and children of the copy."""
        apart = take_apart(self.copy)
        assert apart is not None, "shadow copies are containers"
        return apart

    def edits(self) -> Edits | None:
        """What the program has changed in the copy since both were alike."""
        if isinstance(self.original, tuple) or not self.whole:
            return None
        structure, children = self.state()
        if structure == self.structure and same_items(children, self.before):
            return None
        return edits_of((self.structure, self.before), (structure, children))

    def children(self) -> list[tuple[Any, Any]]:
        """Children of the copy and of the original, when both were last alike."""
        return list(zip(self.before, self.real, strict=True))

    def is_changed_by_others(self) -> bool:
        """True if the original holds something else than it did when both were last alike."""
        if isinstance(self.original, tuple) or not self.whole:
            return False
        apart = take_apart(self.original)
        assert apart is not None, "originals are containers"
        return apart[0] != self.structure or not same_items(apart[1], self.real)


def same_items(a: list[Any], b: list[Any]) -> bool:
    """True if two lists hold the same objects."""
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

    def count_items(self) -> int:
        """Items of all originals that could be changed, which a look at them compares.

        A container of some items takes as long as they do once more, and as ten others.
        """
        return sum([10 + len(shadow.real) for shadow in self.all if shadow.whole])

    def find_changed_by_others(self) -> ShadowCopy | None:
        """One of which the original was changed."""
        return next((shadow for shadow in self.all if shadow.is_changed_by_others()), None)

    def find_edited(self) -> ShadowCopy | None:
        """One of which the copy was changed."""
        return next((shadow for shadow in self.all if shadow.edits() is not None), None)

    def push(self, release: Callable[[Any], Any]) -> None:
        """Do to the originals what was changed in the copies.

        The program changes its arguments; outside containers were changed by code that no hook
        sees, such as ``__enter__``, and that was given a copy.
        """
        for shadow in self.all:
            edits = shadow.edits()
            if edits is None:
                continue
            olds = [shadow.real[number] for number in edits.olds]
            shadow.structure, shadow.before = shadow.state()
            shadow.real = [release(child) for child in shadow.before]
            edits.apply(shadow.original, olds + [shadow.real[number] for number in edits.news])

    def pull(self, lift: Callable[[Any], Any]) -> None:
        """Bring what unknown code changed in the originals into the copies."""
        for shadow in self.all:
            if not shadow.is_changed_by_others():
                continue
            apart = take_apart(shadow.original)
            assert apart is not None, "originals are containers"
            structure, children = apart
            seen = [self._seen(child, lift) for child in children]
            write_back(shadow.copy, structure(seen))
            shadow.structure, shadow.real, shadow.before = structure, children, seen

    def _seen(self, child: Any, lift: Callable[[Any], Any]) -> Any:
        shadow = self.of_original(child)
        return lift(child) if shadow is None else shadow.copy
