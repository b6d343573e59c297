"""Linear algebra of small matrices in loops. Oracle: the undecorated functions, to the bit.

Singular matrices raise at the program's line, and events of other operations are not lost.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(5)

BODIES = {
    "solve": "r = np.linalg.solve(a + i * e, b)\ns = s + r[0]",
    "solve for a matrix": "r = np.linalg.solve(a + i * e, c)",
    "solve in an expression": "s = s + np.linalg.solve(a + e, b * i).sum()",
    "of a transposed one": "r = np.linalg.solve(a.T, b)",
    "of a part": "r = np.linalg.solve(a[1:, :-1], b[1:])",
    "of every second": "r = np.linalg.solve(a[::2, ::2], b[::2])",
    "backwards": "r = np.linalg.solve(a[::-1], b[::-1])",
    "inverse": "r = np.linalg.inv(a + i * e)\ns = s + r[-1, 0]",
    "determinant": "s = s + np.linalg.det(a * 0.5)",
    "cholesky": "r = np.linalg.cholesky(k[0] + i * e)",
    "stored": "a[:] = np.linalg.inv(a) * 0.5 + e",
    "an event beside": "s = s + 1.0 / (b[0] - b[0])\nr = np.linalg.solve(a, b)",
    "an event before": "r = b / b[-1]\nr = np.linalg.solve(a, r)",
    "singular": "r = np.linalg.solve(a - a, b)",
    "singular at last": "z = a * (i < 3)\nr = np.linalg.inv(z)",
    "caught": "if np.linalg.det(a - a) == 0.0:\n    s = s + 1.0",
    "not positive": "r = np.linalg.cholesky(-a @ a.T)",
    "of integers": "r = np.linalg.solve(n, b)",
    "of float32": "r = np.linalg.solve(f, b)",
    "no square": "r = np.linalg.inv(a[1:])",
    "another length": "r = np.linalg.solve(a, b[1:])",
    "of a stack": "r = np.linalg.inv(k)",
    "upper": "r = np.linalg.cholesky(k[0] + e, upper=True)",
    "without elements": "r = np.linalg.inv(a[:0, :0])",
}


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    head = "def f(a, b, c, e, n, f, k):\n    s, r = 0.0, None\n    for i in range(4):\n        "
    return function_from(f"{head}{lines}\n    return s, r\n", np=np)


def data(size, seed, order="C"):
    rng = np.random.default_rng(seed)
    a = np.asarray(rng.standard_normal((size, size)) + 2.0 * np.eye(size), order=order)
    if seed == 3:
        a[0, -1] = np.nan
    b, c = rng.standard_normal(size), rng.standard_normal((size, 3))
    if seed == 2:
        b[-1] = 0.0
    n, f = rng.integers(1, 5, (size, size)), a.astype("f")
    return a, b, c, np.eye(size), n, f, np.stack([a @ a.T + np.eye(size), a])


@pytest.mark.parametrize("size", [2, 3, 8, 33, 1])
@pytest.mark.parametrize("body", BODIES)
def test_results_and_exceptions_are_numpys(body, size):
    fn = loop(BODIES[body])
    decorated = runmat.jit(fn)
    for seed in range(5):
        order = "F" if seed == 1 else "C"
        expected = observe(fn, data(size, seed, order), {})
        exact = body != "solve in an expression"  # sums are ours
        compare(expected, observe(decorated, data(size, seed, order), {}), exact=exact)


@pytest.mark.parametrize("body", [*BODIES][:9])
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop(BODIES[body]))
    for seed in (0, 0, 0):
        decorated(*data(8, seed))
    assert natively() >= 3
