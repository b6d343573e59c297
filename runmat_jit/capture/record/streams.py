"""Positions in the streams of generators from which the program of the next batch draws."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.entries import Draw
from runmat_jit.core.slotted import slotted


@slotted
class Stream:
    """Draws of a batch from one generator, one after another.

    ``key`` and ``counter`` are where it was; ``blocks`` have been drawn since: by a replay, if it
    is ``fed``.
    """

    generator: Any
    key: Traced
    counter: Traced
    fed: bool
    blocks: int = 0

    def goes_on(self, key: Any, counter: Any) -> bool:
        """True if the generator is where the last draw has ended: nobody else has drawn."""
        reached = (int(self.counter._rm_held) + self.blocks - int(counter)) % (1 << 64)
        return not self.fed and reached == 0 and bool(self.key._rm_held == key)


@slotted
class Streams:
    """The draws of one recording that no program has made yet."""

    known: dict[int, Stream] = field(default_factory=dict)
    """By identity of the generator."""
    noted: list[Draw] = field(default_factory=list)

    def of(self, generator: Any) -> Stream | None:
        """The stream of a generator, if the batch has drawn from it, or the replay has."""
        found = self.known.get(id(generator))
        return found if found is not None and found.generator is generator else None

    def take(self, *, feeding: bool) -> tuple[Draw, ...]:
        """What the program of a batch draws, of each position on: no other makes these draws."""
        found: dict[int, Draw] = {}
        for draw in self.noted:
            first = found.get(draw.counter)
            merged = draw if first is None else replace(first, blocks=first.blocks + draw.blocks)
            found[draw.counter] = merged
        self.noted.clear()
        if not feeding:
            self.known.clear()
        return tuple(found.values())
