"""New arrays, products, reversed parts and ufuncs' methods in loops. Oracle: undecorated functions.

Everything that a caller sees is compared to the bit, of random numbers: sums are NumPy's own there.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(5)

BODIES = {
    "zeros": "c = np.zeros((3, 2))\nc[0, 1] = x[i]\nr = c\ns = s + c[0, 1]",
    "zeros of a number": "c = np.zeros(n)\nc += x[:n]\nr = c",
    "zeros of an extent": "c = np.zeros(len(x))\nc[i] = 2.0\nr = c * x",
    "zeros of two extents": "c = np.zeros(m.shape)\nc[i % 3] = x\nr = c + m",
    "zeros of a dtype": (
        "c = np.zeros(4, dtype=np.int64)\nc[i % 4] += 1\nd = np.zeros(4, bool)\nr = c + d"
    ),
    "float32": "c = np.zeros(5, np.float32)\nc[0] = x[i]\nr = c",
    "ones": "c = np.ones((2, 2))\nr = c * i",
    "ones of integers": "c = np.ones(3, dtype=int)\nr = c + i",
    "empty that is filled": "c = np.empty(len(x))\nc[:] = x * 2.0\nr = c",
    "as NumPy's class makes them": "c = np.ndarray((2, 3))\nc[:] = x[i]\nr = c",
    "of a class and a dtype": "c = np.ndarray(4, np.int64)\nc[:] = i\nr = c",
    "full": "c = np.full(3, 2.5)\nd = np.full((2, 3), i)\nr = c + d",
    "full of an element": "c = np.full(4, x[i])\nr = c",
    "full of one class or another": "q = x[i]\nif i % 2:\n    q = i\nc = np.full(2, q)\nr = c * 1",
    "full of what may be a float": "c = np.full(2, d)\nd = i if i % 2 else 0.5\nr = c",
    "full with a dtype": "c = np.full(4, 3, dtype=np.float64)\nr = c * x[i]",
    "eye": "c = np.eye(3)\nr = c * x[i]",
    "identity of a number": "c = np.identity(n)\nr = c + i",
    "eye with another shape": "c = np.eye(3, 2)\nr = c",
    "of one element": "c = np.zeros(1)\nr = c + i",
    "of none": "c = np.zeros(0)\nr = c",
    "of a negative extent": "c = np.zeros(i - 3)\nr = c",
    "of an extent that grows": "c = np.zeros(i + 1)\nr = c",
    "of two that live": "c = np.zeros(3)\nd = np.zeros(3)\nc += 1.0\nr = c - d",
    "one that lives on": "c = np.zeros(3)\nif i % 2:\n    r = c\nc += x[i]",
    "as an operand": "r = x * 2.0 + np.zeros(len(x))",
    "complex ones": "c = np.zeros(3, complex)\nr = c",
    "in Fortran's order": "c = np.zeros((2, 3), order='F')\nr = c + i",
    "dot of vectors": "s = s + np.dot(x, y)",
    "dot of columns": "r = np.dot(a[:, i % 5], a[:, 0])",
    "dot of every second": "r = np.dot(x[::2], y[::2])",
    "dot of steps": "r = np.dot(x[::n], y[::n])",
    "dot backwards": "r = np.dot(x[::-1], y)\ns = s + np.dot(np.flip(x), np.flip(y))",
    "dot of parts": "r = np.dot(x[:i], y[:i])",
    "dot of columns backwards": "r = np.dot(a[::-1, 1], a[:, 2])",
    "dot of signed zeros": "r = np.dot(z[:1], y[:1])\nd = np.dot(z[:2], y[:2])",
    "dot of a row": "r = np.dot(a[i % 9], a.T[:, 0])",
    "dot of a matrix": "r = np.dot(a, a[0])",
    "flip": "r = np.flip(x)\ns = s + r[0]",
    "flip of a matrix": "c = np.flip(m) * 1.0\nr = c",
    "flip of a part": "x[:i] += np.flip(y[:i])",
    "flip of what is stored": "x[:] = np.flip(x)",
    "backwards": "x[:i] += 0.5 * x[:i][::-1]",
    "backwards from somewhere": "r = x[i::-1] * 1.0",
    "backwards by two": "r = x[::-2] * 1.0",
    "flip along an axis": "r = np.flip(m, axis=1) * 1.0",
    "outer": "r = np.multiply.outer(x, y)\ns = s + r[1, 2]",
    "outer of parts": "m[:] = np.minimum(m, np.add.outer(m[:, i % 9], m[i % 3]))",
    "outer of a number": "r = np.add.outer(x, 1.0)",
    "outer of matrices": "r = np.maximum.outer(m, x)",
    "reduce": "r = np.add.reduce(m)\nr = r + np.maximum.reduce(m, axis=0)",
    "reduce along the last": "r = np.minimum.reduce(m, axis=1)\ns = s + np.multiply.reduce(x[:4])",
    "accumulate": "r = np.add.accumulate(x)",
    "at": "np.add.at(x, k, 1.0)\ns = s + x[0]",
    "a tuple in a row": "a[i] = x[i], i, x[0], 2.5, y[i]",
    "a tuple in a part": "m[i % 3, i:i + 2] = 2 * x[i], s\ns = s + m[0, 1]",
    "a tuple of what it replaces": "x[i:i + 2] = x[i + 1], x[i]",
    "a tuple in integers": "k[:2] = i + 0.75, x[i]",
    "a tuple backwards": "x[i + 2:i:-1] = i, 1.0",
    "a tuple of too many": "x[:2] = 1.0, 2.0, x[i]",
    "a tuple of one": "x[:3] = (x[i],)",
    "a tuple of arrays": "m[:2] = m[1], m[0]",
    "a tuple in a mask": "x[x > 0.5] = 1.0, 2.0",
    "the dtype of another": "c = np.zeros(3, dtype=x.dtype)\nd = np.ones(2, k.dtype)\nr = c + x[i]",
    "as the dtype of another": "r = k.astype(x.dtype) * 0.5\ns = s + x[i].astype(a.dtype)",
    "as a class": "r = x[i].astype(np.float32)\nd = k[0].astype(bool)",
    "a column": "c = np.zeros((4, 1))\nc[1, 0] = x[i]\nr = c + c[1]",
}


SUMS = {
    "a window": "q = a[:3, :3]\nh, w = q.shape\nr = np.sum(a[i % 5:i % 5 + h, 1:1 + w] * q)",
    "a window of another shape": (
        "q = a[:2, :3]\nr = (a[i % 5:i % 5 + 2, i % 3:i % 3 + 3] * q).sum()"
    ),
    "a window that does not fit": "q = a[:3, :3]\nr = (a[i + 1:i + 4, :3] * q).sum()",
    "two windows": "r = (a[i:i + 2, :2] - a[:2, i % 3:i % 3 + 2]).mean()",
    "a stored window": "m[:2, :2] += a[i:i + 2, 1:3]\ns = s + m[1, 1]",
    "all of a matrix": "s = s + a.sum()\nr = m.mean()",
    "all of an expression": "r = (a * a[i] + 1.0).sum()",
    "a product": "d = np.prod(a[:2, :2] + 2.0)\ns = s + i",
    "all of integers": "r = (k[:, np.newaxis] * k).sum()",
    "all of truth values": "r = (a > a[i]).sum()",
    "a transposed one": "r = a.T.sum()\nd = (a.T * x).sum()",
    "nothing": "r = a[:0, :2].sum()",
    "one row": "r = a[i:i + 1, :].sum()",
}


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    text = (
        "def f(x, y, z, m, a, k, n):\n    s, r, c, d = 0.0, None, None, 1\n"
        f"    for i in range(7):\n        {lines}\n    return s, r, c, d\n"
    )
    return function_from(text, np=np)


def data(seed, special):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(9), rng.standard_normal(9)
    x[seed], y[-1 - seed] = special
    m, a = rng.integers(-9, 9, (3, 9)) * 0.25, rng.standard_normal((9, 5))
    z = np.array([-0.0, 0.0, 1.0])
    return x, y, z, m, a, rng.integers(0, 9, 4), 3 + seed % 2


@pytest.mark.parametrize("body", BODIES)
def test_they_are_numpys(body):
    fn = loop(BODIES[body])
    decorated = runmat.jit(fn)
    specials = ((0.5, 1.0), (np.nan, -0.0), (np.inf, 1e308), (-0.0, 0.0), (0.25, 2.0))
    for seed, special in enumerate(specials):
        exact = "reduce" not in body
        expected = observe(fn, data(seed, special), {})
        compare(expected, observe(decorated, data(seed, special), {}), exact=exact)


@pytest.mark.parametrize("body", SUMS)
def test_sums_over_several_axes(body):
    fn = loop(SUMS[body])
    decorated = runmat.jit(fn)
    specials = ((0.5, 1.0), (np.nan, -0.0), (np.inf, 1e308), (-0.0, 0.0), (0.25, 2.0))
    for seed, special in enumerate(specials):
        expected = observe(fn, data(seed, special), {})
        compare(expected, observe(decorated, data(seed, special), {}))


NATIVE = (
    *(
        "as NumPy's class makes them",
        "zeros",
        "zeros of a number",
        "a tuple in a row",
        "a tuple in a part",
        "a tuple of what it replaces",
        "the dtype of another",
        "as the dtype of another",
        "a column",
        "zeros of a dtype",
        "full",
        "eye",
        "of two that live",
    ),
    *("dot of columns", "dot of every second", "dot backwards", "dot of signed zeros"),
    *("a window", "two windows", "all of a matrix", "all of an expression"),
    *("flip of a part", "backwards", "outer", "outer of parts", "reduce"),
)


@pytest.mark.parametrize("body", NATIVE)
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop((BODIES | SUMS)[body]))
    for seed in range(3):
        decorated(*data(seed, (0.5, 1.0)))
    assert natively() >= 3


def test_arrays_of_numpys_class_are_recorded():
    def fn(x):
        made = np.ndarray((3, len(x)))
        made[:] = x * 2.0
        other = np.ndarray(4, dtype=np.float32)
        other[:] = 1.0
        return made.sum(axis=0), other + made[0, 0]

    decorated = runmat.jit(fn)
    for size in (5, 5, 5):
        x = np.arange(float(size))
        compare(observe(fn, (x,), {}), observe(decorated, (x,), {}))
    assert decorated.cache_info().hits >= 1
