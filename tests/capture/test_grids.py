"""Spaced numbers and matrices of ones by places. Oracle: the undecorated function, to the bit."""

import linecache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from tests.capture.behavior import check

TEXTS = [
    "np.linspace(0, 1, len(x)) * x",
    "np.linspace(-2.5, 0.1, x.size, endpoint=False) + x",
    "np.linspace(3, 1, 2 * len(x)) + 0",
    "np.linspace(0, 2 * np.pi, 7) * 1",
    "np.linspace(0.0, 1.0, n) * 1",
    "np.linspace(x[0], 1.0, 5)",
    "np.linspace(0, y, 5)",
    "np.linspace(0, 5, 6, dtype=int)",
    "np.linspace(0, 1, 4, retstep=True)[0]",
    "np.linspace(0, 0, 4)",
    "np.linspace(0, 1, 0), np.linspace(0, 1, 1), -np.linspace(2, 1, 1, endpoint=False)",
    "np.eye(len(x)) * x",
    "np.eye(3, len(x), 1) + x",
    "np.eye(n, dtype=bool)",
    "np.identity(len(x)) - np.outer(x, x)",
    "np.tri(len(x), k=-1) * x",
    "np.tri(len(x), 3)",
    "np.eye(4, order='F').flags.f_contiguous",
    "np.eye(len(x), dtype=np.float32) * 2",
]


def function(text):
    source = f"def fn(x, n, y):\n    return {text}\n"
    file = f"<grid {text}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["fn"]


@pytest.mark.parametrize("text", TEXTS)
def test_grids_are_numpys(text):
    def make(rng):
        return rng.random((1, 2, 3, 5, 8)[rng.integers(5)]), int(rng.integers(2, 5)), 1.5

    check(function(text), make, seeds=range(9), exact="outer" not in text)


@given(
    st.floats(-1e6, 1e6),
    st.floats(-1e6, 1e6),
    st.integers(0, 300),
    st.booleans(),
)
def test_every_number_has_numpys_bits(start, stop, num, endpoint):
    source = (
        "def fn(x):\n"
        f"    return np.linspace({start!r}, {stop!r}, {num}, {endpoint}),"
        f" np.linspace({start!r}, {stop!r}, len(x), {endpoint}) * 1.0\n"
    )
    namespace = {"np": np}
    file = f"<line {start} {stop} {num} {endpoint}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), namespace)
    decorated, x = runmat.jit(namespace["fn"]), np.zeros(num)
    for _ in range(2):
        for found, expected in zip(decorated(x), namespace["fn"](x), strict=True):
            assert found.tobytes() == expected.tobytes()


def test_other_lengths_have_the_program_of_the_first():
    decorated = runmat.jit(lambda x: x * np.linspace(0, 1, len(x)) + np.eye(len(x))[0])
    for length in (5, 7, 9, 30, 31):
        x = np.ones(length)
        np.testing.assert_array_equal(decorated(x), np.linspace(0, 1, length) + np.eye(length)[0])
    assert decorated.cache_info().misses <= 3
