"""Products of centered matrices with their transposes. Oracles: the mathematics written out beside
each case for what is one; sums in longdouble, with the bound of the product, for the results.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check

KIND = "centered_gram"


def twice(x):
    return (x - x.mean(axis=0)).T @ (x - x.mean(axis=0))


def once(x):
    z = x - x.mean(axis=0, keepdims=True)
    return z.T @ z


def written_out(x):
    z = x - x.sum(axis=0) / x.shape[0]
    return np.dot(z.T, z)


def of_rows(x):
    z = x.T - x.T.mean(axis=1)[:, None]
    return z @ z.T


def by_n(x):
    return twice(x) / len(x)


def by_n_minus_one(x):
    return twice(x) / (len(x) - 1)


def by_anything(x):
    return twice(x) / (len(x) + 2.5) + np.eye(x.shape[1], dtype=x.dtype)


def kinds_of(fn, x):
    decorated = runmat.jit(fn)
    for _ in range(2):
        decorated(x)
    return decorated.explain(x).kinds


def observations(dtype, offset=0.0, n=301, d=40):
    return (np.random.default_rng(3).normal(size=(n, d)) + offset).astype(dtype)


SPELLINGS = (twice, once, written_out, of_rows, by_n, by_n_minus_one, by_anything)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fn", SPELLINGS, ids=lambda fn: fn.__name__)
def test_the_product_of_a_centered_matrix_with_its_transpose_is_recognized(fn, dtype):
    x = observations(dtype)
    assert KIND in kinds_of(fn, x)
    found, expected = runmat.jit(fn)(x), fn(x)
    assert (found.dtype, found.shape, found.strides) == (
        expected.dtype,
        expected.shape,
        expected.strides,
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype == np.float32 else 1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("n", [2, 7, 64, 3000])
def test_each_element_keeps_the_bound_of_the_unfused_product(dtype, offset, n):
    def fn(x):
        return (x - x.mean(axis=0)), (x - x.mean(axis=0)).T @ (x - x.mean(axis=0))

    z, gram = runmat.jit(fn)(observations(dtype, offset, n))
    exact = z.T.astype(np.longdouble) @ z.astype(np.longdouble)
    terms = np.abs(z).T.astype(np.longdouble) @ np.abs(z).astype(np.longdouble)
    assert np.all(np.abs(gram - exact) <= n * np.finfo(dtype).eps / 2 * terms)
    np.testing.assert_array_equal(gram, gram.T)


def wrong_axis(x):
    return (x - x.mean(axis=1)[:, None]).T @ (x - x.mean(axis=1)[:, None])


def other_divisor_of_the_mean(x):
    return (x - x.sum(axis=0) / (len(x) - 1)).T @ (x - x.sum(axis=0) / (len(x) - 1))


def mean_in_other_order(x):
    return (x - x.mean(axis=0)[::-1]).T @ (x - x.mean(axis=0)[::-1])


def mean_of_another(x):
    y = x * 2
    return (x - y.mean(axis=0)).T @ (x - y.mean(axis=0))


def not_centered(x):
    return (x * 2).T @ (x * 2)


def negated(x):
    return (x.mean(axis=0) - x).T @ (x.mean(axis=0) - x)


def two_matrices(x):
    return (x - x.mean(axis=0)).T @ (x + 1 - (x + 1).mean(axis=0))


def not_transposed(x):
    square = x[:40]
    z = square - square.mean(axis=0)
    return z @ z


def reshaped(x):
    square = x[:40]
    z = square - square.mean(axis=0)
    return z.reshape(20, 80) @ z.reshape(80, 20)


def transposed_on_the_other_side(x):
    z = x - x.mean(axis=0)
    return z @ z.T


def part_of_it(x):
    z = x - x.mean(axis=0)
    return z[1:].T @ z[1:]


REFUSED = (
    *(wrong_axis, other_divisor_of_the_mean, mean_in_other_order, mean_of_another, not_centered),
    *(negated, two_matrices, not_transposed, reshaped, transposed_on_the_other_side, part_of_it),
)


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_what_is_no_gram_matrix_of_a_centered_one_is_not_recognized(fn):
    x = observations(np.float64)
    assert KIND not in kinds_of(fn, x)
    np.testing.assert_allclose(runmat.jit(fn)(x), fn(x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_events_are_numpys(value):
    def make(rng):
        x = rng.normal(size=(301, 40))
        x[3, 5] = value
        return (x,)

    check(by_n, make)


def test_a_shape_that_no_recording_has_seen_is_centered_too():
    decorated = runmat.jit(by_n_minus_one)
    for n, d in ((301, 40), (300, 30), (7, 5), (2000, 600), (1, 4), (4, 1)):
        x = observations(np.float64, n=n, d=d)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(decorated(x), by_n_minus_one(x), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [KIND, "matmul_epilogue", "elementwise"])
def test_switched_off_the_product_is_that_of_two_arrays(kind):
    x = observations(np.float64)
    runmat.config(disable_fusion=(kind,))
    try:
        assert KIND not in kinds_of(twice, x)
    finally:
        runmat.config(disable_fusion=())
