"""Programs after NumPy's guide: making arrays."""

import numpy as np

from tests.parity.program import normal, program

MATRICES = ((4, 4), (9, 9))


@program(normal)
def moving_average(x, width=5):
    total = np.cumsum(x)
    total[width:] = total[width:] - total[:-width]
    return total[width - 1 :] / width


@program(normal)
def like_constructors(x):
    zeros, ones = np.zeros_like(x), np.ones_like(x)
    filled = np.full_like(x, 2.5)
    counts = np.zeros_like(x, dtype=np.int64)
    return zeros + ones * filled, zeros, counts + 1, np.empty_like(x).shape


@program(normal)
def sampled_wave(x):
    t = np.linspace(0.0, 1.0, len(x), dtype=x.dtype)
    wave = np.sin(2 * np.pi * 3 * t) + 0.1 * x
    step = t[1] - t[0]
    return wave, step


@program(normal)
def ramps_of_arange(x):
    up = np.arange(x.size)
    halves = np.arange(0.0, 2.0, 0.5)
    down = np.arange(10, 0, -3)
    return up * x, halves, down, np.arange(x.size, dtype=x.dtype) / x.size


@program(normal, shapes=MATRICES)
def regularized_matrix(a):
    n = a.shape[0]
    ridge = np.eye(n, dtype=a.dtype) * 0.1
    upper = np.triu(a, k=1)
    lower = np.tril(a, k=-1)
    return a + ridge, upper + upper.T, lower, np.identity(n)


@program(normal, shapes=((5,), (17,)))
def banded_from_diagonals(x):
    main = np.diag(x)
    above = np.diag(x[:-1], k=1)
    both = main + above
    both[np.diag_indices(3)] = 0
    return both, np.diag(both)


@program(normal)
def nested_lists(x):
    small = np.array([[x[0], x[1]], [x[2], x[3]]])
    mixed = np.array([[1, 2.5], [3, 4]])
    return small @ mixed, small.dtype, mixed.astype(x.dtype) * small


@program(normal, shapes=((6, 7), (3, 40)))
def function_of_indices(a):
    rows, columns = np.indices(a.shape)
    checker = (rows + columns) % 2 == 0
    table = np.fromfunction(lambda i, j: 10 * i + j, a.shape)
    return np.where(checker, a, table)


@program(normal)
def logarithmic_grid(x):
    grid = np.logspace(-2, 2, 9)
    ratios = np.geomspace(1, 256, 9)
    centers = np.sqrt(grid[1:] * grid[:-1])
    return grid, ratios, centers * x[0]


@program(normal, shapes=((12,), (60,)))
def copies_of_copies(x):
    a = np.array(x)
    b = np.array(x, copy=False) if x.flags.c_contiguous else np.asarray(x)
    c = np.ascontiguousarray(x[::2])
    a += 1
    c *= 2
    return a, b is x, c, x.copy()


@program(normal, shapes=((4,), (30,)))
def vandermonde_fit_matrix(x):
    powers = np.vander(x, 4, increasing=True)
    scaled = powers / np.abs(powers).max(axis=0)
    return powers, scaled.sum(axis=1)
