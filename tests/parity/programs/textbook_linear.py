"""Linear algebra by hand: direct solvers, iterations, factorizations, eigenvalues."""

import numpy as np

from tests.parity.program import of_products, program

SIZES = ((4,), (9,))


def dominant_system(rng, shape, dtype):
    """A diagonally dominant matrix and a right-hand side."""
    n = shape[0]
    matrix = rng.uniform(-1.0, 1.0, (n, n)) + (n + 1) * np.eye(n)
    return matrix.astype(dtype), rng.normal(size=n).astype(dtype)


def positive_definite_system(rng, shape, dtype):
    n = shape[0]
    root = rng.normal(size=(n, n))
    return (root @ root.T + n * np.eye(n)).astype(dtype), rng.normal(size=n).astype(dtype)


def square(rng, shape, dtype):
    n = shape[0]
    return ((rng.normal(size=(n, n)) + 2 * np.eye(n)).astype(dtype),)


def two_squares(rng, shape, dtype):
    n = shape[0]
    return rng.normal(size=(n, n)).astype(dtype), rng.normal(size=(n, n)).astype(dtype)


def tall(rng, shape, dtype):
    n = shape[0]
    return (rng.normal(size=(n + 3, n)).astype(dtype),)


def bands(rng, shape, dtype):
    n = shape[0]
    lower, upper = rng.uniform(-1, 1, (2, n - 1)).astype(dtype)
    return lower, rng.uniform(3, 4, n).astype(dtype), upper, rng.normal(size=n).astype(dtype)


@program(dominant_system, shapes=SIZES, amplified=of_products)
def jacobi_iteration(a, b):
    diagonal = np.diag(a)
    rest = a - np.diagflat(diagonal)
    x = np.zeros_like(b)
    for _ in range(15):
        x = (b - rest @ x) / diagonal
    return x, np.linalg.norm(a @ x - b) < 1e-2


@program(dominant_system, shapes=SIZES)
def gauss_seidel(a, b):
    x = np.zeros_like(b)
    for _ in range(4):
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


@program(positive_definite_system, shapes=SIZES)
def conjugate_gradient(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rho = r @ r
    for _ in range(len(b)):
        if rho < 1e-6:
            break
        q = a @ p
        alpha = rho / (p @ q)
        x += alpha * p
        r -= alpha * q
        rho, old = r @ r, rho
        p = r + rho / old * p
    return x


@program(positive_definite_system, shapes=SIZES, amplified=of_products)
def steepest_descent_for_a_system(a, b):
    x = np.ones_like(b)
    for _ in range(8):
        residual = b - np.dot(a, x)
        length = np.vdot(residual, residual) / np.vdot(residual, np.dot(a, residual))
        x = x + length * residual
    return x


@program(positive_definite_system, shapes=SIZES)
def power_iteration(a, v):
    eigenvalue = 0.0
    for _ in range(30):
        w = a @ v
        v = w / np.linalg.norm(w)
        eigenvalue = v @ a @ v
    return eigenvalue, np.abs(v)


@program(positive_definite_system, shapes=SIZES)
def inverse_iteration_with_deflation(a, v):
    values = []
    a = a.copy()
    for _ in range(2):
        x = v / np.sqrt(np.sum(v**2))
        for _ in range(20):
            x = a.dot(x)
            x /= np.sqrt(np.sum(x**2))
        value = x.dot(a).dot(x)
        values.append(value)
        a -= value * np.outer(x, x)
    return sorted(values, reverse=True)


@program(tall, shapes=SIZES)
def householder_qr(a):
    m, n = a.shape
    r = a.copy()
    q = np.eye(m, dtype=a.dtype)
    for k in range(n):
        x = r[k:, k]
        v = x.copy()
        v[0] += np.copysign(np.linalg.norm(x), x[0])
        v /= np.linalg.norm(v)
        r[k:, k:] -= 2 * np.outer(v, v @ r[k:, k:])
        q[:, k:] -= 2 * np.outer(q[:, k:] @ v, v)
    return q, np.triu(r[:n])


@program(tall, shapes=SIZES)
def modified_gram_schmidt(a):
    q = np.array(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for j in range(a.shape[1]):
        r[j, j] = np.sqrt((q[:, j] ** 2).sum())
        q[:, j] /= r[j, j]
        for k in range(j + 1, a.shape[1]):
            r[j, k] = q[:, j].dot(q[:, k])
            q[:, k] -= r[j, k] * q[:, j]
    return q, r


@program(square, shapes=SIZES)
def givens_rotations(a):
    r = a.copy()
    n = r.shape[0]
    for column in range(min(n - 1, 3)):
        for row in range(n - 1, column, -1):
            x, y = r[row - 1, column], r[row, column]
            length = np.hypot(x, y)
            if length == 0:
                continue
            c, s = x / length, y / length
            rotation = np.array([[c, s], [-s, c]])
            r[row - 1 : row + 1] = rotation @ r[row - 1 : row + 1]
    return r


@program(square, shapes=SIZES)
def lu_with_partial_pivoting(a):
    u = a.astype(np.float64)
    n = len(u)
    order = np.arange(n)
    lower = np.eye(n)
    swaps = 0
    for k in range(n - 1):
        pivot = k + np.argmax(np.abs(u[k:, k]))
        if pivot != k:
            u[[k, pivot]] = u[[pivot, k]]
            order[[k, pivot]] = order[[pivot, k]]
            lower[[k, pivot], :k] = lower[[pivot, k], :k]
            swaps += 1
        lower[k + 1 :, k] = u[k + 1 :, k] / u[k, k]
        u[k + 1 :, k:] -= lower[k + 1 :, k, None] * u[k, k:]
    determinant = (-1) ** swaps * np.prod(np.diag(u))
    return order, lower, u, determinant


@program(positive_definite_system, shapes=SIZES)
def cholesky_and_substitution(a, b):
    n = a.shape[0]
    factor = np.zeros_like(a)
    for j in range(n):
        factor[j, j] = np.sqrt(a[j, j] - np.sum(factor[j, :j] ** 2))
        factor[j + 1 :, j] = (a[j + 1 :, j] - factor[j + 1 :, :j] @ factor[j, :j]) / factor[j, j]
    y = np.empty_like(b)
    for i in range(n):
        y[i] = (b[i] - factor[i, :i] @ y[:i]) / factor[i, i]
    x = np.empty_like(b)
    for i in reversed(range(n)):
        x[i] = (y[i] - factor[i + 1 :, i] @ x[i + 1 :]) / factor[i, i]
    return x


@program(bands, shapes=((6,), (20,)))
def thomas_algorithm(lower, diagonal, upper, rhs):
    n = len(rhs)
    c, d = np.zeros(n - 1, rhs.dtype), rhs.copy()
    c[0] = upper[0] / diagonal[0]
    d[0] = rhs[0] / diagonal[0]
    for i in range(1, n):
        scale = diagonal[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] = upper[i] / scale
        d[i] = (rhs[i] - lower[i - 1] * d[i - 1]) / scale
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


@program(square, shapes=SIZES, amplified=of_products)
def matrix_exponential(a):
    """Scaling and squaring of a Taylor polynomial."""
    norm = np.abs(a).sum(axis=1).max()
    squarings = max(0, int(np.ceil(np.log2(norm))) + 1)
    scaled = a / 2**squarings
    result = np.eye(len(a), dtype=a.dtype)
    term = np.eye(len(a), dtype=a.dtype)
    for k in range(1, 9):
        term = term @ scaled / k
        result = result + term
    for _ in range(squarings):
        result = result @ result
    return result / np.exp(norm)


@program(two_squares, shapes=((4,), (8,)))
def strassen_product(a, b):
    if len(a) <= 2:
        return a @ b
    h = len(a) // 2
    a11, a12, a21, a22 = a[:h, :h], a[:h, h:], a[h:, :h], a[h:, h:]
    b11, b12, b21, b22 = b[:h, :h], b[:h, h:], b[h:, :h], b[h:, h:]
    m1 = strassen_product(a11 + a22, b11 + b22)
    m2 = strassen_product(a21 + a22, b11)
    m3 = strassen_product(a11, b12 - b22)
    m4 = strassen_product(a22, b21 - b11)
    m5 = strassen_product(a11 + a12, b22)
    m6 = strassen_product(a21 - a11, b11 + b12)
    m7 = strassen_product(a12 - a22, b21 + b22)
    return np.block([[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]])


@program(square, shapes=((3,), (6,)))
def faddeev_leverrier(a):
    """Coefficients of the characteristic polynomial."""
    n = a.shape[0]
    coefficients = np.zeros(n + 1, dtype=a.dtype)
    coefficients[n] = 1
    m = np.zeros_like(a)
    for k in range(1, n + 1):
        m = a @ m + coefficients[n - k + 1] * np.identity(n, dtype=a.dtype)
        coefficients[n - k] = -np.trace(a @ m) / k
    return coefficients


@program(two_squares, shapes=SIZES)
def commutator_and_kronecker(a, b):
    bracket = a @ b - b @ a
    antisymmetric = np.allclose(bracket, -(b @ a - a @ b), atol=1e-3)
    block = np.kron(a[:2, :2], b[:2, :2])
    return bracket, antisymmetric, block, np.trace(block)


@program(square, shapes=SIZES)
def gershgorin_discs(a):
    centers = a.diagonal().copy()
    radii = np.abs(a).sum(axis=1) - np.abs(centers)
    low, high = (centers - radii).min(), (centers + radii).max()
    if low > 0:
        return "positive", low, high
    return "indefinite", low, high


@program(dominant_system, shapes=SIZES)
def checked_solution(a, b):
    """Errors of a caller are answered as the library's own would be."""
    report = {}
    try:
        np.linalg.solve(a[:-1], b)
    except np.linalg.LinAlgError as error:
        report["not square"] = type(error).__name__
    try:
        a @ b[:-1]
    except ValueError as error:
        report["mismatch"] = str(error)[:30]
    report["x"] = np.linalg.solve(a, b)
    report["residual is small"] = bool(np.abs(a @ report["x"] - b).max() < 1e-3)
    return report
