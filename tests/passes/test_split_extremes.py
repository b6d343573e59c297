"""Extremes over several axes, axis by axis. Oracle: NumPy, whose order of elements is no matter."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.text import to_text
from runmat_jit.passes import split_extremes as module
from runmat_jit.passes.split_extremes import split_extremes
from tests.graph.written import written
from tests.lower.execute import execute


def extreme(name, axes, *, keepdims=False):
    return f"{name}($0, axis={axes}, keepdims={keepdims})"


@pytest.mark.parametrize(
    ("shape", "axes", "splits"),
    [
        ((2, 5, 6, 3), (1, 2), True),
        ((5, 6, 2, 3), (0, 1), True),
        ((5, 6, 4, 2), (0, 1, 2), True),
        ((5, 6, 7), (0, 1, 2), False),  # nothing is left beside
        ((5, 6, 7), (1, 2), False),  # rows
        ((5, 6, 7), (0, 1), True),
        ((5, 6, 16), (0, 1), False),  # enough for a vector
        ((5, 6, 1), (0, 1), False),
        ((1, 6, 3), (0, 1), False),  # one axis in truth
        ((5, 2, 6, 3), (0, 2), False),  # another one lies between
        ((5, 6, 3), (0,), False),
    ],
)
def test_few_elements_side_by_side_are_told(shape, axes, splits, monkeypatch):
    monkeypatch.setattr(module, "LARGE", 1)
    graph = written([f"float32[{', '.join(map(str, shape))}]"], extreme("max", axes))
    assert (to_text(split_extremes(graph)) != to_text(graph)) == splits


def test_small_arrays_are_reduced_at_once():
    graph = written(["float32[2, 5, 6, 3]"], extreme("max", (1, 2)))
    assert to_text(split_extremes(graph)) == to_text(graph)


@given(
    st.lists(st.integers(1, 6), min_size=3, max_size=4),
    st.sampled_from(["min", "max"]),
    st.booleans(),
    st.sampled_from(["float32", "float64", "int32", "bool"]),
    st.integers(0, 99),
)
def test_extremes_are_those_of_numpy(shape, name, keepdims, dtype, seed):
    rng = np.random.default_rng(seed)
    axes = tuple(range(seed % 2, seed % 2 + 2))
    graph = written(
        [f"{dtype}[{', '.join(map(str, shape))}]"], extreme(name, axes, keepdims=keepdims)
    )
    x = (rng.permutation(math.prod(shape)).reshape(shape) - 5).astype(dtype)
    if dtype.startswith("float") and seed % 5 == 0:
        x.flat[seed % x.size] = np.nan
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LARGE", 1)
        ready = split_extremes(graph)
    expected = getattr(np, name)(x, axis=axes, keepdims=keepdims)
    np.testing.assert_array_equal(run(ready, [x])[0], expected, strict=True)
    np.testing.assert_array_equal(execute(ready, [x])[0][0], expected, strict=True)
