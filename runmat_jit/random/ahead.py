"""Numbers for calls to come.

A stream's numbers depend on its key and its position alone. A call of a few numbers takes longer to
prepare than to compute, and is mostly one of many like it, which begin at equal distances: so the
numbers of the next ones are computed together, and are given to whoever comes to where they begin.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from runmat_jit.compiler.draws import Draw, DrawPrograms
from runmat_jit.core.slotted import slotted_object

NUMBERS: Final = 2048
"""That are computed together, at most."""
TIMES: Final = 4
"""As many calls as before are prepared for when those before have all been made."""


@slotted_object
class Ahead:
    """The numbers of some calls.

    ``key`` and ``scalars``: with what they are computed; ``first``: the position at which the first
    of some ``calls`` begins; ``step``: from one to the next, in blocks. ``last``: where the last
    one has begun that was made. ``values``: of each call; None: of one that has been made.
    """

    draw: Draw
    scalars: tuple[int, ...]
    key: int
    blocks: int
    first: int
    step: int
    calls: int = 1
    values: np.ndarray | None = None
    last: int = -1

    def place(self, key: int, position: int) -> int:
        """Which of the calls begins there; -1: none does."""
        after = position - self.first
        if self.values is None or key != self.key or after < 0 or after % self.step:
            return -1
        place = after // self.step
        return place if place < self.calls else -1

    def at(self, place: int) -> Any:
        """The numbers of a call, a single one or an array of its own."""
        assert self.values is not None, "it has been asked which call it is"
        found = self.values[place]
        return found.copy() if self.draw.shape else found

    def next(self, key: int, position: int, programs: DrawPrograms) -> Ahead | None:
        """Numbers for a call there, and for more; None where it does not begin where one would."""
        draw, step = self.draw, position - self.last
        if key != self.key or step != self.step:
            return None
        wide = draw.owned // self.blocks * step
        calls = TIMES * self.calls if position == self.first + self.calls * step else 1
        calls = min(calls, NUMBERS // wide)
        if calls < 2:
            return None
        flat = programs.run(draw.of_size(calls * wide), (key, position, *self.scalars))
        values = flat.reshape(calls, wide)[:, : draw.size].reshape(calls, *draw.shape)
        return Ahead(draw, self.scalars, key, self.blocks, position, step, calls, values)


def after(before: Ahead | None, draw: Draw, scalars: tuple[int, ...], key: int, at: int) -> Ahead:
    """A call that has been made, and how far it is from the one before."""
    blocks = draw.blocks
    step = blocks if before is None else max(at - before.last, blocks)  # less: somebody set it back
    return Ahead(draw, scalars, key, blocks, at, step, last=at)
