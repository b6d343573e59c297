"""Programs that everybody knows: softmax, layer norm, attention, Black-Scholes and others."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.program import Program


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * gain + bias


def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


def normal_cdf(x):
    """The distribution function of normal numbers, by a polynomial (Abramowitz, Stegun 26.2.17)."""
    t = 1 / (1 + 0.2316419 * np.abs(x))
    c = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    tail = c * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return np.where(x > 0, 1 - tail, tail)


def black_scholes(price, strike, years):
    rate, volatility = 0.02, 0.3
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = price * normal_cdf(d1) - discounted * normal_cdf(d2)
    return call, call - price + discounted


def heat_equation(u, steps):
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] = inner + 0.1 * (around - 4 * inner)
    return u


def k_means(points, centers, iterations):
    for _ in range(iterations):
        distances = ((points[:, None, :] - centers) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        for k in range(len(centers)):
            centers[k] = points[nearest == k].mean(axis=0)
    return centers


def mandelbrot(c, iterations):
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int64)
    for _ in range(iterations):
        inside = np.abs(z) < 2
        z[inside] = z[inside] ** 2 + c[inside]
        counts += inside
    return counts


def n_body(positions, velocities, masses, steps):
    for _ in range(steps):
        apart = positions[None, :, :] - positions[:, None, :]
        squared = (apart**2).sum(axis=2) + 1e-2
        pull = (apart * (masses / squared**1.5)[:, :, None]).sum(axis=1)
        velocities = velocities + 0.01 * pull
        positions = positions + 0.01 * velocities
    return positions, velocities


def kalman_filter(measured, f, h, q, r):
    x, p = np.zeros(len(f)), np.eye(len(f))
    found = np.empty(len(measured))
    for t in range(len(measured)):
        x, p = f @ x, f @ p @ f.T + q
        gain = p @ h / (h @ p @ h + r)
        x = x + gain * (measured[t] - h @ x)
        p = p - np.outer(gain, h @ p)
        found[t] = x[0]
    return found


def jacobi(a, b, sweeps):
    diagonal = np.diag(a).copy()
    rest = a - np.diag(diagonal)
    x = np.zeros_like(b)
    for _ in range(sweeps):
        x = (b - rest @ x) / diagonal
    return x


def _rows(rng, n):
    return (rng.standard_normal((n, 1000), dtype=np.float32),)


def _normed(rng, n):
    return (*_rows(rng, n), *rng.standard_normal((2, 1000), dtype=np.float32))


def _options(rng, n):
    return rng.uniform(50, 150, n), rng.uniform(50, 150, n), rng.uniform(0.1, 2, n)


def _plane(_rng, n):
    return np.linspace(-2, 0.5, n)[:, None] + 1j * np.linspace(-1.2, 1.2, n), 50


def _bodies(rng, n):
    return rng.standard_normal((n, 3)), np.zeros((n, 3)), rng.random(n), 20


def _motion(rng, n):
    f, h = np.array([[1, 0.1], [0, 1.0]]), np.array([1.0, 0.0])
    return rng.random(n), f, h, 0.01 * np.eye(2), 0.1


def _dominant(rng, n):
    return rng.random((n, n)) + n * np.eye(n), rng.random(n), 50


PROGRAMS = (
    Program(softmax, _rows, 2_000, 20, rtol=1e-5, atol=1e-7, nbytes=lambda n: 8_000 * n),
    Program(layer_norm, _normed, 2_000, 20, rtol=1e-4, atol=1e-5, nbytes=lambda n: 8_000 * n),
    Program(
        attention,
        lambda rng, n: tuple(rng.standard_normal((3, n, 64), dtype=np.float32)),
        1_000,
        60,
        rtol=1e-4,
        atol=1e-5,
        flops=lambda n: 4 * 64 * n * n,
    ),
    Program(black_scholes, _options, 1_000_000, 2_000, atol=1e-9, nbytes=lambda n: 40 * n),
    Program(heat_equation, lambda rng, n: (rng.random((n, n)), 100), 512, 40),
    Program(k_means, lambda rng, n: (rng.random((n, 3)), rng.random((8, 3)), 10), 20_000, 400),
    Program(mandelbrot, _plane, 400, 30),
    Program(n_body, _bodies, 200, 20, rtol=1e-7, atol=1e-9),
    Program(kalman_filter, _motion, 2_000, 100),
    Program(jacobi, _dominant, 400, 40),
)
