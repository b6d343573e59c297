"""Whole arrays of complex numbers in loops. Oracle: the undecorated functions, with warnings.

Arithmetic, stores and products are compared to the bit; magnitudes, exponentials and sums are ours.
"""

import itertools

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(10)

EXACT = {
    "sums": "z = z * 0.5 + w - 1.0",
    "products": "z = z * w * 0.25",
    "a squared one": "z = z ** 2 * 0.125 + w",
    "a cube": "z = z ** 3 * 0.125",
    "quotients": "z = w / (z + 3.0)",
    "by a number": "z = z / (2.0 + i) - 0.5j * w",
    "by a complex number": "z = z * w[i] + q * w",
    "with real arrays": "z = z * x + x - x / (w + 5.0)",
    "in place": "z += w\nz *= 0.5j\nw -= z",
    "powers of i": "z = 1j ** i * z",
    "conjugates": "z = np.conj(z) * w\nw = w.conjugate() - z.conj()",
    "negatives": "z = -z + +w",
    "parts": "z = z.real * 0.5 + w.imag * 1j\nx = x + z.imag",
    "parts of expressions": "x = x * 0.5 + (z * w).real - (z + w).imag",
    "parts that are stored": "z.real = x\nz.imag[1:] = x[:-1]",
    "elements": "z[i] = z[i - 1] * w[i]\nw[-1] += 1j",
    "slices": "z[1:] = w[:-1] * 0.5\nw[::2] = 0.25j",
    "slices that overlap": "z[1:] = z[:-1] * 0.5 + z[1:]",
    "turned over": "z = z[::-1] + w * 0.5",
    "rows": "m[i] = m[i - 1] * 0.5 + z[0]\nm[:, 0] = 1.0",
    "columns": "m[:, i] = m[:, i - 1] * 1j",
    "matrices": "m = m * 0.5 + m[0] * 1j",
    "rolled": "z = np.roll(z, 1) * 0.5 + np.roll(w, -i)",
    "new ones": "v = np.zeros(len(z), complex)\nv[:] = z\nz = v * 0.5 + np.zeros_like(z)",
    "ones": "z = np.ones(len(z), dtype=np.complex128) * i + np.full(len(z), 2.0, complex)",
    "comparisons": "x = x + (z == w) - (z != z)",
    "chosen": "z = np.where(x > 0.0, z, w * 0.5)",
    "masked": "k = x > 0.0\nz[k] = z[k] * 0.5 + w[k]",
    "kept by two names": "v = z\nz = z * 0.5\nw = w + v",
    "left as they were": "v, z = z, w\nw = v * 1.0",
    "a number stored": "z[:] = i\nw[2:] = 1j * i",
    "a real array stored": "z[:] = x",
    "a product of matrices": "m = (m[:4, :4] @ m[:4, :4]) * 0.125\nz = z + m[0, 0]",
    "a matrix and a vector": "z[:4] = m[:4, :4] @ w[:4] * 0.25",
    "a product of vectors": "z = z + 0.125 * (z @ w) - 0.125 * np.dot(w, w)",
    "a unit matrix": "m[:4, :4] = m[:4, :4] @ np.eye(4, dtype=m.dtype)",
    "parts by function": "x = x * 0.5 + np.real(z) - np.imag(z * w)",
    "finite ones": "x = x + np.isfinite(z) - np.isnan(w)",
    "an integer": "z = z * i + k",
    "to real numbers": "x[:] = z",
    "orders": "x = x + (z < w)",
    "lists": "out.append(z * 0.5)\nz = z + 1.0",
}
OURS = {
    "magnitudes": "z = z * 0.5 + np.abs(w)",
    "magnitudes of Python's": "z = z * 0.5 + abs(w)",
    "exponentials": "z = np.exp(1j * x) * 0.5 + np.exp(0.125 * w)",
    "a sum": "z = z * 0.5 + w.sum()",
    "a mean": "z = z * 0.5 + w.mean()",
    "an order": "x = x * 0.5 + np.abs(np.exp(1j * x).mean()) + m.mean().imag",
    "means of rows": "z[:5] = m.mean(axis=1)",
    "sums of rows": "z[:5] = m.sum(axis=1)",
    "the largest": "x = x * 0.5 + np.abs(z).max()",
    "energy": "x = x + (z.real ** 2 + z.imag ** 2).sum()",
    "angles": "x = x * 0.5 + np.angle(z)",
}


def loop(body):
    """Return the function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    head = "def f(z, w, m, x, q):\n    k = 1\n    out = []\n    for i in range(5):\n        "
    return function_from(f"{head}{lines}\n    return z, w, m, x, out\n", np=np)


def data(seed, dtype, special, layout):
    """Return arguments: two vectors, a matrix, a real vector and a number."""
    rng = np.random.default_rng(seed)

    def numbers(*shape):
        parts = rng.integers(-9, 9, (2, *shape)) * 0.25
        return (parts[0] + 1j * parts[1]).astype(dtype)

    z, w, m = numbers(26), numbers(26), numbers(10, 18)
    x = rng.integers(-9, 9, 13).astype(np.zeros(1, dtype).real.dtype) * 0.25
    z[4], w[6], m[2, 4] = special
    step = {"dense": slice(13), "gaps": slice(None, None, 2), "backwards": slice(12, None, -1)}
    vectors = [each[step[layout]][:13] for each in (z, w)]
    matrix = m[:5, :9] if layout == "dense" else m[::2, ::2]
    return *vectors, matrix.copy() if layout == "dense" else matrix, x, dtype.type(0.5 - 1j)


SPECIAL = (
    (0.5, 1j, 1.0),
    (complex(np.nan, 1.0), complex(-0.0, 0.0), complex(0.0, -0.0)),
    (complex(np.inf, -0.0), complex(1.0, np.inf), -np.inf),
    (complex(1e300, 1e300), complex(-1e300, 1e-300), 1e308j),
    (0.0, 0.0, 0.0),
    (complex(-3.0, -0.0), -3.0, -5.0),
)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("layout", ["dense", "gaps", "backwards"])
@pytest.mark.parametrize("body", [*EXACT, *OURS])
def test_arrays_of_complex_numbers(body, layout):
    fn = loop((EXACT | OURS)[body])
    for dtype in map(np.dtype, ("complex128", "complex64")):
        decorated = runmat.jit(fn)
        for seed, special in enumerate((*SPECIAL, SPECIAL[0])):
            expected = observe(fn, data(seed, dtype, special, layout), {})
            found = observe(decorated, data(seed, dtype, special, layout), {})
            compare(expected, found, exact=body in EXACT)


NATIVE = (
    *("sums", "products", "quotients", "by a number", "with real arrays", "in place", "parts"),
    *("slices", "slices that overlap", "rows", "rolled", "new ones", "a matrix and a vector"),
    *("magnitudes", "exponentials", "a sum", "chosen", "conjugates"),
)


@pytest.mark.parametrize("body", NATIVE)
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop((EXACT | OURS)[body]))
    for seed in range(3):
        decorated(*data(seed, np.dtype(complex), SPECIAL[0], "dense"))
    assert natively() == 3


@pytest.mark.parametrize("size", [0, 1, 2, 3, 17])
def test_all_sizes(size):
    def fn(z, w, n):
        for i in range(n):
            z = z * 0.5 + w * w[i % len(w)] if len(w) else z
            w = np.roll(w, 1) * 1j
            w[:] += z
        return z, w

    decorated = runmat.jit(fn)
    for turns in (0, 1, 3, 3):
        given = [
            [each.copy() for each in np.exp(1j * np.arange(2.0 * size)).reshape(2, size)]
            for _ in range(2)
        ]
        expected = observe(fn, (*given[0], turns), {})
        compare(expected, observe(decorated, (*given[1], turns), {}), exact=True)


def test_parts_of_one_array_are_views_of_it(natively):
    def fn(z, n):
        re = z.real
        for i in range(n):
            z = z * 0.5
            re[i % 3] = z[i % 3].imag
        return z, re

    decorated = runmat.jit(fn)
    for _, turns in itertools.product(range(2), (1, 5)):
        given = [np.exp(1j * np.arange(7.0)) for _ in range(2)]
        expected = observe(fn, (given[0], turns), {})
        compare(expected, observe(decorated, (given[1], turns), {}), exact=True)
    assert natively() >= 0
