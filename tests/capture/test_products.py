"""Products of matrices in programs. Oracle: undecorated Python, to the bit where nothing of our own
mathematics is used: values, dtypes, strides, warnings and mutation.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe

pytestmark = pytest.mark.sampled(4)

SIZES = ((7, 5, 9), (40, 30, 50), (300, 200, 400), (600, 40, 700))
"""Small ones, and some whose products lie in recycled memory."""


def given(size, dtype):
    def make(seed):
        rng = np.random.default_rng(seed)
        m, k, n = size
        shapes = ((m, k), (k, n), (n,), (m, n), (m, 1))
        return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)

    return make


def scaled_in_order(a, b, bias, c, column):
    return (a @ b + 2) * 3


def scaled_first(a, b, bias, c, column):
    return a @ b * 3 + 2


def subtracted_from(a, b, bias, c, column):
    return c - a @ b


def divided_by(a, b, bias, c, column):
    return c / (a @ b)


def bias_of_columns(a, b, bias, c, column):
    return np.maximum(a @ b + bias, 0)


def bias_of_rows(a, b, bias, c, column):
    return np.clip(a @ b - column, -1, 1)


def residual(a, b, bias, c, column):
    h = a @ b + bias
    return np.where(h > 0, h, 0.1 * h) + c


def two_products(a, b, bias, c, column):
    return (a @ b) * 0.5 + a @ (b * 2)


def read_twice(a, b, bias, c, column):
    p = a @ b
    return p * p + 1, p - c


def returned_too(a, b, bias, c, column):
    p = a @ b
    return p, p + 1


def read_later(a, b, bias, c, column):
    p = a @ b
    q = np.sort(p + bias, axis=0)
    return q - p


def read_through_a_view(a, b, bias, c, column):
    p = a @ b
    return p + p[::-1], p.T + 1


def cast(a, b, bias, c, column):
    return (a @ b).astype(np.float64) + bias, (a @ b > 0)


def written(a, b, bias, c, column):
    p = a @ b
    p += bias
    p[0] = 7
    c -= p
    return p


def transposed(a, b, bias, c, column):
    return a.T @ c, c @ b.T + a, np.dot(b.T, a.T) * 2


def of_computed_values(a, b, bias, c, column):
    x, y = a * 2, b + 1
    return x.T @ c, c @ y.T, x[1:] @ y[:, 2:] + 1


def sliced(a, b, bias, c, column):
    return a[1:-1] @ b[:, 1:] + 1, a[::2] @ b, a[:, 2:] @ b[2:]


def strange_strides(a, b, bias, c, column):
    return a[::-1] @ b + 1, a @ b[:, ::-1], a[:, ::2] @ b[::2]


def squares(a, b, bias, c, column):
    return a.T @ a, a @ a.T + 1, b.T @ b / 3


def equal_values(a, b, bias, c, column):
    return (a * 2).T @ (a * 2), (a - a.mean(0)).T @ (a - a.mean(0)) / (len(a) - 1)


def vectors(a, b, bias, c, column):
    return a @ b[:, 0].copy() + 1, b.T @ a[0], bias @ c.T * 2, bias @ bias


def of_columns(a, b, bias, c, column):
    return column.T @ a + 1, column @ bias[None] - c, a.T @ column


def layers(a, b, bias, c, column):
    h = np.maximum(a @ b + bias, 0)
    h = np.maximum(h @ b.T, 0)
    return h @ b + bias


def stacked(a, b, bias, c, column):
    x, y = np.stack([a, a + 1, a - 1]), np.stack([b, b * 2, b * 3])
    return np.maximum(x @ y + bias, 0), x @ b, a @ y, np.matmul(x, y)


BITS = [
    *(scaled_in_order, scaled_first, subtracted_from, divided_by, bias_of_columns, bias_of_rows),
    *(residual, two_products, read_twice, returned_too, read_later, read_through_a_view, cast),
    *(written, transposed, of_computed_values, sliced, strange_strides, squares, vectors),
    *(of_columns, layers, stacked),
]
BY_NAME = {"ids": lambda value: getattr(value, "__name__", None)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("fn", BITS, **BY_NAME)
def test_products_and_what_is_made_of_them_have_numpys_bits(fn, size, dtype):
    check(fn, given(size, dtype), exact=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("fn", [equal_values], **BY_NAME)
def test_equal_values_are_multiplied_as_two_arrays(fn, size):
    check(fn, given(size, np.float64))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, bool, np.uint8, np.complex128, np.float16])
@pytest.mark.parametrize("fn", [scaled_in_order, transposed, layers, stacked], **BY_NAME)
def test_the_same_for_other_dtypes(fn, dtype):
    check(fn, given((7, 5, 9), dtype), exact=dtype != np.float16)


@pytest.mark.parametrize("fn", [*BITS, equal_values], **BY_NAME)
def test_the_same_for_shapes_that_no_recording_has_seen(fn):
    decorated = runmat.jit(fn)
    for size in ((7, 5, 9), (40, 30, 50), (300, 200, 400), (9, 30, 50), (7, 5, 9), (1, 5, 9)):
        expected = observe(fn, list(given(size, np.float64)(3)), {})
        found = observe(decorated, list(given(size, np.float64)(3)), {})
        compare(expected, found, exact=False)


def test_two_views_of_one_array_are_multiplied_as_numpy_does():
    def fn(x, y):
        return x @ y + 1

    decorated = runmat.jit(fn)
    x = np.random.default_rng(0).normal(size=(30, 50))
    for args in ((x, x.T), (x, x.T.copy()), (x.T, x), (x, x.T), (x, x[::-1].T)) * 2:
        np.testing.assert_array_equal(decorated(*args), fn(*args))


def test_epilogues_of_one_product_do_not_share_its_memory():
    decorated = runmat.jit(read_twice)
    arrays = given((600, 40, 700), np.float64)(0)
    first, second = decorated(*arrays)
    assert not np.shares_memory(first, second)
    again = decorated(*arrays)
    np.testing.assert_array_equal(first, again[0])
    assert not np.shares_memory(first, again[0])


def overflowing(a, b, bias, c, column):
    return np.maximum(a @ b * 1e300, 0) - c


def invalid(a, b, bias, c, column):
    return np.sqrt(a @ b) + bias


def dividing(a, b, bias, c, column):
    return c / (a @ b - a @ b)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("size", SIZES[::2])
@pytest.mark.parametrize("fn", [overflowing, invalid, dividing, residual], **BY_NAME)
def test_events_of_products_and_epilogues_are_numpys(fn, size, value):
    def make(seed):
        arrays = given(size, np.float64)(seed)
        arrays[0][3, 1] = arrays[1][1, 2] = value
        return arrays

    check(fn, make)


@pytest.mark.parametrize(
    ("fn", "kinds"),
    [
        (scaled_in_order, ["host", "matmul_epilogue"]),
        (subtracted_from, ["host", "matmul_epilogue"]),
        (bias_of_columns, ["host", "matmul_epilogue"]),
        (residual, ["host", "matmul_epilogue"]),
        (two_products, ["elementwise", "host", "host", "matmul_epilogue"]),
        (stacked, None),
    ],
    **BY_NAME,
)
def test_products_end_no_program(fn, kinds):
    decorated = runmat.jit(fn)
    arrays = given((40, 30, 50), np.float64)(0)
    for _ in range(2):
        decorated(*arrays)
    found = decorated.explain(*arrays).kinds
    assert sorted(found) == sorted(kinds) if kinds else "matmul_epilogue" in found
