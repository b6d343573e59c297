"""Samples of given values, and their orders."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from runmat_jit.random.counts import Counts
from runmat_jit.random.parameters import Array, parameters
from runmat_jit.random.stream import Size

_BITS: Final = 63
"""Of a key that is not negative."""


class Orders(Counts):
    """Draws samples and orders; arguments and errors are those of NumPy's methods."""

    def choice(  # noqa: PLR0917 -- NumPy's signature
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,  # noqa: FBT001, FBT002 -- NumPy's signature
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,  # noqa: ARG002, FBT001, FBT002 -- likewise: any order is random here
    ) -> Any:
        """Values of an array along an axis, or numbers below ``a``."""
        values = np.asarray(a)
        given = parameters(size)
        count = _population(a, values, axis, given.count)
        chances = None if p is None else _chances(p, count)
        if not replace and given.count > count:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if not replace and chances is not None and np.count_nonzero(chances) < given.count:
            raise ValueError("Fewer non-zero entries in p than size")
        if not given.count:
            drawn = np.empty(0, np.int64)
        elif not replace:
            drawn = self._order(count, chances)[: given.count]
        elif chances is None:
            drawn = self.integers(count, size=given.count)
        else:
            shares = np.cumsum(chances)
            drawn = np.searchsorted(shares / shares[-1], self.random(given.count), side="right")
        if values.ndim == 0:
            return given.result(drawn)
        if size is None:
            return np.take(values, drawn[0], axis=axis)
        return np.asarray(np.take(values, drawn.reshape(given.shape), axis=axis))

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """A copy of an array in a random order along an axis, or the numbers below ``x``."""
        if isinstance(x, int | np.integer):
            return self._order(max(0, operator.index(x)))
        values = np.asarray(x)
        along = np.lib.array_utils.normalize_axis_index(axis, values.ndim)
        return np.take(values, self._order(values.shape[along]), axis=along)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Put the elements of an array or a list into a random order, in its memory."""
        if isinstance(x, np.ndarray):
            along = np.lib.array_utils.normalize_axis_index(axis, x.ndim)
            x[...] = np.take(x, self._order(x.shape[along]), axis=along)
            return
        if axis != 0:
            raise TypeError("only arrays are shuffled along an axis")
        items = [x[place] for place in self._order(len(x)).tolist()]
        for place, item in enumerate(items):
            x[place] = item

    def permuted(self, x: Any, *, axis: int | None = None, out: Array | None = None) -> Array:
        """A copy of an array whose lines along an axis have each a random order of their own."""
        values = np.asarray(x)
        if out is not None and not isinstance(out, np.ndarray):
            raise TypeError("out must be a numpy array")
        if out is not None and out.shape != values.shape:
            raise ValueError("out must have the same shape as x")
        lines = values.reshape(-1) if axis is None else values
        along = -1 if axis is None else np.lib.array_utils.normalize_axis_index(axis, values.ndim)
        orders = self._orders(lines.shape, along)
        found = np.take_along_axis(lines, orders, axis=along).reshape(values.shape)
        if out is None:
            return found
        out[...] = found
        return out

    def bytes(self, length: int) -> bytes:
        """Random bytes."""
        return bytes(self.integers(256, size=operator.index(length), dtype=np.uint8))

    def _order(self, count: int, chances: Array | None = None) -> Array:
        """Places in the order in which they are taken, likely ones earlier.

        That is the order of random keys; with chances, of the times after which events of such
        rates happen first.
        """
        if chances is None:
            return self._orders((count,), 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = self.standard_exponential(count) / chances
        return np.argsort(np.where(chances > 0, times, np.inf), kind="stable")

    def _orders(self, shape: tuple[int, ...], axis: int) -> Array:
        """Places along an axis, in an order of its own for each line: that of random keys.

        A key ends in its place, so that all differ and any way to sort gives one order.
        """
        lines = shape[:axis] + shape[axis + 1 :] if axis >= 0 else shape[:-1]
        count = shape[axis] if shape else 1
        bits = max(1, (count - 1).bit_length())
        keys: Array = self.integers(1 << (_BITS - bits), size=(*lines, count))
        keys <<= bits
        keys |= np.arange(count)
        keys.sort(axis=-1)
        keys &= (1 << bits) - 1
        return np.moveaxis(keys, -1, axis)


def _population(a: Any, values: Array, axis: int, wanted: int) -> int:
    """Number of values to choose from."""
    if values.ndim:
        count: int = values.shape[axis]
        if not count and wanted:
            raise ValueError("a cannot be empty unless no samples are taken")
        return count
    try:
        count = operator.index(a if isinstance(a, int) else values.item())
    except TypeError:
        raise ValueError(f"a must be a sequence or an integer, not {type(a)}") from None
    if count <= 0 and wanted:
        raise ValueError("a must be a positive integer unless no samples are taken")
    return count


def _chances(p: Any, count: int) -> Array:
    chances = np.asarray(p, np.float64)
    if chances.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if chances.size != count:
        raise ValueError("a and p must have same size")
    total = chances.sum()
    if np.isnan(total):
        raise ValueError("Probabilities contain NaN")
    if np.any(chances < 0):
        raise ValueError("Probabilities are not non-negative")
    if abs(total - 1) > np.sqrt(np.finfo(np.float64).eps):
        raise ValueError(
            "Probabilities do not sum to 1. See Notes section of docstring for more information."
        )
    return chances
