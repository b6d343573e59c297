"""Random numbers that are the same on every device, thread count and chunking.

``Generator`` has the method names of :class:`numpy.random.Generator`; its streams are its own:
Philox4x32-10 in counter mode. The key is ``SeedSequence(seed).generate_state(2)``, low word first;
the position counts blocks of four 32-bit words from 0 on, modulo 2**64. Each call begins at a new
block and advances by the blocks that it used, so the numbers of a call depend on the key, on the
calls before it and on nothing else. Which words of its blocks an element is made of is written in
``runmat_jit.ops.random``.

>>> import runmat_jit as runmat
>>> rng = runmat.random.default_rng(7)
>>> rng.random(3).shape
(3,)
>>> rng.state["state"]["counter"]
2
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from runmat_jit.compiler.draws import Draw, DrawPrograms
from runmat_jit.core.locks import new_lock
from runmat_jit.runtime.session import current_session

__all__ = ["Generator", "default_rng"]

Size = int | Sequence[int] | None
Seed = int | Sequence[int] | np.ndarray | SeedSequence | None

_NAME = "Philox4x32-10"
_WORD = 1 << 64
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Generator:
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
        shape = _shape_of(size)
        first, last = _bounds(low, high, kind, inclusive=endpoint, empty=0 in shape)
        drawn_in = "int64" if kind.itemsize == 8 else "int32"
        values = self._draw(Draw("random_bounded", drawn_in, shape), last, first)
        if kind != values.dtype:
            same_size = kind.itemsize == values.dtype.itemsize
            values = values.view(kind) if same_size else values.astype(kind)
        if size is not None:
            return values
        return dtype(values[()]) if dtype in (int, bool) else values[()]

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

    def _advance_from(self, before: tuple[int, int], counter: int) -> bool:
        """Go on to a position; not where the stream has left where it was before."""
        with self._lock:
            if (self._key, self._counter) != before:
                return False
            self._counter = counter
            return True

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators of independent streams, as NumPy's seed sequences spawn."""
        return [Generator(seed) for seed in self._seeds.spawn(n_children)]

    def __repr__(self) -> str:
        return f"Generator({_NAME})"

    def __reduce__(self) -> Any:
        return Generator, (self._seeds,), self.state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state

    def _floats(self, row: str, method: str, size: Size, dtype: Any, out: Any) -> Any:
        kind = np.dtype(dtype)
        if kind not in _FLOATS:
            raise TypeError(f"Unsupported dtype {kind!r} for {method}")
        if out is not None:
            _check_out(out, kind, size)
        shape = _shape_of(size) if out is None else out.shape
        values = self._draw(Draw(row, kind.name, shape))
        if out is not None:
            lines = out if out.flags.c_contiguous else out.T
            lines[...] = values.reshape(lines.shape)
            return out
        return values.item() if size is None else values

    def _draw(self, draw: Draw, *scalars: int) -> np.ndarray:
        """The next numbers, in new memory; ``scalars`` are what else the draw takes."""
        blocks = draw.blocks
        with self._lock:  # and no call between reading and writing, where a signal may come
            key, counter = self._key, self._counter
            self._counter = (counter + blocks) % _WORD
        programs = current_session().service(DrawPrograms, DrawPrograms)
        return programs.run(draw, (key, counter, *scalars))


def default_rng(seed: Seed | Generator = None) -> Generator:
    """A generator of this seed; a generator is passed on."""
    return seed if isinstance(seed, Generator) else Generator(seed)


def _shape_of(size: Size) -> tuple[int, ...]:
    if size is None:
        return ()
    extents: Any = (size,) if np.ndim(size) == 0 else size
    shape = tuple(map(operator.index, extents))
    if any(extent < 0 for extent in shape):
        raise ValueError("negative dimensions are not allowed")
    return shape


def _check_out(out: Any, kind: np.dtype, size: Size) -> None:
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
    if size is not None and _shape_of(size) != out.shape:
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
