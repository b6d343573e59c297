"""Thirty ordinary programs of plain NumPy, float32, and the same of torch; nobody tuned for them.

Each takes arrays of about ``n`` elements. Half of them were written before the kernels were looked
at with them, half after.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ROOT = math.sqrt(2 / math.pi)
Make = Callable[[np.random.Generator, int], tuple[np.ndarray, ...]]


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    numpy: Callable[..., Any]
    torch: Callable[[Any], Callable[..., Any]]  # given the module
    make: Make
    rtol: float = 2e-5  # of the largest magnitude of the result


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def vector(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return (normal(rng, n),)


def vectors(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return normal(rng, n), normal(rng, n)


def square(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    side = math.isqrt(n)
    return (normal(rng, side, side),)


def odd(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return (normal(rng, max(n // 1001, 3), 1001),)


def rows(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return (normal(rng, n // 1024, 1024),)


def layer(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return normal(rng, n // 1024, 1024), normal(rng, 1024), normal(rng, 1024)


def options(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    spot, strike = rng.uniform(10, 50, (2, n)).astype(np.float32)
    return spot, strike, rng.uniform(0.2, 2, n).astype(np.float32)


def images(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    side = math.isqrt(max(n // 12, 64))
    return (rng.random((4, side, side, 3), dtype=np.float32),)


def cube(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    side = max(round(n ** (1 / 3)), 8)
    return (normal(rng, side, side, side),)


def product(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    side = min(math.isqrt(n), 4096)
    return normal(rng, side, side), normal(rng, side, side), normal(rng, side)


def heads(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    count = min(max(n // (512 * 64), 1), 1024)  # the scores fit a binding
    q, k, v = (normal(rng, count, 512, 64) for _ in range(3))
    return q, k, v


def network(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    count = max(n // 784, 16)
    return (
        *(normal(rng, count, 784), normal(rng, 784, 512) * np.float32(0.05), normal(rng, 512)),
        *(normal(rng, 512, 10) * np.float32(0.05), normal(rng, 10)),
    )


def clusters(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return normal(rng, max(n // 64, 64), 64), normal(rng, 128, 64)


def matrix_and_vector(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    side = math.isqrt(n)
    return normal(rng, side, side), normal(rng, side)


# -- the programs ----------------------------------------------------------------------------------
def gelu(x):
    return 0.5 * x * (1 + np.tanh(ROOT * (x + 0.044715 * x**3)))


def axpy(x, y):
    return 2.5 * x + y


def chain(x):
    y = np.sin(x) * np.exp(-x / 10)
    return np.tanh(y * np.cos(x / 4)) + 0.1 * y


def black_scholes(spot, strike, time):
    root = 0.3 * np.sqrt(time)
    d1 = (np.log(spot / strike) + 0.065 * time) / root
    d2 = d1 - root
    n1, n2 = (1 / (1 + np.exp(-1.702 * d)) for d in (d1, d2))
    return spot * n1 - strike * np.exp(-0.02 * time) * n2


def swiglu(x, y):
    return x / (1 + np.exp(-x)) * y


def clamp(x):
    return np.where(np.abs(x) > 1, np.sign(x), x) * 0.5


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def log_softmax(x):
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def layer_norm(x, gain, bias):
    centered = x - x.mean(axis=1, keepdims=True)
    variance = (centered * centered).mean(axis=1, keepdims=True)
    return centered / np.sqrt(variance + np.float32(1e-5)) * gain + bias


def rms_norm(x, gain, _bias):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + np.float32(1e-5)) * gain


def standardize(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def sum_all(x):
    return x.sum(keepdims=True)


def sum_rows(x):
    return x.sum(axis=1)


def sum_columns(x):
    return x.sum(axis=0)


def extremes(x):
    return x.max(axis=0) - x.min(axis=0)


def norm(x):
    return np.sqrt((x * x).sum(axis=1))


def argmax(x):
    return x.argmax(axis=1)


def mean_squares(x, y):
    d = x - y
    return (d * d).mean(keepdims=True)


def laplacian(x):
    return x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]


def heat(x):
    y = x.copy()
    y[1:-1, 1:-1] += 0.1 * (
        x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    )
    return y


def stencil_3d(x):
    return (x[2:, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[1:-1, 2:, 1:-1] + x[1:-1, :-2, 1:-1]) / 4


def convolution(x):
    return 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]


def with_transpose(x):
    return x + x.T


def luminance(x):
    return 0.299 * x[..., 0] + 0.587 * x[..., 1] + 0.114 * x[..., 2]


def contrast(x):
    low, high = x.min(axis=(1, 2), keepdims=True), x.max(axis=(1, 2), keepdims=True)
    return (x - low) / (high - low + np.float32(1e-6))


def relu_product(a, b, c):
    return np.maximum(a @ b + c, 0)


def attention(q, k, v):
    s = q @ k.transpose(0, 2, 1) * np.float32(0.125)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def forward(x, w1, b1, w2, b2):
    return np.maximum(x @ w1 + b1, 0) @ w2 + b2


def distances(x, c):
    return (x * x).sum(axis=1)[:, None] - 2 * (x @ c.T) + (c * c).sum(axis=1)


def power_step(a, x):
    y = a @ x
    return y / np.sqrt((y * y).sum())


def _softmax(t):
    return lambda x: t.softmax(x, 1)


def _layer_norm(t):
    return lambda x, g, b: t.nn.functional.layer_norm(x, (x.shape[1],), g, b)


def _black_scholes(t):
    def run(spot, strike, time):
        root = 0.3 * t.sqrt(time)
        d1 = (t.log(spot / strike) + 0.065 * time) / root
        d2 = d1 - root
        n1, n2 = (1 / (1 + t.exp(-1.702 * d)) for d in (d1, d2))
        return spot * n1 - strike * t.exp(-0.02 * time) * n2

    return run


def _heat(_t):
    def run(x):
        y = x.clone()
        inner = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
        y[1:-1, 1:-1] += 0.1 * inner
        return y

    return run


def _contrast(t):
    def run(x):
        low, high = t.amin(x, (1, 2), keepdim=True), t.amax(x, (1, 2), keepdim=True)
        return (x - low) / (high - low + 1e-6)

    return run


def _power_step(t):
    def run(a, x):
        y = a @ x
        return y / t.sqrt((y * y).sum())

    return run


def _attention(t):
    return lambda q, k, v: t.softmax(q @ k.transpose(1, 2) * 0.125, -1) @ v


def _standardize(_t):
    return lambda x: (x - x.mean(0)) / x.std(0, correction=0)


def _distances(_t):
    return lambda x, c: (x * x).sum(1)[:, None] - 2 * (x @ c.T) + (c * c).sum(1)


def _gelu(t):
    return lambda x: t.nn.functional.gelu(x, approximate="tanh")


def _chain(t):
    def run(x):
        y = t.sin(x) * t.exp(-x / 10)
        return t.tanh(y * t.cos(x / 4)) + 0.1 * y

    return run


def _rms_norm(t):
    return lambda x, g, _b: x / t.sqrt((x * x).mean(1, keepdim=True) + 1e-5) * g


def _stencil_3d(_t):
    return lambda x: (
        (x[2:, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[1:-1, 2:, 1:-1] + x[1:-1, :-2, 1:-1]) / 4
    )


def _laplacian(_t):
    return lambda x: x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]


PROGRAMS = (
    Program("gelu", gelu, _gelu, vector),
    Program("axpy", axpy, lambda _t: lambda x, y: 2.5 * x + y, vectors),
    Program("chain", chain, _chain, vector),
    Program("black_scholes", black_scholes, _black_scholes, options, 1e-4),
    Program("swiglu", swiglu, lambda t: lambda x, y: t.nn.functional.silu(x) * y, vectors),
    Program("clamp", clamp, lambda t: lambda x: t.clamp(x, -1, 1) * 0.5, vector),
    Program("softmax", softmax, _softmax, rows),
    Program("softmax, odd rows", softmax, _softmax, odd),
    Program("log_softmax", log_softmax, lambda t: lambda x: t.log_softmax(x, 1), rows),
    Program("layer_norm", layer_norm, _layer_norm, layer),
    Program("rms_norm", rms_norm, _rms_norm, layer),
    Program("standardize", standardize, _standardize, rows),
    Program("sum of all", sum_all, lambda _t: lambda x: x.sum(), vector, 1e-3),
    Program("sums of rows", sum_rows, lambda _t: lambda x: x.sum(1), rows, 1e-4),
    Program("sums of columns", sum_columns, lambda _t: lambda x: x.sum(0), rows, 1e-4),
    Program("extremes of columns", extremes, lambda t: lambda x: t.amax(x, 0) - t.amin(x, 0), odd),
    Program("norms", norm, lambda t: lambda x: t.sqrt((x * x).sum(1)), odd),
    Program("argmax", argmax, lambda _t: lambda x: x.argmax(1), rows),
    Program(
        "mean_squares", mean_squares, lambda _t: lambda x, y: ((x - y) ** 2).mean(), vectors, 1e-4
    ),
    Program("laplacian", laplacian, _laplacian, square),
    Program("heat", heat, _heat, square),
    Program("stencil_3d", stencil_3d, _stencil_3d, cube),
    Program(
        "convolution",
        convolution,
        lambda _t: lambda x: 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:],
        vector,
    ),
    Program("with_transpose", with_transpose, lambda _t: lambda x: x + x.T, square),
    Program(
        "luminance",
        luminance,
        lambda _t: lambda x: 0.299 * x[..., 0] + 0.587 * x[..., 1] + 0.114 * x[..., 2],
        images,
    ),
    Program("contrast", contrast, _contrast, images),
    Program("relu_product", relu_product, lambda t: lambda a, b, c: t.relu(a @ b + c), product),
    Program("attention", attention, _attention, heads, 1e-4),
    Program(
        "forward", forward, lambda t: lambda x, w, b, v, c: t.relu(x @ w + b) @ v + c, network, 1e-4
    ),
    Program("distances", distances, _distances, clusters, 1e-4),
    Program("power_step", power_step, _power_step, matrix_and_vector, 1e-4),
)
