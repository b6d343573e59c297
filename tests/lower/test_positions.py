"""Positions of extreme values. Oracle: NumPy, element for element; for texts of regions, the text.

Arrays are large enough for blocks of rows and for cells, and lie in every layout.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.core.types import COMPILED_DTYPES
from runmat_jit.lower import position, position_region
from runmat_jit.ops.table import ROWS
from tests.graph.random_graphs import arrays, graphs
from tests.graph.written import written
from tests.lower.execute import compiled, execute, launches, prepared, regions
from tests.lower.reduction_graphs import small_limits
from tests.ops.operands import specials

pytestmark = pytest.mark.sampled(4)

FUNCTIONS = (np.argmax, np.argmin)
SHAPES = ((1,), (7,), (5000,), (3, 4), (40, 50), (100, 3), (3, 2000), (2000, 3), (5, 6, 7))
LAYOUTS = {
    "C": lambda x: x,
    "Fortran": np.asfortranarray,
    "rows reversed": lambda x: x[::-1],
    "columns reversed": lambda x: x[..., ::-1],
    "gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
}


def some_values(dtype, shape, seed):
    """Few different numbers, so that most are found more than once, and some special ones."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, shape).astype(dtype)
    if seed % 3:
        return x
    odd = rng.random(shape) < 0.1
    x[odd] = rng.choice(specials(dtype), int(odd.sum()))
    return x


def found(expression, x):
    dims = f"{x.dtype.name}{list(x.shape)}"
    strides = tuple(stride // x.itemsize for stride in x.strides)
    graph = prepared(written([f"{dims} strides {strides}"], expression))
    (result,), _ = execute(graph, [x], run=compiled)
    return result


@pytest.mark.parametrize("dtype", COMPILED_DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_positions_are_numpys(dtype, layout):
    for seed, (shape, function) in enumerate(itertools.product(SHAPES, FUNCTIONS)):
        x = LAYOUTS[layout](some_values(dtype, shape, seed))
        for axis in range(x.ndim):
            text = f"{function.__name__}($0, axis=({axis},), keepdims=False)"
            np.testing.assert_array_equal(found(text, x), function(x, axis=axis))
        text = f"{function.__name__}($0, axis={tuple(range(x.ndim))}, keepdims=False)"
        assert found(text, x) == function(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_pair_of_special_values_is_decided_as_numpy_does(dtype, function):
    """Signs of zeros do not count, the first NaN wins, whatever its sign."""
    values = np.concatenate([specials(dtype), -specials(dtype)])
    pairs = np.array(list(itertools.product(values, values)), dtype)
    for x, axis in ((pairs, 1), (pairs.T, 0)):
        text = f"{function.__name__}($0, axis=({axis},), keepdims=False)"
        np.testing.assert_array_equal(found(text, x), function(x, axis=axis))
    for pair in pairs[:: len(values) - 1]:
        text = f"{function.__name__}($0, axis=(0,), keepdims=False)"
        assert found(text, np.ascontiguousarray(pair)) == function(pair)


@given(
    graphs(("argmax", "argmin", "add", "multiply", "transpose"), max_nodes=6), st.integers(0, 99)
)
def test_small_cells_find_the_same(graph, seed):
    graph = prepared(graph)
    expected, _ = execute(graph, arrays(graph, seed))
    limits = {position: {"BLOCK": 2}, position_region: {"ROW_CELL": 3, "COLUMN_CELL": 2}}
    with small_limits(limits):
        found_again, _ = execute(graph, arrays(graph, seed))
    for left, right in zip(expected, found_again, strict=True):
        np.testing.assert_array_equal(left, right)


def test_elements_are_computed_where_they_are_compared():
    graph = written(["float64[40, 50]"], "argmax(multiply($0, $0), axis=(1,), keepdims=False)")
    (region,) = regions(graph)
    assert [node.op.name for node in region.nodes] == ["multiply", "argmax"]
    assert len(launches(graph)) == 1


def test_positions_share_no_kernel_with_other_reductions():
    square = "multiply($0, $0)"
    graph = written(
        ["float64[40, 50]"],
        f"argmax({square}, axis=(1,), keepdims=False)",
        f"max({square}, axis=(1,), keepdims=False)",
    )
    names = [[node.op.name for node in region.nodes] for region in regions(graph)]
    assert names == [["multiply", "argmax"], ["max"]]


def test_what_numpy_refuses_is_left_to_it():
    for name in ("argmax", "argmin"):
        row = ROWS[name]
        assert row.bind((np.ones((2, 3)), (0, 1)), {}) is None
        assert row.bind((np.ones(3), 0, None, True), {}) is None

    @runmat.jit
    def of_nothing(x):
        return (x * 2).argmax(axis=0)

    for _ in range(3):
        with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
            of_nothing(np.ones((0, 3)))


def test_elements_after_the_first_true_one_still_have_their_events():
    graph = written(
        ["float64[3000]"], "argmax(isfinite(divide(1.0, $0)), axis=(0,), keepdims=False)"
    )
    x = np.ones(3000)
    _, quiet = execute(prepared(graph), [x], run=compiled)
    x[-1] = 0
    _, noted = execute(prepared(graph), [x], run=compiled)
    assert noted
    assert not quiet
