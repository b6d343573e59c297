"""Oracle: counts of compilations; NumPy for what a compiled kernel computes."""

import ctypes
import threading

import numpy as np
import pytest

from runmat_jit.backends.llvm.backend import LlvmBackend
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.verify_types import KernelError
from tests.backends.llvm.native import FUNCTION


def scaled(factor):
    b = Builder()
    x, out = b.buffer("x", "f64"), b.buffer("out", "f64", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i) * factor
        b.note(value)
        b.store(out, lanes.i, value)
    return b.finish()


@pytest.fixture
def backend():
    return LlvmBackend(Jit())


def test_a_compiled_kernel_says_how_it_is_called(backend):
    compiled = backend.compile(scaled(3.0))
    assert [p.name for p in compiled.parameters] == ["x", "out", "n"]
    assert compiled.events_slot == 3
    x, out, event = np.arange(50.0), np.zeros(50), ctypes.c_int64(0)
    words = (x.ctypes.data, out.ctypes.data, 50, ctypes.addressof(event))
    block = (ctypes.c_int64 * 4)(*words)
    FUNCTION(compiled.address)(ctypes.addressof(block), 10, 50)
    assert np.array_equal(out, np.where(np.arange(50) < 10, 0, 3 * x))
    assert event.value == 0


def test_equal_kernels_are_compiled_once(backend):
    first = backend.compile(scaled(3.0))
    assert backend.compile(scaled(3.0)) is first
    assert backend.compile(scaled(4.0)) is not first
    assert backend.compiles == 2


def test_threads_that_want_one_kernel_share_its_compilation(backend):
    """All ask at once; the count is of all kernels that were ever compiled."""
    start, found = threading.Barrier(6), []

    def ask():
        start.wait()
        found.append(backend.compile(scaled(5.0)))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert {id(compiled) for compiled in found} == {id(found[0])}
    assert backend.compiles == 1


def test_a_kernel_that_is_not_valid_is_refused_each_time(backend):
    b = Builder()
    b.scalar("n", "index")
    for _ in range(2):
        with pytest.raises(KernelError, match="one top-level grid or lanes"):
            backend.compile(b.finish())
    assert backend.compiles == 0


def test_source_is_what_would_be_compiled(backend):
    assert backend.source(scaled(2.0)) == backend.compile(scaled(2.0)).text
