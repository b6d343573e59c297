"""Loops over whole arrays of a device, in single precision; ``lane_loops`` has more of them."""

from __future__ import annotations

import numpy as np

from benchmarks.program import Arguments, Program

Array = np.ndarray


def heat(u: Array, steps: int) -> Array:
    """Diffusion on a square."""
    u = u.copy()
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner
        u[1:-1, 1:-1] = inner + np.float32(0.2) * lap
    return u


def wave(u: Array, before: Array, steps: int) -> Array:
    """The wave equation on a torus."""
    for _ in range(steps):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        u, before = 2 * u - before + np.float32(0.1) * (around - 4 * u), u
    return u


def escapes(re: Array, im: Array, steps: int) -> Array:
    """Mean number of iterations, by rows, after which points of the plane escape."""
    x, y = np.zeros_like(re), np.zeros_like(im)
    count = np.zeros(re.shape, np.int32)
    for _ in range(steps):
        inside = x * x + y * y < 4
        x, y = np.where(inside, x * x - y * y + re, x), np.where(inside, 2 * x * y + im, y)
        count = count + inside
    return count.mean(axis=1)


def power_method(a: Array, x: Array, steps: int) -> Array:
    """The largest eigenvector of a matrix."""
    for _ in range(steps):
        y = a @ x
        x = y / np.sqrt((y * y).sum())
    return x


def orbits(x: Array, v: Array, steps: int) -> Array:
    """Points in the field of a mass, by leapfrog."""
    for _ in range(steps):
        r2 = (x * x).sum(axis=0) + np.float32(0.01)
        v = v - np.float32(0.01) * x / (r2 * np.sqrt(r2))
        x = x + np.float32(0.01) * v
    return x


def uniform(rng: np.random.Generator, *shape: int) -> Array:
    return rng.random(shape, dtype=np.float32)


def turns(n: int) -> int:
    """Return how many iterations a loop over arrays of an extent has."""
    return 10 if n < 100 else 100


def plane(_rng: np.random.Generator, n: int) -> Arguments:
    axis = np.linspace(-2, 2, n, dtype=np.float32)
    re, im = np.meshgrid(axis, axis)
    return np.ascontiguousarray(re), np.ascontiguousarray(im), turns(n)


PROGRAMS = (
    Program(
        heat,
        lambda rng, n: (uniform(rng, n, n), turns(n)),
        1_024,
        48,
        1e-4,
        atol=0.0,
        sizes=(128, 1_024, 4_096),
        scaled=True,
    ),
    Program(
        wave,
        lambda rng, n: (uniform(rng, n, n), uniform(rng, n, n), turns(n)),
        1_024,
        48,
        1e-3,
        atol=0.0,
        sizes=(256, 2_048),
        scaled=True,
    ),
    Program(escapes, plane, 1_024, 32, 2e-2, atol=0.0, sizes=(128, 1_024), scaled=True),
    Program(
        power_method,
        lambda rng, n: (uniform(rng, n, n), uniform(rng, n), turns(n)),
        1_024,
        64,
        1e-4,
        atol=0.0,
        sizes=(512, 4_096),
        scaled=True,
    ),
    Program(
        orbits,
        lambda rng, n: (uniform(rng, 3, n) + 1, uniform(rng, 3, n) - np.float32(0.5), 100),
        100_000,
        500,
        1e-3,
        atol=0.0,
        sizes=(4_096, 1 << 20),
        scaled=True,
    ),
)
