"""Numerical integration and differentiation, as textbooks write them."""

import numpy as np

from tests.parity.program import program, rounded_as_given


def samples(rng, shape, dtype):
    """Samples of a smooth function on an uneven grid."""
    x = np.sort(rng.uniform(0.0, 3.0, shape)).astype(dtype)
    return np.sin(x) + x * x, x


def uniform_samples(rng, shape, dtype):
    return (rng.normal(size=shape).astype(dtype), 0.125)


def bounds(rng, shape, dtype):
    lower = rng.uniform(-1.0, 0.0, shape).astype(dtype)
    return lower, lower + rng.uniform(0.5, 2.0, shape).astype(dtype)


def bumps(rng, shape, dtype):
    return (rng.uniform(0.1, 1.0, (*shape, 9)).astype(dtype), 0.5)


@program(samples)
def trapezoid_rule(y, x):
    widths = np.diff(x)
    return np.sum((y[1:] + y[:-1]) * widths) / 2


@program(samples)
def cumulative_trapezoid(y, x):
    out = np.zeros_like(y)
    np.cumsum(np.diff(x) * 0.5 * (y[1:] + y[:-1]), out=out[1:])
    return out


@program(uniform_samples)
def simpson_rule(y, h):
    n = len(y)
    tail = 0.0
    if n % 2 == 0:  # the last interval by the trapezoid rule
        tail = h * (y[-1] + y[-2]) / 2
        y = y[:-1]
    return h / 3 * (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-2:2].sum() + y[-1]) + tail


@program(bounds)
def gauss_legendre_quadrature(a, b):
    nodes, weights = np.polynomial.legendre.leggauss(5)
    middle, half = (a + b) / 2, (b - a) / 2
    x = middle[:, None] + half[:, None] * nodes.astype(a.dtype)
    return half * (np.exp(-x * x) @ weights.astype(a.dtype))


@program(bounds, shapes=((3,), (9,)))
def romberg_table(a, b):
    def f(x):
        return 1.0 / (1.0 + x * x)

    levels = 5
    table = np.zeros((levels, levels, *a.shape))
    h = b - a
    table[0, 0] = h * (f(a) + f(b)) / 2
    for k in range(1, levels):
        h = h / 2
        new = sum(f(a + (2 * i + 1) * h) for i in range(2 ** (k - 1)))
        table[k, 0] = table[k - 1, 0] / 2 + h * new
        for j in range(1, k + 1):
            gain = 4**j - 1
            table[k, j] = table[k, j - 1] + (table[k, j - 1] - table[k - 1, j - 1]) / gain
    return table, table[-1, -1]


@program(
    lambda rng, shape, dtype: (dtype.type(0.0), dtype.type(rng.uniform(2.0, 3.0)), 1e-4),
    shapes=((1,),),
)
def adaptive_simpson(a, b, tolerance):
    def f(x):
        return np.sin(x) * np.exp(-x)

    def simpson(a, b):
        return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))

    def refine(a, b, whole, tolerance):
        middle = (a + b) / 2
        left, right = simpson(a, middle), simpson(middle, b)
        if abs(left + right - whole) < 15 * tolerance:
            return left + right
        return refine(a, middle, left, tolerance / 2) + refine(middle, b, right, tolerance / 2)

    return refine(a, b, simpson(a, b), tolerance)


@program(uniform_samples)
def central_difference(f, h):
    df = np.empty_like(f)
    df[1:-1] = (f[2:] - f[:-2]) / (2 * h)
    df[0] = (-3 * f[0] + 4 * f[1] - f[2]) / (2 * h)
    df[-1] = (3 * f[-1] - 4 * f[-2] + f[-3]) / (2 * h)
    return df


@program(lambda rng, shape, dtype: (rng.normal(size=shape).astype(dtype), 0.25))
def richardson_derivative(x, step):
    def slope(h):
        return (np.sin(x + h) - np.sin(x - h)) / (2 * h)

    return (4 * slope(step / 2) - slope(step)) / 3


@program(lambda rng, shape, dtype: (rng.normal(size=(*shape, 7)).astype(dtype), 0.5, 0.25))
def divergence_and_curl(field, dx, dy):
    u, v = field, np.cos(field)
    du_dx, du_dy = np.gradient(u, dx, dy)
    dv_dx, dv_dy = np.gradient(v, dx, dy)
    return {"divergence": du_dx + dv_dy, "curl": dv_dx - du_dy}


@program(samples, amplified=rounded_as_given)
def arc_length_parameter(y, x):
    steps = np.hypot(np.diff(x), np.diff(y))
    length = np.concatenate(([0.0], np.cumsum(steps)))
    return length / length[-1], length[-1]


@program(
    lambda rng, shape, dtype: (rng.uniform(0.5, 1.5, 3).astype(dtype),),
    shapes=((3,),),
    dtypes=("float64",),  # differences of float32 over so small a step are noise
)
def numerical_jacobian(x):
    def system(v):
        return np.array([v[0] * v[1], np.sin(v[2]) + v[0], v[1] ** 2 - v[2]])

    base = system(x)
    step = 1e-3
    jacobian = np.zeros((base.size, x.size))
    for j in range(x.size):
        moved = x.copy()
        moved[j] += step
        jacobian[:, j] = (system(moved) - base) / step
    return jacobian


@program(bumps)
def center_of_mass(density, spacing):
    rows, columns = np.indices(density.shape)
    density = density.astype(float)
    mass = density.sum() * spacing**2
    row = (rows * density).sum() * spacing**3 / mass
    column = (columns * density).sum() * spacing**3 / mass
    spread = np.sqrt((((rows * spacing - row) ** 2) * density).mean() / density.mean())
    return mass, row, column, spread
