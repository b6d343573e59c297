"""``np.array`` of what a program has computed. Oracle: the undecorated function."""

import linecache

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check

FUSED = [
    "np.array([x[1], -x[0]])",
    "np.array([[c, -s], [s, c]])",
    "np.array(((c, -s, 0), (s, c, 0), (0, 0, 1))) @ x[:3]",
    "np.asarray([x.sum(), n, 2.5, True])",
    "np.array([c, c > 0.5])",
    "np.array([x[0] * 2, i])",
    "np.array([x * 2, x + c])",
    "np.array([[x, x * x], [x + 1, x - s]])",
    "np.array([(x * 2)[0], 3], dtype=np.float64)",
    "np.array([c * 1j, x[0]])",
    "np.array([[[c]]])",
    "np.array([x[k] for k in range(4)])",
    "x + np.array([c, s, c, s, c])",
    "np.array([n * c, k]).sum()",
]
LEFT_TO_NUMPY = [
    "np.array([x[0], [x[1]]])",
    "np.array([x * 2, x[:2]])",
    "np.array([c, 'text'])",
    "np.array([c, None])",
    "np.array([c, 2**63])",
    "np.array([c, -(2**70)])",
    "np.array([c, s], ndmin=3)",
    "np.array([c, s], order='F')",
    "np.array([x[0] + 0.9, s], dtype=int)",
    "np.array([x[0], s], dtype=np.float32)",
    "np.array([c, big])",
    "np.array([x[0]] * 40)",
    "np.array([])",
    "np.array([[], []])",
    "np.array([[c, s], c])",
    "np.array(x)",
    "np.array({c, s}, dtype=object).shape",
]


def function(text):
    source = (
        "def fn(x, i, k, n, big):\n    c, s = x[0] * x[1], x[0] - x[2]\n"
        f"    try:\n        return {text}, c\n"
        "    except (ValueError, TypeError, OverflowError) as error:\n        return str(error)\n"
    )
    file = f"<list {text}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["fn"]


def arguments(dtype):
    def make(rng):
        x = (rng.random(5) * 3).astype(dtype)
        return x, np.int32(rng.integers(9)), int(rng.integers(4)), float(rng.random()), 2**70

    return make


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("text", [*FUSED, *LEFT_TO_NUMPY])
def test_every_array_is_numpys(text, dtype):
    check(function(text), arguments(dtype), seeds=(0, 0, 1, 2, 3, 4))


@pytest.mark.parametrize("text", FUSED)
def test_these_need_no_call_of_numpys(text):
    decorated, args = runmat.jit(function(text)), arguments("float64")(np.random.default_rng(0))
    decorated(*args)
    assert "array" not in str(decorated.explain(*args)).partition("NumPy computes")[2]


def test_an_integer_that_fits_no_more_makes_another_array():
    decorated = runmat.jit(lambda x, n: np.array([x[0] * 2, n]))
    for n in (1, 2, 3, 2**70, 4, 2**63, 5):
        found, expected = decorated(np.ones(3), n), np.array([2.0, n])
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_what_was_in_the_list_may_be_written():
    def fn(x):
        y = x * 2
        both = np.array([y, y])
        y[0] = 9
        both[1, 1] = 7
        return y, both

    check(fn, lambda rng: (rng.random(4),), seeds=(0, 0, 1))


def test_steps_of_a_system_are_one_program():
    def fn(state, steps):
        for _ in range(steps):
            x, v = state
            state = state + 0.01 * np.array([v, -np.sin(x)])
        return state

    decorated = runmat.jit(fn)
    for steps in (3, 3, 40, 3):
        np.testing.assert_allclose(decorated(np.ones(2), steps), fn(np.ones(2), steps), rtol=1e-12)
