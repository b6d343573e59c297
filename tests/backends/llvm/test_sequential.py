"""Loops over single numbers: oracle is the interpreter of kernels, and the C library itself."""

import ctypes
import math

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.primitives import LIBM
from runmat_jit.kernel.verify_kernel import verify_kernel
from runmat_jit.kernel.verify_types import KernelError
from runmat_jit.runtime.session import current_session

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
WATCHED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def words_of(arrays, numbers=()):
    words = [array.ctypes.data for array in arrays] + list(numbers)
    event = ctypes.c_int64(0)
    return (ctypes.c_int64 * (len(words) + 1))(*words, ctypes.addressof(event)), event


def run(kernel, memory, cells=(0, 1)):
    """Run a kernel on buffers natively and by the interpreter; what both have written."""
    compiled = current_session().backend.compile(kernel)
    names = [parameter.name for parameter in kernel.parameters]
    ours = {name: value.copy() for name, value in memory.items()}
    words, _ = words_of([ours[name] for name in names])
    ENTRY(compiled.address)(words, *cells)
    theirs = {name: value.copy() for name, value in memory.items()}
    interpret(kernel, theirs, cells)
    for name, value in ours.items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)
    return ours


def test_a_while_carries_what_it_yields_until_it_says_no():
    k = Builder()
    x, out = k.buffer("x", "i64"), k.buffer("out", "i64", written=True)
    with k.grid(3) as grid:
        start = k.load(x, grid.i, 0)
        with k.while_([start, k.const(0, "i64")]) as loop:
            value, steps = loop.carry
            even = k.eq(value & 1, 0)
            following = k.select(even, value >> 1, value * 3 + 1)
            loop.yield_(k.ne(following, 1), following, steps + 1)
        k.store(out, grid.i, loop.out[1], 0)
    memory = {"x": np.array([6, 7, 2]), "out": np.zeros(3, np.int64)}
    assert run(k.finish(), memory, (0, 3))["out"].tolist() == [8, 16, 1]


def test_a_cell_that_is_left_does_nothing_more():
    k = Builder()
    x, out = k.buffer("x", "f64"), k.buffer("out", "f64", written=True)
    with k.grid(4) as grid:
        value = k.load(x, grid.i, 0)
        k.store(out, grid.i, 1.0, 0)
        with k.loop(0, 5, [value]) as loop:
            k.leave_if(loop.carry[0] > 3.0)
            loop.yield_(loop.carry[0] + 1.0)
        k.store(out, grid.i, loop.out[0], 0)
    memory = {"x": np.array([-9.0, 0.0, -1.0, -2.0]), "out": np.zeros(4)}
    assert run(k.finish(), memory, (0, 4))["out"].tolist() == [-4, 1, 4, 3]


@pytest.mark.parametrize("name", sorted(LIBM))
def test_functions_of_the_c_library(name):
    k = Builder()
    x, y, out = (k.buffer(n, "f64", written=n == "out") for n in ("x", "y", "out"))
    with k.grid(40) as grid:
        operands = [k.load(x, grid.i, 0), k.load(y, grid.i, 0)][: LIBM[name]]
        k.store(out, grid.i, k.libm(name, *operands), 0)
        k.leave_if(k.eq(k.load(x, grid.i, 0), math.inf))
    rng = np.random.default_rng(0)
    ends = [0.0, -0.0, 1.0, 2.0, math.inf, -math.inf, math.nan, 1e300]
    first = np.concatenate([rng.standard_normal(32), ends])
    second = np.concatenate([np.full(16, 2.0), rng.standard_normal(24)])
    run(k.finish(), {"x": first, "y": second, "out": np.zeros(40)}, (0, 40))


def watched(kernel, *arrays):
    backend = current_session().backend
    words, _ = words_of(arrays)
    return WATCHED(backend.watched_call())(backend.compile(kernel).address, words)


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ((1.0, 2.0), 0),
        ((1.0, 0.0), 2),
        ((0.0, 0.0), 1),
        ((1e300, 1e-300), 4),
        ((math.nan, 0.0), 0),
        ((math.inf, 0.0), 0),
    ],
)
def test_the_flags_tell_of_results_that_nobody_needs(values, seen):
    k = Builder()
    x = k.buffer("x", "f64")
    with k.grid(1):
        k.keep(k.load(x, 0, 0) / k.load(x, 1, 0))
        k.leave_if(k.eq(k.load(x, 0, 0), 7.0))
    kernel = k.finish()
    for _ in range(2):
        assert watched(kernel, np.array(values)) == seen


def test_who_is_asked_may_do_what_he_likes_with_the_flags():
    asked = []

    def answer():
        with np.errstate(all="ignore"):
            asked.append(np.float64(1e300) * np.float64(1e300))
        return len(asked) > 1

    k = Builder()
    x, who = k.buffer("x", "f64", written=True), k.buffer("who", "i64")
    with k.grid(1):
        address = k.load(who, 0, 0)
        k.store(x, 1, k.load(x, 0, 0) / 0.0, 0)
        k.leave_if(k.ask(address))
        k.store(x, 2, 1.0, 0)
        k.leave_if(k.ask(address))
        k.store(x, 3, 1.0, 0)
    callback = ctypes.CFUNCTYPE(ctypes.c_int64)(answer)
    array = np.array([3.0, 0.0, 0.0, 0.0])
    who = np.array([ctypes.cast(callback, ctypes.c_void_p).value])
    assert watched(k.finish(), array, who) & 2
    assert array.tolist() == [3, math.inf, 1, 0]


def refused(build):
    k = Builder()
    x = k.buffer("x", "f64", written=True)
    build(k, x)
    with pytest.raises(KernelError) as error:
        verify_kernel(k.finish())
    return str(error.value)


def test_lanes_cannot_be_left():
    def build(k, x):
        with k.grid(1), k.lanes(0, 4) as lanes:
            k.leave_if(k.load(x, 0, 0) > 0.0)
            k.store(x, lanes.i, 0.0)

    assert "outside of lanes" in refused(build)


def test_a_while_says_whether_it_goes_on():
    def build(k, x):
        with k.grid(1):
            block = k.while_([k.load(x, 0, 0)])
            block.__enter__()
            k.leave(block, (block.carry[0],))

    assert "while" in refused(build)
