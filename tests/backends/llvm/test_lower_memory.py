"""Memory of native code alone. Oracles: NumPy; pages that cannot be read or written."""

import ctypes
import mmap
import sys

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import Memory, interpret
from tests.backends.conformance.test_memory import ELEMENTS, copy_kernel, dtype, filled
from tests.backends.llvm.native import Native, without_avx512

TARGETS = pytest.mark.parametrize("narrow", [False, True], ids=["own vectors", "without AVX-512"])


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


@pytest.mark.skipif(sys.platform == "win32", reason="as above")
@TARGETS
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("count", [2, 4])
def test_values_beside_each_other(element, count, narrow):
    """Of some arrays, one after another: what is stored is their transpose, and nothing else."""
    b = Builder()
    x, out = b.buffer("x", element), b.buffer("out", element, written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        values = [b.load(x, lanes.i + n * place) for place in range(count)]
        b.store_beside(out, lanes.i * count, values)
    kernel, page = b.finish(), Guarded()
    native = Native(kernel, target=without_avx512() if narrow else None)
    for n in (1, 3, 8, 16, 17, 64, 100, 127):
        for last in (False, True):
            values = filled(element, count * n, n)
            out = page.array(dtype(element), count * n, last=last)
            native({"x": values, "out": out, "n": n}, 0, n)
            assert np.array_equal(out, values.reshape(count, n).T.ravel())
            interpreted = np.zeros(count * n, dtype(element))
            interpret(kernel, {"x": values, "out": interpreted, "n": n})
            assert np.array_equal(out, interpreted)
