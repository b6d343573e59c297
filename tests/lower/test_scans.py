"""Scans: running sums, products and extremes. Oracle: NumPy, bit for bit, since it takes one
element after the other; NumPy's reports for events.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.backends.reference.events import report_events
from runmat_jit.core.types import COMPILED_DTYPES
from runmat_jit.lower import scan
from runmat_jit.plan.device import CPU, Device, choose_device
from tests.graph.random_graphs import arrays, bits_equal, graphs
from tests.graph.written import written
from tests.lower.execute import compiled, execute, launches, prepared, regions
from tests.lower.reduction_graphs import small_limits
from tests.lower.test_positions import LAYOUTS
from tests.ops.operands import specials

pytestmark = pytest.mark.sampled(4)

GPU = Device("gpu")
ROWS = {
    "running_sum": np.add,
    "running_product": np.multiply,
    "running_maximum": np.maximum,
    "running_minimum": np.minimum,
}
SHAPES = ((1,), (7,), (3000,), (3, 4), (3, 1), (100, 30), (3, 2000), (2000, 3), (5, 6, 7))
WARN = {"divide": "warn", "over": "warn", "invalid": "warn", "under": "ignore"}
BOOL = np.dtype(bool)


def values(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    if dtype.kind != "f":
        return rng.integers(-3, 4, shape).astype(dtype)
    x = rng.normal(size=shape).astype(dtype)
    odd = rng.random(shape) < 0.05 * (seed % 3)
    x[odd] = rng.choice(specials(dtype), int(odd.sum()))
    return x


def scanned(expression, x, **kwargs):
    strides = tuple(stride // x.itemsize for stride in x.strides)
    graph = written([f"{x.dtype.name}{list(x.shape)} strides {strides}"], expression)
    (result,), events = execute(prepared(graph), [x], run=compiled, **kwargs)
    return result, events


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", COMPILED_DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ROWS)
def test_scans_have_numpys_bits(name, layout, dtype):
    if dtype == BOOL and name in ("running_sum", "running_product"):
        pytest.skip("NumPy sums bools as integers")
    for seed, shape in enumerate(SHAPES):
        x = LAYOUTS[layout](values(dtype, shape, seed))
        for axis in range(x.ndim):
            with np.errstate(all="ignore"):
                expected = ROWS[name].accumulate(x, axis=axis, dtype=dtype)
            for device in (CPU, GPU):
                found, _ = scanned(f"{name}($0, axis={axis})", x, device=device)
                assert bits_equal(expected, found), (shape, axis, device)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(9, 40), (40, 9), (3, 3000)])
def test_elements_are_computed_on_the_way(shape, axis):
    x = np.random.default_rng(0).normal(size=shape)
    text = f"running_sum(multiply($0, cast(isfinite($0), dtype='float64')), axis={axis})"
    graph = written([f"float64{list(shape)}"], text, "multiply($0, $0)")
    for device in (CPU, GPU):
        (summed, squared), _ = execute(prepared(graph), [x], run=compiled, device=device)
        assert bits_equal(np.cumsum(x, axis=axis), summed)
        assert bits_equal(x * x, squared)


def test_a_scan_is_one_kernel_with_what_feeds_it():
    graph = written(["float64[40, 50]"], "negative(running_sum(multiply($0, $0), axis=1))")
    names = [[node.op.name for node in region.nodes] for region in regions(graph)]
    assert names == [["multiply", "running_sum"], ["negative"]]
    assert len(launches(graph)) == 2


def test_what_else_reads_the_elements_reads_them_from_memory():
    square = "multiply($0, $0)"
    graph = written(
        ["float64[40]"], f"running_sum({square}, axis=0)", f"running_maximum({square}, axis=0)"
    )
    names = [[node.op.name for node in region.nodes] for region in regions(graph)]
    assert names == [["multiply", "running_sum"], ["running_maximum"]]


def test_scans_of_reduced_results_are_kernels_of_their_own():
    graph = written(
        ["float64[40, 50]"],
        "running_sum(sum($0, axis=(1,), keepdims=False, dtype='float64'), axis=0)",
    )
    assert [len(region.nodes) for region in regions(graph)] == [1, 1]


@pytest.mark.parametrize(
    ("shape", "axis", "kind"),
    [("40", 0, "cpu"), ("4, 512", 0, "gpu"), ("511, 4", 1, "cpu"), ("8, 9, 64", 1, "gpu")],
)
def test_a_scan_of_few_lines_stays_on_the_cpu(shape, axis, kind):
    graph = written([f"float32[{shape}]"], f"running_sum($0, axis={axis})")
    device = choose_device("gpu", graph, lambda: GPU)
    assert device.kind == kind
    if kind == "cpu":
        assert "running_sum takes one element after the other" in device.reason


def test_lines_without_elements_take_no_kernel():
    for shape in ((0,), (3, 0), (0, 3)):
        graph = written([f"float64{list(shape)}"], "running_sum($0, axis=0)")
        assert launches(graph) == []


@given(
    graphs(
        ("cumsum", "cumprod", "maximum_accumulate", "add", "multiply", "transpose"), max_nodes=6
    ),
    st.integers(0, 99),
)
def test_small_blocks_give_the_same_bits(graph, seed):
    graph = prepared(graph)
    expected, _ = execute(graph, arrays(graph, seed))
    found, _ = execute(graph, arrays(graph, seed), device=GPU)
    assert all(map(bits_equal, expected, found))
    with small_limits({scan: {"BLOCK": 2, "STREAMS": 3, "FEW_LANES": 1}}):
        found, _ = execute(graph, arrays(graph, seed))
    assert all(map(bits_equal, expected, found))


@pytest.mark.parametrize("mode", ["results", "rises", "each"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(6,), (6, 9), (9, 6)])
def test_events_on_the_way_are_noticed(shape, dtype, mode):
    """Overflows, infinities of two signs, and none of what NaN or an infinity leaves."""
    top = np.finfo(dtype).max
    interesting = (1.0, top, -top, np.inf, -np.inf, np.nan)
    for name, (a, b) in itertools.product(
        ("running_sum", "running_product"), itertools.permutations(interesting, 2)
    ):
        x = np.ones(shape, dtype)
        x[0], x[1] = a, b
        strides = tuple(stride // x.itemsize for stride in x.strides)
        graph = written([f"{dtype}{list(shape)} strides {strides}"], f"{name}($0, axis=0)")
        reports = report_events(graph, [x], WARN)
        for device in (CPU, GPU):
            _, word = execute(graph, [x], run=compiled, mode=mode, device=device)
            assert word or not reports, (name, a, b)
            if mode == "each":
                assert reports or not word, (name, a, b)
