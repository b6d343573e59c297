"""Masks, index arrays, scans and positions beside each other. Oracle: undecorated Python."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

STATEMENTS = (
    "x[m] = 0.5",
    "x[x < 0] = 0",
    "x[m] *= 2",
    "y = x[i]",
    "y = np.take(x, i, axis=0) + y",
    "y = y[i] * 2",
    "y = np.cumsum(x, axis=0)",
    "y = np.cumsum(y, axis=-1)",
    "y = np.cumsum(x[i], axis=0)",
    "y = np.maximum.accumulate(y - x, axis=0)",
    "y = np.cumsum(y)[:len(x)] if y.ndim == 1 else y[::-1]",
    "k = k + x.argmax(axis=0)",
    "k = k + np.argmin(y * 2, axis=-1)",
    "k = x[i].argmax(axis=0) + k",
    "i = (i + 1) % len(x)",
    "i = i[::-1]",
    "m = y > x",
    "m = ~m",
    "y = y * 3 + x",
    "y = np.where(m, y, x)",
    "t = t + y.sum(axis=0)",
    "t = t * 0 + x[i].max(axis=0)",
    "x = x[::-1]",
    "y = x.copy()",
)


def body(rng):
    lines = rng.choice(STATEMENTS, size=rng.integers(2, 9))
    text = "\n    ".join(lines)
    return f"def f(x, y, m, i):\n    k, t = 0, 0.0\n    {text}\n    return x, y, m, i, k, t\n"


def arguments(rng):
    shape = [(7,), (1,), (40,), (6, 5), (1, 3), (33, 2)][rng.integers(6)]
    dtype = ["f8", "f4"][rng.integers(2)]
    x, y = (rng.normal(size=shape).astype(dtype) for _ in "xy")
    if rng.random() < 0.3:
        x.flat[rng.integers(x.size)] = np.nan
    if rng.random() < 0.3:
        x = np.asfortranarray(x)
    m = rng.random(shape) < rng.choice([0.0, 0.3, 1.0])
    i = rng.integers(-shape[0], shape[0], size=shape[0])
    return x, y, m, i


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.slow] * (n >= 40)) for n in range(400)]
)
def test_random_mixtures_give_what_plain_python_gives(seed):
    rng = np.random.default_rng(seed)
    plain = function_from(body(rng), np=np)
    decorated = runmat.jit(plain)
    for call in range(3):
        made = np.random.default_rng((seed, call // 2))
        expected = observe(plain, arguments(made), {})
        made = np.random.default_rng((seed, call // 2))
        compare(expected, observe(decorated, arguments(made), {}), exact=False)
