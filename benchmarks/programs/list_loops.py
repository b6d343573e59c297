"""Loops that append to lists, as they stand in scripts and textbooks."""

# ruff: noqa: PERF401  (appending is what is measured)
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray


# -- programs --------------------------------------------------------------------------------------
def smoothed(x: Array, rate: float) -> Array:
    level = x[0]
    levels = [level]
    for value in x[1:]:
        level = rate * value + (1 - rate) * level
        levels.append(level)
    return np.array(levels)


def logistic_map(x: float, r: float, n: int) -> list[float]:
    orbit = []
    for _ in range(n):
        x = r * x * (1 - x)
        orbit.append(x)
    return orbit


def falling_ball(height: float, dt: float, n: int) -> Any:
    times, heights, speeds = [], [], []
    t, v, bounces = 0.0, 0.0, 0
    while len(times) < n:
        v -= 9.81 * dt
        height += v * dt
        if height < 0:
            height, v = -height, -0.9 * v
            bounces += 1
        t += dt
        times.append(t)
        heights.append(height)
        speeds.append(v)
    return np.array(times), np.array(heights), np.array(speeds), bounces


def derivative(t: float, y: float) -> float:
    return math.cos(t) - 0.5 * y


def runge_kutta(y: float, dt: float, n: int) -> Array:
    t, path = 0.0, [y]
    for _ in range(n):
        k1 = derivative(t, y)
        k2 = derivative(t + dt / 2, y + dt / 2 * k1)
        k3 = derivative(t + dt / 2, y + dt / 2 * k2)
        k4 = derivative(t + dt, y + dt * k3)
        y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
        path.append(y)
    return np.array(path)


def orbit(x: float, y: float, dt: float, n: int) -> list[tuple[float, float]]:
    vx, vy, path = 0.0, 1.0, []
    for _ in range(n):
        r3 = (x * x + y * y) ** 1.5
        vx -= x / r3 * dt
        vy -= y / r3 * dt
        x += vx * dt
        y += vy * dt
        path.append((x, y))
    return path


def collatz_path(n: int) -> list[int]:
    path = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        path.append(n)
    return path


def collatz_lengths(limit: int) -> list[int]:
    lengths = []
    for first in range(1, limit):
        n, steps = first, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        lengths.append(steps)
    return lengths


def primes(limit: int) -> list[int]:
    found = []
    for n in range(2, limit):
        is_prime = True
        for p in found:
            if p * p > n:
                break
            if n % p == 0:
                is_prime = False
                break
        if is_prime:
            found.append(n)
    return found


def peaks(x: Array, least: float) -> list[int]:
    found = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1] and x[i] > least:
            found.append(i)
    return found


def crossings(x: Array) -> Array:
    found = []
    for i in range(len(x) - 1):
        if x[i] * x[i + 1] < 0:
            found.append(i - x[i] / (x[i + 1] - x[i]))
    return np.array(found)


def runs(x: Array) -> list[tuple[int, int]]:
    found, begin = [], 0
    for i in range(1, len(x)):
        if x[i] != x[i - 1]:
            found.append((begin, i - begin))
            begin = i
    found.append((begin, len(x) - begin))
    return found


def moving_average(x: Array, width: int) -> Array:
    means = []
    for i in range(len(x) - width + 1):
        means.append(x[i : i + width].mean())
    return np.array(means)


def trades(price: Array) -> list[tuple[int, str]]:
    fast, slow, position, found = price[0], price[0], 0, []
    for day, today in enumerate(price):
        fast += (today - fast) * 0.5
        slow += (today - slow) * 0.125
        wanted = 1 if fast > slow else 0
        if wanted != position:
            found.append((day, "buy" if wanted else "sell"))
            position = wanted
    return found


def savings(balance: float, rate: float, years: int) -> list[tuple[int, float, float]]:
    table = []
    for month in range(12 * years):
        interest = balance * rate / 12
        balance += interest + 100.0
        table.append((month, interest, balance))
    return table


def descent(a: Array, b: Array, rate: float, n: int) -> Any:
    x, losses, path = np.zeros_like(b), [], []
    for _ in range(n):
        residual = a @ x - b
        losses.append(0.5 * residual @ residual)
        x = x - rate * (a.T @ residual)
        path.append(x.copy())
    return np.array(path), losses


def heat(u: Array, n: int) -> Array:
    frames = []
    for _ in range(n):
        u = u.copy()
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
        frames.append(u.copy())
    return np.array(frames)


def distances(x: Array, limit: float) -> list[tuple[int, int, Any]]:
    close = []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = abs(x[i] - x[j])
            if d < limit:
                close.append((i, j, d))
    return close


def of_numbers(*numbers: Any) -> Any:
    """Makes the same numbers, and a size behind them."""
    return lambda _rng, n: (*numbers, n)


PROGRAMS: Sequence[Program] = (
    Program(smoothed, lambda rng, n: (rng.random(n), 0.1), 100_000, 3_000),
    Program(logistic_map, of_numbers(0.5, 3.7), 100_000, 3_000),
    Program(falling_ball, of_numbers(10.0, 1e-3), 100_000, 3_000),
    Program(runge_kutta, of_numbers(1.0, 1e-2), 100_000, 3_000),
    Program(orbit, of_numbers(1.0, 0.0, 1e-2), 100_000, 3_000),
    Program(collatz_path, lambda _rng, n: (n,), 837_799, 626_331),
    Program(collatz_lengths, lambda _rng, n: (n,), 10_000, 300),
    Program(primes, lambda _rng, n: (n,), 50_000, 3_000),
    Program(peaks, lambda rng, n: (rng.random(n), 0.5), 100_000, 3_000),
    Program(crossings, lambda rng, n: (rng.normal(size=n),), 100_000, 3_000),
    Program(runs, lambda rng, n: (rng.integers(0, 3, n),), 100_000, 3_000),
    Program(moving_average, lambda rng, n: (rng.random(n), 20), 10_000, 1_000),
    Program(trades, lambda rng, n: (rng.random(n),), 100_000, 3_000),
    Program(savings, of_numbers(1000.0, 0.05), 1_000, 200),
    Program(descent, lambda rng, n: (rng.random((n, n)), rng.random(n), 1e-3, 100), 30, 10),
    Program(heat, lambda rng, n: (rng.random(n), 100), 500, 100),
    Program(distances, lambda rng, n: (rng.random(n), 0.01), 500, 100),
)
