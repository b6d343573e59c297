"""Whole arrays of integers of few bits, in loops. Oracle: undecorated Python, to the bit."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(12)

BODIES = {
    "a mean": "s = s * 0.5 + x[i:i + 3, 1:4].mean()",
    "a sum": "s = s * 0.5 + x[i:i + 3, 1:4].sum()",
    "of a row": "s = s * 0.5 + x[i].sum() - float(y[i].sum())",
    "extremes": "s = s * 0.5 + x[i:i + 3].max() - x[i].min()\nt = x[i].max()",
    "deviations": "s = s * 0.5 + x[i].std() + x[i:i + 2, :3].var()",
    "a median": "s = s * 0.5 + np.median(x[i:i + 3, 1:4]) + np.percentile(x[i], 30)",
    "as floats": "r = x[i].astype(float) * 0.5\ns = s + r.max()",
    "as integers": "r = np.abs(x[i].astype(int) - y[i])\ns = s + r.max()",
    "comparisons": "r = x[i] > 100\ns = s + (x[i] == y[i]).sum() + (x[i] > -1).all()",
    "chosen": "r = np.where(x[i] > 9, 1.0, 0.0)\ns = s + x[i][x[i] >= x[i, 0]].mean()",
    "chosen of them": "z[:] = np.where(x[i] > y[i], x[i], y[i])",
    "added": "z[:] = x[i] + y[i]\nz += x[i]",
    "with numbers": "z[:] = x[i] * 2 + 3\nz[1:] = z[:-1] - 1",
    "subtracted": "z[:] = x[i] - y[i]\nz[:] = -z",
    "bits": "z[:] = (x[i] & 15) | (y[i] ^ 3)\nz[:] = ~z",
    "shifted": "z[:] = x[i] << 3\nz[:] = z >> 1",
    "halves": "r = x[i] / 2\nr = r + x[i] * 0.5",
    "the larger": "z[:] = np.maximum(x[i], y[i])\nz[:] = np.minimum(z, 7)",
    "with floats": "r = x[i] * w + y[i]\ns = s + r.max()",
    "with wider ones": "r = x[i] + np.arange(8)\ns = s + r[1]",
    "numbers of theirs": "r = w.astype(np.float32) * x[i, 0]\ns = s + (np.arange(8) + y[i, 1])[2]",
    "numbers of theirs and integers": "r = np.arange(8, dtype=np.int32) * x[i, 0]",
    "absolute": "z[:] = np.abs(x[i])",
    "any": "s = s + x[i].any() + x[i, :2].all() + x[i].argmax()",
    "whole quotients": "z[:] = x[i] // 3\nz[:] = z % 5",
    "by zero": "z[:] = x[i] // y[i]",
    "a number too large": "z[:] = x[i] * 300",
    "powers": "z[:] = x[i] ** 2",
    "roots": "r = np.sqrt(x[i])",
    "a copy": "c = x[i] * 2\nz[:] = c + 1",
    "into others": "r = np.zeros(8)\nr[:] = x[i]\nz[:] = 7",
    "sums of columns": "r = x.mean(axis=0)\ns = s + r[0]",
}


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    text = "def f(x, y, z, w):\n    s, r, t = 0.0, None, None\n    for i in range(6):\n        "
    return function_from(f"{text}{lines}\n    return s, r, t, z\n", np=np)


def data(kind, seed):
    """Two arrays with all numbers of the dtype, a row, and floats."""
    rng, limits = np.random.default_rng(seed), np.iinfo(kind)
    x, y = (rng.integers(limits.min, limits.max, (9, 8), endpoint=True) for _ in range(2))
    x, y = x.astype(kind), y.astype(kind)
    if seed == 1:
        x[2, 3], x[3, 1], y[1, 1:3] = limits.min, limits.max, 0
        x = x[:, ::-1]
    if seed == 2:
        x, y = x % 7, np.asfortranarray(y % 5)
    return x, y, np.zeros(8, kind), rng.standard_normal(8)


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16", "uint32"])
@pytest.mark.parametrize("body", BODIES)
def test_results_are_numpys(body, kind):
    fn = loop(BODIES[body])
    decorated = runmat.jit(fn)
    for seed in (0, 1, 2, 0):
        compare(observe(fn, data(kind, seed), {}), observe(decorated, data(kind, seed), {}))


@pytest.mark.parametrize("kind", ["uint8", "uint16"])
@pytest.mark.parametrize("body", [body for body in [*BODIES][:25] if "theirs" not in body])
def test_they_run_natively(natively, body, kind):
    decorated = runmat.jit(loop(BODIES[body]))
    for _ in range(3):
        decorated(*data(kind, 2))
    assert natively() >= 3
