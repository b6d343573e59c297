"""Generator expressions and lists that calls are given, in loops. Oracle: undecorated Python."""

import math

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(6)

BODIES = {
    "a sum": "s = s * 0.5 + sum(x[j] * y[(i + j) % 5] for j in range(4))",
    "of an array": "s = s * 0.5 + sum(v * v for v in x)",
    "a list": "s = s + sum([v - i for v in x])",
    "of two": "s = s + sum(v * w for v, w in zip(x, y))",
    "nested": "s = s * 0.5 + sum(v * w for v in x for w in y if v < w)",
    "that depends": "s = s + sum(x[k] for j in range(i) for k in range(j) if (j + k) % 2)",
    "of integers": "t += sum(j * j for j in range(i))",
    "a count": "t += sum(1 for v in x if v > i * 0.25)",
    "of truth values": "t += sum(v > w for v, w in zip(x, y))",
    "all": "if all((i + 2) % d for d in range(2, i + 1)):\n    t += i",
    "any": "if any(v > 0.5 + i for v in x):\n    t += 1",
    "any of nested": "t += any(v == w for v in x for w in y)",
    "all of none": "t += all(v > 9 for v in x[:0]) + any(v > 9 for v in x[:0])",
    "the name of the loop": "t += sum(i * i for i in range(3))\ns = s + i",
    "a name of the function": "v = 2.0\nt += sum(v > 0 for v in x)\ns = s + v",
    "a name that another reads": "t += sum(w for w in range(i)) + any(w > 2 for w in range(i))",
    "names from outside": "s = s + sum(np.sqrt(abs(v)) * c for v in x)",
    "within another": "s = s + sum(sum(v * w for w in y) for v in x[:3])",
    "in a condition": "s = s + (sum(v for v in x) if i % 2 else 1.0)",
    "in a test": "k = 0\nwhile sum(x[j] for j in range(k)) < 1.0 and k < 5:\n    k += 1\nt += k",
    "an array": "r = np.array([x[j] * i + y[j] for j in range(4)])\ns = s + r @ r",
    "an array of as many": "r = np.array([v * 2.0 for v in x])\nx[0] = r[1]",
    "an array of a variable": "r = np.array([math.sin(j * 0.5) + s for j in range(n)])\ns = r[0]",
    "what leaves": "s = s + sum(1.0 / v for v in x)",
    "what raises": "s = s + sum(x[j] for j in range(i * 4))",
    "twice": "s = s + sum(v for v in x) - sum(v for v in x[1:])",
}
LEFT = ("what raises", "that depends", "in a test")
"""Bodies with sums of nothing, or with exceptions: Python runs them."""
OTHERS = {
    "of arrays": "r = sum(a[j] for j in range(2))",
    "the largest": "s = s + max(v for v in x) + min(v for v in y)",
    "with a start": "s = s + sum((v for v in x), 1.0)",
    "an array of integers": "r = np.array([j for j in range(4)])",
    "an array of some": "r = np.array([v for v in x if v > 0.0])",
    "an array of rows": "r = np.array([[v, v] for v in x])",
    "a list that is kept": "k = [v for v in x]\ns = s + k[0]",
    "a set": "t += len({v for v in x})",
    "of Python's floats": "s = s + sum(0.1 * j for j in range(5))",
    "a joined text": "k = ','.join(str(v) for v in x)",
    "a name that it binds": "t += any((q := v) > 0.25 for v in x)",
    "another sum": "s = s + math.fsum(v for v in x)",
}


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    text = (
        "def f(x, y, a, n, c):\n    s, t, r = 0.0, 0, None\n    for i in range(6):\n"
        f"        {lines}\n    return s, t, r, x\n"
    )
    return function_from(text, np=np, math=math)


def data(seed, kind="d"):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(7 if seed < 3 else 1), rng.standard_normal(7)
    if seed == 1:
        x[2], y[1] = np.nan, x[3]
    if seed == 2:
        x[4] = 0.0
    return x.astype(kind), y.astype(kind), rng.standard_normal((2, 3)), 3 + seed, 0.5


@pytest.mark.parametrize("kind", ["d", "f", "l"])
@pytest.mark.parametrize("body", {**BODIES, **OTHERS})
def test_results_and_exceptions_are_pythons(body, kind):
    fn = loop({**BODIES, **OTHERS}[body])
    decorated = runmat.jit(fn)
    for seed in (0, 1, 2, 3, 0):
        compare(observe(fn, data(seed, kind), {}), observe(decorated, data(seed, kind), {}))


@pytest.mark.parametrize("body", [body for body in BODIES if body not in LEFT])
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop(BODIES[body]))
    for _ in range(3):
        decorated(*data(0))
    assert natively() >= 3


def summed(x, n):
    def of(t):
        return sum(t * v for v in x) + any(v > t for v in x)

    s = 0.0
    for k in range(n):
        s = s * 0.5 + of(k * 0.25)
    return s


def test_in_functions_that_a_loop_calls(natively):
    decorated = runmat.jit(summed)
    for seed in range(3):
        x = np.random.default_rng(seed).random(9)
        compare(observe(summed, (x, 300), {}), observe(decorated, (x, 300), {}))
    assert natively() >= 3
