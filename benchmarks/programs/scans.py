"""Scans and positions: running sums and extremes, ``argmax`` and ``argmin``.

The size is the number of rows and of columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray


def cumsum_of_columns(x: Array) -> Array:
    return np.cumsum(x, axis=0)


def cumsum_of_rows(x: Array) -> Array:
    return np.cumsum(x, axis=1)


def cumsum_of_products(x: Array) -> Array:
    return np.cumsum(x * 2, axis=1)


def cumsum_of_all(x: Array) -> Array:
    return x.ravel().cumsum()


def cumprod_of_columns(x: Array) -> Array:
    return x.cumprod(axis=0)


def running_maximum_of_columns(x: Array) -> Array:
    return np.maximum.accumulate(x, axis=0)


def running_maximum_of_rows(x: Array) -> Array:
    return np.maximum.accumulate(x, axis=1)


def argmax_of_all(x: Array) -> Any:
    return x.argmax()


def argmax_of_columns(x: Array) -> Array:
    return x.argmax(axis=0)


def argmax_of_rows(x: Array) -> Array:
    return x.argmax(axis=1)


def argmax_of_magnitudes(x: Array) -> Any:
    return np.abs(x).argmax()


def argmin_of_products(x: Array) -> Array:
    return (x * 2).argmin(axis=1)


FUNCTIONS = (
    *(cumsum_of_columns, cumsum_of_rows, cumsum_of_products, cumsum_of_all, cumprod_of_columns),
    *(running_maximum_of_columns, running_maximum_of_rows, argmax_of_all, argmax_of_columns),
    *(argmax_of_rows, argmax_of_magnitudes, argmin_of_products),
)


def _program(fn: Callable[..., Any], dtype: str) -> Program:
    def inputs(rng: np.random.Generator, rows: int) -> tuple[Array]:
        return (rng.uniform(-1, 1, (rows, rows)).astype(dtype),)

    close = 1e-3 if dtype == "float32" else 1e-11
    sizes, label = (10, 100, 2_000), f"{fn.__name__}_{dtype}"
    return Program(fn, inputs, 2_000, 10, rtol=close, atol=close, sizes=sizes, label=label)


PROGRAMS = tuple(_program(fn, dtype) for fn in FUNCTIONS for dtype in ("float32", "float64"))
