"""Programs after NumPy's guide: linear algebra, einsum, transforms, polynomials."""

import numpy as np

from tests.parity.program import normal, positive, program, two_normal

SQUARE = ((4, 4), (11, 11))
TABLES = ((5, 3), (16, 7))


def system(rng, shape, dtype):
    n = shape[0]
    a = rng.normal(size=shape) + 2 * n * np.eye(n)
    return a.astype(dtype), rng.normal(size=n).astype(dtype)


def positive_definite(rng, shape, dtype):
    a = rng.normal(size=shape)
    return ((a @ a.T + len(a) * np.eye(len(a))).astype(dtype),)


@program(system, shapes=SQUARE)
def solve_and_check(a, b):
    x = np.linalg.solve(a, b)
    residual = a @ x - b
    return x, np.abs(residual).max() < 1e-3


@program(positive_definite, shapes=SQUARE)
def cholesky_whitening(covariance):
    factor = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(factor)
    return inverse @ covariance @ inverse.T, np.linalg.det(factor) > 0


@program(positive_definite, shapes=SQUARE)
def power_iteration(a):
    v = np.ones(len(a), dtype=a.dtype)
    for _ in range(8):
        v = a @ v
        v = v / np.sqrt((v * v).sum())
    return v, v @ a @ v


@program(positive_definite, shapes=SQUARE)
def eigenvalues_of_symmetric(a):
    values, vectors = np.linalg.eigh(a)
    rebuilt = (vectors * values) @ vectors.T
    return values, np.abs(rebuilt - a).max() < 1e-2


@program(normal, shapes=TABLES)
def least_squares_line(table):
    design = np.column_stack([np.ones(len(table), dtype=table.dtype), table[:, :2]])
    coefficients, residuals, rank, _ = np.linalg.lstsq(design, table[:, 2], rcond=None)
    return coefficients, rank, design @ coefficients - table[:, 2]


@program(normal, shapes=TABLES)
def principal_components(table):
    centered = table - table.mean(axis=0)
    _, s, vt = np.linalg.svd(centered, full_matrices=False)
    return s**2 / (len(table) - 1), np.abs(vt @ vt.T).trace()


@program(normal, shapes=TABLES)
def norms(table):
    rows = np.linalg.norm(table, axis=1)
    unit = table / rows[:, None]
    return rows, unit, np.linalg.norm(table), np.linalg.norm(table, 1), np.abs(table).sum(axis=1)


@program(two_normal, shapes=TABLES)
def products_of_matrices(a, b):
    gram = a.T @ b
    inner = np.dot(a[0], b[0])
    return gram, inner, np.inner(a, b), np.tensordot(a, b, axes=2), np.vdot(a, b)


@program(two_normal, shapes=TABLES)
def einsum_contractions(a, b):
    return (
        np.einsum("ij,ij->i", a, b),
        np.einsum("ij,kj->ik", a, b),
        np.einsum("ij->j", a),
        np.einsum("i,j->ij", a[:, 0], b[0]),
    )


@program(two_normal, shapes=((6, 3), (15, 3)))
def vectors_in_space(a, b):
    normal_vector = np.cross(a, b)
    area = np.sqrt((normal_vector**2).sum(axis=1)) / 2
    return normal_vector, area, (normal_vector * a).sum(axis=1)


@program(normal, shapes=((2, 3, 3), (5, 4, 4)))
def stacks_of_matrices(stack):
    product = stack @ stack.swapaxes(-1, -2)
    return (
        product,
        np.linalg.det(product + np.eye(stack.shape[-1])),
        np.trace(product, axis1=1, axis2=2),
    )


@program(lambda rng, shape, dtype: (np.zeros(shape, dtype),), shapes=SQUARE)
def raises_for_a_singular_matrix(a):
    return np.linalg.inv(a + 0)


@program(normal, shapes=((16,), (64,)))
def low_pass_filter(signal):
    spectrum = np.fft.rfft(signal)
    spectrum[4:] = 0
    smooth = np.fft.irfft(spectrum, n=len(signal))
    return smooth, np.abs(spectrum) ** 2, np.fft.rfftfreq(len(signal), d=0.1)


@program(normal, shapes=((16,), (60,)))
def spectrum_by_window(signal):
    n = np.arange(len(signal))
    window = 0.5 - 0.5 * np.cos(2 * np.pi * n / (len(signal) - 1))
    power = np.abs(np.fft.fft(signal * window)) ** 2
    return power / power.sum(), np.fft.fftshift(np.fft.fftfreq(len(signal))), np.hanning(5)


@program(normal)
def polynomial_arithmetic(x):
    p = np.array([1.0, -3.0, 2.0])
    values = np.polyval(p, x)
    derivative = np.polyder(p)
    return values, np.roots(p), derivative, np.polymul(p, p), np.polyval(derivative, x)


@program(positive)
def fitted_polynomial(y):
    x = np.linspace(-1, 1, len(y))
    coefficients = np.polyfit(x, y, 2)
    fitted = np.polynomial.polynomial.polyval(x, coefficients[::-1])
    return coefficients, y - fitted


@program(two_normal)
def convolution(a, b):
    kernel = b[:5] / np.abs(b[:5]).sum()
    return np.convolve(a, kernel, mode="same"), np.correlate(a, kernel), np.kron(a[:2], b[:3])
