"""Programs of the guide's tutorials that loop and branch."""

import numpy as np

from tests.parity.program import normal, positive, program

GRIDS = ((6, 6), (12, 9))


@program(positive)
def newton_square_root(x):
    guess = x.copy()
    for _ in range(20):
        better = 0.5 * (guess + x / guess)
        if np.abs(better - guess).max() < 1e-3:
            break
        guess = better
    return guess


@program(lambda rng, shape, dtype: (shape[0], 8), dtypes=("float64",))
def mandelbrot_set(size, steps):
    y, x = np.ogrid[-1.4 : 1.4 : size * 1j, -2 : 0.8 : size * 1j]
    c = x + y * 1j
    z = c
    escaped = np.full(z.shape, steps)
    for i in range(steps):
        z = z**2 + c
        diverged = abs(z) > 2
        now = diverged & (escaped == steps)
        escaped[now] = i
        z[diverged] = 2
    return escaped


@program(normal, shapes=GRIDS)
def heat_equation(u):
    for _ in range(5):
        laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * laplacian
    return u.mean()


@program(positive)
def branch_on_a_sum(x):
    if x.sum() > 1.2 * len(x):
        return x - x.min()
    return x / x.max()


@program(normal)
def exponential_smoothing(x):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, 8):
        out[i] = 0.3 * x[i] + 0.7 * out[i - 1]
    return out[:8]


@program(normal)
def comprehension_over_rows(x):
    rows = x[:12].reshape(3, 4)
    return [float(row.max()) for row in rows], np.array([row.sum() for row in rows])


@program(positive)
def bisection(x):
    low, high = 0.0, 4.0
    target = float(x.mean())
    while high - low > 1e-3:
        middle = (low + high) / 2
        if middle * middle < target:
            low = middle
        else:
            high = middle
    return low, x - low


@program(normal)
def gradient_descent(x):
    w = np.zeros(2)
    design = np.stack([np.ones(len(x)), np.arange(len(x)) / len(x)], axis=1)
    for _ in range(10):
        w -= 0.1 * (2 / len(x)) * (design.T @ (design @ w - x))
    return w


@program(normal)
def generator_expression_and_zip(x):
    pairs = zip(x[:4], x[4:8], strict=True)
    return sum(a * b for a, b in pairs), [i for i, v in enumerate(x[:5]) if v > 0]
