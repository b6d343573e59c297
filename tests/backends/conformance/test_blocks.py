"""Oracle: the interpreter of kernels, which runs all lanes of a block at once."""

import itertools

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder

pytestmark = pytest.mark.sampled(4)

LENGTHS = (1, 5, 64, 130, 700, 0, 16, 63, 65, 200)
"""The first ones for every backend, all of them where a launch costs little."""


def lengths(backend):
    return LENGTHS if backend.quick else LENGTHS[:5]


def vector(n, kind=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(n).astype(kind)


def new(name_of_outputs=("out",), kind="f32"):
    """A builder, an input ``x``, outputs, and the length ``n``."""
    b = Builder()
    x = b.buffer("x", kind)
    outs = [b.buffer(name, kind, written=True) for name in name_of_outputs]
    return b, x, *outs, b.scalar("n", "index")


def test_a_loop_inside_lanes_carries_registers(with_blocks):
    b, x, out, n = new()
    steps = b.scalar("steps", "index")
    with b.lanes(0, n) as lanes:
        start = b.load(x, lanes.i)
        with b.loop(0, steps, [start, b.splat(0.0, "f32"), b.const(1, "i32")], step=3) as loop:
            state, total, count = loop.carry
            state = b.fma(state, 0.5, b.convert("sitofp", count, "f32"))
            loop.yield_(state, total + state, count * 3 + b.convert("trunc", loop.i, "i32"))
        b.store(out, lanes.i, loop.out[1] - loop.out[0] * b.convert("sitofp", loop.out[2], "f32"))
    kernel = b.finish()
    for n, steps in itertools.product(lengths(with_blocks), (0, 1, 3, 10)):
        memory = {"x": vector(n), "out": vector(n), "n": n, "steps": steps}
        with_blocks.check(kernel, memory, 0, n)


def test_a_loop_may_exchange_what_it_carries(backend):
    b, x, out, n = new()
    steps = b.scalar("steps", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        with b.loop(0, steps, [value, value * 2.0]) as loop:
            loop.yield_(loop.carry[1], loop.carry[0])
        b.store(out, lanes.i, loop.out[0])
    kernel = b.finish()
    for steps in (0, 1, 2, 5):
        memory = {"x": vector(9), "out": vector(9), "n": 9, "steps": steps}
        backend.check(kernel, memory, 0, 9)


def test_lanes_and_totals_inside_loops_inside_cells(with_blocks):
    """Rows normalized ``steps`` times: a total, a uniform computation, then lanes."""
    b, x, out, n = new()
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
            with b.lanes(0, n) as lanes:
                value = b.load(out, base + lanes.i)
                b.store(out, base + lanes.i, value / norm + loop.carry[0])
            loop.yield_(norm * 0.5)
        b.store(out, base + n, loop.out[0], stride=0)
    kernel = b.finish()
    for n, steps in ((1, 1), (7, 2), (70, 3), (200, 0), (1100, 1)):
        size = 5 * (n + 1)
        memory = {"x": vector(size), "out": vector(size), "n": n, "rows": 5, "steps": steps}
        with_blocks.check(kernel, memory, 0, 5)
        with_blocks.check(kernel, memory, 2, 4)


def test_what_one_lane_stores_another_one_loads(with_blocks):
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
    kernel = b.finish()
    for n, steps in ((1, 1), (7, 2), (70, 3), (1100, 1)):
        size = 5 * (n + 1)
        memory = {name: vector(size) for name in ("x", "out", "back")}
        memory |= {"n": n, "rows": 5, "steps": steps}
        with_blocks.check(kernel, memory, 0, 5)
        with_blocks.check(kernel, memory, 2, 4)


def cells_that_disagree():
    """Loops, branches and bounds that depend on the cell, around totals."""
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
    return b.finish()


def test_cells_may_disagree_about_their_blocks(backend):
    memory = {"x": vector(40), "out": vector(20), "n": 20}
    backend.check(cells_that_disagree(), memory, 0, 20)


def test_lanes_with_bounds_of_their_own(with_blocks):
    """Empty and reversed bounds run nothing."""
    b, x, out, n = new()
    lo, hi = b.scalar("lo", "index"), b.scalar("hi", "index")
    with b.grid(n) as cell, b.lanes(lo + cell.i * 91, hi + cell.i * 90) as lanes:
        b.store(out, lanes.i, b.load(out, lanes.i) + b.load(x, lanes.i))
    kernel = b.finish()
    for lo, hi in ((0, 90), (3, 80), (5, 5), (50, 3), (89, 90)):
        memory = {"x": vector(270), "out": vector(270), "n": 3, "lo": lo, "hi": hi}
        with_blocks.check(kernel, memory, 0, 3)


def test_a_uniform_branch_takes_or_leaves_its_body(with_blocks):
    b, x, out, n = new()
    flag = b.scalar("flag", "i1")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        with b.if_(flag, [value, b.const(2.0, "f32")]) as branch:
            branch.yield_(branch.carry[0] * 3.0, branch.carry[1] + 1.0)
        b.store(out, lanes.i, branch.out[0] * branch.out[1])
    kernel = b.finish()
    for n, flag in itertools.product(lengths(with_blocks), (False, True)):
        memory = {"x": vector(n), "out": vector(n), "n": n, "flag": flag}
        with_blocks.check(kernel, memory, 0, n)


# -- rare paths ----------------------------------------------------------------------------------
def rare_path(kind, *, masked_store):
    """Large values go through a cold function that reads a table; others do not."""
    b, x, out, n = new(kind=kind)
    table, seen = b.table("table", kind), b.buffer("seen", "i32", written=True)

    def cold(k, args):
        index = k.convert("fptosi", args[0], "i32")
        return (k.gather(table, index) + args[1], index)

    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        large = value > 3.0
        with b.if_any(large, [value * 2.0, b.splat(-1, "i32")]) as rare:
            found, index = b.call("look_up", [value, -value], [kind, "i32"], cold, [table])
            if masked_store:
                b.store(seen, lanes.i, index)
            rare.yield_(found, index)
        b.store(out, lanes.i, rare.out[0])
        if not masked_store:
            b.store(seen, lanes.i, rare.out[1])
    return b.finish()


@pytest.mark.parametrize("masked_store", [False, True])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_rare_path_is_for_its_lanes_only(with_blocks, kind, masked_store):
    """The table has no entry for the other lanes, so reading one would be found.

    Each lane has a number of its own, so one that is given another's result is found as well.
    """
    dtype = {"f32": np.float32, "f64": np.float64}[kind]
    kernel = rare_path(kind, masked_store=masked_store)
    for n in lengths(with_blocks):
        for share in (0.0, 0.02, 0.3, 1.0):
            rng = np.random.default_rng(n)
            x = np.where(rng.random(n) < share, rng.uniform(4, 19, n), -1e30).astype(dtype)
            memory = {"x": x, "out": vector(n, dtype), "seen": np.zeros(n, np.int32), "n": n}
            with_blocks.check(kernel, memory | {"table": vector(20, dtype)}, 0, n)


def test_rare_paths_nest(backend):
    b, x, out, n = new()
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        with b.if_any(value > 0.0, [value]) as outer:
            with b.if_any(value < 1.0, [outer.carry[0]]) as inner:
                b.note(value > 0.5)
                inner.yield_(inner.carry[0] + 100.0)
            outer.yield_(inner.out[0] * 2.0)
        b.store(out, lanes.i, outer.out[0])
    kernel = b.finish()
    for n in lengths(backend):
        for scale in (0.1, 0.4, 1.0):
            memory = {"x": (scale * vector(n)).astype(np.float32), "out": vector(n), "n": n}
            backend.check(kernel, memory, 0, n)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_uniform_values_take_rare_paths_and_cold_functions_too(backend, kind):
    b, x, out, n = new(kind=kind)

    def cold(k, args):
        return (k.prim("sqrt", args[0]),)

    with b.grid(n) as cell:
        value = b.load(x, cell.i, 0)
        with b.if_any(value > 0.0, [value]) as rare:
            rare.yield_(*b.call("root", [value], [kind], cold))
        b.store(out, cell.i, rare.out[0], stride=0)
    dtype = {"f32": np.float32, "f64": np.float64}[kind]
    backend.check(b.finish(), {"x": vector(9, dtype), "out": np.zeros(9, dtype), "n": 9}, 0, 9)


def test_lanes_know_their_number(with_blocks):
    b = Builder()
    out, n = b.buffer("out", "i64", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        narrow = b.convert("trunc", lanes.i * 1, "i32") + b.lane_id()
        wide = b.convert("trunc", lanes.i, "i64") + b.lane_id("i64")
        b.store(out, lanes.i, wide * 1000 + b.convert("sext", narrow, "i64"))
    kernel = b.finish()
    for n in lengths(with_blocks):
        memory = {"out": np.zeros(n + 9, np.int64), "n": n}
        with_blocks.check(kernel, memory, 0, n)
        with_blocks.check(kernel, memory, 5, n + 5)


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
def test_an_event_of_any_live_lane_is_noted_and_no_other(of_every_target, kind):
    run = of_every_target.compile(noting(kind))
    dtype = {"f32": np.float32, "f64": np.float64, "i1": np.bool_}[kind]
    for n in (1, 7, 64, 65, 100, 200) if of_every_target.quick else (70,):
        quiet = np.zeros(n, dtype) if kind == "i1" else np.full(n, 1e-30, dtype)
        out = np.zeros(n)
        assert not run({"x": quiet, "out": out, "n": n}, 0, n)
        for at in range(n) if of_every_target.quick else (0, 1, 6, 63, 64, 69):
            events = (True,) if kind == "i1" else (0.0, np.inf, np.nan)
            for event in events:
                x = quiet.copy()
                x[at] = event
                assert run({"x": x, "out": out, "n": n}, 0, n)
                assert not run({"x": x, "out": out, "n": n}, 0, at)
                assert not run({"x": x, "out": out, "n": n}, at + 1, n)


@pytest.mark.parametrize("extreme", [3.4e38, 1e-45, -3.4e38, 0.0])
def test_no_finite_number_is_an_event(backend, extreme):
    b, x, out, n = new()
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        b.note(value)
        b.store(out, lanes.i, value)
    run = backend.compile(b.finish())
    for n in (9, 100):
        x = np.full(n, extreme, np.float32)
        assert not run({"x": x, "out": x.copy(), "n": n}, 0, n)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("where", [None, *range(5)])
def test_events_are_noted_in_every_block(backend, where, kind):
    """In lanes of a loop of a cell, in a total, in a branch; of lanes, of one value, of an i1."""
    b, x, out, n = new()
    y = b.buffer("y", kind)
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
    kernel = b.finish()
    y = np.ones(2, {"f32": np.float32, "f64": np.float64}[kind])
    for n in (1, 40, 150):
        memory = {"x": np.ones(3 * n + 1, np.float32), "y": y.copy(), "n": n}
        memory["out"] = np.zeros(2 * n, np.float32)
        if where is not None:
            places = (("y", 1), ("x", n - 1), ("x", 2 * n - 1), ("x", 3 * n - 1), ("x", 3 * n))
            name, at = places[where]
            memory[name][at] = 3.3e38 if where == 3 else np.inf  # twice the total is too large
        backend.check(kernel, memory, 0, 2)
        assert backend.compile(kernel)(memory, 0, 2) == (where is not None)
