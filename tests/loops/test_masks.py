"""Elements that masks choose, in loops. Oracle: the undecorated functions, with warnings.

Stores are compared to the bit; sums of chosen elements are added in another order.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(5)

STORES = {
    "a number": "x[x < 0.5] = 0.0",
    "a number by name": "w = x > y\nx[w] = i\ns = s + x[0]",
    "in place": "x[x > 1.0] *= 0.5",
    "in place by name": "w = x > 0.0\nx[w] += y[w]\ny[w] -= 1.0",
    "an expression": "w = abs(x) > 0.25\nx[w] = x[w] ** 2 * 0.5 + 0.25 * y[w] - i",
    "of a given mask": "x[t] = y[t] + 1.0",
    "counts": "w = x > i * 0.25\nk[w] = i\nk[~w] += 1",
    "truth values": "w = x > y\nt[w] = False\ns = s + t.sum()",
    "of a matrix": "w = m > i\nm[w] = m[w] * 0.5\nm[m < 0.0] = 0.0",
    "of a part": "x[1:][x[1:] > 0.5] = i\nm[0][m[0] > 1.0] = 2.0",
    "of what nothing is chosen": "w = x > 1e9\nx[w] = 1.0 / x[w]",
    "a root": "w = x > 0.0\nx[w] = np.sqrt(x[w])",
    "a division": "w = x != 0.0\ny[w] = y[w] / x[w]",
    "a division by what is 0 beside": "w = x != 1.0\ny[w] = y[w] / (x[w] - 1.0)",
    "logarithms of all": "x[x != 7.0] = np.log(x[x != 7.0])",
    "a wider dtype": "k[x > 0.0] = 1.5",
    "an element": "x[x > y] = y[i]",
    "other elements": "x[x > 0.0] = y",
    "elements of another mask": "w = x > 0.0\nv = y > 0.0\nx[w] = y[v]",
    "compacted": "q = x[x > 0.0]\ns = s + len(q)",
    "rows": "m[m[:, 0] > 1.0] = i",
    "a mask of another length": "x[x[1:] > 0.0] = 1.0",
    "a mask and an index": "m[1, m[1] > 0.0] = i",
    "two that overlap": "w = x[:-1] > 0.0\nx[1:][w] = x[:-1][w]",
    "changed between": "w = x > 0.0\nx[0] = -1.0\nx[w] = i",
    "as many others": "w = x > y\nq = x[w] * 2 + i\nx[w] = q - y[w]",
    "as many of another array": "w = x > y\nx[w] = y[:len(x[w])]",
    "one too few": "w = x > y\nx[w] = y[:len(x[w]) - 1]",
    "of itself backwards": "w = x > y\nx[w] = x[::-1][:len(x[w])]",
    "into integers": "w = x > y\nk[w] = x[w][::-1]",
    "the mask itself": "t[t] = x[t] > y[t]",
    "rows in place": "w = m[:, 0] > i * 0.5\nm[w] += 0.25\nm[w] *= m[w] > 0.5",
    "rows by another": "w = m[:, 0] > 0.5\nm[w] = y[:9] * 0.5",
    "of a matrix side by side": "w = m > i\nq = m[w] * 2\nm[w] = q[::-1]\ns = s + len(q)",
    "a column of truth values": "w = m[:, :1] > 0.5\nq = m[:, :1][w]\ns = s + len(q) + q.sum()",
    "complex matrices": "c = m * 1j\nw = abs(c) < 2\nc[w] = c[w] ** 2 + 1\ns = s + c[0, 0].real",
    "complex": "w = abs(z) < 2\nz[w] = z[w] ** 2 + z[0]\ns = s + (z[w].real).sum()",
    "complex and real": "w = z.real > i * 0.25\nx[w] = z[w].imag + 1\nz[w] = x[w]",
    "a mask that is stored": "w = x > 0.0\nw[i % 3] = True\nx[w] = x[w] - 1.0",
}
SUMS = {
    "sum": "w = x > 0.0\ns = s + x[w].sum()",
    "mean": "w = x > -9.0\ns = s + x[w].mean() + np.mean(y[w] * 2.0)",
    "mean of none": "w = x > 1e9\ns = s + x[w].mean()",
    "sum of none": "s = s + x[x > 1e9].sum()",
    "extremes": "w = x > -0.5\ns = s + x[w].max() - y[w].min()",
    "extremes of none": "s = s + x[x > 1e9].max()",
    "all of a matrix": "w = m > i\ns = s + m[w].sum() + np.mean(m[w])",
    "of integers": "w = k > 0\ns = s + k[w].sum() + k[w].max()",
    "truth values": "w = x > 0.0\ns = s + (y[w] > 0.0).any() + (y[w] > 0.0).all()",
    "a product": "w = x > 0.5\ns = s + np.prod(x[w])",
    "deviations": "w = x > -9.0\ns = s + x[w].std()",
    "of an expression": "w = x > y\ns = s + (x[w] * y[w] + 1.0).sum()",
    "a place": "w = x > y\ns = s + x[w].argmax()",
    "a length": "w = x > y\ns = s + len(x[w]) + x[w].size",
    "its own deviations": "q = x[x > -5.0]\ns = s + ((q - q.mean()) ** 2).sum() / len(q)",
    "sorted": "q = np.sort(x[x > y])\ns = s + q[0] + np.median(y[t])",
    "a product of both": "w = x > y\ns = s + x[w] @ y[w] + np.dot(y[w], y[w])",
    "with others of its length": "q = x[t]\ns = s + (q * y[t] + q).sum()",
    "of one mask and another": "s = s + (x[x > 0.0][:2] + y[y > 0.0][:2]).sum()",
    "rows": "q = m[m[:, 0] > i * 0.25]\ns = s + len(q) + q.sum()",
    "means of rows": "q = m[m[:, 1] > -9.0]\ns = s + q.mean(axis=0)[1] + q.max(axis=1)[0]",
    "all rows": "s = s + m[m[:, 0] > -9.0].sum() + m[m[:, 0] > 1e9].sum()",
    "items": "for v in x[x > 0.0]:\n    s = s + v",
}


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    head = "def f(x, y, m, k, t, z):\n    s = 0.0\n    for i in range(5):\n        "
    return function_from(f"{head}{lines}\n    return s\n", np=np)


def data(seed, special):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-9, 9, 21) * 0.25, rng.integers(-9, 9, 21) * 0.25
    x[seed], y[seed - 4] = special
    m = rng.integers(-3, 9, (4, 9)) * 0.5
    z = x + 1j * rng.integers(-9, 9, 21) * 0.25
    return x, y, m, rng.integers(-3, 4, 21), rng.random(21) > 0.5, z


@pytest.mark.parametrize("body", [*STORES, *SUMS])
def test_masks(body):
    fn = loop((STORES | SUMS)[body])
    decorated = runmat.jit(fn)
    specials = (
        (0.5, 1.0),
        (np.nan, -0.0),
        (np.inf, 1e308),
        (-0.0, 0.0),
        (1.0, -np.inf),
        (0.5, 1.0),
    )
    for seed, special in enumerate(specials):
        expected = observe(fn, data(seed, special), {})
        compare(expected, observe(decorated, data(seed, special), {}), exact=body in STORES)


NATIVE = (
    "a number",
    "in place",
    "an expression",
    "counts",
    "of a matrix",
    "sum",
    "mean",
    "extremes",
    "as many others",
    "rows in place",
    "complex",
    "complex and real",
    "its own deviations",
    "a product of both",
    "with others of its length",
    "means of rows",
)


@pytest.mark.parametrize("body", NATIVE)
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop((STORES | SUMS)[body]))
    for seed in range(3):
        decorated(*data(seed, (0.5, 1.0)))
    assert natively() >= 3
