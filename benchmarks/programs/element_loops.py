"""Loops over elements in plain Python, as users write them for Numba."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray


# -- programs --------------------------------------------------------------------------------------
def gauss_seidel(u: Array, sweeps: int) -> Array:
    n, m = u.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def floyd_warshall(d: Array) -> Array:
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i, k] + d[k, j]
                d[i, j] = min(d[i, j], through)
    return d


def product_by_hand(a: Array, b: Array) -> Array:
    n, m, p = a.shape[0], b.shape[1], a.shape[1]
    c = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            s = 0.0
            for k in range(p):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


def lu(a: Array) -> Array:
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def cholesky(a: Array) -> Array:
    n = a.shape[0]
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            if i == j:
                factor[i, j] = math.sqrt(s)
            else:
                factor[i, j] = s / factor[j, j]
    return factor


def edit_distance(a: Array, b: Array) -> int:
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return int(d[n, m])


def crc(data: Array, table: Array) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value = (value >> 8) ^ table[(value ^ byte) & 0xFF]
    return int(value ^ 0xFFFFFFFF)


def csr_product(values: Array, columns: Array, starts: Array, x: Array) -> Array:
    y = np.zeros(len(starts) - 1)
    for row in range(len(y)):
        s = 0.0
        for at in range(starts[row], starts[row + 1]):
            s += values[at] * x[columns[at]]
        y[row] = s
    return y


def mandelbrot(xs: Array, ys: Array, most: int) -> Array:
    counts = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for i in range(len(ys)):
        for j in range(len(xs)):
            a = b = 0.0
            n = 0
            while n < most and a * a + b * b <= 4.0:
                a, b = a * a - b * b + xs[j], 2.0 * a * b + ys[i]
                n += 1
            counts[i, j] = n
    return counts


def julia(z0: Array, c: complex, most: int) -> Array:
    counts = np.zeros(z0.shape, dtype=np.int64)
    for i in range(z0.shape[0]):
        for j in range(z0.shape[1]):
            z, n = z0[i, j], 0
            while n < most and abs(z) <= 2:
                z = z * z + c
                n += 1
            counts[i, j] = n
    return counts


def newton_fractal(n: int) -> Array:
    roots = np.zeros((n, n), dtype=np.complex128)
    for i in range(n):
        for j in range(n):
            z = complex(-2 + 4 * i / n + 0.01, -2 + 4 * j / n + 0.013)
            for _ in range(20):
                z = z - (z * z * z - 1) / (3 * z * z)
            roots[i, j] = z
    return roots


def tridiagonal(lower: Array, main: Array, upper: Array, right: Array) -> Array:
    n = len(main)
    c, d, x = np.zeros(n), np.zeros(n), np.zeros(n)
    c[0], d[0] = upper[0] / main[0], right[0] / main[0]
    for i in range(1, n):
        pivot = main[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivot
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def smoothing(x: Array, rate: float) -> Array:
    y = np.empty_like(x)
    y[0] = x[0]
    for t in range(1, len(x)):
        y[t] = rate * x[t] + (1 - rate) * y[t - 1]
    return y


def sieve(n: int) -> int:
    prime = np.ones(n + 1, dtype=np.bool_)
    prime[0] = prime[1] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            j = i * i
            while j <= n:
                prime[j] = False
                j += i
        i += 1
    count = 0
    for k in range(n + 1):
        if prime[k]:
            count += 1
    return count


def collatz(n: int) -> int:
    longest = 0
    for start in range(1, n):
        m, steps = start, 0
        while m != 1:
            m = m // 2 if m % 2 == 0 else 3 * m + 1
            steps += 1
        longest = max(longest, steps)
    return longest


def bubble_sort(x: Array) -> Array:
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def n_body(position: Array, mass: Array) -> Array:
    n = len(mass)
    force = np.zeros((n, 3))
    for i in range(n):
        for j in range(n):
            if i != j:
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                dz = position[j, 2] - position[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + 1e-6
                scale = mass[j] / (r2 * math.sqrt(r2))
                force[i, 0] += dx * scale
                force[i, 1] += dy * scale
                force[i, 2] += dz * scale
    return force


def knapsack(weights: Array, gains: Array, capacity: int) -> Any:
    best = np.zeros(capacity + 1, dtype=np.int64)
    for item in range(len(weights)):
        weight, gain = weights[item], gains[item]
        for room in range(capacity, weight - 1, -1):
            with_it = best[room - weight] + gain
            best[room] = max(best[room], with_it)
    return best[capacity]


# -- their inputs ----------------------------------------------------------------------------------
def sparse(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    """A matrix of ten elements a row, and a vector."""
    starts = np.arange(0, 10 * n + 1, 10)
    return rng.random(10 * n), rng.integers(0, n, 10 * n), starts, rng.random(n)


def dominant(rng: np.random.Generator, n: int) -> Array:
    return rng.random((n, n)) + n * np.eye(n)


def definite(rng: np.random.Generator, n: int) -> Array:
    a = rng.random((n, n))
    return a @ a.T + n * np.eye(n)


def crc_table() -> Array:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
        table.append(value)
    return np.array(table)


PROGRAMS = (
    Program(gauss_seidel, lambda rng, n: (rng.random((n, n)), 20), 300, 60),
    Program(floyd_warshall, lambda rng, n: (rng.random((n, n)),), 300, 60),
    Program(product_by_hand, lambda rng, n: (rng.random((n, n)), rng.random((n, n))), 200, 60),
    Program(lu, lambda rng, n: (dominant(rng, n),), 200, 60),
    Program(cholesky, lambda rng, n: (definite(rng, n),), 200, 60),
    Program(
        edit_distance, lambda rng, n: (rng.integers(0, 4, n), rng.integers(0, 4, n)), 1000, 200
    ),
    Program(crc, lambda rng, n: (rng.integers(0, 256, n), crc_table()), 1_000_000, 50_000),
    Program(csr_product, sparse, 50_000, 5_000),
    Program(
        mandelbrot, lambda _rng, n: (np.linspace(-2, 1, n), np.linspace(-1.5, 1.5, n), 200), 300, 30
    ),
    Program(
        julia,
        lambda rng, n: (rng.uniform(-1.5, 1.5, (n, n, 2)).view(complex)[..., 0], -0.4 + 0.6j, 200),
        300,
        30,
    ),
    Program(newton_fractal, lambda _rng, n: (n,), 300, 30),
    Program(tridiagonal, lambda rng, n: (*(rng.random(n) for _ in range(4)),), 200_000, 20_000),
    Program(smoothing, lambda rng, n: (rng.random(n), 0.1), 1_000_000, 50_000),
    Program(sieve, lambda _rng, n: (n,), 1_000_000, 50_000),
    Program(collatz, lambda _rng, n: (n,), 100_000, 3_000),
    Program(bubble_sort, lambda rng, n: (rng.random(n),), 2_000, 300),
    Program(n_body, lambda rng, n: (rng.random((n, 3)), rng.random(n)), 500, 60),
    Program(
        knapsack,
        lambda rng, n: (rng.integers(1, 50, 100), rng.integers(1, 99, 100), n),
        10_000,
        500,
    ),
)
