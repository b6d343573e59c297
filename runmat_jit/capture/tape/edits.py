"""Edits: what a call has changed in a container, to be done to the container that others hold.

Others may change it meanwhile (threads, handlers of signals, callbacks): an edit takes nothing back
that it does not know of. Without such changes the container holds afterwards what the call's copy
does, in the same order and with the same keys.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import islice, takewhile
from typing import Any

from runmat_jit.capture.tape.pytree import Structure
from runmat_jit.core.frozen import frozen


@frozen
class ListEdits:
    """Edits of a list: items take the places of others, and a slice is replaced.

    ``places`` are those of the items; from ``start`` on ``lost`` items go and the others come, at
    the end of the list if ``last``. ``olds`` and ``news`` number the children, of before and after,
    of which the values are that :meth:`apply` gets.
    """

    places: tuple[int, ...]
    start: int
    lost: int
    gained: int
    last: bool

    @property
    def olds(self) -> tuple[int, ...]:
        """The children that go."""
        return (*self.places, *range(self.start, self.start + self.lost))

    @property
    def news(self) -> tuple[int, ...]:
        """The children that come."""
        return (*self.places, *range(self.start, self.start + self.gained))

    def apply(self, target: list[Any], values: Sequence[Any]) -> None:
        """Do it to a list; ``values`` are those that go, then those that come."""
        count = len(self.places)
        olds, news = values[: count + self.lost], values[count + self.lost :]
        for place, old, new in zip(self.places, olds[:count], news[:count], strict=True):
            at = place_of(target, old, place)
            if at is None and place < len(target):  # another one is there: both were stored
                at = place
            if at is not None:
                target[at] = new
        gone, come = olds[count:], list(news[count:])
        start, stop = self.start, self.start + self.lost
        if len(gone) == len(target[start:stop]) and all(map(same, target[start:stop], gone)):
            if self.last and not gone:
                target.extend(come)
            else:
                target[start:stop] = come
            return
        for old in gone:
            at = place_of(target, old, start)
            if at is not None:
                del target[at]
        target[len(target) if self.last else start : None if self.last else start] = come


@frozen
class DictEdits:
    """Edits of a dict, or of an object's attributes: keys go, others get values."""

    lost: tuple[Hashable, ...]
    keys: tuple[Hashable, ...]
    news: tuple[int, ...]
    olds: tuple[int, ...] = ()

    def apply(self, target: Any, values: Sequence[Any]) -> None:
        """Do it to a dict or object."""
        target = target if isinstance(target, dict) else target.__dict__
        for key in self.lost:
            target.pop(key, None)
        target.update(zip(self.keys, values, strict=True))


Edits = ListEdits | DictEdits


def edits_of(
    before: tuple[Structure, Sequence[Any]], after: tuple[Structure, Sequence[Any]]
) -> Edits | None:
    """What makes one container the other, by the identity of the children; None: nothing."""
    if before[0].kind is list:
        return edits_of_list(before[1], after[1])
    keys = before[0].names, after[0].names
    children = dict(zip(map(id, keys[0]), before[1], strict=True))
    kept = set(map(id, kept_keys(*keys)))
    lost = tuple([key for key in keys[0] if id(key) not in kept])
    news = tuple(
        [
            number
            for number, (key, child) in enumerate(zip(keys[1], after[1], strict=True))
            if id(key) not in kept or children[id(key)] is not child
        ]
    )
    return DictEdits(lost, tuple([keys[1][n] for n in news]), news) if lost or news else None


def edits_of_list(before: Sequence[Any], after: Sequence[Any]) -> ListEdits | None:
    """Like :func:`edits_of`: what is alike at both ends stays."""
    start = count_same(before, after)
    common = min(len(before), len(after)) - start
    tail = count_same(islice(reversed(before), common), islice(reversed(after), common))
    lost, gained = len(before) - start - tail, len(after) - start - tail
    if not (lost or gained):
        return None
    common = min(lost, gained)
    stop = start + common
    places = tuple([at for at in range(start, stop) if before[at] is not after[at]])
    return ListEdits(places, stop, lost - common, gained - common, last=not tail)


def kept_keys(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Hashable]:
    """The keys that were never taken out: they come first, in the order that they had."""
    others = iter(before)
    return list(takewhile(lambda key: any(key is other for other in others), after))


def count_same(a: Iterable[Any], b: Iterable[Any]) -> int:
    """Number of items that are the same at the beginning of both."""
    return sum(1 for _ in takewhile(bool, map(same, a, b)))


def same(a: Any, b: Any) -> bool:
    """True if two objects are one."""
    return a is b


def place_of(target: list[Any], item: Any, place: int) -> int | None:
    """Where a list holds an item: where it was, or elsewhere."""
    if place < len(target) and target[place] is item:
        return place
    return next((at for at, other in enumerate(target) if other is item), None)
