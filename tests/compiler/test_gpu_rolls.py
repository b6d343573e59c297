"""Rolled arrays on a GPU. Oracle: NumPy, to the bit; the kernels are counted."""

import numpy as np
import pytest

import runmat_jit as runmat

SHIFTS = [
    ((9,), 2, 0),
    ((9,), -11, None),
    ((7, 5), 1, 0),
    ((7, 5), -1, 1),
    ((7, 5), 13, 1),
    ((7, 5), 3, None),
    ((7, 5), (1, -2), (0, 1)),
    ((1, 6), 2, 1),
    ((6, 1), 2, 0),
    ((4, 3, 5), -1, 1),
    ((4, 3, 5), (2, 1), (2, 0)),
    ((8, 2), 1, -1),
    ((5, 5), 0, 0),
    ((5, 5), 5, 1),
    ((0, 3), 1, 0),
]


DTYPES = [np.float32, np.int64, np.complex64, np.bool_]


def rolled(x, shift, axis):
    return np.roll(x, shift, axis) ^ x if x.dtype == bool else np.roll(x, shift, axis) - x


@pytest.mark.parametrize(("number", "case"), list(enumerate(SHIFTS)), ids=str)
def test_rolled_arrays_are_numpys(gpu, number, case):
    (shape, shift, axis), dtype = case, DTYPES[number % len(DTYPES)]
    x = (np.arange(np.prod(shape)) * 3 % 17).astype(dtype).reshape(shape)
    decorated = runmat.jit(rolled, device="gpu")
    for given in (runmat.asarray(x, device="gpu"), x.T.copy().T, x[::-1]):
        found = np.asarray(decorated(given, shift, axis))
        expected = rolled(np.asarray(given), shift, axis)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def around(u):
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u


def steps(u):
    for _ in range(3):
        u = u + around(u) * 0.25
    return u


def written(u):
    u[:] = around(u)
    return u


@pytest.mark.parametrize(("fn", "kernels"), [(around, 1), (steps, 3), (written, 2)])
def test_neighbors_on_a_torus_are_a_kernel_a_turn(gpu, fn, kernels):
    x = np.arange(60.0).reshape(6, 10) % 7
    decorated = runmat.jit(fn, device="gpu")
    found = np.asarray(decorated(runmat.asarray(x, device="gpu")))
    np.testing.assert_array_equal(found, fn(x.copy()))
    report = decorated.explain(runmat.asarray(x, device="gpu")).to_dict()
    assert sum(region["kernels"] for region in report["regions"]) <= kernels


def shifted(x):
    """Two parts of an array over one of another, but not in the order of a roll."""
    y = np.empty_like(x)
    y[:3], y[3:] = x[:3], x[:3]
    z = np.zeros_like(x)
    z[1:3], z[3:] = x[0:2], x[0:3]
    return y + 2 * z


def test_other_parts_of_an_array_are_no_roll(gpu):
    x = np.arange(6.0)
    found = runmat.jit(shifted, device="gpu")(runmat.asarray(x, device="gpu"))
    np.testing.assert_array_equal(np.asarray(found), shifted(x))
