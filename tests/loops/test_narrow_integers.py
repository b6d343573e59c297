"""Loops over integers of few bits. Oracle: the undecorated functions, to the bit, with warnings.

Sums that a dtype does not hold warn and wrap in NumPy: there Python runs the loop.
"""

import itertools

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.core.types import NARROW_DTYPES
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(12)

BINARY = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "**", "<", "==", ">=")
OTHERS = ("b[i]", "n[i]", "w[i]", "f[i]", "t[i]", "1", "3", "300", "-1", "0.5", "i", "s")
UNARY = (
    *("-a[i]", "~a[i]", "+a[i]", "abs(a[i])", "int(a[i])", "float(a[i])", "bool(a[i])"),
    *("min(a[i], b[i])", "max(a[i], 3)", "np.minimum(a[i], b[i])", "np.add(a[i], b[i])"),
    *("np.uint8(a[i])", "np.int64(a[i])", "np.uint32(i)", "np.float64(a[i])", "np.sqrt(a[i])"),
    *("n[a[i] % 5]", "a[i] and b[i]", "a[i] if b[i] else 7", "not a[i]", "a[i].item()", "len(a)"),
    *("a.sum()", "a[i:].max()", "a[::-1][i]", "m[0, i]", "m[i % 2][i]", "a[n % 3][i]", "n[a][i]"),
)
BODIES = {
    "a running sum": "s = s + a[i]",
    "a running sum of Python's": "s += int(a[i]) * 2",
    "in place": "a[i] += b[i]",
    "in place with a number": "a[i] -= 1",
    "a store of a wider one": "a[i] = n[i]",
    "a store of a float": "a[i] = f[i] * 3.0",
    "a store of a truth value": "a[i] = t[i]",
    "a store of a Python number": "a[i] = i * 40",
    "stores into others": "w[i] = a[i]\nf[i] = a[i]\nn[i] = a[i]\nt[i] = a[i]",
    "a fill": "a[:] = i\nb.fill(2)\nm[1] = a[0]",
    "a copy of a part": "a[1:] = a[:-1]",
    "one of another dtype": "a[:] = w",
    "a new array": "c = a.copy()\nc[i] = 1\ns = s + c[i]",
    "items": "for v in a:\n    s = s + int(v)",
    "rows": "for row in m:\n    s = s + int(row[i])\n    row[i] = 1",
    "a count": "for k in range(a[i]):\n    s = s + k",
    "a while": "k = a[i]\nwhile k > 2:\n    k = k // 2\n    s += 1",
    "what a name holds afterwards": "last = a[i]\nother = last ^ b[i]",
    "a histogram": "h[a[i] % 4] += 1",
    "a branch": "if a[i] > b[i]:\n    a[i], b[i] = b[i], a[i]",
    "bits": "s = (s << 1) ^ int(a[i] & 3)\ns = s & 0xFFFF",
    "truth values compared": "s = s + (t[i] > t[i - 1]) + (t[i] <= t[0]) + (t[i] == t[1])",
    "a product of uint32": "u = np.uint32(a[i]) * np.uint32(40503)\ns = s + int(u >> 7)",
}


def loop(body):
    """The function that runs a body for each element."""
    lines = "\n        ".join(body.split("\n"))
    text = (
        "def f(a, b, n, w, f, t, m):\n    s, last, other = 0, None, None\n"
        f"    h, r = np.zeros(4, np.int64), None\n    for i in range(len(a)):\n        {lines}\n"
        "    return s, r, last, other, h\n"
    )
    return function_from(text, np=np)


def data(dtype, seed, *, extreme):
    """Elements that no operation above takes out of bounds, or those at the bounds as well."""
    rng, info = np.random.default_rng(seed), np.iinfo(dtype)
    small = (rng.integers(1, 6, (4, 7)) + (np.arange(7) > 20)).astype(dtype)
    if extreme:
        small[:, rng.integers(0, 7)] = (info.max, info.min, info.max // 2 + 1, 0)
    a, b, *_ = small
    wide = rng.integers(-2, 5, 7)
    floats = np.array([0.25, 1.5, 2.0, 3.75, 0.0, 1.0, 5.5])
    other = np.dtype("int16") if dtype != np.dtype("int16") else np.dtype("uint8")
    return a.copy(), b.copy(), wide, small[1].astype(other), floats, wide > 1, small[2:].copy()


def check(body, dtype):
    fn = loop(body)
    decorated = runmat.jit(fn)
    for seed, extreme in enumerate((False, False, True, True, False)):
        expected = observe(fn, data(dtype, seed, extreme=extreme), {})
        found = observe(decorated, data(dtype, seed, extreme=extreme), {})
        compare(expected, found, exact=True)


@pytest.mark.parametrize("dtype", NARROW_DTYPES, ids=str)
@pytest.mark.parametrize("sides", [f"a[i] {{}} {other}" for other in OTHERS] + ["7 {} a[i]"])
def test_operators(sides, dtype):
    for operator in BINARY:
        check("r = " + sides.format(operator), dtype)


@pytest.mark.parametrize("dtype", NARROW_DTYPES, ids=str)
def test_functions(dtype):
    for expression in UNARY:
        check(f"r = {expression}\ns = s + i", dtype)


@pytest.mark.parametrize("dtype", NARROW_DTYPES, ids=str)
@pytest.mark.parametrize("body", BODIES)
def test_statements(body, dtype):
    check(BODIES[body], dtype)


NATIVE = ("a running sum of Python's", "in place", "a branch", "rows", "items", "a histogram")


@pytest.mark.parametrize(("body", "dtype"), [*itertools.product(NATIVE, NARROW_DTYPES)], ids=str)
def test_they_run_natively(natively, body, dtype):
    decorated = runmat.jit(loop(BODIES[body]))
    for seed in range(3):
        decorated(*data(dtype, seed, extreme=False))
    assert natively() >= 3


def test_byte_swapped_and_strided_ones():
    fn = loop("s = s + int(a[i])\na[i] = i")
    decorated = runmat.jit(fn)
    for change in (lambda x: x[::2], lambda x: x[::-1], lambda x: x.astype(x.dtype.newbyteorder())):
        for dtype in NARROW_DTYPES:
            for _ in range(2):
                ours, theirs = (data(dtype, 1, extreme=False) for _ in range(2))
                ours, theirs = [(change(x[0]), *x[1:]) for x in (ours, theirs)]
                compare(observe(fn, theirs, {}), observe(decorated, ours, {}), exact=True)
