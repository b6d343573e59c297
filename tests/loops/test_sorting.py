"""Sorts, medians, percentiles and cross products in loops. Oracle: the undecorated functions, to
the bit; arrays with NaN, -0.0 or more elements than are sorted here are left to Python."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(12)

BODIES = {
    "median": "s = s * 0.5 + np.median(x[i:i + w])",
    "median of a window": "s = s * 0.5 + np.median(a[i:i + 3, 1:1 + w])",
    "median of an expression": "s = s * 0.5 + np.median(np.abs(x[i:i + w] - x[i]))",
    "percentile": "s = s * 0.5 + np.percentile(x[i:i + w], q)",
    "percentile of an integer": "s = s * 0.5 + np.percentile(x[i:], 10 * i)",
    "quantile": "s = s * 0.5 + np.quantile(x[i:i + w], q / 100)",
    "an order": "t = np.argsort(x[i:i + w])\ns = s + x[t[0]] + len(t)\nx[:] = x[np.argsort(x)]",
    "the nearest": "t = np.argsort(np.abs(x - x[i]) + a[0, 0])[:3]\ns = s * 0.5 + x[t].sum()",
    "an order by name": "t = x.argsort()\ns = s + t[i % len(x)]",
    "bins": "t = np.bincount(np.arange(len(x)) // w)\ns = s + t[0] + t.argmax() + len(t)",
    "sort": "t = np.sort(x[i:i + w])\ns = s * 0.5 + t[0] - t[-1]",
    "sort backwards": "x[:w] = np.sort(x[i:i + w])[::-1]",
    "in place": "x[i:i + w].sort()\ns = s * 0.5 + x[i]",
    "every second": "x[i::2].sort()",
    "backwards in place": "x[::-1].sort()\nx[0] = i",
    "a row": "a[i].sort()",
    "a column": "a[:, i].sort()",
    "of its own": "t = x[i:i + w].copy()\nt.sort()\nx[:1] = t[-1]",
    "before an event": "s = s + np.median(x[:w])\nx[i] = x[i] / (x[i] - x[i])",
    "cross": "t = np.cross(a[i, :3], a[i + 1, 1:4])\ns = s * 0.5 + t[0]",
    "cross of expressions": "a[i, :3] += np.cross(x[:3] - a[i, :3], x[i:i + 3] * 2)",
}
LEFT = {
    "of nothing": "s = s + np.median(x[:0])",
    "beyond all percents": "s = s + np.percentile(x, 101)",
    "several percents": "r = np.percentile(x, [10, 90])",
    "another axis": "r = np.sort(a, axis=0)",
    "a median of rows": "r = np.median(a, axis=1)",
    "a matrix in place": "a.sort()",
    "another kind": "r = np.sort(x, kind='stable')",
    "a stable order": "r = np.argsort(x, kind='stable')",
    "an order of rows": "r = np.argsort(a)",
    "bins with weights": "r = np.bincount(np.arange(3), x[:3])",
    "bins of negative numbers": "r = np.bincount(np.arange(3) - 1)",
    "bins of many": "r = np.bincount(np.arange(3) * 400)",
    "a list": "r = [2, 1]\nr.sort()",
    "cross of planes": "r = np.cross(a[i, :2], a[i, 2:4])",
    "cross of others": "r = np.cross(a[i, :4], a[i, :4])",
    "cross of rows": "r = np.cross(a[:, :3], a[:, 3:6])",
}


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    head = f"def f(x, a, w, q):\n    s, r = 0.0, None\n    for i in range(6):\n        {lines}\n"
    return function_from(f"{head}    return s, r, x, a\n", np=np)


def data(kind, length, seed):
    """``x`` of so many elements, a matrix, the length of a window, and a percentage.

    Seeds 0 and 1: other numbers; 2: with NaN, infinities and -0.0; 3: ties; 4: columns first.
    """
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(length) * 40).astype(kind)
    a = (rng.standard_normal((9, 8)) * 40).astype(kind)
    if seed == 2 and x.dtype.kind == "f":
        x[[1, -2]], a[3, 2:5] = (-0.0, np.inf), (np.nan, -np.inf, 0.0)
    if seed == 3:
        x, a = x // 20, a // 20
    if seed == 4:
        x, a = x[::-1], np.asfortranarray(a)
    return x, a, min(length, 5), 62.5


@pytest.mark.parametrize("kind", ["d", "f", "l", "i", "B", "?"])
@pytest.mark.parametrize("body", {**BODIES, **LEFT})
def test_results_and_exceptions_are_numpys(body, kind):
    fn = loop({**BODIES, **LEFT}[body])
    decorated = runmat.jit(fn)
    for length in (9, 40, 8, 700):
        for seed in range(5):
            expected = observe(fn, data(kind, length, seed), {})
            compare(expected, observe(decorated, data(kind, length, seed), {}))


@pytest.mark.parametrize("body", [body for body in BODIES if body != "before an event"])
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop(BODIES[body]))
    for _ in range(3):
        decorated(*data("d", 30, 0))
    assert natively() >= 3


def test_lists_are_sorted_by_python():
    def f(values, x):
        s = 0.0
        for i in range(len(values)):
            values.sort()
            s = s * 0.5 + values[i] + x[i]
            values[0] = values[0] + 60.0
        return s, values

    decorated, x = runmat.jit(f), np.arange(9.0)
    for _ in range(3):
        values = [float(7 * i % 9) for i in range(9)]
        compare(observe(f, ([*values], x), {}), observe(decorated, ([*values], x), {}))


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33, 127, 128, 129, 512, 513])
def test_of_many_lengths(length):
    fn = loop("r = np.sort(x)\ns = s + np.median(x) + np.percentile(x, 7 * i)")
    decorated = runmat.jit(fn)
    for seed in (0, 1, 3):
        compare(
            observe(fn, data("d", max(length, 2), seed), {}),
            observe(decorated, data("d", max(length, 2), seed), {}),
        )
