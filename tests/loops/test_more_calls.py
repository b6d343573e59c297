"""Further functions of NumPy's in loops. Oracle: the undecorated functions, with warnings."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(4)

SUMS = {
    "deviation": "s = s + x[i : i + 4].std()",
    "variance": "s = s + np.var(x * 2.0) - x[i:].var()",
    "degrees of freedom": "s = s + np.std(x, ddof=1) + x[:4].var(ddof=2)",
    "too few degrees": "s = s + np.std(x[:1], ddof=1)",
    "of nothing": "s = s + x[:0].std()",
    "rows": "y = m.std(axis=1)\ns = s + y[0]",
    "columns": "y = np.var(m, axis=0)\ns = s + y[-1]",
    "kept": "m = (m - m.mean(axis=1, keepdims=True)) / (m.std(axis=1, keepdims=True) + 1.0)",
    "several axes": "s = s + m.std() + m.var(axis=(0, 1))",
    "integers": "s = s + k.std() + np.var(k)",
    "a mask": "s = s + x[x > 0.0].std()",
}
EXACT = {
    "clip": "np.clip(x, -1.0 + i, 1.5, out=x)",
    "clip of another": "np.clip(m, -1.0, i, out=m)\nnp.clip(x[1:], 0.0, 1.0, out=x[:-1])",
    "clip to a wider dtype": "np.clip(k, -1, 1, out=x)",
    "clip that gives a value": "y = np.clip(x, -1.0, 1.0, out=x)\ns = s + y[0]",
    "matmul": "np.matmul(m[:4, :4], m[:4, :4], out=m[:4, :4])",
    "diagonal": "np.fill_diagonal(m, i)",
    "diagonal of a square": "np.fill_diagonal(m[:3, :3], x[i])",
    "diagonal of a wide one": "np.fill_diagonal(m[:2], 7.0)\nnp.fill_diagonal(m[:, :2], -1)",
    "diagonal of integers": "np.fill_diagonal(m, k[0])",
    "diagonal of vectors": "np.fill_diagonal(m, x[:2])",
    "diagonal of a row": "np.fill_diagonal(m[:1], 1.0)",
    "diagonal that wraps": "np.fill_diagonal(m.T, 1.0, True)",
    "cumsum": "y = np.cumsum(x)\nx = y * 0.5",
    "cumsum of a part": "x[1:] = x[1:].cumsum() * 0.25\ns = s + np.cumsum(x[::2])[-1]",
    "cumsum of integers": "k = np.cumsum(k) % 7",
    "cumsum along an axis": "m = np.cumsum(m, axis=1) * 0.5",
    "cumsum of a matrix": "s = s + m.cumsum()[-1]",
    "arange": "x = x + np.arange(len(x)) * 0.5",
    "arange of a number": "s = s + (np.arange(4) * i).sum()",
    "arange of a float": "s = s + np.arange(4.0).sum()",
    "arange from": "s = s + np.arange(1, 5).sum()",
    "arange of a dtype": "s = s + np.arange(4, dtype=float).sum()",
    "a dtype by name": "x = x + np.ones(len(x)).astype(d)",
}


def loop(body):
    """Return the function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    head = "def f(x, m, k, d):\n    s = 0.0\n    for i in range(4):\n        "
    return function_from(f"{head}{lines}\n    return s, x, m, k\n", np=np)


def data(seed, special):
    rng = np.random.default_rng(seed)
    x, m = rng.integers(-9, 9, 17) * 0.25, rng.integers(-9, 9, (5, 9)) * 0.5
    x[seed], m[1, seed] = special
    return x, m, rng.integers(-5, 5, 11), np.dtype(float)


SPECIAL = ((0.5, 1.0), (np.nan, -0.0), (np.inf, 2.0), (1e308, -np.inf), (-0.0, np.nan), (0.5, 1.0))


@pytest.mark.parametrize("body", [*SUMS, *EXACT])
def test_calls(body):
    fn = loop((SUMS | EXACT)[body])
    decorated = runmat.jit(fn)
    for seed, special in enumerate(SPECIAL):
        expected = observe(fn, data(seed, special), {})
        compare(expected, observe(decorated, data(seed, special), {}), exact=body in EXACT)


NATIVE = (
    *("deviation", "variance", "degrees of freedom", "rows", "columns", "several axes", "clip"),
    *("matmul", "diagonal", "diagonal of a wide one", "cumsum", "cumsum of integers", "arange"),
    *("arange of a number", "a dtype by name"),
)


@pytest.mark.parametrize("body", NATIVE)
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop((SUMS | EXACT)[body]))
    for seed in range(3):
        decorated(*data(seed, SPECIAL[0]))
    assert natively() == 3
