"""Draws from generators of ``runmat_jit.random`` as operations: kernels make the numbers.

The generator passes the blocks of a draw where the program runs that computes it, so that numbers,
and what later draws begin with, are those of the same calls made one by one.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.capture.record.deferral import apply_row
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.streams import Stream
from runmat_jit.capture.tape.entries import Draw
from runmat_jit.core.errstate import current_errstate
from runmat_jit.core.frozen import frozen
from runmat_jit.ops.random import ELEMENTS_PER_BLOCK
from runmat_jit.ops.table import ROWS

_METHODS: Final = {
    "random": ("random_uniform", ("size", "dtype")),
    "standard_normal": ("random_normal", ("size", "dtype")),
    "uniform": ("random_uniform", ("low", "high", "size")),
    "normal": ("random_normal", ("loc", "scale", "size")),
}
"""The rows of methods, and their parameters in order."""
_FLOATS: Final = (np.float32, np.float64, "float32", "float64")
_REALS: Final = (int, float, np.floating, np.integer)
_MOST: Final = (1 << 31) - 1
"""Numbers of a draw: they are counted in 32 bits."""


@frozen
class Wanted:
    """Numbers of a row: ``first + width * number``, where these are given."""

    row: str
    dtype: np.dtype
    shape: tuple[int, ...]
    scaled: tuple[float, float] | None = None

    @property
    def blocks(self) -> int:
        """Blocks of the stream that the numbers own words of."""
        return -(-math.prod(self.shape) // ELEMENTS_PER_BLOCK[self.dtype.itemsize])


def wanted(method: str, args: Sequence[Any], named: Mapping[str, Any]) -> Wanted | None:
    """What a call of a method asks for; None where it is for the method itself."""
    row, names = _METHODS.get(method, ("", ()))
    given = dict(zip(names, args, strict=False)) | dict(named)
    if not row or len(given) != len(args) + len(named) or not given.keys() <= set(names):
        return None
    shape, dtype = shape_of(given.get("size")), given.get("dtype", np.float64)
    if shape is None or not isinstance(dtype, type | str | np.dtype) or dtype not in _FLOATS:
        return None
    scaled = None
    if "dtype" not in names:
        scaled = scaled_by(method, *(given.get(name, n) for n, name in enumerate(names[:2])))
        if scaled is None:
            return None
    return Wanted(row, np.dtype(dtype), shape, scaled)


def shape_of(size: Any) -> tuple[int, ...] | None:
    """The shape that a size is, where it is plainly one, of elements."""
    extents = size if type(size) is tuple else (size,)
    if not extents or any(type(extent) is not int or extent < 1 for extent in extents):
        return None
    return extents if math.prod(extents) <= _MOST else None


def scaled_by(method: str, first: Any, second: Any) -> tuple[float, float] | None:
    """Where numbers begin, or what they are about, and how wide they are; None if that is odd."""
    if not (isinstance(first, _REALS) and isinstance(second, _REALS)):
        return None
    begin, width = float(first), float(second)
    if method == "uniform":
        width -= begin
    return (begin, width) if 0 < width <= sys.float_info.max and math.isfinite(begin) else None


def record(recording: Recording, generator: Any, asked: Wanted) -> Any:
    """The next numbers of a generator."""
    with recording.together():
        stream, first = drawn(recording, generator, asked)
        count = first + math.prod(asked.shape)
        index = recording.call(np.arange, (count,), {"dtype": np.int32})
        if first:
            index = recording.call(operator.getitem, (index, slice(first, count)), {})
        if len(asked.shape) != 1:
            index = recording.call(np.reshape, (index, asked.shape), {})
        operands, params = (index, stream.key, stream.counter), {"dtype": asked.dtype.name}
        numbers = apply_row(recording, ROWS[asked.row], operands, params)
    if asked.scaled is None:
        return numbers
    begin, width = asked.scaled
    scaled = recording.call(np.multiply, (width, numbers), {})
    return recording.call(np.add, (begin, scaled), {})


def drawn(recording: Recording, generator: Any, asked: Wanted) -> tuple[Stream, int]:
    """The stream of a draw, and how many such numbers it has given: the generator has passed them.

    What a replay has drawn is not drawn again.
    """
    streams, tape, blocks = recording.streams, recording.tape, asked.blocks
    per_block = ELEMENTS_PER_BLOCK[asked.dtype.itemsize]
    stream, fed = streams.of(generator), tape.fed_entry()
    if tape.feeding:
        key = counter = np.int64(0)
        goes_on = type(fed) is Draw and fed.goes_on
    else:
        key, counter = generator.take_blocks(blocks)
        goes_on = stream is not None and (
            stream.goes_on(key, counter) and (stream.blocks + blocks) * per_block <= _MOST
        )
    if stream is None or not goes_on:
        at = recording.lift(key), recording.lift(counter)
        stream = streams.known[id(generator)] = Stream(generator, *at, fed=tape.feeding)
    first = stream.blocks * per_block
    stream.blocks += blocks
    slots = stream.key._rm_slot, stream.counter._rm_slot
    draw = Draw(recording.encode(generator), blocks, *slots, goes_on=bool(goes_on))
    if not tape.feeding:
        streams.noted.append(draw)
    tape.note(draw)
    return stream, first


def is_for_programs(recording: Recording) -> bool:
    """True if programs are to make numbers here: as they did where a replay has been before."""
    if recording.tape.feeding:
        return type(recording.tape.fed_entry()) is Draw
    if current_errstate() is not recording.token:
        recording.refresh_errstate()
    return recording.executor.makes_draws and not recording.immediate
