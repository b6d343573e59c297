"""Oracles: the interpreter of kernels, and a model of the shape in NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.kernel.build import Builder
from tests.backends.llvm.test_lower_total import CASES, LANES, kernel, model, numbers
from tests.backends.wgpu.shaders import check, run, same

pytestmark = pytest.mark.usefixtures("adapter")

SCHEDULES = [
    Schedule(4, 16, 16),
    Schedule(4, 256, 16),
    Schedule(4, 256, 64, full_blocks=True),
    Schedule(4, 256, 64, full_blocks=True, unroll=4),
    Schedule(4, 256, 16, full_blocks=True, unroll=16),
    Schedule(4, 256, 256),
    Schedule(2, 64, 32),
    Schedule(2, 128, 128, full_blocks=True),
    Schedule(1, 64, 64),
]
LENGTHS = (0, 1, 5, 63, 64, 65, 1000, 1024, 1025, 2100, 8192)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_sum_has_one_shape_for_all_schedules(kind, schedule):
    made = kernel(kind, "add")
    for n in LENGTHS:
        x = numbers(kind, n + 3, n)
        memory = {"x": x, "out": np.zeros(1, x.dtype), "lo": 3, "hi": n + 3}
        run(made, memory, (0, 1), schedule)
        assert same(memory["out"], model(x[3:], "add", LANES[kind])), n


def test_a_total_of_all_blocks():
    x = numbers("f32", 16_384)
    memory = {"x": x, "out": np.zeros(1, x.dtype), "lo": 0, "hi": x.size}
    for schedule in (None, SCHEDULES[0], SCHEDULES[2]):
        run(kernel("f32", "add"), memory, (0, 1), schedule)
        assert same(memory["out"], model(x, "add", 64))


@pytest.mark.parametrize(("kind", "combine"), CASES)
def test_every_combination_equals_its_model_and_the_interpreter(kind, combine):
    made = kernel(kind, combine)
    for n in (0, 1, 64, 600, 1030):
        x = numbers(kind, n, n)
        if x.dtype.kind == "f" and n > 50:
            x[n // 2 :] *= 0.0  # zeros of both signs
        if x.dtype.kind == "f" and combine == "mul":
            x = np.sign(x) + x * x.dtype.type(1e-4)
        if x.dtype == bool and n % 3:
            x[...] = combine == "and"
        want = model(x, combine, 64 if kind == "i1" else LANES[kind])
        memory = {"x": x, "out": np.zeros(1, x.dtype), "lo": 0, "hi": n}
        assert same(check(made, memory, (0, 1))["out"], want), n


@pytest.mark.parametrize("combine", ["min", "max", "add"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_nan_passes_from_every_position(kind, combine):
    for n in (1, 70, 1100):
        for at in sorted({0, n // 2, n - 1}):
            x = numbers(kind, n)
            x[at] = np.nan
            memory = {"x": x, "out": np.zeros(1, x.dtype), "lo": 0, "hi": n}
            run(kernel(kind, combine), memory, (0, 1))
            assert np.isnan(memory["out"][0])


def test_the_sum_of_negative_zeros_is_negative():
    x = np.full(100, -0.0, np.float32)
    memory = {"x": x, "out": np.ones(1, np.float32), "lo": 0, "hi": 100}
    run(kernel("f32", "add"), memory, (0, 1))
    assert np.signbit(memory["out"][0])


@pytest.mark.parametrize("schedule", [None, Schedule(4, 64, 8), Schedule(2, 64, 32)], ids=str)
def test_types_of_two_widths_share_the_lanes_of_the_wider(schedule):
    """A sum in f64 beside a maximum in f32: 32 lanes for both; then one in f32, of 64 lanes."""
    b = Builder()
    x = b.buffer("x", "f32")
    sums, tops = b.buffer("sums", "f64", written=True), b.buffer("tops", "f32", written=True)
    n = b.scalar("n", "index")
    with b.grid(2) as cell:
        with b.total(0, n, [("add", "f64"), ("max", "f32")]) as total:
            value = b.load(x, total.i)
            total.yield_(b.convert("fpext", value, "f64"), value)
        b.store(sums, cell.i, total.out[0], stride=0)
        if schedule is None or schedule.team >= 16:
            with b.total(0, n, [("add", "f32"), ("max", "f32")]) as narrow:
                value = b.load(x, narrow.i)
                narrow.yield_(value, value)
            b.store(tops, cell.i, narrow.out[0], stride=0)
        else:
            b.store(tops, cell.i, total.out[1], stride=0)
    memory = {"n": 3000, "sums": np.zeros(2), "tops": np.zeros(2, np.float32)}
    check(b.finish(), memory | {"x": numbers("f32", 3000)}, (0, 2), schedule)


@given(n=st.integers(0, 3000), seed=st.integers(0, 100))
def test_any_length_any_schedule(n, seed):
    x = numbers("f32", n, seed)
    memory = {"x": x, "out": np.zeros(1, np.float32), "lo": 0, "hi": n}
    run(kernel("f32", "add"), memory, (0, 1), SCHEDULES[seed % len(SCHEDULES)])
    assert same(memory["out"], model(x, "add", 64))
