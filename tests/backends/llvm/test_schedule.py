"""Oracle: the rules of the schedule, one kernel each."""

import pytest

from runmat_jit.backends.llvm.schedule import instruction_count, schedule_for
from runmat_jit.backends.llvm.target import AARCH64_LINUX, X86_64_V3_LINUX, X86_64_V4_LINUX
from runmat_jit.kernel.build import Builder


def kernel(kind="f32", *, length=5, loop=False, to=None):
    """Lanes with ``length`` multiplications, in a loop that carries a value or not."""
    b = Builder()
    x, out = b.buffer("x", kind), b.buffer("out", to or kind, written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        with b.loop(0, n if loop else 1, [value]) as steps:
            value = steps.carry[0] if loop else value
            for _ in range(length):
                value = value * 1.5
            steps.yield_(value if loop else steps.carry[0])
        value = steps.out[0] if loop else value
        b.store(out, lanes.i, b.convert("fpext", value, to) if to else value)
    return b.finish()


def straight(length):
    b = Builder()
    out, n = b.buffer("out", "f32", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(out, lanes.i)
        for _ in range(length):
            value = value * 1.5
        b.store(out, lanes.i, value)
    return b.finish()


@pytest.mark.parametrize(
    ("target", "width"), [(X86_64_V4_LINUX, 16), (X86_64_V3_LINUX, 8), (AARCH64_LINUX, 4)]
)
def test_the_widest_type_of_lanes_fills_a_register(target, width):
    assert schedule_for(kernel("f32", loop=True), target).width == width
    assert schedule_for(kernel("f64", loop=True), target).width == width // 2
    assert schedule_for(kernel("f32", loop=True, to="f64"), target).width == width // 2


@pytest.mark.parametrize(("length", "unroll"), [(5, 4), (100, 4), (800, 2), (1600, 1)])
def test_longer_bodies_keep_fewer_vectors_in_flight(length, unroll):
    assert schedule_for(straight(length), X86_64_V4_LINUX).unroll == unroll


@pytest.mark.parametrize(("length", "unroll"), [(5, 8), (58, 8), (90, 4)])
def test_a_short_loop_that_waits_for_itself_keeps_eight(length, unroll):
    assert schedule_for(kernel(length=length, loop=True), X86_64_V4_LINUX).unroll == unroll


def test_chunks_of_longer_bodies_are_shorter():
    grains = [schedule_for(straight(k), X86_64_V4_LINUX).grain for k in (2, 50, 1000)]
    assert grains == sorted(grains, reverse=True)
    assert all(grain >= 1024 and grain.bit_count() == 1 for grain in grains)


def test_a_cell_is_a_chunk_of_its_own():
    b = Builder()
    out, n = b.buffer("out", "f32", written=True), b.scalar("n", "index")
    with b.grid(n) as cell:
        b.store(out, cell.i, 1.0, 0)
    assert schedule_for(b.finish(), X86_64_V4_LINUX).grain == 1


def test_rare_paths_are_not_counted():
    b = Builder()
    out, n = b.buffer("out", "f32", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(out, lanes.i)
        with b.if_any(value > 1.0, [value]) as rare:
            rare.yield_(rare.carry[0] * 2.0 * 3.0 * 4.0)
        b.store(out, lanes.i, rare.out[0])
    assert instruction_count(b.finish()) == 5  # lanes, load, gt, if_any, store
