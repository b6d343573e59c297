"""Oracle: the interpreter of kernels, which runs all lanes of a block at once."""

import itertools

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from tests.backends.llvm.native import Native, check, without_avx512

SCHEDULES = pytest.mark.parametrize(
    "schedule", [(None, None), (2, 1), (4, 8), (16, 2)], ids=["own", "2x1", "4x8", "16x2"]
)
LENGTHS = (0, 1, 5, 16, 63, 64, 65, 130, 200)


def vector(n, kind=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(n).astype(kind)


def new(name_of_outputs=("out",), kind="f32"):
    """A builder, an input ``x``, outputs, and the length ``n``."""
    b = Builder()
    x = b.buffer("x", kind)
    outs = [b.buffer(name, kind, written=True) for name in name_of_outputs]
    return b, x, *outs, b.scalar("n", "index")


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
    native = Native(b.finish(), *schedule)
    for n, steps in itertools.product(LENGTHS, (0, 1, 3, 10)):
        check(native, {"x": vector(n), "out": vector(n), "n": n, "steps": steps}, 0, n)


@SCHEDULES
def test_lanes_and_totals_inside_loops_inside_cells(schedule):
    """Rows normalized ``steps`` times: a total, a uniform computation, then lanes."""
    b, x, out, n = new()
    rows, steps = b.scalar("rows", "index"), b.scalar("steps", "index")
    with b.grid(rows) as cell:
        base = cell.i * n
        with b.lanes(0, n) as lanes:
            b.store(out, base + lanes.i, b.load(x, base + lanes.i))
        with b.loop(0, steps, [b.const(1.0, "f32")]) as loop:
            with b.total(0, n, [("add", "f32"), ("max", "f32")]) as total:
                value = b.load(out, base + total.i)
                total.yield_(value * value, b.prim("abs", value))
            norm = b.prim("sqrt", total.out[0]) + total.out[1] + 1.0
            with b.lanes(0, n) as lanes:
                value = b.load(out, base + lanes.i)
                b.store(out, base + lanes.i, value / norm + loop.carry[0])
            loop.yield_(norm * 0.5)
        b.store(out, base + n, loop.out[0], stride=0)
    native = Native(b.finish(), *schedule)
    for n, steps in ((1, 1), (7, 2), (70, 3), (200, 0), (1100, 1)):
        memory = {"x": vector(5 * n), "out": vector(5 * n + 1), "n": n, "rows": 5, "steps": steps}
        check(native, memory, 0, 5)
        check(native, memory, 2, 4)


@SCHEDULES
def test_lanes_with_bounds_of_their_own(schedule):
    """Empty and reversed bounds run nothing."""
    b, x, out, n = new()
    lo, hi = b.scalar("lo", "index"), b.scalar("hi", "index")
    with b.grid(n) as cell, b.lanes(lo + cell.i, hi) as lanes:
        b.store(out, lanes.i, b.load(out, lanes.i) + b.load(x, lanes.i))
    native = Native(b.finish(), *schedule)
    for lo, hi in ((0, 90), (3, 80), (5, 5), (50, 3), (89, 90)):
        check(native, {"x": vector(90), "out": vector(90), "n": 3, "lo": lo, "hi": hi}, 0, 3)


@SCHEDULES
def test_a_uniform_branch_takes_or_leaves_its_body(schedule):
    b, x, out, n = new()
    flag = b.scalar("flag", "i1")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        with b.if_(flag, [value, b.const(2.0, "f32")]) as branch:
            branch.yield_(branch.carry[0] * 3.0, branch.carry[1] + 1.0)
        b.store(out, lanes.i, branch.out[0] * branch.out[1])
    native = Native(b.finish(), *schedule)
    for n, flag in itertools.product(LENGTHS, (False, True)):
        check(native, {"x": vector(n), "out": vector(n), "n": n, "flag": flag}, 0, n)


def rare_path(masked_store):
    """Large values go through a cold function that reads a table; others do not."""
    b, x, out, n = new()
    table, seen = b.table("table", "f32"), b.buffer("seen", "i32", written=True)

    def cold(k, args):
        index = k.convert("fptosi", args[0], "i32")
        return (k.gather(table, index) + args[1], index)

    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        large = value > 3.0
        with b.if_any(large, [value * 2.0, b.splat(-1, "i32")]) as rare:
            found, index = b.call("look_up", [value, -value], ["f32", "i32"], cold, [table])
            if masked_store:
                b.store(seen, lanes.i, index)
            rare.yield_(found, index)
        b.store(out, lanes.i, rare.out[0])
        if not masked_store:
            b.store(seen, lanes.i, rare.out[1])
    return b.finish()


@SCHEDULES
@pytest.mark.parametrize("masked_store", [False, True])
def test_a_rare_path_is_for_its_lanes_only(schedule, masked_store):
    """The table has no entry for the other lanes, so reading one would be found."""
    native = Native(rare_path(masked_store), *schedule)
    for n in LENGTHS:
        for share in (0.0, 0.02, 1.0):
            rng = np.random.default_rng(n)
            x = np.where(rng.random(n) < share, rng.uniform(4, 19, n), -1e30).astype(np.float32)
            memory = {"x": x, "out": vector(n), "seen": np.zeros(n, np.int32), "n": n}
            check(native, memory | {"table": vector(20)}, 0, n)


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
    native = Native(b.finish())
    for n in LENGTHS:
        for scale in (0.1, 0.4, 1.0):
            check(native, {"x": scale * vector(n), "out": vector(n), "n": n}, 0, n)


def test_uniform_values_take_rare_paths_and_cold_functions_too():
    b, x, out, n = new(kind="f64")

    def cold(k, args):
        return (k.prim("sqrt", args[0]),)

    with b.grid(n) as cell:
        value = b.load(x, cell.i, 0)
        with b.if_any(value > 0.0, [value]) as rare:
            rare.yield_(*b.call("root", [value], ["f64"], cold))
        b.store(out, cell.i, rare.out[0], stride=0)
    check(Native(b.finish()), {"x": vector(9, np.float64), "out": np.zeros(9), "n": 9}, 0, 9)


@SCHEDULES
def test_lanes_know_their_number(schedule):
    b = Builder()
    out, n = b.buffer("out", "i64", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        narrow = b.convert("trunc", lanes.i * 1, "i32") + b.lane_id()
        wide = b.convert("trunc", lanes.i, "i64") + b.lane_id("i64")
        b.store(out, lanes.i, wide * 1000 + b.convert("sext", narrow, "i64"))
    native = Native(b.finish(), *schedule)
    for n in LENGTHS:
        memory = {"out": np.zeros(n + 9, np.int64), "n": n}
        check(native, memory, 0, n)
        check(native, memory, 5, n + 5)


# -- events --------------------------------------------------------------------------------------
def noting(kind):
    """Divides, so that lanes beyond the end (0 / 0) must not be noted."""
    b = Builder()
    x, n = b.buffer("x", "bool" if kind == "i1" else kind), b.scalar("n", "index")
    out = b.buffer("out", "f64", written=True)
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        b.note(value if kind == "i1" else value / value)
        b.store(out, lanes.i, b.splat(1.0, "f64"))
    return b.finish()


@pytest.mark.parametrize("kind", ["f32", "f64", "i1"])
@pytest.mark.parametrize("narrow", [False, True], ids=["own vectors", "without AVX-512"])
def test_an_event_of_any_live_lane_is_noted_and_no_other(kind, narrow):
    native = Native(noting(kind), target=without_avx512() if narrow else None)
    dtype = {"f32": np.float32, "f64": np.float64, "i1": np.bool_}[kind]
    for n in (1, 7, 64, 65, 100, 200):
        quiet = np.zeros(n, dtype) if kind == "i1" else np.full(n, 1e-30, dtype)
        out = np.zeros(n)
        assert not native({"x": quiet, "out": out, "n": n}, 0, n)
        for at in range(n):
            events = (True,) if kind == "i1" else (0.0, np.inf, np.nan)
            for event in events:
                x = quiet.copy()
                x[at] = event
                assert native({"x": x, "out": out, "n": n}, 0, n)
                assert not native({"x": x, "out": out, "n": n}, 0, at)
                assert not native({"x": x, "out": out, "n": n}, at + 1, n)


@pytest.mark.parametrize("extreme", [3.4e38, 1e-45, -3.4e38, 0.0])
def test_no_finite_number_is_an_event(extreme):
    b, x, out, n = new()
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        b.note(value)
        b.store(out, lanes.i, value)
    x = np.full(100, extreme, np.float32)
    assert not Native(b.finish())({"x": x, "out": x.copy(), "n": 100}, 0, 100)


@pytest.mark.parametrize("where", range(5))
def test_events_are_noted_in_every_block(where):
    """In lanes of a loop of a cell, in a total, in a branch; of lanes, of one value, of an i1."""
    b = Builder()
    x, y = b.buffer("x", "f32"), b.buffer("y", "f64")
    n, out = b.scalar("n", "index"), b.buffer("out", "f32", written=True)
    with b.grid(2) as cell:
        b.note(b.load(y, cell.i, 0))
        with b.loop(0, 2) as loop, b.lanes(0, n) as lanes:
            value = b.load(x, loop.i * n + lanes.i)
            b.note(value)
            b.store(out, lanes.i, value)
        with b.total(0, n, [("add", "f32")]) as total:
            value = b.load(x, 2 * n + total.i)
            b.note(value)
            total.yield_(value)
        with b.if_(cell.i > 0):
            b.note(total.out[0] * 2.0)
            b.note(b.load(x, 3 * n, 0) > 5.0)
    native = Native(b.finish())
    for n in (1, 40, 150):
        memory = {"x": np.ones(3 * n + 1, np.float32), "y": np.ones(2), "n": n}
        memory["out"] = np.zeros(n, np.float32)
        check(native, memory, 0, 2)
        place = (("y", 1), ("x", n - 1), ("x", 2 * n - 1), ("x", 3 * n - 1), ("x", 3 * n))[where]
        memory[place[0]][place[1]] = 1e38 if where == 3 else np.inf
        if where == 3:
            memory["x"][2 * n] = 3.3e38  # twice the total is too large: a uniform event
        check(native, memory, 0, 2)
        assert native(memory, 0, 2)
