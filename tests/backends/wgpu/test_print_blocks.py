"""Oracle: the interpreter of kernels, which runs all lanes of a block at once."""

import itertools

import numpy as np
import pytest

from runmat_jit.backends.wgpu.schedule import Limits, Schedule, schedule_for
from runmat_jit.kernel.build import Builder
from tests.backends.llvm.test_lower_blocks import new, noting, rare_path, vector
from tests.backends.wgpu.shaders import check, run

pytestmark = pytest.mark.usefixtures("adapter")

SCHEDULES = pytest.mark.parametrize(
    "schedule",
    [None, Schedule(1, 64, 64), Schedule(4, 64, 16), Schedule(2, 128, 128, full_blocks=True)],
    ids=["own", "1 lane", "4 teams", "1 team"],
)
LENGTHS = (1, 5, 64, 130, 700)


@SCHEDULES
def test_a_loop_inside_lanes_carries_registers(schedule):
    b, x, out, n = new()
    steps = b.scalar("steps", "index")
    with b.lanes(0, n) as lanes:
        start = b.load(x, lanes.i)
        with b.loop(0, steps, [start, b.splat(0.0, "f32"), b.const(1, "i32")], step=3) as loop:
            state, total, count = loop.carry
            state = b.fma(state, 0.5, b.convert("sitofp", count, "f32"))
            loop.yield_(state, total + state, count * 3 + b.convert("trunc", loop.i, "i32"))
        b.store(out, lanes.i, loop.out[1] - loop.out[0] * b.convert("sitofp", loop.out[2], "f32"))
    for n, steps in itertools.product(LENGTHS, (0, 1, 10)):
        memory = {"x": vector(n), "out": vector(n), "n": n, "steps": steps}
        check(b.finish(), memory, (0, n), schedule)


def test_a_loop_may_exchange_what_it_carries():
    b, x, out, n = new()
    steps = b.scalar("steps", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        with b.loop(0, steps, [value, value * 2.0]) as loop:
            loop.yield_(loop.carry[1], loop.carry[0])
        b.store(out, lanes.i, loop.out[0])
    for steps in (0, 1, 2, 5):
        memory = {"x": vector(9), "out": vector(9), "n": 9, "steps": steps}
        check(b.finish(), memory, (0, 9))


@SCHEDULES
def test_what_one_thread_stores_another_one_loads(schedule):
    """Rows reversed and normalized in memory, with totals and uniform stores between."""
    b, x, out, back, n = new(("out", "back"))
    rows, steps = b.scalar("rows", "index"), b.scalar("steps", "index")
    with b.grid(rows) as cell:
        base = cell.i * (n + 1)
        with b.lanes(0, n) as lanes:
            b.store(out, base + lanes.i, b.load(x, base + lanes.i))
        with b.loop(0, steps, [b.const(1.0, "f32")]) as loop:
            with b.total(0, n, [("add", "f32"), ("max", "f32")]) as total:
                value = b.load(out, base + total.i)
                total.yield_(value * value, b.prim("abs", value))
            norm = b.prim("sqrt", total.out[0]) + total.out[1] + 1.0
            b.store(out, base + n, norm, stride=0)
            with b.lanes(0, n) as lanes:
                b.store(back, base + lanes.i, b.load(out, base + n - lanes.i, -1))
            with b.lanes(0, n) as lanes:
                b.store(out, base + lanes.i, b.load(back, base + lanes.i) / norm)
            loop.yield_(norm * 0.5 + b.load(out, base, 0))
        b.store(out, base + n, loop.out[0], stride=0)
    for n, steps in ((1, 1), (7, 2), (70, 3), (1100, 1)):
        size = 5 * (n + 1)
        memory = {name: vector(size) for name in ("x", "out", "back")}
        memory |= {"n": n, "rows": 5, "steps": steps}
        check(b.finish(), memory, (0, 5), schedule)
        check(b.finish(), memory, (2, 4), schedule)


def test_cells_may_disagree_about_their_blocks():
    """Loops, branches and bounds that depend on the cell, around totals: a workgroup a cell."""
    b, x, out, n = new()
    with b.grid(n) as cell:
        with b.loop(0, cell.i, [b.const(0.5, "f32")]) as loop:
            with b.total(0, loop.i + cell.i, [("add", "f32")]) as total:
                total.yield_(b.load(x, total.i))
            loop.yield_(loop.carry[0] + total.out[0])
        with b.if_(loop.out[0] > 1.0, [loop.out[0]]) as branch:
            with b.total(cell.i, n, [("max", "f32")]) as total:
                total.yield_(b.load(x, total.i))
            branch.yield_(total.out[0])
        b.store(out, cell.i, branch.out[0], stride=0)
    kernel = b.finish()
    assert schedule_for(kernel, Limits()).teams == 1
    check(kernel, {"x": vector(40), "out": vector(20), "n": 20}, (0, 20))


def test_lanes_with_bounds_of_their_own():
    """Empty and reversed bounds run nothing."""
    b, x, out, n = new()
    lo, hi = b.scalar("lo", "index"), b.scalar("hi", "index")
    with b.grid(n) as cell, b.lanes(lo + cell.i * 90, hi + cell.i * 90) as lanes:
        b.store(out, lanes.i, b.load(out, lanes.i) + b.load(x, lanes.i))
    for lo, hi in ((0, 90), (3, 80), (5, 5), (50, 3), (89, 90)):
        memory = {"x": vector(270), "out": vector(270), "n": 3, "lo": lo, "hi": hi}
        check(b.finish(), memory, (0, 3))


def test_a_uniform_branch_takes_or_leaves_its_body():
    b, x, out, n = new()
    flag = b.scalar("flag", "i1")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        with b.if_(flag, [value, b.const(2.0, "f32")]) as branch:
            branch.yield_(branch.carry[0] * 3.0, branch.carry[1] + 1.0)
        b.store(out, lanes.i, branch.out[0] * branch.out[1])
    for n, flag in itertools.product(LENGTHS, (False, True)):
        check(b.finish(), {"x": vector(n), "out": vector(n), "n": n, "flag": flag}, (0, n))


@SCHEDULES
@pytest.mark.parametrize("masked_store", [False, True])
def test_a_rare_path_is_for_its_lanes_only(schedule, masked_store):
    """The table has no entry for the other lanes."""
    kernel = rare_path(masked_store)
    for n in LENGTHS:
        for share in (0.0, 0.02, 1.0):
            rng = np.random.default_rng(n)
            x = np.where(rng.random(n) < share, rng.uniform(4, 19, n), -1e30).astype(np.float32)
            memory = {"x": x, "out": vector(n), "seen": np.zeros(n, np.int32), "n": n}
            check(kernel, memory | {"table": vector(20)}, (0, n), schedule)


def test_rare_paths_nest():
    b, x, out, n = new()
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        with b.if_any(value > 0.0, [value]) as outer:
            with b.if_any(value < 1.0, [outer.carry[0]]) as inner:
                b.note(value > 0.5)
                inner.yield_(inner.carry[0] + 100.0)
            outer.yield_(inner.out[0] * 2.0)
        b.store(out, lanes.i, outer.out[0])
    for n in LENGTHS:
        for scale in (0.1, 0.4, 1.0):
            check(b.finish(), {"x": scale * vector(n), "out": vector(n), "n": n}, (0, n))


def test_uniform_values_take_rare_paths_and_cold_functions_too():
    b, x, out, n = new()

    def cold(k, args):
        return (k.prim("sqrt", args[0]),)

    with b.grid(n) as cell:
        value = b.load(x, cell.i, 0)
        with b.if_any(value > 0.0, [value]) as rare:
            rare.yield_(*b.call("root", [value], ["f32"], cold))
        b.store(out, cell.i, rare.out[0], stride=0)
    check(b.finish(), {"x": vector(9), "out": vector(9, seed=1), "n": 9}, (0, 9))


@SCHEDULES
def test_lanes_know_their_number(schedule):
    b = Builder()
    out, n = b.buffer("out", "i64", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        narrow = b.convert("trunc", lanes.i * 1, "i32") + b.lane_id()
        wide = b.convert("trunc", lanes.i, "i64") + b.lane_id("i64")
        b.store(out, lanes.i, wide * 1000 + b.convert("sext", narrow, "i64"))
    for n in LENGTHS:
        memory = {"out": np.zeros(n + 9, np.int64), "n": n}
        check(b.finish(), memory, (0, n), schedule)
        check(b.finish(), memory, (5, n + 5), schedule)


# -- events --------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["f32", "f64", "i1"])
def test_an_event_of_any_live_lane_is_noted_and_no_other(kind):
    kernel = noting(kind)
    dtype = {"f32": np.float32, "f64": np.float64, "i1": np.bool_}[kind]
    n = 70
    quiet = np.zeros(n, dtype) if kind == "i1" else np.full(n, 1e-30, dtype)
    for at in (0, 1, 6, 63, 64, 69):
        for event in (True,) if kind == "i1" else (0.0, np.inf, np.nan):
            x = quiet.copy()
            x[at] = event
            memory = {"x": x, "out": np.zeros(n), "n": n}
            assert run(kernel, memory, (0, n))
            if at > 0:
                assert not run(kernel, memory, (0, at))
            if at < n - 1:
                assert not run(kernel, memory, (at + 1, n))


def test_no_finite_number_is_an_event():
    b, x, out, n = new()
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        b.note(value)
        b.store(out, lanes.i, value)
    for extreme in (3.4e38, 1e-45, -3.4e38, 0.0):
        x = np.full(9, extreme, np.float32)
        assert not run(b.finish(), {"x": x, "out": x.copy(), "n": 9}, (0, 9))


@pytest.mark.parametrize("where", [None, *range(5)])
def test_events_are_noted_in_every_block(where):
    """In lanes of a loop of a cell, in a total, in a branch; of lanes, of one value, of an i1."""
    b, x, out, n = new()
    y = b.buffer("y", "f32")
    with b.grid(2) as cell:
        b.note(b.load(y, cell.i, 0))
        with b.loop(0, 2) as loop, b.lanes(0, n) as lanes:
            value = b.load(x, loop.i * n + lanes.i)
            b.note(value)
            b.store(out, cell.i * n + lanes.i, value)
        with b.total(0, n, [("add", "f32")]) as total:
            value = b.load(x, 2 * n + total.i)
            b.note(value)
            total.yield_(value)
        with b.if_(cell.i > 0):
            b.note(total.out[0] * 2.0)
            b.note(b.load(x, 3 * n, 0) > 5.0)
    for n in (1, 150):
        memory = {"x": np.ones(3 * n + 1, np.float32), "y": np.ones(2, np.float32), "n": n}
        memory["out"] = np.zeros(2 * n, np.float32)
        if where is not None:
            places = (("y", 1), ("x", n - 1), ("x", 2 * n - 1), ("x", 3 * n - 1), ("x", 3 * n))
            place = places[where]
            memory[place[0]][place[1]] = 3.3e38 if where == 3 else np.inf
        check(b.finish(), memory, (0, 2))
        assert run(b.finish(), memory, (0, 2)) == (where is not None)
