"""Indexing with masks and index arrays, of several densities and orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray
DENSITIES = (0.0, 0.02, 0.5, 1.0)
ORDERS = ("random", "near", "sorted")


def store(x: Array, mask: Array) -> Array:
    x[mask] = 0
    return x


def limit(x: Array, _mask: Array) -> Array:
    x[x < 0] = 0
    return x


def scale(x: Array, mask: Array) -> Array:
    x[mask] *= 0.5
    return x


def gather(x: Array, index: Array, y: Array) -> Array:
    return x[index] + y


def take(x: Array, index: Array, y: Array) -> Array:
    return np.take(x, index) * y + 1


def _masked(fn: Callable[..., Any], density: float) -> Program:
    def inputs(rng: np.random.Generator, size: int) -> tuple[Array, ...]:
        mask = rng.random(size) < density
        x = rng.uniform(0.5, 1, size)
        return np.where(mask, -x, x), mask

    label = f"{fn.__name__}_{density:.0%}"
    return Program(fn, inputs, 4_000_000, 100, sizes=(100, 10_000, 4_000_000), label=label)


def _gathered(fn: Callable[..., Any], order: str) -> Program:
    def inputs(rng: np.random.Generator, size: int) -> tuple[Array, ...]:
        x, y = rng.normal(size=(2, size))
        index = rng.integers(-size, size, size)  # some count from the end
        if order == "sorted":
            index.sort()
        elif order == "near":
            index = np.clip(np.arange(size) + rng.integers(-9, 10, size), 0, size - 1)
        return x, index, y

    label = f"{fn.__name__}_{order}"
    return Program(fn, inputs, 4_000_000, 100, sizes=(100, 10_000, 4_000_000), label=label)


PROGRAMS = (
    *(_masked(fn, density) for fn in (store, limit, scale) for density in DENSITIES),
    *(_gathered(fn, order) for fn in (gather, take) for order in ORDERS),
)
