"""Oracle: the interpreter of kernels, which checks bounds; memory around what is stored."""

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from runmat_jit.kernel.interpret import Memory

pytestmark = pytest.mark.sampled(4)

NARROW = {"u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u32": "uint32"}
ELEMENTS = ("f32", "f64", "i32", "i64", "bool", *NARROW)
LENGTHS = (*range(12), 31, 64, 65, 131, 200)
FEW_LENGTHS = (1, 2, 3, 4, 5, 8, 31, 64, 131)


def lengths(backend):
    return LENGTHS if backend.quick else FEW_LENGTHS


def dtype(element):
    return np.dtype(NARROW.get(element, np.bool_ if element == "bool" else DTYPES.get(element)))


def copy_kernel(element, stride, *, to_stride=1):
    """``out[i * to_stride] = x[i * stride]``; a stride of None is a parameter."""
    b = Builder()
    x, out = b.buffer("x", element), b.buffer("out", element, written=True)
    n, step = b.scalar("n", "index"), b.scalar("step", "index")
    with b.lanes(0, n) as lanes:
        by = step if stride is None else stride
        to = step if to_stride is None else to_stride
        value = b.load(x, lanes.i * by, by)
        b.store(out, lanes.i * to, value, to)
    return b.finish()


def filled(element, n, seed=0):
    rng, limits = np.random.default_rng(seed), (0, 2 if element == "bool" else 1000)
    if element in NARROW:
        info = np.iinfo(dtype(element))
        limits = info.min, info.max + 1
    return rng.integers(*limits, n).astype(dtype(element))


def strided(element, n, stride):
    """Memory whose element 0 starts a walk of ``n`` steps, with the end elements in use."""
    size = abs(stride) * max(n - 1, 0) + (1 if n else 0)
    return Memory(filled(element, size), size - 1 if stride < 0 and size else 0)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("stride", [-3, -2, -1, 1, 2, 5])
def test_loads_follow_their_stride(of_every_target, element, stride):
    known, at_run_time = copy_kernel(element, stride), copy_kernel(element, None, to_stride=1)
    for n in lengths(of_every_target):
        memory = {"x": strided(element, n, stride), "out": filled(element, n + 4, 1), "n": n}
        for kernel in (known, at_run_time):
            of_every_target.check(kernel, memory | {"step": stride}, 0, n)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("stride", [-2, -1, 1, 2, 3])
def test_stores_follow_their_stride(of_every_target, element, stride):
    known = copy_kernel(element, 1, to_stride=stride)
    at_run_time = copy_kernel(element, 1, to_stride=None)
    for n in lengths(of_every_target):
        memory = {"x": filled(element, n), "out": strided(element, n, stride), "n": n}
        for kernel in (known, at_run_time):
            of_every_target.check(kernel, memory | {"step": stride}, 0, n)


@pytest.mark.parametrize("element", ELEMENTS)
def test_any_part_may_run_alone(of_every_width, element):
    """From every kind of start, every length up to 200 where that is quick: what neighbors store is
    kept, also where bools share words."""
    kernel = copy_kernel(element, 1)
    memory = {"x": filled(element, 300), "out": filled(element, 300, 1), "n": 300, "step": 1}
    parts = [(0, 7), (1, 31), (2, 66), (3, 203), (4, 9), (8, 264), (299, 300)]
    if of_every_width.quick:
        parts += [(n % 17, n % 17 + n) for n in range(201)]
    for lo, hi in parts:
        of_every_width.check(kernel, memory, lo, hi)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("origins", [(0, 4), (1, 0), (3, 2), (8, 64)])
def test_buffers_may_begin_anywhere(backend, element, origins):
    """Origins that are multiples keep whole vectors, others do not."""
    kernel = copy_kernel(element, 1)
    for n in (1, 6, 61):
        memory = {"x": Memory(filled(element, n + 70), origins[0]), "n": n, "step": 1}
        memory["out"] = Memory(filled(element, n + 70, 1), origins[1])
        backend.check(kernel, memory, 0, n)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_one_element_for_all_lanes(backend, kind):
    b = Builder()
    x, out = b.buffer("x", kind), b.buffer("out", kind, written=True)
    k, n = b.scalar("k", "index"), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.load(x, k, 0) + b.load(x, lanes.i))
    kernel = b.finish()
    memory = {"x": np.arange(70, dtype=dtype(kind)), "out": np.zeros(70, dtype(kind)), "n": 70}
    for k in (0, 3, 69):
        backend.check(kernel, memory | {"k": k}, 0, 70)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("index_type", ["i32", "i64", "index"])
def test_gathers_read_where_each_lane_says(of_every_target, element, index_type):
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
    of_every_target.check(b.finish(), memory | {"out": filled(element, 151, 1)}, 0, 150)


def test_a_uniform_gather_is_one_element(backend):
    b = Builder()
    table, out = b.table("table", "f32"), b.buffer("out", "f32", written=True)
    k = b.scalar("k", "i32")
    with b.grid(3) as cell:
        b.store(out, cell.i, b.gather(table, k + 1), stride=0)
    memory = {"table": np.arange(9, dtype=np.float32), "k": 4, "out": np.zeros(3, np.float32)}
    backend.check(b.finish(), memory, 0, 3)


@pytest.mark.parametrize("element", ["f32", "bool"])
def test_lanes_that_are_not_live_neither_read_nor_write(backend, element):
    """A rare path whose address is outside of the buffer for the other lanes."""
    b = Builder()
    x, out = b.buffer("x", element), b.buffer("out", element, written=True)
    n, shift = b.scalar("n", "index"), b.scalar("shift", "index")
    with b.lanes(0, n) as lanes:
        number = b.convert("trunc", lanes.i, "i32") + b.lane_id()
        above = number >= b.convert("trunc", shift, "i32")
        with b.if_any(above, []):
            b.store(out, lanes.i - shift, b.load(x, lanes.i - shift))
    kernel = b.finish()
    for shift in (0, 1, 4, 6, 30):
        memory = {"x": filled(element, 40), "out": filled(element, 40, 1), "n": 40, "shift": shift}
        backend.check(kernel, memory, 0, 40)


def test_rows_may_end_within_a_vector(backend):
    """The tail of a row and the head of the next one may be stored by different threads."""
    b = Builder()
    x, out = b.buffer("x", "bool"), b.buffer("out", "bool", written=True)
    rows, n, step = (b.scalar(name, "index") for name in ("rows", "n", "step"))
    with b.grid(rows) as cell:
        base = cell.i * step
        with b.lanes(0, n) as lanes:
            b.store(out, base + lanes.i, b.load(x, base + lanes.i) ^ True)
    kernel = b.finish()
    for n, step in ((6, 6), (6, 8), (9, 12), (3, 4)):
        size = 20 * step
        memory = {"x": filled("bool", size), "out": filled("bool", size, 1), "rows": 20}
        backend.check(kernel, memory | {"n": n, "step": step}, 0, 20)


def test_whatever_is_not_zero_loads_as_set(backend):
    if not backend.whole_bytes:
        pytest.skip("a bool of NumPy is 0 or 1: the interpreter has no other")
    x = np.arange(256, dtype=np.uint8)
    memory = {"x": x.view(bool), "out": np.zeros(256, bool), "n": 256, "step": 1}
    backend.compile(copy_kernel("bool", 1))(memory, 0, 256)
    assert memory["out"].view(np.uint8).tolist() == [0] + [1] * 255


def test_types_have_their_sizes():
    assert [dtype(element).itemsize for element in ELEMENTS] == [4, 8, 4, 8, 1, 1, 1, 2, 2, 4]
