"""Arrays that shrink from iteration to iteration (``z = z[mask]``), and stores at indices.
Oracle: the undecorated functions, to the bit."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(20)

SHRINKING = {
    "one": "x = x[x > x.mean() - 20]\ns += len(x)",
    "several": "m = x > i - 20\nx, index = x[m], index[m]\nn[index] = i",
    "changed": "x = x * 2 - 1\nx = x[abs(x) < 200 + i]\ns += x.sum()",
    "in place": "x = x[x < 30]\nx += 1\ns += len(x)",
    "stored to": "x = x[x != i]\nx[:1] = i\nx[x < 0] = 1",
    "rows": "a = a[a[:, 0] > -i]\ns += a.sum()",
    "of an expression": "index = index[np.abs(x[index]) > 3 * i]\nn[index] += 1",
    "by another name": "y = x[x > -i]\nx = y\ns += len(y)",
    "kept": "y = x\nx = x[x > -i]\ns += len(y) - len(x)",
    "at times": "if i % 2:\n    x = x[x > -i]\ns += len(x)",
    "all at once": "x = x[x > 1e9]\ns += len(x)",
    "every second": "x = x[::2]\nx = x[x > -20]\ns += len(x)",
    "in a loop": "for j in range(2):\n    x = x[x != j]\ns += len(x)",
    "until nothing is left": "while len(x) and x[0] < 20:\n    x = x[x != x[0]]\ns += len(x)",
    "element by element": "x = x[x != i]\nfor j in range(len(x)):\n    s += x[j] * j",
    "by indices": "index = index[index[:len(index) // 2]]\ns += index.sum() + len(index)",
    "up to now": "x = x[x > -30]\nif len(x) > 2:\n    s += x[-1] - x[0]",
    "an event": "x = x[x != 3]\nx = x / (x - i)",
}
STORES = {
    "a number": "n[index % 5] = i",
    "numbers": "x[index] = x * 2",
    "equal indices": "n[index // 2] = index + i",
    "in place": "x[index // 2] += 1.5",
    "backwards": "x[-1 - index] = x.copy()",
    "of its own": "x[index[::-1]] = x",
    "rows": "a[index[:3] + i % 3] = a[0] + i",
    "rows in place": "a[index[:3]] *= 2",
    "a matrix": "a[index[:2]] = a[2:4] + 1",
    "out of range": "x[index + i] = 1",
    "integers": "n[index] = x.astype(np.int64)",
    "floats to integers": "n[index] = x",
    "other lengths": "x[index] = x[1:]",
    "its own indices": "index[index] = index[::-1].copy()",
    "mask and indices": "n[index[x > i]] += 1",
    "nothing": "x[index[:0]] = 1",
    "a wider number": "n[index % 3] += x[0]",
}
RESULTS = "x, index, a, n"


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    head = f"def f(x, index, a, n):\n    s = 0.0\n    for i in range(6):\n        {lines}\n"
    return function_from(f"{head}    return s, {RESULTS}\n", np=np)


def data(kind, length, seed):
    """``x``, its indices, a matrix, counts; seed 2 has NaN and infinities, seed 3 strides."""
    rng = np.random.default_rng(seed)
    x, a = (np.round(rng.standard_normal(s) * 40).astype(kind) for s in (length, (9, 4)))
    if seed == 2 and x.dtype.kind == "f":
        x[: length // 2 : 3], a[3, 0] = np.nan, np.inf
    if seed == 3:
        x = np.repeat(x, 2)[::2]
    return x, np.arange(length), a, np.zeros(length, np.int64)


@pytest.mark.parametrize("kind", ["d", "f", "l", "i", "D"])
@pytest.mark.parametrize("body", {**SHRINKING, **STORES})
def test_results_and_exceptions_are_numpys(body, kind):
    fn = loop({**SHRINKING, **STORES}[body])
    decorated = runmat.jit(fn)
    for length in (12, 70, 1, 0, 12):
        for seed in range(4):
            expected = observe(fn, data(kind, length, seed), {})
            compare(expected, observe(decorated, data(kind, length, seed), {}))


NATIVE = {*SHRINKING, *STORES} - {"an event", "out of range", "floats to integers", "every second"}
NATIVE -= {"other lengths", "its own indices", "a wider number", "in place"}


@pytest.mark.parametrize("body", sorted(NATIVE))
def test_they_run_natively(natively, body):
    decorated = runmat.jit(loop({**SHRINKING, **STORES}[body]))
    for _ in range(3):
        decorated(*data("d", 70, 0))
    assert natively() >= 3


@pytest.mark.parametrize("where", ["x", "index", "n", "s"])
def test_each_name_may_be_read_afterwards(natively, where):
    text = f"m = x > i - 20\nx, index = x[m], index[m]\nn[index] = i\ns += len(x)\nz = {where}"
    fn = function_from(
        "def f(x, index, a, n):\n    s = 0\n    for i in range(6):\n        "
        + text.replace("\n", "\n        ")
        + f"\n    return {where}, len(x)\n",
        np=np,
    )
    decorated = runmat.jit(fn)
    for seed in (0, 0, 1, 0):
        compare(
            observe(fn, data("d", 70, seed), {}),
            observe(decorated, data("d", 70, seed), {}),
        )
    assert natively() >= 3
