"""Polynomials, interpolation, splines and least squares."""

import numpy as np

from tests.parity.program import of_products, program, rounded_as_given


def table(rng, shape, dtype):
    """Knots in ascending order, values, and points between them."""
    x = np.cumsum(rng.uniform(0.5, 1.5, shape)).astype(dtype)
    y = rng.normal(size=shape).astype(dtype)
    return x, y, rng.uniform(x[0], x[-1], 2 * shape[0] + 1).astype(dtype)


def coefficients_and_points(rng, shape, dtype):
    return rng.normal(size=6).astype(dtype), rng.uniform(-1, 1, shape).astype(dtype)


def observations(rng, shape, dtype):
    x = rng.uniform(-1.0, 1.0, shape)
    y = 2 * x - 0.5 + rng.normal(scale=0.1, size=shape)
    return x.astype(dtype), y.astype(dtype)


@program(coefficients_and_points)
def horner(coefficients, x):
    result = np.zeros_like(x)
    for c in coefficients[::-1]:
        result = result * x + c
    return result


@program(coefficients_and_points)
def polynomial_and_derivatives(c, x):
    p, dp, ddp = np.full_like(x, c[-1]), np.zeros_like(x), np.zeros_like(x)
    for k in range(len(c) - 2, -1, -1):
        ddp = ddp * x + 2 * dp
        dp = dp * x + p
        p = p * x + c[k]
    return p, dp, ddp


@program(coefficients_and_points)
def clenshaw_chebyshev(c, x):
    b1 = b2 = np.zeros(x.shape, dtype=x.dtype)
    for k in range(c.size - 1, 0, -1):
        b1, b2 = 2 * x * b1 - b2 + c[k], b1
    return x * b1 - b2 + c[0]


@program(coefficients_and_points)
def legendre_polynomials(c, x):
    basis = [np.ones_like(x), x]
    for n in range(1, len(c) - 1):
        basis.append(((2 * n + 1) * x * basis[n] - n * basis[n - 1]) / (n + 1))
    design = np.column_stack(basis)
    return design, design @ c


def of_small_differences(*args):
    """The greatest difference is about a thousandth of the values that it is one of."""
    return 1000 * rounded_as_given(*args)


@program(coefficients_and_points, amplified=of_small_differences)
def chebyshev_fit(_coefficients, x):
    n = 12
    k = np.arange(n)
    nodes = np.cos(np.pi * (k + 0.5) / n)
    values = 1 / (1 + 4 * nodes**2)
    weights = 2 / n * np.cos(np.outer(k, np.arccos(nodes))) @ values
    weights[0] /= 2
    approximation = np.cos(np.outer(np.arccos(x), k)) @ weights
    return approximation, np.abs(approximation - 1 / (1 + 4 * x**2)).max()


@program(table)
def linear_interpolation(x, y, points):
    right = np.clip(np.searchsorted(x, points), 1, len(x) - 1)
    left = right - 1
    t = (points - x[left]) / (x[right] - x[left])
    return y[left] + t * (y[right] - y[left])


@program(table)
def nearest_and_previous(x, y, points):
    distance = np.abs(points[:, None] - x[None, :])
    nearest = y[distance.argmin(axis=1)]
    previous = y[np.searchsorted(x, points, side="right") - 1]
    return nearest, previous, np.interp(points, x, y)


@program(table, shapes=((4,), (9,)))
def lagrange_interpolation(x, y, points):
    total = np.zeros_like(points)
    for i in range(x.size):
        basis = np.ones_like(points)
        for j in range(x.size):
            if i != j:
                basis *= (points - x[j]) / (x[i] - x[j])
        total += y[i] * basis
    return total


@program(table, shapes=((4,), (9,)))
def newton_divided_differences(x, y, points):
    n = len(x)
    coefficients = y.copy()
    for k in range(1, n):
        coefficients[k:] = (coefficients[k:] - coefficients[k - 1 : -1]) / (x[k:] - x[:-k])
    value = np.full_like(points, coefficients[-1])
    for k in range(n - 2, -1, -1):
        value = value * (points - x[k]) + coefficients[k]
    return coefficients, value


@program(table, shapes=((5,), (12,)))
def barycentric_interpolation(x, y, points):
    gaps = x[:, None] - x
    np.fill_diagonal(gaps, 1.0)
    weights = 1.0 / gaps.prod(axis=1)
    difference = np.subtract.outer(points, x)
    hit = difference == 0
    difference[hit] = 1.0
    ratio = weights / difference
    value = ratio @ y / ratio.sum(axis=1)
    rows, columns = np.nonzero(hit)
    value[rows] = y[columns]
    return value


@program(table, shapes=((5,), (30,)))
def natural_cubic_spline(x, y, points):
    h = np.diff(x)
    n = len(x)
    system = np.eye(n, dtype=y.dtype)
    rhs = np.zeros(n, dtype=y.dtype)
    for i in range(1, n - 1):
        system[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        rhs[i] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    m = np.linalg.solve(system, rhs)
    i = np.clip(np.searchsorted(x, points) - 1, 0, n - 2)
    a, b = x[i + 1] - points, points - x[i]
    cubic = (m[i] * a**3 + m[i + 1] * b**3) / (6 * h[i])
    return cubic + (y[i] / h[i] - m[i] * h[i] / 6) * a + (y[i + 1] / h[i] - m[i + 1] * h[i] / 6) * b


@program(table)
def catmull_rom(x, y, points):
    padded = np.concatenate([y[:1], y, y[-1:]])
    p0, p1, p2, p3 = padded[:-3], padded[1:-2], padded[2:-1], padded[3:]
    t = np.linspace(0, 1, 5, endpoint=False, dtype=y.dtype)[:, None]
    curve = 0.5 * (
        2 * p1
        + (p2 - p0) * t
        + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2
        + (3 * p1 - p0 - 3 * p2 + p3) * t**3
    )
    return curve.T.reshape(-1)


@program(lambda rng, shape, dtype: (rng.normal(size=(4, 2)).astype(dtype), shape[0]))
def bezier_curve(control, count):
    """De Casteljau's construction at many parameters at once."""
    t = np.linspace(0, 1, count)[:, None, None]
    points = np.broadcast_to(control, (count, *control.shape))
    while points.shape[1] > 1:
        points = (1 - t) * points[:, :-1] + t * points[:, 1:]
    return points[:, 0]


@program(observations)
def straight_line_fit(x, y):
    x_mean, y_mean = x.mean(), y.mean()
    slope = np.sum((x - x_mean) * (y - y_mean)) / np.sum((x - x_mean) ** 2)
    intercept = y_mean - slope * x_mean
    residual = y - (slope * x + intercept)
    r_squared = 1 - (residual**2).sum() / ((y - y_mean) ** 2).sum()
    return {"slope": slope, "intercept": intercept, "r_squared": r_squared}


@program(observations)
def normal_equations(x, y):
    design = np.vander(x, 4, increasing=True)
    coefficients = np.linalg.solve(design.T @ design, design.T @ y)
    fitted = design @ coefficients
    return coefficients, np.sqrt(np.mean((y - fitted) ** 2))


@program(observations, amplified=of_products)
def iteratively_reweighted_line(x, y):
    """Robust regression: Huber weights."""
    design = np.stack([np.ones_like(x), x], axis=1)
    weights = np.ones_like(y)
    for _ in range(4):
        weighted = design * weights[:, None]
        beta = np.linalg.solve(weighted.T @ design, weighted.T @ y)
        residual = y - design @ beta
        scale = np.median(np.abs(residual)) / 0.6745
        u = np.abs(residual) / (1.345 * scale)
        weights = np.where(u <= 1, 1, 1 / np.maximum(u, 1))
    return beta, weights.min()


@program(observations)
def savitzky_golay(_x, y):
    window = np.arange(-2, 3)
    kernel = np.linalg.pinv(np.vander(window, 3))[2]
    windows = np.lib.stride_tricks.sliding_window_view(y, 5)
    smooth = y.copy()
    smooth[2:-2] = windows @ kernel
    return smooth


@program(observations)
def continued_fraction_of_tangent(x, _y):
    value = np.zeros_like(x)
    for k in range(9, 0, -2):
        value = x * x / (k - value)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x == 0, 0, value / x)
