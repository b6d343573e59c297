"""Rows in terms of other rows. Oracles: the printed graph; NumPy's bits."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.text import to_text
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.ops.reduce import SINGLE_COUNTS
from runmat_jit.passes.expand import DECOMPOSED, expand
from tests.graph.random_graphs import EXACT_ROWS, SUMS, arrays, bits_equal, graphs
from tests.graph.written import written


def test_a_mean_is_a_sum_divided_by_a_count():
    graph = written(["float32[4, 5]"], "mean($0, axis=(1,), dtype='float32', keepdims=False)")
    assert to_text(expand(graph)) == (
        "$0 : float32[4, 5] strides (5, 1)\n"
        "%0 = sum($0, axis=(1,), dtype='float32', keepdims=False) : float32[4]\n"
        "%1 = count(number=5) : float32[]\n"
        "%2 = divide(%0, %1) : float32[4]\n"
        "return %2 -> fresh (0,)\n"
    )


def test_counts_that_single_precision_cannot_hold_divide_in_double_precision():
    long = SINGLE_COUNTS + 1
    graph = written([f"float32[{long}]"], "mean($0, axis=(0,), dtype='float32', keepdims=False)")
    assert to_text(expand(graph)) == (
        f"$0 : float32[{long}] strides (1,)\n"
        "%0 = sum($0, axis=(0,), dtype='float32', keepdims=False) : float32[]\n"
        "%1 = cast(%0, dtype='float64') : float64[]\n"
        f"%2 = count(number={long}) : float64[]\n"
        "%3 = divide(%1, %2) : float64[]\n"
        "%4 = cast(%3, dtype='float32') : float32[]\n"
        "return %4 -> fresh ()\n"
    )


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-38, 1e-44])
def test_quotients_of_single_precision_are_those_of_double_precision(scale):
    """Oracle: NumPy, which divides in double precision and rounds twice."""
    rng = np.random.default_rng(0)
    totals = (rng.standard_normal(200_000) * scale).astype(np.float32)
    counts = rng.integers(1, SINGLE_COUNTS, totals.size, endpoint=True)
    wide = (totals.astype(np.float64) / counts).astype(np.float32)
    np.testing.assert_array_equal(totals / counts.astype(np.float32), wide)


def test_two_limits_are_a_maximum_and_a_minimum():
    graph = written(["float32[4]"], "clip($0, 0.0, 1.0, limits=('min', 'max'))")
    assert to_text(expand(graph)) == (
        "$0 : float32[4] strides (1,)\n"
        "%0 = maximum(0.0, $0) : float32[4]\n"
        "%1 = minimum(1.0, %0) : float32[4]\n"
        "return %1 -> fresh (0,)\n"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "zeros(shape=(2, 3), dtype='float32')",
        "full(float32(2.0), shape=(2, 3), dtype='float32')",
        "arange(start=1, stop=9, step=2, dtype='int64')",
        "ones_like($0, dtype='int32', order='K')",
    ],
)
def test_what_is_created_is_constants_and_counters(expression):
    graph = written(["float32[4]"], expression)
    found = expand(graph)
    names = {node.op.name for node in found.nodes}
    assert names <= {"constant", "iota", "broadcast_to"}
    verify_graph(found)
    assert all(map(bits_equal, run(graph, arrays(graph)), run(found, arrays(graph))))


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all"])
@pytest.mark.parametrize("shape", ["[3, 0]", "[0]", "[0, 0]"])
def test_a_reduction_of_no_elements_reads_nothing(name, shape):
    dtype = {"sum": "float32", "prod": "int32"}.get(name, "bool")
    told = "" if dtype == "bool" else f"dtype='{dtype}', "
    axis = shape.count(",")
    graph = written([f"{dtype}{shape}"], f"{name}($0, axis=({axis},), {told}keepdims=False)")
    found = expand(graph)
    assert not any(node.op.reduction for node in found.nodes)
    assert all(map(bits_equal, run(graph, arrays(graph)), run(found, arrays(graph))))


@given(graph=graphs(rows=(*EXACT_ROWS, *SUMS)), seed=st.integers(0, 99))
def test_nothing_that_decomposes_is_left_and_bits_are_kept(graph, seed):
    note(to_text(graph))
    found = expand(graph)
    verify_graph(found)
    assert not {node.op.name for node in found.nodes} & set(DECOMPOSED)
    old, new = run(graph, arrays(graph, seed)), run(found, arrays(graph, seed))
    assert all(map(bits_equal, old, new))
