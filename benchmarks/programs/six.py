"""The six workloads, in single precision, as users write them; MATLAB scripts beside four of them.

Inputs come from one linear congruential step of the element's index, which every language can
repeat.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.program import Program


def uniform(count: int, offset: int) -> np.ndarray:
    """Return float32 numbers in [0, 1]: a congruential step of each index + ``offset``."""
    index = np.arange(offset, offset + count, dtype=np.uint64).astype(np.uint32)
    state = index * np.uint32(1664525) + np.uint32(1013904223)  # modulo 2**32 by the type
    return (state * 2.0**-32).astype(np.float32)


def offset_of(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 20))


def elementwise(x):
    y0 = np.sin(x) * np.exp(-x / 10)
    y1 = y0 * np.cos(x / 4) + 0.25 * y0**2
    return np.tanh(y1) + 0.1 * y1


def image_4k(x):
    mean = np.mean(x, axis=(1, 2), keepdims=True)
    sigma = np.sqrt(np.mean((x - mean) ** 2, axis=(1, 2), keepdims=True) + 1e-6)
    out = np.maximum((x - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return out, np.mean((out - x) ** 2)


MU, SIGMA, DT, START, STRIKE = 0.05, 0.20, 1.0 / 252.0, 100.0, 100.0
DRIFT, SCALE = (MU - 0.5 * SIGMA**2) * DT, SIGMA * math.sqrt(DT)


def monte_carlo(normals, paths, steps):
    """The price of a call option; the same normal numbers serve each step, in another order."""
    prices = np.full(paths, START, normals.dtype)
    for step in range(steps):
        prices = prices * np.exp(DRIFT + SCALE * normals[step])
    return np.mean(np.maximum(prices - STRIKE, 0.0)) * math.exp(-MU * steps * DT)


def pca(a, q, iterations):
    """Shares of the largest eigenvalues of a covariance matrix, by subspace iteration."""
    centered = a - a.mean(axis=0)
    g = centered.T @ centered / (len(a) - 1)
    for _ in range(iterations):
        q, _ = np.linalg.qr(g @ q)
    return np.diag(q.T @ g @ q) / np.trace(g)


def nlms(x, steps):
    """Adaptive filters, one a column: normalized least mean squares."""
    weights = np.zeros_like(x[0])
    for t in range(steps):
        now = x[t]
        wanted = np.sum(now * now, axis=0)
        error = wanted - np.sum(now * weights, axis=0)
        weights = weights + 0.5 * (now * (error / (wanted + 1e-3)))
    final = wanted - np.sum(now * weights, axis=0)
    return np.mean(final**2)


def iir(x, steps):
    """A first-order filter of many channels."""
    y = np.zeros_like(x[0])
    for t in range(steps):
        y = 0.98 * y + 0.02 * x[t]
    return np.mean(y)


def _points(rng, n):
    start = np.float32(rng.random())
    return (np.linspace(start, start + 4 * np.pi, n, dtype=np.float32),)


def _images(rng, rows):
    shape = (4, rows, rows * 16 // 9)
    return (uniform(math.prod(shape), offset_of(rng)).reshape(shape),)


def _paths(rng, n):
    return rng.standard_normal((64, n), dtype=np.float32), n, 64


def _matrix(rng, n):
    d = 256 if n > 2000 else 32
    a = uniform(n * d, offset_of(rng)).reshape(n, d)
    return a, uniform(d * 8, 7).reshape(d, 8), 15


def _filters(rng, n):
    return uniform(50 * 32 * n, offset_of(rng)).reshape(50, 32, n), 50


def _channels(rng, n):
    return uniform(64 * n, offset_of(rng)).reshape(64, n), 64


PROGRAMS = (
    Program(
        elementwise,
        _points,
        5_000_001,
        4_097,
        rtol=2e-6,
        atol=1e-6,
        sizes=(1_000, 10_000, 100_000, 1_000_000, 5_000_001),
        nbytes=lambda n: 8 * n,
        flops=lambda n: 90 * n,
        outputs=("result",),
    ),
    Program(
        image_4k,
        _images,
        2_160,
        36,
        rtol=1e-4,
        atol=1e-5,
        metric=lambda result: result[1],
        metric_rtol=1e-5,
        sizes=(36, 270, 1_080, 2_160),
        nbytes=lambda n: 3 * 4 * 4 * n * (n * 16 // 9),
        flops=lambda n: 40 * 4 * n * (n * 16 // 9),
        outputs=("out", "err"),
    ),
    Program(
        monte_carlo,
        _paths,
        200_000,
        500,
        rtol=1e-4,
        sizes=(500, 5_000, 50_000, 200_000),
        nbytes=lambda n: 64 * 4 * n,
        flops=lambda n: 64 * 20 * n,
        outputs=("result",),
    ),
    Program(
        pca,
        _matrix,
        20_000,
        300,
        rtol=1e-3,
        atol=1e-5,
        sizes=(300, 2_000, 20_000),
        nbytes=lambda n: 4 * n * 256,
        flops=lambda n: 2 * n * 256 * 256,
        outputs=("result",),
    ),
    Program(
        nlms,
        _filters,
        2_048,
        40,
        rtol=1e-3,
        atol=1e-9,
        sizes=(40, 512, 2_048),
        nbytes=lambda n: 50 * 32 * 4 * n,
        flops=lambda n: 50 * 32 * 7 * n,
        outputs=("result",),
    ),
    Program(
        iir,
        _channels,
        200_000,
        500,
        rtol=1e-5,
        sizes=(500, 5_000, 50_000, 200_000),
        nbytes=lambda n: 64 * 4 * n,
        flops=lambda n: 64 * 3 * n,
        outputs=("result",),
    ),
)
