"""Products of matrices and what programs make of them, from robotics to layers of networks.

The size of a program is the number of its shapes in the list, the smallest ones first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray


def rotate(a: Array, b: Array, v: Array) -> Array:
    return a @ b @ v + 1


def predict(f: Array, p: Array, q: Array, x: Array) -> Any:
    return f @ x, f @ p @ f.T + q


def cell(w: Array, u: Array, x: Array, h: Array) -> Array:
    return np.tanh(w @ x + u @ h + 1)


def layers(x: Array, w: Array, b: Array, v: Array) -> Array:
    return np.maximum(x @ w + b, 0) @ v + 1


def gelu(x: Array, w: Array, b: Array) -> Array:
    y = x @ w + b
    return 0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))


def distances(x: Array, c: Array) -> Array:
    return (x * x).sum(1)[:, None] - 2 * (x @ c.T) + (c * c).sum(1)[None, :]


def nearest(x: Array, c: Array) -> Array:
    return ((c * c).sum(1) - 2 * (x @ c.T)).argmin(1)


def within(x: Array, c: Array) -> Array:
    return np.exp(x @ c.T).sum(axis=1)


def covariance(x: Array) -> Array:
    return np.cov(x, rowvar=False) * 2


def correlation(x: Array) -> Array:
    return np.corrcoef(x)


def inner(x: Array, y: Array) -> Array:
    return x - np.inner(x, y)[:, None]


def of_axes(x: Array, y: Array) -> Array:
    return np.tensordot(x, y, axes=([2], [1])) + 1


def attention(q: Array, k: Array, v: Array) -> Array:
    s = q @ np.swapaxes(k, -1, -2) / 8
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def logistic(x: Array, w: Array, y: Array) -> Array:
    p = 1 / (1 + np.exp(-(x @ w)))
    return x.T @ (p - y) / len(y)


def relu_of_stacks(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(a @ b + c, 0)


def gram(x: Array) -> Array:
    centered = x - x.mean(axis=0)
    return centered.T @ centered / (len(x) - 1)


def explained(q: Array, g: Array) -> Array:
    return np.diag(q.T @ g @ q)


def contracted(a: Array, b: Array) -> Array:
    return np.einsum("ij,jk->ik", a, b)


def chained(a: Array, b: Array, c: Array) -> Array:
    return np.einsum("ij,jk,kl->il", a, b, c)


def along_rows(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)


def traced(a: Array, b: Array) -> Any:
    return np.trace(a.T @ b)


def lengths(x: Array) -> Array:
    return np.linalg.norm(x, axis=1)


def power_step(g: Array, q: Array) -> Array:
    y = g @ q
    return y / np.linalg.norm(y, axis=0)


def alone(a: Array, b: Array) -> Array:
    return a @ b


Shapes = tuple[tuple[int, ...], ...]
SHAPES: tuple[tuple[Callable[..., Any], tuple[Shapes, ...]], ...] = (
    (rotate, (((3, 3), (3, 3), (3,)),)),
    (predict, (((4, 4), (4, 4), (4, 4), (4,)), ((12, 12), (12, 12), (12, 12), (12,)))),
    (cell, (((16, 8), (16, 16), (8,), (16,)),)),
    (
        layers,
        (
            ((1, 20), (20, 32), (32,), (32, 3)),
            ((32, 20), (20, 32), (32,), (32, 3)),
            ((256, 784), (784, 512), (512,), (512, 10)),
        ),
    ),
    (gelu, (((32, 32), (32, 32), (32,)), ((1024, 1024), (1024, 1024), (1024,)))),
    (distances, (((40, 3), (8, 3)), ((5000, 16), (5000, 16)))),
    (nearest, (((40, 3), (8, 3)), ((100_000, 16), (1000, 16)))),
    (within, (((5000, 16), (5000, 16)),)),
    (covariance, (((40, 30),), ((20_000, 100),))),
    (correlation, (((40, 30),), ((500, 200),))),
    (inner, (((100, 8), (8,)), ((20_000, 50), (50,)))),
    (of_axes, (((10, 4, 30), (30, 30)), ((20, 100, 200), (100, 200)))),
    (attention, (((2, 16, 8), (2, 16, 8), (2, 16, 8)), ((8, 512, 64),) * 3)),
    (logistic, (((100, 5), (5,), (100,)), ((20_000, 50), (50,), (20_000,)))),
    (relu_of_stacks, (((1000, 8, 8), (1000, 8, 8), (8,)), ((1000, 32, 32), (1000, 32, 32), (32,)))),
    (gram, (((200, 10),), ((20_000, 512),))),
    (explained, (((1024, 8), (1024, 1024)),)),
    (contracted, (((3, 3), (3, 3)), ((300, 300), (300, 300)))),
    (chained, (((30, 20), (20, 25), (25, 8)), ((300, 200), (200, 250), (250, 8)))),
    (along_rows, (((10, 3), (10, 3)), ((1000, 1000), (1000, 1000)))),
    (traced, (((30, 30), (30, 30)), ((1000, 1000), (1000, 1000)))),
    (lengths, (((10, 3),), ((1000, 1000),))),
    (power_step, (((30, 30), (30, 8)), ((1000, 1000), (1000, 8)))),
    (alone, (((10, 10), (10, 10)), ((1024, 1024), (1024, 1024)), ((1024, 1024), (1024,)))),
)


def _program(fn: Callable[..., Any], shapes: tuple[Shapes, ...], dtype: str) -> Program:
    def inputs(rng: np.random.Generator, number: int) -> tuple[Array, ...]:
        return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes[number])

    close = 1e-3 if dtype == "float32" else 1e-9
    label = f"{fn.__name__}_{dtype}"
    return Program(fn, inputs, len(shapes) - 1, 0, rtol=close, atol=close, label=label)


PROGRAMS = tuple(
    _program(fn, shapes, dtype) for fn, shapes in SHAPES for dtype in ("float32", "float64")
)
