"""Programs whose arrays share memory while they write; oracle: the undecorated function."""

import numpy as np
import pytest

from tests.capture.behavior import check

SEEDS = (0, 0, 1, 0, 2, 3, 1, 0)


def vector(rng):
    return (rng.normal(size=6),)


def square(rng):
    return (rng.normal(size=(4, 4)),)


def fortran_square(rng):
    return (rng.normal(size=(4, 4)).T,)


def small_matrix(rng):
    return (np.matrix(rng.normal(size=(2, 2))),)


def identity_of_arrays(x):
    y = x
    y += 1
    z = np.asarray(x)
    return y is x, z is x, x.T is x, x[:] is x


def writes_through_flat(x):
    x.flat[::2] = 0
    for index, element in np.ndenumerate(x.reshape(2, 3)):
        x[index[1]] += element
    return x, [element for element in x.flat]


def shapes_that_are_assigned(x):
    y = x.copy()
    y.shape = (2, 3)
    y.real[0] = 5
    return y, y.T.flags.f_contiguous


def conversions_that_may_not_copy(x):
    same = x.astype(x.dtype, copy=False)
    same[0] = 4
    array = np.asarray(x)
    array[1] = 3
    contiguous = np.ascontiguousarray(x)
    contiguous[2] = 2
    at_least = np.atleast_1d(x)
    at_least[3] = 8
    return x, same is x, at_least is x


def ravel_that_copies_or_not(x):
    rows = x.ravel()
    rows[0] = 9
    kept = x.ravel(order="K")
    kept[1] = 7
    columns = x.reshape(-1, order="F")
    columns[2] = 5
    return x, rows, np.diagonal(x).flags.writeable


def decomposition_in_place(x):
    n = x.shape[0]
    for i in range(n):
        for j in range(i):
            x[i, j] -= x[i, :j] @ x[:j, j]
            x[i, j] /= x[j, j]
        for j in range(i, n):
            x[i, j] -= x[i, :i] @ x[:i, j]
    return x


def prints_between_writes(x):
    y = x * 2
    print(y.sum())
    z = y + 1
    x[0] = 5
    return z


def products_of_matrices(x):
    return x * x


PROGRAMS = [
    (identity_of_arrays, vector),
    (writes_through_flat, vector),
    (shapes_that_are_assigned, vector),
    (conversions_that_may_not_copy, vector),
    (ravel_that_copies_or_not, fortran_square),
    (decomposition_in_place, square),
    (prints_between_writes, vector),
    (products_of_matrices, small_matrix),
]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(("fn", "make"), PROGRAMS, ids=lambda each: each.__name__)
def test_programs(fn, make):
    check(fn, make, seeds=SEEDS)
