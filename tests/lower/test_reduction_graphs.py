"""Statistics and what uses them, at random. Oracles: the same graph with fusion kinds switched off,
bit for bit; NumPy within the bound of its own sums; NumPy's event reports."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.reference.events import report_events
from runmat_jit.graph.text import to_text
from runmat_jit.kernel.text import to_text as to_kernel_text
from runmat_jit.passes.fusion.kinds import KINDS
from runmat_jit.plan.device import Device
from tests.graph.random_graphs import arrays, bits_equal
from tests.graph.written import written
from tests.lower.execute import compiled, execute, launches
from tests.lower.reduction_graphs import reduction_graphs, small_limits

NAMES = [kind.name for kind in KINDS]
WARN = {"divide": "warn", "over": "warn", "invalid": "warn", "under": "ignore"}
MANY = settings(max_examples=max(40, settings.default.max_examples))
SOFTMAX_EXP = "exp(subtract($0, max($0, axis={axis}, keepdims=True)))"
SOFTMAX = (
    f"divide({SOFTMAX_EXP}, sum({SOFTMAX_EXP}, axis={{axis}}, dtype='float32', keepdims=True))"
)


@given(reduction_graphs(), st.sets(st.sampled_from(NAMES), min_size=1), st.booleans())
@MANY
def test_fusion_keeps_every_bit(graph, disabled, small):
    with small_limits() if small else nullcontext():
        fused, _ = execute(graph, arrays(graph))
        unfused, _ = execute(graph, arrays(graph), disabled)
    assert all(map(bits_equal, unfused, fused)), to_text(graph)


@given(reduction_graphs(max_nodes=8))
@MANY
def test_every_event_is_noticed(graph):
    reports = report_events(graph, arrays(graph, special=0.1), WARN)
    _, noticed = execute(graph, arrays(graph, special=0.1))
    assert noticed or not reports, to_text(graph)


def test_a_row_in_cache_is_one_kernel_and_equals_the_pieces():
    x = np.random.default_rng(0).normal(size=(9, 1000)).astype(np.float32)
    graph = written(["float32[9, 1000]"], SOFTMAX.format(axis=(1,)))
    (fused,), _ = execute(graph, [x], run=compiled)
    for disabled in NAMES:
        (pieces,), _ = execute(graph, [x], {disabled}, run=compiled)
        np.testing.assert_array_equal(pieces, fused)
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(fused, shifted / shifted.sum(axis=1, keepdims=True), rtol=1e-6)


def test_columns_and_long_rows_take_kernels_in_turn():
    for shape, axis in (((700, 40), (0,)), ((3, 40_000), (1,)), ((40, 30, 50), (0, 2))):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        graph = written([f"float32{list(shape)}"], SOFTMAX.format(axis=axis))
        (fused,), _ = execute(graph, [x], run=compiled)
        (pieces,), _ = execute(graph, [x], {"elementwise"}, run=compiled)
        np.testing.assert_array_equal(pieces, fused)
        shifted = np.exp(x - x.max(axis=axis, keepdims=True))
        expected = shifted / shifted.sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(fused, expected, rtol=2e-6)


@pytest.mark.parametrize(
    ("kind", "shape", "axis", "is_one"),
    [
        ("cpu", (3, 400), 0, True),
        ("cpu", (400, 3), 1, True),
        ("cpu", (5, 4, 70), 1, True),
        ("cpu", (32, 70), 0, True),
        ("cpu", (33, 70), 0, False),  # too many to be read side by side
        ("gpu", (32, 70), 0, True),
        ("gpu", (256, 5), 0, True),  # threads hold a block each
        ("gpu", (257, 5), 0, False),
        ("gpu", (400, 3), 1, True),
    ],
)
def test_columns_that_a_lane_takes_for_each_phase_are_one_kernel(kind, shape, axis, is_one):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    graph = written([f"float32{list(shape)}"], SOFTMAX.format(axis=(axis,)))
    assert (len(launches(graph, device=Device(kind))) == 1) is is_one
    (fused,), _ = execute(graph, [x], device=Device(kind))
    (pieces,), _ = execute(graph, [x], {"elementwise"})
    np.testing.assert_array_equal(pieces, fused)


@pytest.mark.parametrize(("shape", "loads"), [((3, 400), 3), ((8, 400), 8), ((9, 400), 3)])
def test_elements_of_short_columns_are_read_once_and_of_others_once_for_each_phase(shape, loads):
    graph = written([f"float32{list(shape)}"], SOFTMAX.format(axis=(0,)))
    (launch,) = launches(graph)
    assert to_kernel_text(launch.kernel).count(" = load ") == loads
