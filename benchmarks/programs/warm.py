"""Small functions as users write them, on 100 numbers: what a warm call costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray
OFFSETS = np.linspace(0, 1, 100, dtype=np.float32)


def three_operations(x: Array) -> Array:
    return x * 2 + x - 1


def two_arrays(x: Array, y: Array) -> Array:
    return x * y + x - 1


def array_and_float(x: Array, by: float) -> Array:
    return x * by + x - 1


def global_array(x: Array) -> Array:
    return x * 2 + OFFSETS - 1


def numpy_number(x: Array, by: Any) -> Array:
    return np.where(x > 0.5, x * by, x - by)


def two_results(x: Array) -> tuple[Array, Any]:
    return x - x.mean(), x.max()


def in_place(x: Array) -> Array:
    x -= x.mean()
    return x


def with_limits(x: Array, low: float, high: float) -> Array:
    return np.minimum(np.maximum(x, low), high)


def two_decisions(x: Array) -> Array:
    y = x - x.mean()
    if y.max() > 10:
        return y / 10
    if y.min() < -10:
        return y + 10
    return y


class Model:
    """Weights and a bias."""

    def __init__(self) -> None:
        self.weights, self.bias = OFFSETS, 0.5

    def apply(self, x: Array) -> Array:
        return x * self.weights + self.bias


def method(model: Model, x: Array) -> Array:
    return model.apply(x)


def _program(fn: Callable[..., Any], *others: Any) -> Program:
    def inputs(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
        return (rng.random(size, dtype=np.float32), *others)

    return Program(fn, inputs, 100, 100, rtol=2e-6, atol=1e-6)


PROGRAMS = (
    _program(three_operations),
    _program(two_arrays, np.linspace(0.5, 1, 100, dtype=np.float32)),
    _program(array_and_float, 2.5),
    _program(global_array),
    _program(numpy_number, np.float32(3)),
    _program(two_results),
    _program(in_place),
    _program(with_limits, 0.25, 0.75),
    _program(two_decisions),
    Program(
        method,
        lambda rng, n: (Model(), rng.random(n, dtype=np.float32)),
        100,
        100,
        rtol=2e-6,
        atol=1e-6,
    ),
)
