"""Lanes of a thread that lie a team apart, in rows. Oracle: the interpreter, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.wgpu.ranges import longest_blocks
from runmat_jit.backends.wgpu.schedule import Limits, Schedule, schedule_for
from runmat_jit.kernel.build import Builder
from tests.backends.wgpu.shaders import check, device, hardware_runner
from tests.backends.wgpu.test_run import row_sums

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


def of_rows(element, stride=1, *, pairs=False):
    """Rows of ``n`` results of neighbors in ``x``, and what the numbers of lanes give."""
    b = Builder()
    x, y = b.buffer("x", element), b.buffer("y", "f32")
    out, places = b.buffer("out", element, written=True), b.buffer("places", "i32", written=True)
    names = ("rows", "n", "step", "first", "period")
    rows, n, step, first, period = (b.scalar(name, "index") for name in names)
    with b.grid(rows) as cell, b.lanes(0, n) as lanes:
        begin = cell.i * step + first
        value = b.load(x, begin + lanes.i * stride, stride)
        if element != "bool":
            value = value * 3 + b.load(x, begin + 1 + lanes.i * stride, stride)
        b.store(out, cell.i * n + lanes.i, value)
        at = b.convert("trunc", lanes.i, "i32") + b.lane_id()
        divisor = b.convert("trunc", period, "i32")
        turn = b.prim("srem", at, divisor)
        b.note(b.gather(y, turn))
        if pairs:
            b.store_beside(places, (cell.i * n + lanes.i) * 2, [b.prim("sdiv", at, divisor), turn])
        else:
            b.store(places, cell.i * n + lanes.i, at * 100 + turn)
    return b.finish()


@pytest.mark.usefixtures("adapter")
@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(DTYPES)),
    st.sampled_from([1, 2, -1]),
    st.tuples(st.integers(0, 9), st.integers(0, 150), st.integers(1, 12)),
    st.sampled_from([(4, 64, 16), (4, 64, 64), (2, 32, 4), (4, 8, 1)]),
    st.booleans(),
)
def test_rows_have_the_interpreters_bits(element, stride, numbers, shape, pairs):
    rows, n, period = numbers
    kind = element if element in device().info.kinds or element in ("f32", "i32", "bool") else "f32"
    lanes = 4 if kind in ("f32", "i32", "bool") else 2
    schedule = Schedule(min(lanes, shape[0]), *shape[1:], apart=True)
    step, first = 2 * n + 5, n + 1 if stride < 0 else 2
    y = np.ones(12, np.float32)
    y[7] = np.inf
    memory = {
        "x": np.random.default_rng(n).integers(0, 9, (rows + 2) * step).astype(DTYPES[kind]),
        "y": y,
        "out": np.zeros(rows * n, DTYPES[kind]),
        "places": np.zeros(rows * n * (1 + pairs), np.int32),
    }
    numbers = {"rows": rows, "n": n, "step": step, "first": first, "period": period}
    check(
        of_rows(kind, stride, pairs=pairs), memory | numbers, (0, rows), schedule, hardware_runner()
    )


def test_they_do_where_rows_begin_between_vectors_and_nothing_is_reduced():
    hardware, software = (schedule_for(of_rows("f32"), Limits(software=s)) for s in (False, True))
    assert (hardware.lanes, hardware.apart, hardware.spacing) == (4, True, hardware.team)
    assert (software.apart, software.spacing) == (False, 1)
    assert not schedule_for(row_sums(), Limits()).apart
    for n, apart in ((40, False), (97, True), (20_007, True)):
        numbers = {"rows": 9, "n": n, "step": n + 2, "first": 0, "period": 1}
        longest = longest_blocks(of_rows("f32"), numbers)
        schedule = schedule_for(of_rows("f32"), Limits(), longest)
        assert (schedule.apart, schedule.lanes) == (apart, 4 if apart else 1), (
            "warps read one piece"
        )
    assert not schedule_for(of_rows("bool"), Limits()).apart, "four bools are one word"
