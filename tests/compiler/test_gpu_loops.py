"""Loops that are recorded for a GPU. Oracle: undecorated Python, within the accuracy of kernels."""

import numpy as np
import pytest

import runmat_jit as runmat


def fractal(c):
    z = np.zeros_like(c)
    for _ in range(8):
        z = z * z + c
    return z


def escapes(x):
    y, inside = x, np.ones(x.shape, np.bool_)
    for _ in range(9):
        y = y * y - x
        inside = inside & (y < 2)
    return inside, y


def smoothed(x):
    y = np.zeros(x.shape[0], x.dtype)
    for t in range(x.shape[1]):
        y = 0.75 * y + 0.25 * x[:, t]
    return y


def two_back(x):
    before, now = x, x + 1
    for _ in range(11):
        before, now = now, 0.5 * now - 0.25 * before
    return before, now


def swapped(x):
    u, v = x, 2 * x
    for t in range(10):
        u, v = v, u + 0.125 * t
    return u - v, u


def columns(x):
    out = np.zeros((len(x), 6))
    for t in range(6):
        x = 0.5 * x + t
        out[:, t] = x
    return out


def each_turn(x):
    found = []
    for _ in range(9):
        x = 0.5 * x + 1
        found.append(x)
    return found


def driven(x, rate):
    for t in range(60):
        x = x + 0.001 * t * np.sin(x)
    return x * rate


def steady(x, rate):
    for _ in range(60):
        x = x + rate * np.sin(x)
    return x


@pytest.mark.parametrize(("fn", "fewest", "most"), [(driven, 6, 9), (steady, 1, 2)])
def test_only_turns_that_are_alike_wait_for_one_kernel(gpu, fn, fewest, most):
    """Others would be kernels of a hundred sines, which take seconds to compile."""
    decorated, x = runmat.jit(fn, device="gpu"), np.linspace(0, 1, 40, dtype=np.float32)
    found = decorated(runmat.asarray(x, device="gpu"), 0.5)
    np.testing.assert_allclose(np.asarray(found), fn(x, 0.5), rtol=1e-4)
    regions = decorated.explain(runmat.asarray(x, device="gpu"), 0.5).to_dict()["regions"]
    assert fewest <= len(regions) <= most


@pytest.mark.parametrize("fn", [fractal, escapes, smoothed, two_back, swapped, each_turn, columns])
@pytest.mark.parametrize("extent", [1, 8])
def test_loops_are_what_python_computes(gpu, fn, extent):
    x = (np.arange(extent * 12, dtype=np.float64) % 13 / 8).reshape(extent, 12)
    x = x if fn is smoothed else x[:, 3] + (0.5j if fn is fractal else 0)
    decorated = runmat.jit(fn, device="gpu")
    for _ in range(2):
        found = decorated(runmat.asarray(x, device="gpu"))
        expected = fn(x)
        many = isinstance(expected, (tuple, list))
        for one, other in zip(*((found, expected) if many else ([found], [expected])), strict=True):
            assert np.asarray(one).dtype == other.dtype
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-13)
