"""Loops over large arrays, element by element: recurrences of many elements at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray


def paths_of_prices(price: Array, rng: Any, steps: int) -> Array:
    """Geometric Brownian motion."""
    drift, scale = np.float32((0.05 - 0.02) / 252), np.float32(0.2 / np.sqrt(252))
    for _ in range(steps):
        z = rng.standard_normal(len(price), dtype=np.float32)
        price = price * np.exp(drift + scale * z)
    return price


def filter_of_channels(x: Array) -> Array:
    """A smoothing filter along the rows of a matrix, of all rows at once."""
    y = np.zeros(x.shape[0], x.dtype)
    out = np.empty_like(x)
    for t in range(x.shape[1]):
        y = np.float32(0.98) * y + np.float32(0.02) * x[:, t]
        out[:, t] = y
    return out


def sines(x: Array, steps: int) -> Array:
    """Euler's method, one step an iteration."""
    for _ in range(steps):
        x = x + 0.01 * np.sin(x)
    return x


def pendulums(angle: Array, speed: Array, steps: int) -> tuple[Array, Array]:
    """Many pendulums, by a symplectic method."""
    for _ in range(steps):
        speed = speed - 0.01 * np.sin(angle)
        angle = angle + 0.01 * speed
    return angle, speed


def logistic_maps(x: Array, rate: Array, steps: int) -> Array:
    """Iterate a logistic map for each rate."""
    for _ in range(steps):
        x = rate * x * (1.0 - x)
    return x


def adaptive_filters(w: Array, inputs: Array, steps: int) -> Array:
    """Normalized least mean squares, a filter for each column."""
    for t in range(steps):
        x = inputs[t]
        power = (x * x).sum(axis=0)
        error = power - (x * w).sum(axis=0)
        w = w + np.float32(0.5) * x * (error / (power + np.float32(1e-3)))
    return w


def filtered_noise(y: Array, rng: Any, steps: int) -> Array:
    """The same filter of numbers that are drawn, of which the last result counts."""
    for _ in range(steps):
        y = np.float32(0.98) * y + np.float32(0.02) * rng.random(len(y), dtype=np.float32)
    return y


def filters_of_noise(w: Array, rng: Any, steps: int) -> Array:
    """Adaptive filters of numbers that are drawn."""
    for _ in range(steps):
        x = rng.random(w.shape, dtype=np.float32)
        power = (x * x).sum(axis=0)
        error = power - (x * w).sum(axis=0)
        w = w + np.float32(0.5) * x * (error / (power + np.float32(1e-3)))
    return w


def _uniform(rng: np.random.Generator, *shape: int) -> Array:
    return rng.random(shape, dtype=np.float32)


def _drawing(start: float, steps: int) -> Any:
    return lambda rng, n: (np.full(n, start, np.float32), rng, steps)


PROGRAMS = (
    Program(paths_of_prices, _drawing(100, 256), 250_000, 500, rtol=1e-3),
    Program(filtered_noise, _drawing(0, 512), 131_072, 500, rtol=1e-4),
    Program(
        filters_of_noise,
        lambda rng, n: (np.zeros((128, n), np.float32), rng, 200 if n > 100 else 10),
        2_048,
        40,
        rtol=1e-2,
        atol=1e-4,
    ),
    Program(filter_of_channels, lambda rng, n: (_uniform(rng, n, 512),), 131_072, 100, rtol=1e-4),
    Program(sines, lambda rng, n: (rng.random(n), 100), 1_000_000, 500),
    Program(pendulums, lambda rng, n: (rng.random(n), rng.random(n), 100), 1_000_000, 500),
    Program(
        logistic_maps,
        lambda rng, n: (rng.random(n), 3 + rng.random(n), 100 if n > 1000 else 20),
        1_000_000,
        500,
        rtol=1e-6,
    ),
    Program(
        adaptive_filters,
        lambda rng, n: (np.zeros((128, n), np.float32), _uniform(rng, 200, 128, n), 200),
        2_048,
        40,
        rtol=1e-2,
        atol=1e-4,
    ),
)
