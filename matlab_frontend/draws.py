"""Random numbers of a generator of ``runmat_jit.random``: drawn at once, or recorded.

Both give the same numbers of the same stream and advance it alike, so a program's numbers do not
depend on which of its draws were recorded. Elements count in the order of the data, which is
MATLAB's: column by column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from runmat_jit.core.frozen import frozen

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer
    from runmat_jit.random import Generator

_HALF, _WORD = 1 << 63, 1 << 64
_STEPS_32 = 1 << 31
"""Draws with fewer elements are counted in 32 bits."""


@frozen
class Draw:
    """What is drawn: ``uniform`` and ``normal`` numbers of a dtype, or ``integers`` as int64.

    ``low`` and ``high`` are the least and the greatest of the integers.
    """

    name: Literal["uniform", "normal", "integers"]
    shape: tuple[int, ...]
    dtype: np.dtype
    low: int = 0
    high: int = 0


def draw_now(generator: Generator, draw: Draw) -> np.ndarray:
    """The next numbers of the generator."""
    if draw.name == "integers":
        made = generator.integers(draw.low, draw.high, draw.shape, endpoint=True)
    elif draw.name == "uniform":
        made = generator.random(draw.shape, draw.dtype)
    else:
        made = generator.standard_normal(draw.shape, draw.dtype)
    return np.asarray(made)


class SingleDraws:
    """Numbers that a program draws one by one from a generator, computed many at a time.

    Each is the number that a draw of one element would give, and takes as much of the stream.
    """

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.used = 0
        self._known: dict[str, list[Any]] = {}

    def next(self, name: Literal["uniform", "normal", "bits"]) -> Any:
        """The next number; ``bits`` are 64, as a whole number."""
        if self.used == _AHEAD:
            self.stop()
        numbers = self._known.get(name)
        if numbers is None:
            numbers = self._known[name] = self._draw(name)
        self.used += 1
        return numbers[self.used - 1]

    def ahead(self, name: str, count: int) -> np.ndarray:
        """The next numbers, so many; the generator stays where it is."""
        self.stop()
        return self._blocks(name, count)

    def skip(self, count: int) -> None:
        """So many of the next numbers have been used."""
        self.stop()
        self.used = count
        self.stop()

    def stop(self) -> None:
        """Bring the generator to where the numbers that were used end."""
        if self.used:
            state = self.generator.state
            after = (state["state"]["counter"] + self.used) % _WORD
            self.generator.state = state | {"state": state["state"] | {"counter": after}}
        self.used = 0
        self._known.clear()

    def _draw(self, name: str) -> list[Any]:
        """The numbers of the next blocks as Python's; the generator stays where it is."""
        found = self._blocks(name, _AHEAD).tolist()
        return [number + _HALF for number in found] if name == "bits" else found

    def _blocks(self, name: str, blocks: int) -> np.ndarray:
        """The first number of each of the next blocks; ``bits`` less half of what they reach."""
        from runmat_jit.ops.random import ELEMENTS_PER_BLOCK  # noqa: PLC0415  (with the first draw)

        step, state = ELEMENTS_PER_BLOCK[8], self.generator.state
        count = step * blocks
        if name == "bits":
            drawn = self.generator.integers(-_HALF, _HALF, count)
        elif name == "uniform":
            drawn = self.generator.random(count)
        else:
            drawn = self.generator.standard_normal(count)
        self.generator.state = state
        return np.asarray(drawn)[::step]


_AHEAD = 256
"""Blocks of the stream that are computed at a time."""


def record(tracer: Tracer, generator: Generator, draw: Draw) -> Any:
    """The next numbers of the generator as operations that can be fused."""
    from runmat_jit.capture.record.deferral import apply_row  # noqa: PLC0415  (with the first large draw)
    from runmat_jit.ops.table import ROWS  # noqa: PLC0415  (likewise)

    owned = 8 if draw.name == "integers" else draw.dtype.itemsize
    stream = (_index(tracer, draw.shape), *_reserve(tracer, generator, draw.shape, owned))
    if draw.name != "integers":
        row = ROWS["random_uniform" if draw.name == "uniform" else "random_normal"]
        return apply_row(tracer, row, stream, {"dtype": draw.dtype.name})
    bits = apply_row(tracer, ROWS["random_bits"], stream, {})
    last, low = (_word(tracer, number) for number in (draw.high - draw.low, draw.low))
    above = apply_row(tracer, ROWS["random_bounded"], (bits, last), {})
    return tracer.call(np.add, (above, low), {})


def _reserve(
    tracer: Tracer, generator: Generator, shape: Sequence[int], owned: int
) -> tuple[Any, Any]:
    """Key and position of a draw whose elements own so many bytes; the generator passes it."""
    from runmat_jit.ops.random import ELEMENTS_PER_BLOCK  # noqa: PLC0415  (likewise)

    state = generator.state
    key, counter = (state["state"][name] for name in ("key", "counter"))
    after = (counter - -math.prod(shape) // ELEMENTS_PER_BLOCK[owned]) % _WORD
    generator.state = state | {"state": {"key": key, "counter": after}}
    return _word(tracer, key), _word(tracer, counter)


def _word(tracer: Tracer, number: int) -> Any:
    """64 bits as an operand that is given at each run: new numbers need no new kernel."""
    return tracer.lift(np.int64((number + _HALF) % _WORD - _HALF))


def _index(tracer: Tracer, shape: Sequence[int]) -> Any:
    """The number of each element."""
    count = math.prod(shape)
    dtype = np.int32 if count < _STEPS_32 else np.int64
    index = tracer.call(np.arange, (count,), {"dtype": dtype})
    return tracer.call(np.reshape, (index, tuple(shape)), {})
