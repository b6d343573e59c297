"""``np.array`` of numbers in lists, in turns of loops. Oracle: the undecorated functions."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

STEPS = 7


def program(body, result):
    lines = "\n        ".join(body.split("\n"))
    text = "def f(x, a, k, steps):\n    s = x[0]\n    for t in range(steps):\n"
    return function_from(f"{text}        {lines}\n    return {result}\n", np=np)


NATIVE = {
    "a vector": ("x = x * 0.5 + np.array([x[1], -x[0], s])", "x"),
    "a matrix": ("a = np.array([[x[0], 1.0], [-1.0, x[1]]]) @ a * 0.25", "a"),
    "a row": ("a = a + np.array([[x[0], s]])", "a"),
    "a column": ("a = a + np.array([[x[0]], [s]])", "a"),
    "three axes": ("s = s + np.array([[[x[0], s], [x[1], t]]])[0, t % 2, 0]", "s"),
    "tuples": ("a = a + np.array(((x[0], s), (s, x[2])))", "a"),
    "unpacked": ("p, q, r = x\nx = x + 0.25 * np.array([q - p, r - q, p * q])", "x"),
    "whole numbers": ("s = s + np.array([[t, k], [k, t]])[t % 2, 0]", "s"),
    "stored": ("a[t % 2 : t % 2 + 1] = np.array([[x[0], s]])\nx = x * 0.5", "a, x"),
}
IN_PYTHON = {
    "ragged": "try:\n    s = np.array([[s, s], [s]])[0, 0]\nexcept ValueError:\n    s += 1",
    "arrays and numbers": "try:\n    s = np.array([x, s])[0]\nexcept ValueError:\n    s = s + 1",
    "truth values beside": "s = s + np.array([[s, s > 0], [s, s < 1]])[1, 1]",
    "a dtype": "s = s + np.array([[s, s]], dtype=np.float32)[0, 1]",
}


def given(dtype):
    rng = np.random.default_rng(3)
    x, a = (rng.integers(-8, 9, shape) * 0.25 for shape in (3, (2, 2)))
    return x.astype(dtype), a.astype(dtype), 5, STEPS


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("name", NATIVE)
def test_these_run_natively(name, dtype, natively):
    fn = program(*NATIVE[name])
    decorated = runmat.jit(fn)
    for _ in range(3):
        compare(observe(fn, given(dtype), {}), observe(decorated, given(dtype), {}))
    assert natively() == 3 or dtype == "f"


@pytest.mark.parametrize("name", IN_PYTHON)
def test_these_do_not(name, natively):
    fn = program(IN_PYTHON[name], "s")
    decorated = runmat.jit(fn)
    for _ in range(3):
        compare(observe(fn, given("d"), {}), observe(decorated, given("d"), {}))
    assert natively() == 0
