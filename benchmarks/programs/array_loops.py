"""Loops over whole arrays in plain NumPy: solvers and recurrences as they stand in textbooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.program import Program
from benchmarks.programs.element_loops import definite, dominant

Array = np.ndarray


# -- programs --------------------------------------------------------------------------------------
def smoothing_of_channels(x: Array, rate: float) -> Array:
    """Exponential smoothing in time, of many channels at once."""
    y = np.empty_like(x)
    state = np.zeros(x.shape[1])
    for t in range(len(x)):
        state = rate * x[t] + (1 - rate) * state
        y[t] = state
    return y


def heat_on_a_rod(u: Array, steps: int, r: float) -> Array:
    """Explicit steps of the heat equation, in place."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def jacobi(u: Array, steps: int) -> Array:
    """Jacobi's iteration for Laplace's equation."""
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = v
    return u


def heat_in_a_box(u: Array, steps: int, r: float) -> Array:
    """The heat equation in three dimensions."""
    for _ in range(steps):
        old = u.copy()
        inner = old[1:-1, 1:-1, 1:-1]
        around = (
            old[2:, 1:-1, 1:-1]
            + old[:-2, 1:-1, 1:-1]
            + old[1:-1, 2:, 1:-1]
            + old[1:-1, :-2, 1:-1]
            + old[1:-1, 1:-1, 2:]
            + old[1:-1, 1:-1, :-2]
        )
        u = old
        u[1:-1, 1:-1, 1:-1] = inner + r * (around - 6 * inner)
    return u


def waves_on_a_string(u: Array, steps: int) -> Array:
    """The wave equation, of two steps before."""
    before, now = u, u
    for _ in range(steps):
        after = 2 * now - before
        after[1:-1] += 0.25 * (now[2:] - 2 * now[1:-1] + now[:-2])
        before = now
        now = after
    return now


def waves_on_a_drum(u: Array, steps: int) -> Array:
    """The wave equation in a square, of three arrays."""
    before = u.copy()
    for _ in range(steps):
        after = 2 * u - before
        inside = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        after[1:-1, 1:-1] += 0.1 * (around - 4 * inside)
        before, u = u, after
    return u


def gray_scott(u: Array, v: Array, steps: int) -> tuple[Array, Array]:
    """Reaction and diffusion of two substances, in place."""
    a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
    for _ in range(steps):
        spread_a = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * a + u[1:-1, 2:] + u[2:, 1:-1]
        spread_b = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * b + v[1:-1, 2:] + v[2:, 1:-1]
        reaction = a * b * b
        a += 0.16 * spread_a - reaction + 0.06 * (1 - a)
        b += 0.08 * spread_b + reaction - 0.122 * b
    return u, v


def relaxed_until_it_settles(u: Array, tolerance: float) -> tuple[Array, int]:
    """Averages of neighbors until no value moves much."""
    steps = 0
    while True:
        v = u.copy()
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        steps += 1
        if np.max(np.abs(v - u)) < tolerance or steps == 3000:
            break
        u = v
    return v, steps


def conjugate_gradient(a: Array, b: Array) -> Array:
    """Conjugate gradients, a hundred steps at most."""
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rho = r @ r
    for _ in range(100):
        q = a @ p
        alpha = rho / (p @ q)
        x += alpha * p
        r -= alpha * q
        new = r @ r
        if new < 1e-20:
            break
        p = r + new / rho * p
        rho = new
    return x


def power_iteration(a: Array, x: Array) -> Any:
    """The largest eigenvalue."""
    for _ in range(100):
        y = a @ x
        x = y / np.linalg.norm(y)
    return x @ a @ x


def gauss_seidel_by_rows(a: Array, b: Array, sweeps: int) -> Array:
    """Gauss and Seidel's iteration with products of rows."""
    x = np.zeros_like(b)
    for _ in range(sweeps):
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def elimination(a: Array) -> Array:
    """Elimination by rows."""
    a = a.copy()
    n = len(a)
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return a


def forward_substitution(a: Array, b: Array) -> Array:
    """A lower triangular system."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def runge_kutta(y: Array, dt: float, steps: int) -> Array:
    """A damped oscillator by the classical method."""

    def rate(y: Array) -> Array:
        return np.stack([y[1], -y[0] - 0.1 * y[1]])

    out = np.empty((steps + 1, 2))
    out[0] = y
    for i in range(steps):
        k1 = rate(y)
        k2 = rate(y + dt / 2 * k1)
        k3 = rate(y + dt / 2 * k2)
        k4 = rate(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out[i + 1] = y
    return out


def kalman(z: Array, f: Array, h: Array, q: Array, noise: float) -> Array:
    """A Kalman filter of position and speed."""
    x, p = np.zeros(2), np.eye(2)
    out = np.zeros((len(z), 2))
    for t in range(len(z)):
        x = f @ x
        p = f @ p @ f.T + q
        gain = p @ h / (h @ p @ h + noise)
        x = x + gain * (z[t] - h @ x)
        p = p - np.outer(gain, h) @ p
        out[t] = x
    return out


def least_mean_squares(x: Array, wanted: Array, rate: float) -> Array:
    """An adaptive filter with normalized steps."""
    taps = 16
    w = np.zeros(taps)
    errors = np.zeros(len(x))
    for t in range(taps, len(x)):
        window = x[t - taps : t]
        error = wanted[t] - w @ window
        w = w + rate * error * window / (window @ window + 1e-6)
        errors[t] = error
    return errors


def gradient_descent(x: Array, y: Array, rate: float, steps: int) -> Array:
    """Least squares with momentum."""
    w = np.zeros(x.shape[1])
    v = np.zeros_like(w)
    for _ in range(steps):
        v = 0.9 * v - rate * (x.T @ (x @ w - y)) / len(y)
        w = w + v
    return w


def forward_algorithm(start: Array, move: Array, emit: Array) -> Array:
    """Probabilities of a hidden Markov model's states, normalized in each step."""
    alpha = np.empty_like(emit)
    alpha[0] = start * emit[0]
    for t in range(1, len(emit)):
        alpha[t] = (alpha[t - 1] @ move) * emit[t]
        alpha[t] /= alpha[t].sum()
    return alpha


def _markov(rng: np.random.Generator, n: int) -> tuple[Array, ...]:
    move = rng.random((5, 5)) + 0.1
    move /= move.sum(axis=1, keepdims=True)
    return np.full(5, 0.2), move, rng.random((n, 5)) + 0.1


def _motion(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    f, h = np.array([[1, 0.1], [0, 1.0]]), np.array([1.0, 0.0])
    return rng.random(n), f, h, 0.01 * np.eye(2), 0.1


PROGRAMS = (
    Program(smoothing_of_channels, lambda rng, n: (rng.random((n, 64)), 0.1), 5_000, 500),
    Program(heat_on_a_rod, lambda rng, n: (rng.random(n), 800, 0.1), 3_000, 300),
    Program(jacobi, lambda rng, n: (rng.random((n, n)), 100), 150, 40),
    Program(heat_in_a_box, lambda rng, n: (rng.random((n, n, n)), 25, 0.1), 25, 8),
    Program(waves_on_a_string, lambda rng, n: (rng.random(n), 500), 1_000, 200),
    Program(waves_on_a_drum, lambda rng, n: (rng.random((n, n)), 100), 512, 60),
    Program(gray_scott, lambda rng, n: (*rng.random((2, n, n)), 100), 512, 60),
    Program(relaxed_until_it_settles, lambda rng, n: (rng.random(n), 1e-5), 200, 50),
    Program(conjugate_gradient, lambda rng, n: (definite(rng, n), rng.random(n)), 60, 20),
    Program(power_iteration, lambda rng, n: (definite(rng, n), rng.random(n)), 64, 20),
    Program(gauss_seidel_by_rows, lambda rng, n: (dominant(rng, n), rng.random(n), 20), 100, 30),
    Program(elimination, lambda rng, n: (dominant(rng, n),), 100, 30),
    Program(
        forward_substitution, lambda rng, n: (np.tril(dominant(rng, n)), rng.random(n)), 300, 50
    ),
    Program(runge_kutta, lambda _rng, n: (np.array([1.0, 0.0]), 0.01, n), 1_000, 200),
    Program(kalman, _motion, 1_000, 200),
    Program(least_mean_squares, lambda rng, n: (rng.random(n), rng.random(n), 0.5), 5_000, 500),
    Program(
        gradient_descent, lambda rng, n: (rng.random((n, 8)), rng.random(n), 0.1, 200), 200, 50
    ),
    Program(forward_algorithm, _markov, 1_000, 200),
)
