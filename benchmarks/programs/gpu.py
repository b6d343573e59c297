"""Ordinary programs on arrays of a device, in single precision; nobody tuned for them.

Each takes arrays of about ``n`` elements. Half of them were written before the kernels were looked
at with them, half after. ``peers/torch_cuda.py`` has the same for torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.program import Arguments, Program

ROOT = math.sqrt(2 / math.pi)
DRAWN = 1 << 22
"""Numbers that are drawn; longer arrays repeat them."""


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    count = math.prod(shape)
    drawn = rng.standard_normal(min(count, DRAWN), dtype=np.float32)
    return np.resize(drawn, shape)


def vector(rng: np.random.Generator, n: int) -> Arguments:
    return (normal(rng, n),)


def vectors(rng: np.random.Generator, n: int) -> Arguments:
    return normal(rng, n), normal(rng, n)


def square(rng: np.random.Generator, n: int) -> Arguments:
    side = math.isqrt(n)
    return (normal(rng, side, side),)


def odd(rng: np.random.Generator, n: int) -> Arguments:
    return (normal(rng, max(n // 1001, 3), 1001),)


def rows(rng: np.random.Generator, n: int) -> Arguments:
    return (normal(rng, n // 1024, 1024),)


def layer(rng: np.random.Generator, n: int) -> Arguments:
    return normal(rng, n // 1024, 1024), normal(rng, 1024), normal(rng, 1024)


def options(rng: np.random.Generator, n: int) -> Arguments:
    spot, strike = rng.uniform(10, 50, (2, n)).astype(np.float32)
    return spot, strike, rng.uniform(0.2, 2, n).astype(np.float32)


def images(rng: np.random.Generator, n: int) -> Arguments:
    side = math.isqrt(max(n // 12, 64))
    return (rng.random((4, side, side, 3), dtype=np.float32),)


def cube(rng: np.random.Generator, n: int) -> Arguments:
    side = max(round(n ** (1 / 3)), 8)
    return (normal(rng, side, side, side),)


def product(rng: np.random.Generator, n: int) -> Arguments:
    side = min(math.isqrt(n), 4096)
    return normal(rng, side, side), normal(rng, side, side), normal(rng, side)


def heads(rng: np.random.Generator, n: int) -> Arguments:
    count = min(max(n // (512 * 64), 1), 1024)  # the scores fit a binding
    q, k, v = (normal(rng, count, 512, 64) for _ in range(3))
    return q, k, v


def network(rng: np.random.Generator, n: int) -> Arguments:
    count = max(n // 784, 16)
    return (
        *(normal(rng, count, 784), normal(rng, 784, 512) * np.float32(0.05), normal(rng, 512)),
        *(normal(rng, 512, 10) * np.float32(0.05), normal(rng, 10)),
    )


def clusters(rng: np.random.Generator, n: int) -> Arguments:
    return normal(rng, max(n // 64, 64), 64), normal(rng, 128, 64)


def matrix_and_vector(rng: np.random.Generator, n: int) -> Arguments:
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


def _program(
    fn: Callable[..., object],
    inputs: Callable[[np.random.Generator, int], Arguments],
    rtol: float = 2e-5,
    label: str = "",
) -> Program:
    sizes = (1 << 20, 1 << 24, 1 << 27)
    return Program(
        fn, inputs, 1 << 24, 1 << 14, rtol, atol=0.0, label=label, sizes=sizes, scaled=True
    )


PROGRAMS = (
    _program(gelu, vector),
    _program(axpy, vectors),
    _program(chain, vector),
    _program(black_scholes, options, 1e-4),
    _program(swiglu, vectors),
    _program(clamp, vector),
    _program(softmax, rows),
    _program(softmax, odd, label="softmax_of_odd_rows"),
    _program(log_softmax, rows),
    _program(layer_norm, layer),
    _program(rms_norm, layer),
    _program(standardize, rows),
    _program(sum_all, vector, 1e-3),
    _program(sum_rows, rows, 1e-4),
    _program(sum_columns, rows, 1e-4),
    _program(extremes, odd),
    _program(norm, odd),
    _program(argmax, rows),
    _program(mean_squares, vectors, 1e-4),
    _program(laplacian, square),
    _program(heat, square),
    _program(stencil_3d, cube),
    _program(convolution, vector),
    _program(with_transpose, square),
    _program(luminance, images),
    _program(contrast, images),
    _program(relu_product, product),
    _program(attention, heads, 1e-4),
    _program(forward, network, 1e-4),
    _program(distances, clusters, 1e-4),
    _program(power_step, matrix_and_vector, 1e-4),
)
