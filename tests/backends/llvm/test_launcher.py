"""Oracle: NumPy's own result for the same arrays; signals and threads seen from Python."""

import gc
import signal
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.llvm import launcher as module
from runmat_jit.backends.llvm.launcher import Launcher
from runmat_jit.backends.llvm.launcher_text import launcher_text
from runmat_jit.backends.llvm.object_layout import object_layout
from runmat_jit.backends.llvm.pool import ThreadPool
from runmat_jit.backends.llvm.target import CROSS_TARGETS

# Where nothing may be raised, Python can but tell of an interrupt or of too deep a recursion.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def pool(jit):
    pool = ThreadPool(jit, 3)
    yield pool
    pool.close()


@pytest.fixture(scope="module", params=["native", "portable"])
def launcher(request, jit, pool):
    if request.param == "native":
        return Launcher(jit, pool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "object_layout", lambda: None)
        return Launcher(jit, pool)


@pytest.fixture(scope="module")
def run(jit, pool):
    return Launcher(jit, pool).run


@pytest.fixture
def block():
    return np.zeros(8, np.int64)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 3000), grain=st.integers(1, 500), parallel=st.booleans())
def test_a_kernel_sees_the_arrays_data(launcher, kernels, n, grain, parallel):
    x, y = np.arange(n) * 0.5, np.arange(n)[::-1] * 0.25
    out, block = np.empty(n), np.zeros(3, np.int64)
    launcher.run(kernels["add"], (out, x, y.copy()), block.ctypes.data, n, grain, parallel)
    assert np.array_equal(out, x + y)


def test_only_the_first_slots_of_the_block_are_written(launcher, kernels):
    block = np.arange(10)
    arrays = (np.zeros(4), np.zeros(5))
    launcher.run(kernels["empty"], arrays, block.ctypes.data, 4, 64, False)
    assert list(block) == [*(array.ctypes.data for array in arrays), *range(2, 10)]


def test_a_view_is_passed_by_where_it_begins(launcher, kernels, block):
    base = np.zeros(100)
    launcher.run(kernels["empty"], (base[40:],), block.ctypes.data, 1, 1, True)
    assert block[0] == base.ctypes.data + 8 * 40


def test_offsets_are_added_to_the_pointers(launcher, kernels, block):
    base, offsets = np.zeros(100), np.array([24, -8])
    arrays = (base, base[50:])
    address = offsets.ctypes.data
    launcher.run(kernels["empty"], arrays, block.ctypes.data, 1, 1, False, address)
    assert list(block[:2]) == [base.ctypes.data + 24, base.ctypes.data + 8 * 49]


def test_more_arrays_than_the_launcher_takes_are_refused(launcher, kernels):
    block = np.zeros(300, np.int64)
    with pytest.raises(TypeError):
        launcher.run(kernels["empty"], (block,) * 257, block.ctypes.data, 1, 1, False)


@pytest.mark.parametrize("parallel", [False, True])
def test_a_kernel_may_have_no_arrays_and_no_elements(launcher, kernels, block, parallel):
    assert launcher.run(kernels["empty"], (), block.ctypes.data, 0, 1, parallel) is None


def test_references_are_given_back(launcher, kernels, block):
    arrays = (np.zeros(3), np.zeros(3))
    watched = [*arrays, arrays]
    before = [sys.getrefcount(value) for value in watched]
    for parallel in (False, True) * 50:
        launcher.run(kernels["empty"], arrays, block.ctypes.data, 100, 10, parallel)
    assert [sys.getrefcount(value) for value in watched] == before


class Subclass(np.ndarray):
    pass


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"arrays": [np.zeros(3)]}, TypeError),
        ({"arrays": (np.zeros(3), 3.0)}, TypeError),
        ({"arrays": (np.zeros(3).view(Subclass),)}, TypeError),
        ({"arrays": None}, TypeError),
        ({"total": -1}, TypeError),
        ({"total": 1.5}, TypeError),
        ({"grain": 0}, TypeError),
        ({"block": -8}, TypeError),
        ({"kernel": 1 << 70}, OverflowError),
        ({"parallel": "yes"}, TypeError),
    ],
    ids=str,
)
def test_wrong_arguments_raise_and_run_nothing(run, kernels, changes, error):
    counts, block = np.zeros(3, np.int64), np.zeros(8, np.int64)
    arguments = {
        "kernel": kernels["count"],
        "arrays": (counts,),
        "block": block.ctypes.data,
        "total": 3,
        "grain": 64,
        "parallel": False,
    }
    with pytest.raises(error):
        run(*(arguments | changes).values())
    assert not counts.any()


@pytest.mark.parametrize("count", [0, 5, 7])
def test_another_number_of_arguments_is_a_type_error(run, count):
    with pytest.raises(TypeError):
        run(*[1] * count)


def test_the_function_outlives_its_launcher(jit, kernels, block):
    run = Launcher(jit, ThreadPool(jit, 2)).run
    gc.collect()
    counts = np.zeros(1000, np.int64)
    for _ in range(10):
        run(kernels["count"], (counts,), block.ctypes.data, 1000, 10, True)
    assert (counts == 10).all()


def test_other_threads_run_during_a_long_call(jit, launcher, kernels, block):
    # The kernel ends when another Python thread writes to its array: it needs the GIL to do so.
    text = """
define void @wait(ptr %args, i64 %lo, i64 %hi) {
entry:
  %p = load ptr, ptr %args
  br label %look
look:
  %flag = load atomic i64, ptr %p acquire, align 8
  %is_set = icmp ne i64 %flag, 0
  br i1 %is_set, label %out, label %look
out:
  ret void
}
"""
    wait = jit.load(jit.compile_object(text), ["wait"])["wait"]
    flag = np.zeros(1, np.int64)
    setter = threading.Timer(0.05, lambda: flag.fill(1))
    setter.start()
    launcher.run(wait, (flag,), block.ctypes.data, 2, 1, True)
    setter.join()
    assert flag[0] == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
def test_a_long_call_can_be_interrupted(launcher, kernels, block):
    counts, raised = np.zeros(20_000_000, np.int64), []

    def interrupt(number, frame):
        if counts[0] and not raised:  # the run has begun, else the next signal will do; once
            raised.append(number)
            raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        with pytest.raises(KeyboardInterrupt):
            launcher.run(kernels["slow"], (counts,), block.ctypes.data, counts.size, 1, True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    finished = int(counts.sum())
    assert finished < counts.size
    assert counts[:finished].all()


def test_a_run_in_many_slices_visits_every_element_once(jit, kernels, block):
    pool = ThreadPool(jit, 2, slice_ms=0)
    counts = np.zeros(300, np.int64)
    for times in range(1, 20):
        Launcher(jit, pool).run(
            kernels["count"], (counts,), block.ctypes.data, counts.size, 7, True
        )
        assert (counts == times).all()
    pool.close()


def test_an_exception_while_starting_the_pool_reaches_the_caller(jit, kernels, block):
    pool = ThreadPool(jit, 2)

    def fail():
        raise MemoryError("no threads")

    pool.start = fail
    with pytest.raises(MemoryError, match="no threads"):
        Launcher(jit, pool).run(kernels["empty"], (), block.ctypes.data, 100, 1, True)


@pytest.mark.parametrize("target", CROSS_TARGETS, ids=lambda t: f"{t.triple} {t.cpu}")
def test_the_launcher_is_generated_for_every_platform(jit, target):
    assert jit.compile_object(launcher_text(object_layout()), target)
