"""Oracle: the interpreter of kernels, which checks bounds; memory around what is stored."""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import Memory
from tests.backends.llvm.test_lower_memory import ELEMENTS, copy_kernel, dtype, filled, strided
from tests.backends.wgpu.shaders import check, run

pytestmark = pytest.mark.usefixtures("adapter")

LENGTHS = (1, 2, 3, 4, 5, 8, 31, 64, 131)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("stride", [-3, -1, 1, 2])
def test_loads_follow_their_stride(element, stride):
    kernel, run_time = copy_kernel(element, stride), copy_kernel(element, None, to_stride=1)
    for n in LENGTHS:
        memory = {"x": strided(element, n, stride), "out": filled(element, n + 4, 1), "n": n}
        for each in (kernel, run_time):
            check(each, memory | {"step": stride}, (0, n))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("stride", [-2, -1, 1, 3])
def test_stores_follow_their_stride(element, stride):
    kernel = copy_kernel(element, 1, to_stride=stride)
    run_time = copy_kernel(element, 1, to_stride=None)
    for n in LENGTHS:
        memory = {"x": filled(element, n), "out": strided(element, n, stride), "n": n}
        for each in (kernel, run_time):
            check(each, memory | {"step": stride}, (0, n))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_any_part_may_run_alone(element, lanes):
    """Threads of bools share words: what neighbors store is kept."""
    kernel = copy_kernel(element, 1)
    memory = {"x": filled(element, 300), "out": filled(element, 300, 1), "n": 300, "step": 1}
    for lo, n in ((0, 7), (1, 30), (2, 64), (3, 200), (4, 5), (8, 256), (299, 1)):
        check(kernel, memory, (lo, lo + n), Schedule(lanes, 64, 64))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("origins", [(0, 4), (1, 0), (3, 2), (8, 64)])
def test_buffers_may_begin_anywhere(element, origins):
    """Origins that are multiples keep whole vectors, others do not."""
    kernel = copy_kernel(element, 1)
    for n in (1, 6, 61):
        memory = {"x": Memory(filled(element, n + 70), origins[0]), "n": n, "step": 1}
        memory["out"] = Memory(filled(element, n + 70, 1), origins[1])
        check(kernel, memory, (0, n))


def test_one_element_for_all_lanes():
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    k, n = b.scalar("k", "index"), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.load(x, k, 0) + b.load(x, lanes.i))
    memory = {"x": np.arange(70, dtype=np.float32), "out": np.zeros(70, np.float32), "n": 70}
    for k in (0, 3, 69):
        check(b.finish(), memory | {"k": k}, (0, 70))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("index_type", ["i32", "i64", "index"])
def test_gathers_read_where_each_lane_says(element, index_type):
    b = Builder()
    table, at = b.table("table", element), b.buffer("at", "i32")
    out, n = b.buffer("out", element, written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        index = b.load(at, lanes.i)
        if index_type != "i32":
            index = b.convert("sext", index, index_type)
        b.store(out, lanes.i, b.gather(table, index))
    at = np.random.default_rng(2).integers(-5, 40, 150).astype(np.int32)
    memory = {"table": Memory(filled(element, 45), 5), "at": at, "n": 150}
    check(b.finish(), memory | {"out": filled(element, 151, 1)}, (0, 150))


def test_a_uniform_gather_is_one_element():
    b = Builder()
    table, out = b.table("table", "f32"), b.buffer("out", "f32", written=True)
    k = b.scalar("k", "i32")
    with b.grid(3) as cell:
        b.store(out, cell.i, b.gather(table, k + 1), stride=0)
    memory = {"table": np.arange(9, dtype=np.float32), "k": 4, "out": np.zeros(3, np.float32)}
    check(b.finish(), memory, (0, 3))


@pytest.mark.parametrize("element", ["f32", "bool"])
def test_lanes_that_are_not_live_neither_read_nor_write(element):
    """A rare path whose address is outside of the buffer for the other lanes."""
    b = Builder()
    x, out = b.buffer("x", element), b.buffer("out", element, written=True)
    n, shift = b.scalar("n", "index"), b.scalar("shift", "index")
    with b.lanes(0, n) as lanes:
        number = b.convert("trunc", lanes.i, "i32") + b.lane_id()
        above = number >= b.convert("trunc", shift, "i32")
        with b.if_any(above, []):
            b.store(out, lanes.i - shift, b.load(x, lanes.i - shift))
    for shift in (0, 1, 4, 6, 30):
        memory = {"x": filled(element, 40), "out": filled(element, 40, 1), "n": 40, "shift": shift}
        check(b.finish(), memory, (0, 40))


def test_rows_may_end_within_a_vector():
    """The tail of a row and the head of the next one are stored by different threads."""
    b = Builder()
    x, out = b.buffer("x", "bool"), b.buffer("out", "bool", written=True)
    rows, n, step = (b.scalar(name, "index") for name in ("rows", "n", "step"))
    with b.grid(rows) as cell:
        base = cell.i * step
        with b.lanes(0, n) as lanes:
            b.store(out, base + lanes.i, b.load(x, base + lanes.i) ^ True)
    for n, step in ((6, 6), (6, 8), (9, 12), (3, 4)):
        size = 20 * step
        memory = {"x": filled("bool", size), "out": filled("bool", size, 1), "rows": 20}
        check(b.finish(), memory | {"n": n, "step": step}, (0, 20))


def test_whatever_is_not_zero_loads_as_set():
    kernel = copy_kernel("bool", 1)
    x = np.arange(256, dtype=np.uint8)
    memory = {"x": x.view(bool), "out": np.zeros(256, bool), "n": 256, "step": 1}
    run(kernel, memory, (0, 256))
    assert memory["out"].view(np.uint8).tolist() == [0] + [1] * 255


def test_types_have_their_sizes():
    assert [dtype(element).itemsize for element in ELEMENTS] == [4, 8, 4, 8, 1]
