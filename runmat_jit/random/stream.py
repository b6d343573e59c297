"""A stream of random numbers: its key, its position, and what is drawn from it directly."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import numpy as np
from numpy.random import SeedSequence

from runmat_jit.compiler.draws import Draw, DrawPrograms
from runmat_jit.core.locks import new_lock
from runmat_jit.random.ahead import NUMBERS, Ahead, after
from runmat_jit.runtime.session import current_session

Size = int | Sequence[int] | None
Seed = int | Sequence[int] | np.ndarray | SeedSequence | None

JUMP: Final = 1 << 40
"""Blocks of a jump."""
_NAME = "Philox4x32-10"
_WORD = 1 << 64
_KINDS = 16
"""Of calls that are prepared for."""
_PLAIN_SIZES = (int, type(None))
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Stream:
    """Draws from one stream; calls from several threads get parts that do not overlap.

    Args:
        seed: What :class:`numpy.random.SeedSequence` takes, or one; None draws a seed from the
            operating system.

    Raises:
        TypeError: the seed is no whole number or sequence of such.
        ValueError: the seed is negative.

    """

    def __init__(self, seed: Seed = None) -> None:
        self._seeds = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
        low, high = self._seeds.generate_state(2, np.uint32).tolist()
        self._key, self._counter = low | high << 32, 0
        self._lock = new_lock()
        self._ahead: dict[tuple[Draw, tuple[int, ...]], Ahead] = {}
        self._asked: dict[tuple[str, Any, Any], Ahead] = {}
        """The same by row, size and dtype, as calls name them."""

    def random(self, size: Size = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Uniform numbers of [0, 1): multiples of 2**-53, float32 of 2**-24.

        Args:
            size: The shape; None gives one number, or fills ``out``.
            dtype: float64 or float32.
            out: A contiguous array of this dtype that is filled in the order of its memory.

        """
        return self._floats("random_uniform", "random", size, dtype, out)

    def standard_normal(self, size: Size = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Normal numbers of mean 0 and deviation 1; arguments as of :meth:`random`.

        Box and Muller's transform, within 1.5 units in the last place; at most 9.42 in magnitude
        (float32: 6.67), which is exceeded once in 2e20 (4e10) true normal numbers.
        """
        return self._floats("random_normal", "standard_normal", size, dtype, out)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: Any = np.int64,
        endpoint: bool = False,  # noqa: FBT001, FBT002 -- NumPy's signature
    ) -> Any:
        """Whole numbers of [low, high), or of [0, low) without ``high``.

        64 random bits times the count of numbers, divided by 2**64: no number's probability is off
        by 2**-64, a share of count * 2**-64 of it.

        Args:
            low: The least number.
            high: The end.
            size: The shape; None gives one number.
            dtype: Any NumPy type of whole numbers, or bool.
            endpoint: Whether ``high`` itself may come.

        Raises:
            ValueError: there is no number between, or one is not of this dtype.
            TypeError: a bound is an array, or the dtype has no whole numbers.

        """
        kind = _whole_dtype(dtype)
        shape = shape_of(size)
        first, last = _bounds(low, high, kind, inclusive=endpoint, empty=0 in shape)
        drawn_in = "int64" if kind.itemsize == 8 else "int32"
        values = self._draw(Draw("random_bounded", drawn_in, shape), last, first)
        if kind != values.dtype:
            same_size = kind.itemsize == values.dtype.itemsize
            values = values.view(kind) if same_size else values.astype(kind)
        if size is not None:
            return values
        return dtype(values[()]) if dtype in (int, bool) else values[()]

    def take_blocks(self, count: int) -> tuple[np.int64, np.int64]:
        """Key and position of the next blocks, which somebody makes numbers of; it passes them."""
        with self._lock:
            key, counter = self._key, self._counter
            self._counter = (counter + count) % _WORD
        return _signed(key), _signed(counter)

    def return_blocks(self, count: int, counter: np.int64) -> None:
        """Blocks that were taken, from a position on, are the next again: nothing was made of them.

        If others have been taken meanwhile, they are passed over.
        """
        begin = int(counter) % _WORD
        with self._lock:
            if self._counter == (begin + count) % _WORD:
                self._counter = begin

    @property
    def state(self) -> dict[str, Any]:
        """What the next numbers depend on: key and position. May be set, as NumPy's."""
        with self._lock:
            state = {"key": self._key, "counter": self._counter}
        return {"bit_generator": _NAME, "state": state}

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        if not isinstance(state, dict):
            raise TypeError("state must be a dict")
        if state.get("bit_generator") != _NAME:
            raise ValueError(f"state must be for a {_NAME} RNG")
        key, counter = (int(state["state"][name]) for name in ("key", "counter"))
        if not (0 <= key < _WORD and 0 <= counter < _WORD):
            raise ValueError("key and counter must be numbers of 64 bits")
        with self._lock:
            self._key, self._counter = key, counter

    def spawn(self, n_children: int) -> list[Self]:
        """Generators of independent streams, as NumPy's seed sequences spawn."""
        return [type(self)(seed) for seed in self._seeds.spawn(n_children)]

    def jumped(self, jumps: int = 1) -> Self:
        """A generator that is :data:`JUMP` blocks further for each of some jumps; this one stays.

        Streams of up to 2**24 jumps do not meet before one has drawn 2**40 blocks.
        """
        state = self.state
        position = state["state"]["counter"] + operator.index(jumps) * JUMP
        made = type(self)(self._seeds)
        made.state = {**state, "state": {**state["state"], "counter": position % _WORD}}
        return made

    def __repr__(self) -> str:
        return f"Generator({_NAME})"

    def __reduce__(self) -> Any:
        return type(self), (self._seeds,), self.state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state

    def _floats(self, row: str, method: str, size: Size, dtype: Any, out: Any) -> Any:
        is_plain = out is None and type(size) in _PLAIN_SIZES and type(dtype) is type
        if is_plain and (ahead := self._asked.get((row, size, dtype))) is not None:
            values = self._prepared(ahead)
            if values is not None:
                return values.item() if size is None else values
        kind = float_dtype(dtype, method)
        if out is not None:
            check_out(out, kind, size)
        draw = Draw(row, kind.name, shape_of(size) if out is None else out.shape)
        values = self._draw(draw)
        if is_plain and (ahead := self._ahead.get((draw, ()))) is not None:
            self._asked[row, size, dtype] = ahead
        if out is not None:
            return fill(out, values)
        return values.item() if size is None else values

    def _draw(self, draw: Draw, *scalars: int) -> Any:
        """The next numbers, in new memory; ``scalars`` are what else the draw takes."""
        kind = draw, scalars
        ahead = self._ahead.get(kind)
        if ahead is not None and (values := self._prepared(ahead)) is not None:
            return values
        blocks = draw.blocks
        with self._lock:  # and no call between reading and writing, where a signal may come
            key, counter = self._key, self._counter
            self._counter = (counter + blocks) % _WORD
        programs = current_session().service(DrawPrograms, DrawPrograms)
        if not 0 < 2 * draw.owned <= NUMBERS:
            return programs.run(draw, (key, counter, *scalars))
        following = None if ahead is None else ahead.next(key, counter, programs)
        if len(self._ahead) >= _KINDS:
            self._ahead.clear()
            self._asked.clear()
        if following is None:
            self._ahead[kind] = after(ahead, draw, scalars, key, counter)
            return programs.run(draw, (key, counter, *scalars))
        following.last = counter
        self._ahead[kind] = following
        return following.at(0)

    def _prepared(self, ahead: Ahead) -> Any:
        """The numbers of a call that was prepared for; None where it does not begin there."""
        with self._lock:
            place = ahead.place(self._key, self._counter)
            if place < 0:
                return None
            position = ahead.first + place * ahead.step
            if self._counter != position or self._key != ahead.key:  # a handler of signals drew
                return None
            self._counter = (position + ahead.blocks) % _WORD
        ahead.last = position
        return ahead.at(place)


def _signed(word: int) -> np.int64:
    """The bits of a word as a signed number."""
    return np.uint64(word).view(np.int64)


def float_dtype(dtype: Any, method: str) -> np.dtype:
    """The dtype of floats that are drawn: single or double precision."""
    kind: np.dtype = np.dtype(dtype)
    if kind not in _FLOATS:
        raise TypeError(f"Unsupported dtype {kind!r} for {method}")
    return kind


def fill(out: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Fill a contiguous array in the order of its memory."""
    lines = out if out.flags.c_contiguous else out.T
    lines[...] = values.reshape(lines.shape)
    return out


def shape_of(size: Size) -> tuple[int, ...]:
    """The shape that a size is; none axes for no size."""
    if size is None:
        return ()
    extents: Any = (size,) if np.ndim(size) == 0 else size
    shape = tuple(map(operator.index, extents))
    if any(extent < 0 for extent in shape):
        raise ValueError("negative dimensions are not allowed")
    return shape


def check_out(out: Any, kind: np.dtype, size: Size) -> None:
    """Refuse what cannot be filled with numbers of a dtype and a size."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an array, not {type(out).__name__}")
    if out.dtype != kind:
        raise TypeError(
            f"Supplied output array has the wrong type. Expected {kind}, got {out.dtype}"
        )
    if not (out.flags.forc and out.flags.behaved):
        raise ValueError(
            "Supplied output array must be contiguous, writable, aligned, and in machine "
            "byte-order."
        )
    if size is not None and shape_of(size) != out.shape:
        raise ValueError("size must match out.shape when used together")


def _whole_dtype(dtype: Any) -> np.dtype:
    kind: np.dtype = np.dtype(dtype)
    if kind.kind not in "iub":
        raise TypeError(f"Unsupported dtype {kind!r} for integers")
    if not kind.isnative:
        raise ValueError("Providing a dtype with a non-native byteorder is not supported.")
    return kind


def _bounds(
    low: Any, high: Any, kind: np.dtype, *, inclusive: bool, empty: bool
) -> tuple[int, int]:
    """The least number, and how much the greatest exceeds it."""
    if np.ndim(low) or np.ndim(high):
        raise TypeError("integers takes one low and one high, not arrays")
    single = high is None
    first, end = (0, int(low)) if single else (int(low), int(high))
    greatest = end if inclusive else end - 1
    limits = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    if empty:
        return 0, 0
    if first < limits[0]:
        raise ValueError(f"low is out of bounds for {kind}")
    if greatest > limits[1]:
        raise ValueError(f"high is out of bounds for {kind}")
    if first > greatest:
        relation = ">" if inclusive else ">="
        names = f"high {relation.replace('>', '<')} 0" if single else f"low {relation} high"
        raise ValueError(names)
    return first, greatest - first
