"""Loads that are put together of two vectors. Oracle: the interpreter, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.wgpu.adapter import Device
from runmat_jit.backends.wgpu.facts import NEAR, Start
from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import Memory, interpret
from tests.backends.wgpu.shaders import device, hardware_runner, run

pytestmark = pytest.mark.usefixtures("adapter")
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
STARTS = (0, -1, 1, 2, -3, -4, 7, 40, -41, 62)


def neighbors(starts, element, window):
    """The product of windows; beyond the ends of the memory, the number of the lane."""
    b = Builder()
    x, out = b.buffer("x", element), b.buffer("out", element, written=True)
    numbers = [b.scalar(f"s{n}", "index") for n in range(len(starts))]
    low, high = (b.scalar(name, "i32") for name in ("low", "high"))
    with b.lanes(0, b.scalar("n", "index")) as lanes:
        found = None
        for start in numbers:
            value = b.load_window(x, lanes.i + start, window)
            found = value if found is None else found * 3 + value
        at = b.convert("trunc", lanes.i, "i32") + b.lane_id("i32")
        inside = (at >= low) & (at < high)
        b.store(out, lanes.i, b.select(inside, found, 7))
    return b.finish()


def is_there(element):
    return element not in ("f64", "i64") or element in device().info.kinds


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(STARTS), min_size=1, max_size=4),
    st.sampled_from(sorted(DTYPES)),
    st.integers(1, 300),
    st.sampled_from([0, 1, 4]),
    st.sampled_from([None, Schedule(1, 64, 64), Schedule(4, 64, 64)]),
)
def test_windows_have_the_interpreters_bits(starts, element, n, origin, schedule):
    if not is_there(element):
        return
    kernel, found = neighbors(starts, element, "open"), []
    low, high = -min(0, *starts), n - max(0, *starts)
    for compute in (interpret, lambda k, a: run(k, a, (0, n), schedule, using=hardware_runner())):
        x = np.random.default_rng(n).integers(-9, 9, n + origin).astype(DTYPES[element])
        out = np.zeros(n, DTYPES[element])
        numbers = {f"s{number}": start for number, start in enumerate(starts)}
        given = {"x": Memory(x, origin), "out": out, "n": n, "low": low, "high": high, **numbers}
        compute(kernel, {p.name: given[p.name] for p in kernel.parameters})
        found.append(out)
    assert np.array_equal(*found)


@pytest.mark.parametrize("start", [-1, 3, 500, -500, 9_000, -9_000])
def test_windows_of_arrays_larger_than_a_binding(start, monkeypatch):
    monkeypatch.setattr(Device, "largest_binding", property(lambda _: 1 << 16))
    kernel, n = neighbors((start,), "f32", "open"), 50_001
    x, outs = np.random.default_rng(0).integers(-9, 9, n).astype(np.float32), []
    low, high = -min(0, start), n - max(0, start)
    for compute in (interpret, lambda k, a: run(k, a, (0, n), using=hardware_runner())):
        out = np.zeros(n, np.float32)
        given = {"x": x, "out": out, "s0": start, "n": n, "low": low, "high": high}
        compute(kernel, {p.name: given[p.name] for p in kernel.parameters})
        outs.append(out)
    assert np.array_equal(*outs)


@given(st.integers(-(10**6), 10**6))
def test_a_shader_knows_near_starts_and_how_far_others_are_from_vectors(elements):
    start = Start.of(elements)
    assert start.elements % 4 == elements % 4
    assert start.is_near == (abs(elements) <= NEAR)
    assert len({Start.of(elements + 4 * many) for many in range(20, 60)} - {start}) <= 9
