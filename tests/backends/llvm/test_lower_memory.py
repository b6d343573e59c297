"""Oracle: the interpreter of kernels, which checks bounds; pages that cannot be read or written."""

import ctypes
import mmap
import sys

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from runmat_jit.kernel.interpret import Memory
from tests.backends.llvm.native import Native, check, without_avx512

ELEMENTS = ("f32", "f64", "i32", "i64", "bool")
TARGETS = pytest.mark.parametrize("narrow", [False, True], ids=["own vectors", "without AVX-512"])


def dtype(element):
    return np.dtype(np.bool_ if element == "bool" else DTYPES[element])


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
    numbers = np.random.default_rng(seed).integers(0, 2 if element == "bool" else 1000, n)
    return numbers.astype(dtype(element))


def strided(element, n, stride):
    """Memory whose element 0 starts a walk of ``n`` steps, with the end elements in use."""
    size = abs(stride) * max(n - 1, 0) + (1 if n else 0)
    return Memory(filled(element, size), size - 1 if stride < 0 and size else 0)


@TARGETS
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("stride", [-3, -2, -1, 1, 2, 5])
def test_loads_follow_their_stride(element, stride, narrow):
    target = without_avx512() if narrow else None
    native = Native(copy_kernel(element, stride), target=target)
    run_time = Native(copy_kernel(element, None, to_stride=1), target=target)
    for n in [*range(12), 31, 64, 65, 131, 200]:
        memory = {"x": strided(element, n, stride), "out": filled(element, n + 4, 1), "n": n}
        for kernel in (native, run_time):
            check(kernel, memory | {"step": stride}, 0, n)


@TARGETS
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("stride", [-2, -1, 1, 2, 3])
def test_stores_follow_their_stride(element, stride, narrow):
    target = without_avx512() if narrow else None
    native = Native(copy_kernel(element, 1, to_stride=stride), target=target)
    run_time = Native(copy_kernel(element, 1, to_stride=None), target=target)
    for n in [*range(12), 31, 64, 65, 131, 200]:
        memory = {"x": filled(element, n), "out": strided(element, n, stride), "n": n}
        for kernel in (native, run_time):
            check(kernel, memory | {"step": stride}, 0, n)


@pytest.mark.parametrize("element", ELEMENTS)
def test_any_part_may_run_alone(element):
    """Every length up to 200 from every kind of start: only that part is written."""
    native = Native(copy_kernel(element, 1))
    memory = {"x": filled(element, 300), "out": filled(element, 300, 1), "n": 300, "step": 1}
    for n in range(201):
        check(native, memory, n % 17, n % 17 + n)


def test_one_element_for_all_lanes():
    b = Builder()
    x, out = b.buffer("x", "f64"), b.buffer("out", "f64", written=True)
    k, n = b.scalar("k", "index"), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.load(x, k, 0) + b.load(x, lanes.i))
    check(Native(b.finish()), {"x": np.arange(70.0), "out": np.zeros(70), "k": 3, "n": 70}, 0, 70)


@TARGETS
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("index_type", ["i32", "i64", "index"])
def test_gathers_read_where_each_lane_says(element, index_type, narrow):
    b = Builder()
    table, at = b.table("table", element), b.buffer("at", "i32")
    out, n = b.buffer("out", element, written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        index = b.load(at, lanes.i)
        if index_type != "i32":
            index = b.convert("sext", index, index_type)
        b.store(out, lanes.i, b.gather(table, index))
    native = Native(b.finish(), target=without_avx512() if narrow else None)
    at = np.random.default_rng(2).integers(-5, 40, 150).astype(np.int32)
    memory = {"table": Memory(filled(element, 45), 5), "at": at, "n": 150}
    check(native, memory | {"out": filled(element, 150, 1)}, 0, 150)


def test_a_uniform_gather_is_one_element():
    b = Builder()
    table, out = b.table("table", "f32"), b.buffer("out", "f32", written=True)
    k = b.scalar("k", "i32")
    with b.grid(3) as cell:
        b.store(out, cell.i, b.gather(table, k + 1), stride=0)
    check(
        Native(b.finish()),
        {"table": np.arange(9, dtype=np.float32), "k": 4, "out": np.zeros(3, np.float32)},
        0,
        3,
    )


def test_whatever_is_not_zero_loads_as_set():
    native = Native(copy_kernel("bool", 1))
    x = np.arange(256, dtype=np.uint8)
    out = np.zeros(256, np.uint8)
    native({"x": x, "out": out, "n": 256, "step": 1}, 0, 256)
    assert out.tolist() == [0] + [1] * 255


def test_in_place_is_exact():
    """A store follows its own loads, so one kernel serves ``x += x``."""
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.load(x, lanes.i) + b.load(x, lanes.i))
    native, memory = Native(b.finish()), np.arange(333, dtype=np.float32)
    native({"x": memory, "out": memory, "n": 333}, 0, 333)
    assert np.array_equal(memory, 2 * np.arange(333))


class Guarded:
    """A page between two that may not be touched."""

    def __init__(self):
        self.size = mmap.PAGESIZE
        self.map = mmap.mmap(-1, 3 * self.size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        for page in (0, 2):
            self._forbid(page)

    def _forbid(self, page):
        call = ctypes.CDLL(None, use_errno=True).mprotect
        call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        assert call(self.address + page * self.size, self.size, 0) == 0

    def array(self, kind, n, *, last):
        """``n`` elements that begin, or with ``last`` end, where the page does."""
        offset = self.size + (self.size - n * kind.itemsize if last else 0)
        return np.frombuffer(self.map, kind, n, offset)


@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected by mprotect here")
@TARGETS
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("strides", [(1, 1), (-1, 1), (1, -1), (2, 1), (1, 2), (-2, -2)])
def test_nothing_outside_is_touched(element, strides, narrow):
    """A fault ends the process, so it cannot be missed."""
    native = Native(
        copy_kernel(element, strides[0], to_stride=strides[1]),
        target=without_avx512() if narrow else None,
    )
    source, target = Guarded(), Guarded()
    for n in (1, 3, 8, 16, 17, 64, 100, 129):
        for last in (False, True):
            x, out = (
                page.array(dtype(element), abs(stride) * (n - 1) + 1, last=last)
                for page, stride in zip((source, target), strides, strict=True)
            )
            x[...] = filled(element, x.size, n)
            starts = [a.size - 1 if s < 0 else 0 for a, s in zip((x, out), strides, strict=True)]
            arguments = {"x": Memory(x, starts[0]), "out": Memory(out, starts[1])}
            native(arguments | {"n": n, "step": 1}, 0, n)
            assert np.array_equal(out[:: strides[1]][:n], x[:: strides[0]][:n])
