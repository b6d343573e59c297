"""Short loops that are called again and again: functions of numbers and small arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.program import Arguments, Program
from benchmarks.programs import element_loops

Array = np.ndarray


def escape(re: float, im: float, most: int) -> int:
    x = y = 0.0
    count = most
    for k in range(most):
        if x * x + y * y > 4.0:
            count = k
            break
        x, y = x * x - y * y + re, 2 * x * y + im
    return count


def is_prime(n: int) -> bool:
    prime = n > 1
    i = 2
    while i * i <= n:
        if n % i == 0:
            prime = False
            break
        i += 1
    return prime


def square_root(a: float) -> float:
    x = a
    for _ in range(40):
        x = 0.5 * (x + a / x)
    return x


def doubled(x: Array) -> Array:
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out


def length(x: Array) -> float:
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    return math.sqrt(s)


def histogram(x: Array, bins: int) -> Array:
    found = np.zeros(bins, dtype=np.int64)
    for i in range(x.shape[0]):
        found[int(x[i] * bins)] += 1
    return found


def horner(coefficients: Array, x: float) -> float:
    s = 0.0
    for c in coefficients:
        s = s * x + c
    return s


def crossings(x: Array) -> int:
    count = 0
    for a, b in zip(x, x[1:]):  # noqa: B905, RUF007  (Numba knows no other)
        if (a < 0.5) != (b < 0.5):
            count += 1
    return count


def conjugate_gradient(a: Array, b: Array) -> Array:
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rho = r @ r
    for _ in range(len(b)):
        if rho < 1e-12:
            break
        q = a @ p
        alpha = rho / (p @ q)
        x = x + alpha * p
        r = r - alpha * q
        rho, old = r @ r, rho
        p = r + rho / old * p
    return x


def two(stack: Array) -> tuple[Array, ...]:
    """The arrays of a stack, by themselves."""
    return tuple(each.copy() for each in stack)


def _case(
    fn: Callable[..., Any],
    inputs: Callable[[np.random.Generator, int], Arguments],
    size: int = 100,
) -> Program:
    return Program(fn, inputs, size, max(4, size // 5))


PROGRAMS = (
    _case(escape, lambda _, n: (-0.1, 0.1, n)),
    _case(is_prime, lambda _, n: (10_007 + 2 * n,)),
    _case(square_root, lambda _, n: (7.0 + n,)),
    _case(element_loops.collatz, lambda _, n: (n // 10 + 2,)),
    _case(doubled, lambda rng, n: (rng.random(n),)),
    _case(length, lambda rng, n: (rng.random(n),)),
    _case(histogram, lambda rng, n: (rng.random(n), 10)),
    _case(horner, lambda rng, n: (rng.random(n), 0.5)),
    _case(crossings, lambda rng, n: (rng.random(n),)),
    _case(element_loops.smoothing, lambda rng, n: (rng.random(n), 0.3)),
    _case(element_loops.bubble_sort, lambda rng, n: (rng.random(n),), 30),
    _case(element_loops.edit_distance, lambda rng, n: two(rng.integers(0, 4, (2, n))), 20),
    _case(element_loops.product_by_hand, lambda rng, n: two(rng.random((2, n, n))), 8),
    _case(
        element_loops.cholesky,
        lambda rng, n: (element_loops.definite(rng, n),),
        8,
    ),
    _case(conjugate_gradient, lambda rng, n: (element_loops.definite(rng, n), rng.random(n)), 8),
)
