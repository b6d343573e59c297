"""Root finding and one-dimensional minimization with tolerances and `while` loops."""

import math

import numpy as np

from tests.parity.program import program


def brackets(rng, shape, dtype):
    return rng.uniform(0.5, 9.0, shape).astype(dtype), 1e-3


def anomalies(rng, shape, dtype):
    return rng.uniform(0.0, 2 * np.pi, shape).astype(dtype), dtype.type(0.3)


def number(rng, shape, dtype):
    return (dtype.type(rng.uniform(2.0, 50.0)),)


@program(number, shapes=((1,),))
def bisection(c):
    """The cube root of c by halving an interval."""
    low, high = 0.0, max(1.0, float(c))
    steps = 0
    while high - low > 1e-4:
        middle = (low + high) / 2
        if middle**3 > c:
            high = middle
        else:
            low = middle
        steps += 1
    return (low + high) / 2, steps


@program(brackets)
def bisection_of_many(c, tolerance):
    low, high = np.zeros_like(c), np.maximum(c, 1)
    while np.max(high - low) > tolerance:
        middle = (low + high) / 2
        above = middle * middle > c
        high = np.where(above, middle, high)
        low = np.where(above, low, middle)
    return (low + high) / 2


@program(number, shapes=((1,),))
def newton_square_root(a):
    x = a
    for iteration in range(50):
        step = (x * x - a) / (2 * x)
        x = x - step
        if abs(step) < 1e-2 * x:
            break
    else:
        raise ArithmeticError("no convergence")
    return x, iteration


@program(anomalies)
def kepler_equation(mean_anomaly, eccentricity):
    """Newton on all anomalies, each frozen once it has converged."""
    angle = mean_anomaly.copy()
    active = np.ones(angle.shape, dtype=bool)
    rounds = 0
    while active.any() and rounds < 20:
        e = angle[active]
        delta = (e - eccentricity * np.sin(e) - mean_anomaly[active]) / (
            1 - eccentricity * np.cos(e)
        )
        angle[active] = e - delta
        active[active] = np.abs(delta) > 1e-3
        rounds += 1
    return angle, active


@program(number, shapes=((1,),))
def secant_method(c):
    def f(x):
        return np.exp(x / 10) - c

    x0, x1 = c, c + 1
    f0, f1 = f(x0), f(x1)
    count = 0
    while abs(f1) > 1e-3 * c and count < 40:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
        count += 1
    assert count < 40, "the secant method did not converge"
    return x1


@program(anomalies)
def cosine_fixed_point(start, _weight):
    x = start
    for _ in range(8):
        x = np.cos(x)
    residual = np.abs(np.cos(x) - x).max()
    return (x, "converged") if residual < 0.1 else (x, "still moving")


@program(number, shapes=((1,),))
def golden_section_search(scale):
    def cost(x):
        return (x - 0.3 * scale) ** 2 + 1.0

    ratio = (math.sqrt(5) - 1) / 2
    a, b = np.float64(0.0), np.float64(scale)
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    while b - a > 1e-3:
        if cost(c) < cost(d):
            b, d = d, c
            c = b - ratio * (b - a)
        else:
            a, c = c, d
            d = a + ratio * (b - a)
    return (a + b) / 2


@program(brackets)
def halley_cube_root(a, tolerance):
    x = np.maximum(a / 3, 1)
    error = np.inf
    rounds = 0
    while error > tolerance and rounds < 12:
        cube = x * x * x
        new = x * (cube + 2 * a) / (2 * cube + a)
        error = np.max(np.abs(new - x))
        x = new
        rounds += 1
    return x


@program(brackets)
def lambert_w(z, _tolerance):
    w = np.log1p(z)
    for _ in range(4):
        ew = np.exp(w)
        f = w * ew - z
        w -= f / (ew * (w + 1) - (w + 2) * f / (2 * w + 2))
    return w


@program(lambda rng, shape, dtype: (rng.uniform(0.5, 1.5, 2).astype(dtype),), shapes=((2,),))
def newton_for_a_system(start):
    x = start.copy()
    for _ in range(6):
        residual = np.array([x[0] ** 2 + x[1] ** 2 - 4, x[0] * x[1] - 1], dtype=x.dtype)
        jacobian = np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]], dtype=x.dtype)
        try:
            x -= np.linalg.solve(jacobian, residual)
        except np.linalg.LinAlgError:
            x += 0.1
    return x


@program(
    lambda rng, shape, dtype: (np.array([1, -6, 11, -6], dtype) + dtype.type(0.01),), shapes=((4,),)
)
def durand_kerner(coefficients):
    """All roots of a cubic at once, in complex numbers."""
    roots = (0.4 + 0.9j) ** np.arange(3)
    for _ in range(30):
        values = np.polyval(coefficients, roots)
        gaps = roots[:, None] - roots[None, :]
        np.fill_diagonal(gaps, 1)
        roots = roots - values / (coefficients[0] * gaps.prod(axis=1))
    return np.sort(roots.real), np.abs(roots.imag).max() < 1e-3
