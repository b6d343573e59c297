"""What a measured program is: inputs, the plain NumPy function, and how its answer is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True, slots=True)
class Parity:
    """How far a result is from its float64 reference, relative to the case's tolerance.

    `worst` is the largest |result - reference| / allowed over all elements, `metric` the same for
    the case's one number; both pass at 1 or less. A NaN never passes.
    """

    worst: float
    metric: float
    detail: str

    @property
    def ok(self) -> bool:
        return self.worst <= 1.0 and self.metric <= 1.0


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    function: Callable[..., Any]  # plain NumPy: timed as such, and what `runmat.jit` decorates
    make_inputs: Callable[[Shape, int], Arrays]  # shape and step; another step, another input
    check: Callable[[Arrays, Any], Parity]  # inputs and NumPy result
    shape_of: Callable[[int], Shape]  # what `--size` means: points, images, ...
    bytes_min: Callable[[Shape], int]  # what one pass over memory has to move
    result_bytes: Callable[[Shape], int]
    default_shape: Shape
    quick_shape: Shape
    small_shape: Shape


def uniform(count: int, offset: int) -> np.ndarray:
    """`count` float32 numbers in [0, 1]: one linear congruential step of each index + `offset`.

    Every implementation can compute them from the index alone, so inputs agree to the bit.
    """
    index = np.arange(offset, offset + count, dtype=np.uint64).astype(np.uint32)
    state = index * np.uint32(1664525) + np.uint32(1013904223)  # modulo 2**32 by the type
    return (state * 2.0**-32).astype(np.float32)


def excess(
    result: np.ndarray, reference: np.ndarray, *, rtol: float, atol: float
) -> tuple[float, float]:
    """Largest error as a multiple of what is allowed, and the largest absolute error."""
    if result.dtype != np.float32 or result.shape != reference.shape:
        return float("inf"), float("inf")
    error = np.abs(result - reference)
    ratio = error / (atol + rtol * np.abs(reference))
    return float(ratio.max(initial=0.0)), float(error.max(initial=0.0))
