"""Oracle: every element of a range is visited exactly once by each run, counted in an array."""

import ctypes
import itertools
import os
import platform
import signal
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.pool import ThreadPool
from runmat_jit.backends.llvm.pool_layout import POOL_FIELDS
from runmat_jit.backends.llvm.pool_text import pool_text
from runmat_jit.backends.llvm.target import CROSS_TARGETS

# Where nothing may be raised, Python can but tell of an interrupt or of too deep a recursion.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

THREADS = Path("/proc/self/task")

# Runs a kernel many times with no Python in between: as many launches a second as can be.
HAMMER = """
define void @hammer(ptr %parallel_for, ptr %pool, ptr %kernel, ptr %args, i64 %total, i64 %grain,
                    i64 %times) {
entry:
  br label %each
each:
  %i = phi i64 [0, %entry], [%next, %launched]
  br label %launch
launch:
  %begin = phi i64 [0, %each], [%end, %launch]
  %end = call i64 %parallel_for(ptr %pool, ptr %kernel, ptr %args, i64 %begin, i64 %total,
                                i64 %grain)
  %unfinished = icmp slt i64 %end, %total
  br i1 %unfinished, label %launch, label %launched
launched:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %times
  br i1 %more, label %each, label %out
out:
  ret void
}
"""
# As many chunks as threads, none of which ends before all have begun (or after some seconds).
MEET = """
define void @meet(ptr %args, i64 %lo, i64 %hi) {  ; counts[0] begun, counts[1] wanted, then marks
entry:
  %begun = load ptr, ptr %args
  %p_wanted = getelementptr i64, ptr %begun, i64 1
  %marks = getelementptr i64, ptr %begun, i64 2
  %mark = getelementptr i64, ptr %marks, i64 %lo
  %wanted = load i64, ptr %p_wanted
  %before = atomicrmw add ptr %begun, i64 1 seq_cst
  br label %look
look:
  %i = phi i64 [0, %entry], [%next, %look]
  %now = load atomic i64, ptr %begun seq_cst, align 8
  %missing = icmp slt i64 %now, %wanted
  %next = add i64 %i, 1
  %is_patient = icmp slt i64 %i, 10000000000
  %again = and i1 %missing, %is_patient
  br i1 %again, label %look, label %out
out:
  %met = xor i1 %missing, true
  %number = zext i1 %met to i64
  store i64 %number, ptr %mark
  ret void
}
"""
MXCSR = """
declare void @llvm.x86.sse.stmxcsr(ptr)
define void @mxcsr(ptr %args, i64 %lo, i64 %hi) {
  %words = load ptr, ptr %args
  %p = getelementptr i64, ptr %words, i64 %lo
  call void @llvm.x86.sse.stmxcsr(ptr %p)
  ret void
}
"""


def parallel_for_of(pool: ThreadPool) -> int:
    pool.start()
    return ctypes.c_int64.from_address(pool.address + POOL_FIELDS["parallel_for"]).value


class Counts:
    """An int64 array and the argument block that holds its address."""

    def __init__(self, total: int) -> None:
        self.array = np.zeros(total, np.int64)
        self.block = np.array([self.array.ctypes.data], np.int64)
        self.args = self.block.ctypes.data

    def all_equal(self, times: int) -> bool:
        return bool((self.array == times).all())


@pytest.fixture(scope="module")
def hammer(jit):
    address = jit.load(jit.compile_object(HAMMER), ["hammer"])["hammer"]
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 3)(address)


@pytest.fixture(scope="module")
def pool(jit):
    pool = ThreadPool(jit, 4)
    yield pool
    pool.close()


@settings(max_examples=60, deadline=None)
@given(total=st.integers(0, 5000), grain=st.integers(1, 700))
def test_every_element_is_visited_once(pool, kernels, total, grain):
    counts = Counts(total)
    pool.run(kernels["count"], counts.args, total, grain)
    assert counts.all_equal(1)


@settings(max_examples=30, deadline=None)
@given(total=st.integers(1, 5000), grain=st.integers(1, 700), slice_ms=st.sampled_from([0, 40]))
def test_chunks_begin_at_multiples_of_the_grain(jit, kernels, total, grain, slice_ms):
    pool = ThreadPool(jit, 2, slice_ms=slice_ms)
    ends = Counts(total)
    pool.run(kernels["bounds"], ends.args, total, grain)
    expected = np.zeros(total, np.int64)
    expected[::grain] = np.minimum(np.arange(0, total, grain) + grain, total)
    assert np.array_equal(ends.array, expected)
    pool.close()


@pytest.mark.parametrize("slice_ms", [0, 40], ids=["stops at once", "does not stop"])
@pytest.mark.parametrize("threads_and_spin", list(itertools.product([2, 4, 8], [0, 50, 4000])))
def test_no_launch_of_many_is_lost_or_done_twice(jit, kernels, hammer, threads_and_spin, slice_ms):
    pool = ThreadPool(jit, *threads_and_spin, slice_ms)
    launch = (parallel_for_of(pool), pool.address, kernels["count"])
    for total, times in ((2, 10_000), (3, 10_000), (17, 2000)):
        counts = Counts(total)
        hammer(*launch, counts.args, total, 1, times)
        assert counts.all_equal(times)
    pool.close()


@pytest.mark.parametrize("spin", [0, 4000])
@pytest.mark.parametrize("threads", [2, 5, 12])
def test_every_worker_is_woken_for_enough_chunks(jit, threads, spin):
    meet = jit.load(jit.compile_object(MEET), ["meet"])["meet"]
    pool = ThreadPool(jit, threads, spin)
    for _ in range(20):
        counts = Counts(2 + threads)
        counts.array[1] = threads
        pool.run(meet, counts.args, threads, 1)
        assert counts.array[2:].all()
    pool.close()


def test_two_python_threads_may_run_at_once(pool, kernels):
    every = [Counts(1000) for _ in range(3)]

    def work(counts: Counts) -> None:
        for _ in range(300):
            pool.run(kernels["count"], counts.args, 1000, 64)

    threads = [threading.Thread(target=work, args=(counts,)) for counts in every]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(counts.all_equal(300) for counts in every)


def test_a_kernel_may_run_another_on_the_same_pool(jit, pool, kernels):
    nested = """
define void @nested(ptr %args, i64 %lo, i64 %hi) {  ; args: counts, parallel_for, pool, count
  %counts = load ptr, ptr %args
  %mine = getelementptr i64, ptr %counts, i64 %lo
  %inner = alloca ptr
  store ptr %mine, ptr %inner
  %p1 = getelementptr i64, ptr %args, i64 1
  %p2 = getelementptr i64, ptr %args, i64 2
  %p3 = getelementptr i64, ptr %args, i64 3
  %parallel_for = load ptr, ptr %p1
  %pool = load ptr, ptr %p2
  %count = load ptr, ptr %p3
  %size = sub i64 %hi, %lo
  %end = call i64 %parallel_for(ptr %pool, ptr %count, ptr %inner, i64 0, i64 %size, i64 8)
  ret void
}
"""
    kernel = jit.load(jit.compile_object(nested), ["nested"])["nested"]
    counts = Counts(1000)
    inner = [parallel_for_of(pool), pool.address, kernels["count"]]
    block = np.array([counts.args, *inner], np.int64)
    block[0] = counts.array.ctypes.data
    pool.run(kernel, block.ctypes.data, 1000, 100)
    assert counts.all_equal(1)


def test_a_pool_of_one_thread_has_no_workers(jit, kernels):
    pool = ThreadPool(jit, 1)
    counts = Counts(1000)
    pool.run(kernels["count"], counts.args, 1000, 64)
    assert counts.all_equal(1)
    assert pool.workers == 0


def test_workers_come_with_the_first_run_and_leave_with_close(jit, kernels):
    pool = ThreadPool(jit, 3)
    assert pool.workers == 0
    counts = Counts(1000)
    pool.run(kernels["count"], counts.args, 1000, 64)
    assert pool.workers == 2
    pool.close()
    pool.run(kernels["count"], counts.args, 1000, 64)
    assert counts.all_equal(2)


def test_a_pool_closed_before_its_first_run_works_alone(jit, kernels):
    pool = ThreadPool(jit, 3)
    pool.close()
    counts = Counts(1000)
    pool.run(kernels["count"], counts.args, 1000, 64)
    assert counts.all_equal(1)
    assert pool.workers == 0


def test_nothing_is_compiled_before_the_first_run(kernels):
    jit = Jit()
    pool = ThreadPool(jit, 3)
    assert jit.statistics.compiled == 0
    pool.run(kernels["empty"], 0, 1000, 64)
    pool.run(kernels["empty"], 0, 1000, 64)
    assert jit.statistics.compiled == 1
    pool.close()


@pytest.mark.skipif(not THREADS.is_dir(), reason="counts threads through /proc")
@pytest.mark.parametrize("spin", [0, 1_000_000_000], ids=["parked", "spinning"])
def test_closed_pools_leave_no_thread_behind(jit, kernels, spin):
    # by their numbers: threads that other tests left may end, or begin, at any time
    before = _threads()
    pool = ThreadPool(jit, 4, spin)
    pool.run(kernels["count"], Counts(100).args, 100, 10)
    begun = _threads() - before
    workers = pool.workers
    assert len(begun) >= workers == 3
    del pool  # closes it
    for _ in range(1000):
        if len(begun & _threads()) <= len(begun) - workers:
            return
        time.sleep(0.01)
    pytest.fail("workers of a closed pool still exist")


def _threads() -> set[str]:
    return {entry.name for entry in THREADS.iterdir()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("forget", [False, True], ids=["dead workers", "new workers"])
def test_a_forked_child_computes(jit, kernels, forget):
    pool = ThreadPool(jit, 3)
    counts = Counts(1000)
    pool.run(kernels["count"], counts.args, 1000, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads is the point
        child = os.fork()
    if child == 0:
        if forget:
            pool.forget_workers()
            before = pool.workers
        for _ in range(100):
            pool.run(kernels["count"], counts.args, 1000, 10)
        fine = counts.all_equal(101) and (not forget or (before, pool.workers) == (0, 2))
        os._exit(7 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert counts.all_equal(1)
    pool.close()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_run_sees_signals_after_whole_chunks(jit, kernels, threads):
    class InterruptedRunError(Exception):
        pass

    raised = []

    def interrupt(number, frame):
        if counts.array[0] and not raised:  # the run has begun, else the next signal will do; once
            raised.append(number)
            raise InterruptedRunError

    pool = ThreadPool(jit, threads)
    counts = Counts(20_000_000)
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        with pytest.raises(InterruptedRunError):
            pool.run(kernels["slow"], counts.args, counts.array.size, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    finished = int(counts.array.sum())
    assert finished < counts.array.size
    assert counts.array[:finished].all()
    pool.close()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="x86's control word")
def test_workers_keep_the_floating_point_control_word_of_the_caller(jit):
    pool = ThreadPool(jit, 4)
    kernel = jit.load(jit.compile_object(MXCSR), ["mxcsr"])["mxcsr"]
    control = 0xFFC0  # without the flags of past exceptions
    seen = Counts(4096)
    pool.run(kernel, seen.args, 1, 1)
    own = seen.array[0] & control
    pool.run(kernel, seen.args, seen.array.size, 1)
    assert own == 0x1F80
    assert set(seen.array & control) == {own}
    pool.close()


def test_more_chunks_than_a_ticket_can_count_are_still_all_done(jit):
    # Chunks of one element over 2**40: the first call may not claim more than a ticket can hold.
    pool = ThreadPool(jit, 2, slice_ms=0)
    text = "define void @nothing(ptr %args, i64 %lo, i64 %hi) {\n  ret void\n}"
    kernel = jit.load(jit.compile_object(text), ["nothing"])["nothing"]
    parallel_for = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 3)(
        parallel_for_of(pool)
    )
    total = 1 << 40
    position = parallel_for(pool.address, kernel, None, 0, total, 1)
    assert 0 < position <= 1 << 31
    assert parallel_for(pool.address, kernel, None, total - 3, total, 1) <= total
    pool.close()


def test_a_pool_without_a_thread_is_refused(jit):
    with pytest.raises(ValueError, match="at least 1 thread"):
        ThreadPool(jit, 0)


@pytest.mark.parametrize("target", CROSS_TARGETS, ids=lambda t: f"{t.triple} {t.cpu}")
def test_the_pool_is_generated_for_every_platform(jit, target):
    assert jit.compile_object(pool_text(target), target)
