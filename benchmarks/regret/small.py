"""Small functions: elementwise, reductions, products, loops, methods, closures, fresh ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.regret.decorate import jit

SMALL: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]], tuple[int, ...]]] = {}
"""A function, what makes its arguments for a size, and its sizes, by name."""


def small(make, *sizes):
    def register(fn):
        SMALL[fn.__name__] = jit(fn), make, sizes
        return fn

    return register


def prepared(module: ModuleType, name: str) -> Callable[[], Any]:
    """Return what makes one call: ``name`` is that of a function with a size, as ``chain/1000``."""
    base, _, size = name.partition("/")
    fn, make, _ = module.SMALL[base]
    np.random.seed(0)
    args = make(int(size))

    def call() -> Any:
        return digest(fn(*args))

    return call


def digest(result: Any) -> Any:
    """Something small that tells results apart."""
    if isinstance(result, np.ndarray):
        return float(result.flat[0]) if result.size else 0.0
    if isinstance(result, tuple | list):
        return tuple(map(digest, result[:3]))
    return float(result) if isinstance(result, np.generic) else result


def names() -> list[str]:
    """Return all functions at all sizes."""
    return [f"{name}/{size}" for name, (_, _, sizes) in SMALL.items() for size in sizes]


def vector(n):
    return (np.random.rand(n),)


def vectors(n):
    return np.random.rand(n), np.random.rand(n) + 0.5


def matrix(n):
    return (np.random.rand(n, n),)


def matrices(n):
    return np.random.rand(n, n), np.random.rand(n, n)


def count(n):
    return (n,)


FEW, SOME, MANY, MOST = 10, 1000, 100_000, 10_000_000


# -- elementwise -----------------------------------------------------------------------------------
@small(vector, FEW, SOME, MANY, MOST)
def scaled(x):
    return x * 2 + 1


@small(vectors, FEW, MANY, MOST)
def polynomial(x, y):
    return ((x * 0.5 + y) * x - y) * x + 0.25


@small(vector, FEW, SOME, MANY)
def waves(x):
    return np.sin(3 * x) * np.exp(-x) + np.cos(x) ** 2


@small(vector, SOME, MANY)
def selected(x):
    return np.where(x > 0.5, np.sqrt(x), x * x)


@small(vectors, SOME, MANY)
def clipped(x, y):
    return np.clip(x / y, 0.2, 0.8) + np.minimum(x, y)


@small(vector, SOME)
def logistic(x):
    return 1 / (1 + np.exp(-4 * (x - 0.5)))


# -- reductions ------------------------------------------------------------------------------------
@small(vector, FEW, MANY, MOST)
def norm(x):
    return np.sqrt((x * x).sum())


@small(vector, SOME, MANY)
def standardized(x):
    return (x - x.mean()) / x.std()


@small(matrix, 10, 300)
def row_softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@small(vectors, SOME, MANY)
def correlation(x, y):
    a, b = x - x.mean(), y - y.mean()
    return (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())


@small(vector, SOME)
def quantile(x):
    return np.sort(x)[len(x) // 2] + np.median(x)


# -- products --------------------------------------------------------------------------------------
@small(matrices, 8, 200)
def product(a, b):
    return a @ b + 1


@small(matrix, 8, 200)
def gram(a):
    centered = a - a.mean(axis=0)
    return centered.T @ centered / len(a)


@small(matrix, 4, 60)
def solved(a):
    return np.linalg.solve(a + np.eye(len(a)) * len(a), a[0])


@small(vectors, 50, 400)
def distances(x, y):
    return np.sqrt((x[:, None] - y[None, :]) ** 2 + 0.01)


# -- loops over elements ---------------------------------------------------------------------------
@small(vector, FEW, SOME, MANY)
def smoothed(x):
    out, last = np.empty_like(x), 0.0
    for i in range(len(x)):
        last = 0.9 * last + 0.1 * x[i]
        out[i] = last
    return out


@small(count, 20, 3000)
def primes(n):
    found = 0
    for number in range(2, n):
        divisor = 2
        while divisor * divisor <= number and number % divisor:
            divisor += 1
        found += divisor * divisor > number
    return found


@small(matrix, 5, 80)
def trace_of_square(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * a[j, i]
    return total


@small(count, 10, 60)
def mandelbrot(n):
    total = 0
    for row in range(n):
        for column in range(n):
            c = complex(-2 + 2.5 * column / n, -1 + 2 * row / n)
            z, steps = 0j, 0
            while abs(z) < 2 and steps < 30:
                z = z * z + c
                steps += 1
            total += steps
    return total


@small(vector, SOME)
def insertion(x):
    items = list(x[:60])
    for i in range(1, len(items)):
        item, j = items[i], i
        while j and items[j - 1] > item:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item
    return items


# -- loops over arrays -----------------------------------------------------------------------------
@small(vector, SOME, MANY)
def diffused(x):
    for _ in range(20):
        x = x + 0.1 * (np.roll(x, 1) + np.roll(x, -1) - 2 * x)
    return x


@small(matrix, 20, 200)
def jacobi(u):
    for _ in range(10):
        u = u.copy()
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return u


@small(vector, FEW, MANY)
def walked(x):
    state = np.zeros_like(x)
    for step in range(30):
        state = state * 0.99 + x * math.sin(step)
    return state


@small(matrix, 6, 100)
def rows_scaled(a):
    out = np.empty_like(a)
    for i, row in enumerate(a):
        out[i] = row / np.abs(row).max()
    return out


# -- methods, closures, fresh functions ------------------------------------------------------------
class Running:
    def __init__(self, n):
        self.mean, self.count, self.data = np.zeros(n), 0, np.random.rand(n)

    @jit
    def update(self, x):
        self.count += 1
        self.mean = self.mean + (x - self.mean) / self.count
        return self.mean


@small(lambda n: (Running(n), np.random.rand(n)), FEW, MANY)
def method_with_state(running, x):
    return running.update(x)


class Layer:
    def __init__(self, n):
        self.weights, self.bias = np.random.rand(n, n), np.zeros(n)

    @jit
    def forward(self, x):
        self.seen = x
        return x @ self.weights + self.bias


@small(lambda n: (Layer(n), np.random.rand(8, n)), 8, 200)
def stored_product(layer, x):
    return layer.forward(x)


@small(vector, FEW, SOME)
def closure(x):
    factor = float(x[0])

    def by(value):
        return value * factor + 1

    return by(x) + by(x * 2)


@small(vector, FEW, SOME)
def fresh_function(x):
    @jit
    def inner(value):
        return value * 2 + 1

    return inner(x)


@small(vector, FEW, SOME)
def fresh_lambda(x):
    return applied(x, lambda value: value * value)


@jit
def applied(x, fn):
    return fn(x) + fn(x + 1)


@small(vector, FEW, SOME)
def to_dict(x):
    return [value for _, value in sorted({"sum": x.sum(), "max": x.max(), "n": len(x)}.items())]


@small(vector, FEW)
def formatted(x):
    return len(f"{x.mean():.3f} {x.std():.3f}")


@small(vector, SOME)
def branches(x):
    if x.sum() > len(x) / 2:
        return x * 2
    return np.log(x + 1)


HISTORY: list[float] = []


@small(vector, SOME)
def remembered(x):
    HISTORY.append(float(x.sum()))
    return np.sqrt(x) * len(HISTORY[-1:])


@small(count, 10, 20_000)
def drawn(n):
    rng = np.random.default_rng(7)
    x = rng.normal(size=n)
    return np.exp(0.1 * x).mean()
