"""Calls of the public functions, for mypy: parameters and results keep their types.

Not run. Each line that ends with an ignored error is one that mypy must report.
"""

from collections.abc import Callable, Coroutine
from typing import Any, assert_type

import numpy as np

import runmat_jit as runmat

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@runmat.jit
def scale(x: Floats, factor: float = 2.0, *, name: str = "") -> Floats:
    return x * factor


@runmat.jit(device="cpu", fullgraph=True)
def size(x: Floats) -> int:
    return x.size


@runmat.jit
async def wait(x: Floats) -> Floats:
    return x


class Model:
    @runmat.jit
    def run(self, x: Floats, n: int) -> tuple[Floats, int]:
        return x, n

    @staticmethod
    @runmat.jit
    def still(x: Floats) -> Floats:
        return x

    @property
    @runmat.jit
    def weights(self) -> Floats:
        return np.ones(2)


def uses(x: Floats, model: Model) -> None:
    assert_type(scale(x), Floats)
    assert_type(scale(x, 3.0, name="a"), Floats)
    assert_type(size(x), int)
    waiting: Coroutine[Any, Any, Floats] = wait(x)
    waiting.close()
    assert_type(model.run(x, 1), tuple[Floats, int])
    assert_type(Model.run(model, x, 1), tuple[Floats, int])
    assert_type(Model.still(x), Floats)
    assert_type(model.weights, Floats)
    assert_type(scale.explain(x), runmat.Explanation)
    assert_type(runmat.jit(len, device="cpu")([1]), int)
    keeps: Callable[[Floats], int] = size
    keeps(x)
    scale("text")  # type: ignore[arg-type]  # no array
    scale(x, nam="a")  # type: ignore[call-arg]  # no such parameter
    scale.explain()  # type: ignore[call-arg]  # takes what the function takes
    model.run(x)  # type: ignore[call-arg]  # one argument less
    model.run(x, "1")  # type: ignore[arg-type]  # no number
    runmat.jit(scale, fullgraf=True)  # type: ignore[call-overload]  # no such option


@runmat.disable()
def plain(x: Floats) -> int:
    with runmat.disable():
        return size(x)


assert_type(plain(np.ones(2)), int)
