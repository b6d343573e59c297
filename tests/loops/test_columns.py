"""Arrays whose last axis has one element, in loops. Oracle: the undecorated functions; sums of
arrays are within their bound, all else to the bit."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(6)

BODIES = {
    "an expression": "c = c * 0.5 + 1",
    "in place": "c *= 0.5\nc[i % len(c)] += 1",
    "with a row": "r = c + w\ns = s + r[0, 0]",
    "with its transpose": "r = c * c.T",
    "a product": "h = np.tanh(a @ b)\nb = b - 0.1 * (a.T @ h)",
    "an outer product": "r = c @ w",
    "a part": "c = c - a[:, :1] * 0.5",
    "an element": "a[:, 0] = c[:, 0] * 0.5",
    "a new axis": "v = c[:, 0]\nu = v[:, np.newaxis]\nc = u * u * 0.5",
    "a mean that keeps its axis": "m = a.mean(axis=1, keepdims=True)\na = a - 0.5 * m",
    "the largest of each row": "r = a.max(axis=1, keepdims=True)\nc = c + r",
    "rows of one": "for each in c:\n            s = s + each[0]",
    "a number": "t = w @ b\ns = s + t[0, 0]",
    "inverse": "k = w @ w.T + 1.0\nr = c @ np.linalg.inv(k)",
    "where": "c = np.where(c > 0.25, c * 0.5, -c)",
    "stored": "a[:, 1:2] = c\na[:, i % 2:i % 2 + 1] *= 0.5",
    "its sum": "s = s * 0.5 + c.sum()\nr = c.sum(axis=0)",
    "new ones": "r = np.ones_like(c) * s\ns = s + 1.0",
}


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    text = (
        "def f(a, b, c, w):\n    s, r = 0.0, None\n"
        f"    for i in range(6):\n        {lines}\n    return s, r, a, b, c\n"
    )
    return function_from(text, np=np)


def data(rows, columns, dtype, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((rows, columns)), rng.standard_normal((columns, 1))
    c, w = rng.standard_normal((rows, 1)), rng.standard_normal((1, columns))
    if seed == 1:
        c[0], a[-1, 0] = np.nan, -0.0
    return tuple(np.asarray(each, dtype, order="CF"[seed % 2]) for each in (a, b, c, w))


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("body", BODIES)
def test_results_are_numpys(body, dtype):
    fn = loop(BODIES[body])
    decorated = runmat.jit(fn)
    for rows, columns in ((5, 3), (1, 3), (4, 1), (1, 1), (40, 2)):
        for seed in (0, 1, 2):
            expected = observe(fn, data(rows, columns, dtype, seed), {})
            found = observe(decorated, data(rows, columns, dtype, seed), {})
            exact = not any(word in BODIES[body] for word in ("tanh", "mean", "sum", "inv"))
            compare(expected, found, exact=exact)


@pytest.mark.parametrize(
    "body", ["an expression", "a product", "inverse", "a mean that keeps its axis"]
)
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop(BODIES[body]))
    for _ in range(3):
        decorated(*data(40, 3, "d", 0))
    assert natively() >= 3
