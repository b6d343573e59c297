"""Oracle: the limits that a schedule must keep, and what a kernel needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.backends.wgpu.arithmetic import Arithmetic
from runmat_jit.backends.wgpu.cells import cells_of
from runmat_jit.backends.wgpu.facts import Facts
from runmat_jit.backends.wgpu.print_shader import print_shader
from runmat_jit.backends.wgpu.ranges import longest_blocks, ranges_of
from runmat_jit.backends.wgpu.schedule import (
    Limits,
    Schedule,
    lanes_of_a_thread,
    schedule_for,
    shared_bytes,
)
from runmat_jit.backends.wgpu.views import views_of
from runmat_jit.kernel.build import Builder
from runmat_jit.lower.index import smaller, split
from tests.backends.conformance.test_blocks import cells_that_disagree
from tests.backends.wgpu.test_run import doubled, row_sums


def sums(kinds):
    b = Builder()
    buffers = [b.buffer(f"x{i}", kind) for i, kind in enumerate(kinds)]
    outs = [b.buffer(f"out{i}", kind, written=True) for i, kind in enumerate(kinds)]
    n = b.scalar("n", "index")
    with b.grid(n) as cell:
        with b.total(0, n, [("add", kind) for kind in kinds]) as total:
            total.yield_(*(b.load(x, total.i) for x in buffers))
        for out, value in zip(outs, total.out, strict=True):
            b.store(out, cell.i, value, stride=0)
    return b.finish()


def test_cells_that_disagree_about_their_blocks_have_a_workgroup_each():
    assert schedule_for(cells_that_disagree(), Limits()).teams == 1


@given(
    kinds=st.lists(st.sampled_from(["f32", "f64", "i32"]), min_size=1, max_size=4),
    threads=st.sampled_from([64, 128, 256, 1024]),
    kibibytes=st.sampled_from([16, 32, 48]),
    length=st.one_of(st.none(), st.integers(0, 16_384)),
)
def test_schedules_keep_the_limits(kinds, threads, kibibytes, length):
    kernel, limits = sums(kinds), Limits(threads, kibibytes << 10)
    index = kernel.body[0].block.body[0].block.index.number
    schedule = schedule_for(kernel, limits, {} if length is None else {index: length})
    assert schedule.threads <= threads
    assert schedule.threads % schedule.team == 0
    held = bool(schedule.steps)
    used = shared_bytes(kernel, schedule.lanes, schedule.team, held=held) * schedule.teams
    assert used <= kibibytes << 10


@pytest.mark.parametrize(
    ("length", "team"), [(10, 1), (1024, 64), (1025, 32), (4096, 64), (16_384, 256)]
)
def test_longer_rows_get_more_threads(length, team):
    kernel = row_sums()
    longest = longest_blocks(kernel, {"rows": 9, "n": length, "step": length})
    assert schedule_for(kernel, Limits(), longest).team == team


def test_a_thread_holds_16_bytes_and_four_bools():
    def copying(*kinds):
        b = Builder()
        n = b.scalar("n", "index")
        pairs = [(b.buffer(f"x{k}", k), b.buffer(f"y{k}", k, written=True)) for k in kinds]
        with b.lanes(0, n) as lanes:
            for x, y in pairs:
                b.store(y, lanes.i, b.load(x, lanes.i))
        return b.finish()

    found = [lanes_of_a_thread(copying(*k)) for k in (["f32"], ["f64"], ["i64", "bool"])]
    assert found == [4, 2, 4]


def test_software_adapters_get_the_shorter_text():
    real, software = (schedule_for(row_sums(), Limits(software=s)) for s in (False, True))
    assert (real.full_blocks, real.unroll) == (True, 16)
    assert (software.full_blocks, software.unroll) == (False, 1)


def test_where_no_lane_lies_beyond_the_end_nothing_is_masked():
    def masks(kernel, facts):
        text = print_shader(kernel, Schedule(4, 64, 64, full_blocks=True), Arithmetic(), facts)
        return text.count("vec4<i32>(0, 1, 2, 3) <")

    whole = Facts(frozenset({"n", "step"}), whole_part=True)
    assert masks(doubled(), Facts()) == 1
    assert masks(doubled(), whole) == 0
    assert masks(row_sums(), Facts(frozenset({"step"}))) == 1
    assert masks(row_sums(), whole) == 0


def test_the_steps_of_a_short_body_are_printed_one_after_the_other():
    def loads(unroll):
        schedule = Schedule(4, 64, 16, full_blocks=True, unroll=unroll)
        facts = Facts(frozenset({"step"}))
        return print_shader(row_sums(), schedule, Arithmetic(), facts).count("= p0[")

    assert [loads(unroll) for unroll in (1, 4, 16)] == [2, 5, 17]


# -- what the parts of a kernel say --------------------------------------------------------------
def test_buffers_are_vectors_where_every_access_is_one():
    kernel = row_sums()
    assert views_of(kernel, Facts(), 4).wide == set()
    assert views_of(kernel, Facts(frozenset({"step"})), 4).wide == {"x"}
    shifted = Facts(frozenset({"step"}), shifted=frozenset({"x"}))
    assert views_of(kernel, shifted, 4).wide == set()
    aligned = Facts(frozenset({"step", "x"}), shifted=frozenset({"x"}))
    assert views_of(kernel, aligned, 4).wide == {"x"}
    assert views_of(doubled(), Facts(), 4).wide == {"x", "out"}
    assert views_of(doubled(), Facts(aligned_part=False), 4).wide == set()
    assert views_of(doubled(), Facts(), 1).wide == set()


def test_ranges_hold_what_is_touched():
    ranges = ranges_of(row_sums(), {"rows": 60, "n": 10, "step": 12}, (5, 8))
    assert ranges.accesses == {"x": (60, 93), "out": (5, 7)}
    assert list(ranges.lengths.values()) == [3, 10]
    gathered = ranges_of(doubled(gathered=True), {"n": 100}, (8, 40))
    assert gathered.accesses == {"x": None, "out": (8, 39)}


def test_ranges_follow_quotients_and_remainders():
    """Tiles of a matrix: cells are numbered, and their rows and columns cut from the number."""
    b = Builder()
    out = b.buffer("out", "f32", written=True)
    cells, across, columns = (b.scalar(name, "index") for name in ("cells", "across", "columns"))
    with b.grid(cells) as cell:
        row, tile = split(cell.i, across)
        left = tile * 64
        with b.lanes(left, smaller(left + 64, columns)) as lanes:
            b.store(out, row * columns + lanes.i, b.splat(0.0, "f32"))
    numbers = {"cells": 30, "across": 3, "columns": 150}
    assert ranges_of(b.finish(), numbers, (3, 6)).accesses == {"out": (150, 299)}
    assert ranges_of(b.finish(), numbers, (4, 5)).accesses["out"] == (150 + 64, 150 + 127)
    assert ranges_of(b.finish(), numbers, (0, 30)).accesses == {"out": (0, 1499)}


def test_cells_that_only_read_their_inputs_need_no_barriers():
    assert cells_of(row_sums()) == cells_of(row_sums())
    assert not cells_of(row_sums()).ordered
    assert not cells_of(row_sums()).one_team
    assert not cells_of(doubled()).ordered
