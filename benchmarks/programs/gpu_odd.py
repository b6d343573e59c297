"""Programs on arrays of a device whose extents divide nothing: odd, short and long rows.

They were written before any of them was measured, and stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.program import Arguments, Program
from benchmarks.programs.gpu import normal

Inputs = Callable[[np.random.Generator, int], Arguments]
LARGE = 120_000_011


def in_rows(length: int) -> Inputs:
    """Return what makes a matrix of about ``n`` elements with rows of a length."""
    return lambda rng, n: (normal(rng, max(n // length, 1), length),)


def in_columns(length: int) -> Inputs:
    """Return what makes a matrix of about ``n`` elements with columns of a length."""
    return lambda rng, n: (normal(rng, length, max(n // length, 1)),)


def vectors(count: int) -> Inputs:
    return lambda rng, n: tuple(normal(rng, n) for _ in range(count))


def pairs_of_rows(rng: np.random.Generator, n: int) -> Arguments:
    return normal(rng, n // 600, 300), normal(rng, n // 600, 300)


def odd_square(rng: np.random.Generator, n: int) -> Arguments:
    side = math.isqrt(n // 2) | 1
    return normal(rng, side, side), normal(rng, side, side)


def odd_cube(rng: np.random.Generator, n: int) -> Arguments:
    side = round(n ** (1 / 3)) | 1
    return (normal(rng, side, side, side),)


def image(rng: np.random.Generator, n: int) -> Arguments:
    side = math.isqrt(n) | 1
    return (normal(rng, side, side + 2),)


def weighted_layer(rng: np.random.Generator, n: int) -> Arguments:
    return normal(rng, max(n // 20_011, 1), 20_011), normal(rng, 20_011)


def small_matrices(rng: np.random.Generator, n: int) -> Arguments:
    count = n // (2 * 17 * 17)
    return normal(rng, count, 17, 17), normal(rng, count, 17, 17)


def doubles(rng: np.random.Generator, n: int) -> Arguments:
    return (normal(rng, n // 2).astype(np.float64),)


def moments_and_gradient(rng: np.random.Generator, n: int) -> Arguments:
    parameter, first, second, gradient = (normal(rng, n // 4) for _ in range(4))
    return parameter, first, second * second, gradient


# -- numbers ---------------------------------------------------------------------------------------
def huber(x, y):
    d = np.abs(x - y)
    return np.where(d < 1, 0.5 * d * d, d - 0.5).mean()


def weighted_mean(x, w):
    return (x * np.abs(w)).sum() / np.abs(w).sum()


def root_mean_square(x):
    return np.sqrt((x * x).mean())


# -- rows ------------------------------------------------------------------------------------------
def log_sum_exp(x):
    top = x.max(axis=1)
    return top + np.log(np.exp(x - top[:, None]).sum(axis=1))


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rms_norm(x, gain):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + np.float32(1e-6)) * gain


def variances(x):
    return x.var(axis=1)


def argmin(x):
    return x.argmin(axis=1)


def running_sums(x):
    return np.cumsum(x, axis=1)


def cosines(x, y):
    products = (x * y).sum(axis=1)
    return products / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))


# -- columns ---------------------------------------------------------------------------------------
def log_softmax_of_columns(x):
    shifted = x - x.max(axis=0)
    return shifted - np.log(np.exp(shifted).sum(axis=0))


# -- elements --------------------------------------------------------------------------------------
def mish(x):
    return x * np.tanh(np.log1p(np.exp(x)))


def adam(parameter, first, second, gradient):
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient * gradient
    return parameter - 0.001 * first / (np.sqrt(second) + np.float32(1e-8)), first, second


def damped_sines(x):
    return np.sin(3 * x) * np.exp(-x * x)


def mixed_with_transpose(a, b):
    return np.maximum(a - 2 * b.T, 0)


# -- windows ---------------------------------------------------------------------------------------
def diffusion(x):
    y = x.copy()
    inner = x[1:-1, 1:-1, 1:-1]
    around = x[2:, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[1:-1, 2:, 1:-1] + x[1:-1, :-2, 1:-1]
    around = around + x[1:-1, 1:-1, 2:] + x[1:-1, 1:-1, :-2]
    y[1:-1, 1:-1, 1:-1] = inner + np.float32(0.1) * (around - 6 * inner)
    return y


def sobel(x):
    across = x[:-2, 2:] + 2 * x[1:-1, 2:] + x[2:, 2:] - x[:-2, :-2] - 2 * x[1:-1, :-2] - x[2:, :-2]
    down = x[2:, :-2] + 2 * x[2:, 1:-1] + x[2:, 2:] - x[:-2, :-2] - 2 * x[:-2, 1:-1] - x[:-2, 2:]
    return np.sqrt(across * across + down * down)


def blur_of_rows(x):
    n = x.shape[1] - 8
    return sum(np.float32(1 / (1 + abs(k - 4))) * x[:, k : k + n] for k in range(9))


def halved(x):
    x = x[: x.shape[0] // 2 * 2, : x.shape[1] // 2 * 2]
    return (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2]) * np.float32(0.25)


# -- products --------------------------------------------------------------------------------------
def stacked_products(a, b):
    return a @ b


def _program(
    fn: Callable[..., object], inputs: Inputs, rtol: float = 5e-5, label: str = ""
) -> Program:
    sizes = (1_000_003, LARGE)
    return Program(fn, inputs, LARGE, 20_003, rtol, atol=0.0, label=label, sizes=sizes, scaled=True)


PROGRAMS = (
    _program(huber, vectors(2)),
    _program(weighted_mean, vectors(2), 1e-2),
    _program(root_mean_square, vectors(1)),
    _program(log_sum_exp, in_rows(33_001)),
    _program(softmax, in_rows(50_257), label="softmax_of_long_rows"),
    _program(softmax, in_rows(27), label="softmax_of_short_rows"),
    _program(rms_norm, weighted_layer),
    _program(variances, in_rows(777)),
    _program(argmin, in_rows(4_099)),
    _program(running_sums, in_rows(513), 1e-4),
    _program(cosines, pairs_of_rows, 1e-4),
    _program(log_softmax_of_columns, in_columns(9_001)),
    _program(mish, vectors(1)),
    _program(adam, moments_and_gradient, 1e-4),
    _program(damped_sines, doubles, 1e-12),
    _program(mixed_with_transpose, odd_square),
    _program(diffusion, odd_cube),
    _program(sobel, image),
    _program(blur_of_rows, in_rows(20_007)),
    _program(halved, image),
    _program(stacked_products, small_matrices),
)
