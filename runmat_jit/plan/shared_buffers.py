"""Buffers that several values of a program share, one after another, while each is live."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import field, replace
from typing import Any

from runmat_jit.core.slotted import slotted_object
from runmat_jit.plan.layout import Buffer


def take_turns(
    buffers: Sequence[Buffer], uses: Sequence[Collection[int]], kept: Collection[int]
) -> tuple[Buffer, ...]:
    """The buffers, each on the memory of another that is needed no more, where there is one.

    That is one of the same shape and dtype, or else, for what only kernels see, any of as many
    axes: then the memory is as large as the largest needs it. Which they are does not depend on
    their sizes, so that it holds for other extents. What host calls return is memory of its own.

    Args:
        buffers: In the order of their places.
        uses: For each launch, in order, the places that it reads or writes.
        kept: Places whose values are needed when all launches have run.

    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, places in enumerate(uses):
        for place in places:
            first.setdefault(place, number)
            last[place] = number
    idle: dict[int, list[_Turns]] = defaultdict(list)
    made: list[_Turns] = []
    used = [buffer for buffer in buffers if buffer.place in first and not buffer.returned]
    for buffer in sorted(used, key=lambda buffer: first[buffer.place]):
        place, kind = buffer.place, (buffer.shape, buffer.dtype, buffer.strides)
        others = idle[len(buffer.shape)]
        free = [each for each in others if each.until < first[place]]
        found = next((each for each in free if each.kind == kind), None)
        if found is None and free and buffer.shape and place not in kept:
            found = max(free, key=lambda each: each.until)
            found.kind = None
        if found is None:
            found = _Turns(kind)
            made.append(found)
        else:
            others.remove(found)
        found.buffers.append(buffer)
        found.until = last[place]
        if place not in kept:
            others.append(found)
    placed = {buffer.place: buffer for turns in made for buffer in turns.placed()}
    return tuple(placed.get(buffer.place, buffer) for buffer in buffers)


@slotted_object
class _Turns:
    """Buffers that take turns with one memory; all of one kind, or None."""

    kind: tuple[Any, ...] | None
    buffers: list[Buffer] = field(default_factory=list)
    until: int = -1
    """The last launch that needs the memory, so far."""

    def placed(self) -> list[Buffer]:
        """The buffers: the one of the lowest place has the memory, and the others share it."""
        owner, *others = sorted(self.buffers, key=lambda buffer: buffer.place)
        if self.kind is None:
            owner = replace(owner, sizes=tuple(buffer.nbytes for buffer in self.buffers))
        return [owner, *(replace(each, shares=owner.place) for each in others)]
