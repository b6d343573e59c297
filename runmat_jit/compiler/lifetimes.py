"""Memory of a program that several values take in turn: each as long as something needs it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from runmat_jit.compiler.program import Buffer


def take_turns(
    buffers: Sequence[Buffer], uses: Sequence[Collection[int]], kept: Collection[int]
) -> tuple[Buffer, ...]:
    """The buffers, those that come late on the memory of others that are needed no more.

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
    idle: dict[Any, list[tuple[int, int]]] = defaultdict(list)  # last use, place of the memory
    made: list[Buffer] = []
    for buffer in buffers:
        place, alike = buffer.place, (buffer.shape, buffer.dtype, buffer.strides)
        if place not in first or place in kept:
            made.append(buffer)
            continue
        found = next((entry for entry in idle[alike] if entry[0] < first[place]), None)
        memory = place
        if found is not None:
            idle[alike].remove(found)
            memory = found[1]
            buffer = replace(buffer, shares=memory)  # noqa: PLW2901  (the same one, placed)
        idle[alike].append((last[place], memory))
        made.append(buffer)
    return tuple(made)
