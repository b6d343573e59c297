"""Parameters of distributions: numbers or arrays that broadcast, and the shape of what is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.random.stream import Size, shape_of

Array = np.ndarray


@frozen
class Parameters:
    """Parameters as float64 arrays of one axis, one element for each number that is drawn."""

    values: tuple[Array, ...]
    shape: tuple[int, ...]
    single: bool
    """One number is wanted, no array."""

    @property
    def count(self) -> int:
        """Number of random numbers that are taken."""
        return int(np.prod(self.shape, dtype=np.int64))

    def result(self, drawn: Array) -> Any:
        """What a method returns: a number of Python's, or an array of the shape."""
        return drawn.item() if self.single else drawn.reshape(self.shape)


def parameters(size: Size, **given: Any) -> Parameters:
    """Parameters and shape of a draw.

    Raises:
        ValueError: the parameters do not broadcast, or not to ``size``.

    """
    arrays = [np.asarray(value, np.float64) for value in given.values()]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    if size is not None:
        wanted = shape_of(size)
        if np.broadcast_shapes(shape, wanted) != wanted:
            raise ValueError(
                f"Output size {wanted} is not compatible with broadcast dimensions of inputs "
                f"{shape}."
            )
        shape = wanted
    count = int(np.prod(shape, dtype=np.int64))
    values = tuple(
        [
            np.broadcast_to(array, shape).reshape(-1)
            if array.ndim
            else np.broadcast_to(array, count)
            for array in arrays
        ]
    )
    return Parameters(values, shape, size is None and not shape)


def refuse_unless(holds: Callable[[Array], Any], words: str, value: Any) -> None:
    """Refuse parameters of which something does not hold; what compares with NaN does not.

    Raises:
        ValueError: in these words.

    """
    if not np.all(holds(np.asarray(value, np.float64))):
        raise ValueError(words)


def rounds(count: int, attempt: Callable[[Array], tuple[Array, Array]]) -> Array:
    """Draw until everything has been accepted.

    Args:
        count: How many numbers are wanted.
        attempt: Of the places that are still wanted: numbers for them, and which are accepted.

    """
    found = np.empty(count)
    pending = np.arange(count)
    while pending.size:
        numbers, accepted = attempt(pending)
        found[pending[accepted]] = numbers[accepted]
        pending = pending[~accepted]
    return found
