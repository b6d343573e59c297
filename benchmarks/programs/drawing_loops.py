"""Loops that take random numbers from NumPy's generators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.program import Program

Array = np.ndarray
Rng = np.random.Generator


def metropolis(rng: Rng, steps: int) -> tuple[float, int]:
    x, accepted = 0.0, 0
    for _ in range(steps):
        new = x + rng.normal(0.0, 2.0)
        if rng.random() < math.exp(min(0.0, 0.5 * (x * x - new * new))):
            x = new
            accepted += 1
    return x, accepted


def ising(rng: Rng, spins: Array, steps: int) -> Array:
    n = spins.shape[0]
    for _ in range(steps):
        i, j = rng.integers(0, n), rng.integers(0, n)
        around = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % n] + spins[i, j - 1]
        cost = 2 * spins[i, j] * around
        if cost <= 0 or rng.random() < math.exp(-cost / 2.3):
            spins[i, j] = -spins[i, j]
    return spins


def farthest(rng: Rng, steps: int) -> float:
    """The farthest that a walk in space comes."""
    place, most = np.zeros(3), 0.0
    for _ in range(steps):
        place = place + rng.standard_normal(3)
        most = max(most, (place * place).sum())
    return most


def quarter(rng: Rng, n: int) -> float:
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4 * inside / n


def shuffled(rng: Rng, x: Array) -> Array:
    for i in range(len(x) - 1, 0, -1):
        j = rng.integers(0, i + 1)
        x[i], x[j] = x[j], x[i]
    return x


def queue(rng: Rng, customers: int) -> float:
    """How long customers wait, on average."""
    now = free = waited = 0.0
    for _ in range(customers):
        now += rng.exponential(2.0)
        begin = max(now, free)
        waited += begin - now
        free = begin + rng.gamma(2.0, 0.8)
    return waited / customers


def epidemic(rng: Rng, n: int) -> tuple[int, float]:
    """Gillespie's algorithm: who is infected at last, and when."""
    healthy, ill, now = n - 1, 1, 0.0
    while ill > 0:
        infection, recovery = 0.5 * healthy * ill / n, 0.2 * ill
        now += rng.exponential(1.0) / (infection + recovery)
        if rng.random() * (infection + recovery) < infection:
            healthy -= 1
            ill += 1
        else:
            ill -= 1
    return healthy, now


def bootstrap(rng: Rng, x: Array, times: int) -> Array:
    means = np.empty(times)
    n = len(x)
    for k in range(times):
        total = 0.0
        for _ in range(n):
            total += x[rng.integers(0, n)]
        means[k] = total / n
    return means


def reversion(rng: Rng, steps: int) -> Array:
    """A path of Ornstein and Uhlenbeck's."""
    path = np.zeros(steps)
    for t in range(1, steps):
        path[t] = 0.99 * path[t - 1] + 0.1 * rng.standard_normal()
    return path


def gibbs(rng: Rng, steps: int) -> tuple[float, float]:
    """Means of two gamma and normal numbers that depend on each other."""
    x = y = total = squares = 0.0
    for _ in range(steps):
        x = rng.gamma(3.0, 1.0 / (y * y + 4.0))
        y = rng.normal(1.0 / (x + 1.0), 1.0 / math.sqrt(2.0 * (x + 1.0)))
        total += x
        squares += y * y
    return total / steps, squares / steps


def bandit(rng: Rng, chances: Array, pulls: int) -> Array:
    """Greedy, but for one pull of ten."""
    n = len(chances)
    won, pulled = np.zeros(n), np.ones(n)
    for _ in range(pulls):
        arm = 0
        if rng.random() < 0.1:
            arm = rng.integers(0, n)
        else:
            for other in range(1, n):
                if won[other] / pulled[other] > won[arm] / pulled[arm]:
                    arm = other
        pulled[arm] += 1
        if rng.random() < chances[arm]:
            won[arm] += 1
    return pulled


def coupons(rng: Rng, kinds: int) -> int:
    """How many are drawn until there is one of each."""
    seen = np.zeros(kinds, dtype=np.int64)
    missing, drawn = kinds, 0
    while missing > 0:
        kind = rng.integers(0, kinds)
        drawn += 1
        if seen[kind] == 0:
            missing -= 1
        seen[kind] += 1
    return drawn


def tour(rng: Rng, far: Array, steps: int) -> Array:
    """Simulated annealing of a tour: two places are exchanged."""
    n = len(far)
    order = np.arange(n)
    heat = 1.0
    for _ in range(steps):
        i, j = rng.integers(1, n - 1), rng.integers(1, n - 1)
        before = after = 0.0
        for k in (i, j):
            before += far[order[k - 1], order[k]] + far[order[k], order[k + 1]]
        order[i], order[j] = order[j], order[i]
        for k in (i, j):
            after += far[order[k - 1], order[k]] + far[order[k], order[k + 1]]
        if after > before and rng.random() > math.exp((before - after) / heat):
            order[i], order[j] = order[j], order[i]
        heat *= 0.9999
    return order


def prices(rng: Rng, n: int, steps: int) -> Any:
    """The mean of paths of prices, all at once."""
    price = np.full(n, 100.0)
    for _ in range(steps):
        price = price * np.exp(0.0001 + 0.01 * rng.standard_normal(n))
    return price.mean()


def fresh(rng: Rng) -> Rng:
    """A generator of another seed."""
    return np.random.default_rng(rng.integers(1 << 30))


PROGRAMS = (
    Program(metropolis, lambda rng, n: (fresh(rng), n), 200_000, 20_000),
    Program(
        ising, lambda rng, n: (fresh(rng), np.ones((32, 32), dtype=np.int64), n), 200_000, 20_000
    ),
    Program(farthest, lambda rng, n: (fresh(rng), n), 100_000, 10_000),
    Program(quarter, lambda rng, n: (fresh(rng), n), 500_000, 50_000),
    Program(shuffled, lambda rng, n: (fresh(rng), rng.random(n)), 200_000, 20_000),
    Program(queue, lambda rng, n: (fresh(rng), n), 200_000, 20_000),
    Program(epidemic, lambda rng, n: (fresh(rng), n), 50_000, 5_000),
    Program(bootstrap, lambda rng, n: (fresh(rng), rng.random(100), n), 2_000, 200),
    Program(reversion, lambda rng, n: (fresh(rng), n), 200_000, 20_000),
    Program(gibbs, lambda rng, n: (fresh(rng), n), 200_000, 20_000),
    Program(bandit, lambda rng, n: (fresh(rng), rng.random(10), n), 100_000, 10_000),
    Program(coupons, lambda rng, n: (fresh(rng), n), 10_000, 1_000),
    Program(tour, lambda rng, n: (fresh(rng), rng.random((50, 50)), n), 200_000, 10_000),
    Program(prices, lambda rng, n: (fresh(rng), n, 252), 2_000, 500),
)
