"""Oracle: NumPy's own arrays, whose behavior recycled ones must share, and addresses of blocks."""

import gc
import os
import pickle
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.llvm.allocator import ResultAllocator, machine_memory
from runmat_jit.backends.llvm.allocator_text import (
    LIST_FIELDS,
    MAX_BLOCKS,
    SMALLEST_RECYCLED,
    allocator_text,
)
from runmat_jit.backends.llvm.permanent_memory import word_at
from runmat_jit.backends.llvm.target import CROSS_TARGETS
from runmat_jit.core.types import c_strides

F8 = np.dtype(np.float64)
MIB = 1 << 20
LARGE = (MIB // 4,)  # 2 MiB of float64


def handler_name(array):
    return np._core.multiarray.get_handler_name(array)


@pytest.fixture
def allocator(jit):
    allocator = ResultAllocator(jit, 64 * MIB)
    yield allocator
    allocator.release()


def test_a_large_array_owns_aligned_memory_of_this_allocator(allocator):
    array = allocator.empty((300, 1000), F8)
    assert (array.shape, array.dtype, array.base) == ((300, 1000), F8, None)
    assert array.flags.owndata
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.ctypes.data % 64 == 0
    assert handler_name(array) == "runmat_jit"


@pytest.mark.parametrize("shape", [(), (0,), (1000, 0, 1000), (7,), (SMALLEST_RECYCLED // 8 - 1,)])
def test_a_small_array_is_numpys_own(allocator, shape):
    array = allocator.empty(shape, F8)
    assert (array.shape, array.dtype) == (shape, F8)
    assert handler_name(array) != "runmat_jit"


def test_arrays_of_others_are_not_touched(allocator):
    before = handler_name(np.empty(LARGE))
    mine = allocator.empty(LARGE, F8)
    assert handler_name(np.empty(LARGE)) == before != handler_name(mine)
    with pytest.raises((MemoryError, ValueError)):
        allocator.empty((1 << 50,), F8)
    assert handler_name(np.empty(LARGE)) == before


def test_memory_that_no_address_space_has_is_a_memory_error(allocator):
    with pytest.raises(MemoryError):
        allocator.empty(((1 << 63) // 8 - 1,), F8)


def test_a_block_is_used_again_by_the_next_array_of_about_its_size(allocator):
    array = allocator.empty(LARGE, F8)
    address = array.ctypes.data
    other = allocator.empty(LARGE, F8)
    del array
    again = allocator.empty((LARGE[0] + 100,), F8)
    assert again.ctypes.data == address != other.ctypes.data
    statistics = allocator.statistics
    assert (statistics.hits, statistics.misses, statistics.bytes_held) == (1, 2, 0)


def test_the_latest_block_is_taken_first(allocator):
    first, second = (allocator.empty(LARGE, F8) for _ in range(2))
    address = second.ctypes.data
    del first
    del second
    assert allocator.empty(LARGE, F8).ctypes.data == address


def test_a_block_is_never_smaller_than_its_array(allocator):
    # Random sizes through few classes: each array is filled completely, neighbours stay intact.
    rng = np.random.default_rng(1)
    living = []
    for step in range(200):
        array = allocator.empty((int(rng.integers(MIB // 8, MIB)),), np.dtype(np.int64))
        array.fill(step)
        living.append((step, array))
        if len(living) > 6:
            del living[int(rng.integers(len(living)))]
        assert all((values == number).all() for number, values in living[-2:])
    assert all((values == number).all() for number, values in living)
    assert allocator.statistics.hits > 20


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_more_is_held_than_the_limit(jit, data):
    limit = data.draw(st.sampled_from([0, 3 * MIB, 10 * MIB]))
    allocator = ResultAllocator(jit, limit)
    living = []
    for _ in range(data.draw(st.integers(1, 12))):
        if living and data.draw(st.booleans()):
            living.pop(data.draw(st.integers(0, len(living) - 1)))
        else:
            living.append(allocator.empty((data.draw(st.integers(1, 5)) * MIB // 8,), F8))
        assert 0 <= allocator.statistics.bytes_held <= limit


def test_a_full_list_gives_up_its_oldest_block(jit):
    allocator = ResultAllocator(jit, 1 << 40)
    arrays = [allocator.empty((MIB // 8,), F8) for _ in range(MAX_BLOCKS + 1)]
    each = 0
    while arrays:
        arrays.pop()
        each = each or allocator.statistics.bytes_held
    assert allocator.statistics.bytes_held == MAX_BLOCKS * each
    allocator.release()


def test_release_gives_everything_back(allocator):
    arrays = [allocator.empty(LARGE, F8) for _ in range(3)]
    living = allocator.empty(LARGE, F8)
    living.fill(7)
    arrays.clear()
    assert allocator.statistics.bytes_held >= 3 * 8 * LARGE[0]
    allocator.release()
    assert allocator.statistics.bytes_held == 0
    misses = allocator.statistics.misses
    allocator.empty(LARGE, F8)
    assert allocator.statistics.misses == misses + 1
    assert (living == 7).all()


def test_release_before_the_first_array_does_nothing(jit):
    compiled = jit.statistics.compiled
    ResultAllocator(jit).release()
    assert jit.statistics.compiled == compiled


def test_an_array_may_outlive_the_allocator(jit):
    allocator = ResultAllocator(jit, 64 * MIB)
    held = allocator._list + LIST_FIELDS["bytes_held"]
    array, freed = (allocator.empty(LARGE, F8) for _ in range(2))
    del freed
    assert word_at(held).value > 0
    del allocator
    gc.collect()
    assert word_at(held).value == 0
    array.fill(3)
    array.resize((2 * LARGE[0],))
    assert array.sum() == 3 * LARGE[0]
    del array
    assert word_at(held).value == 0


@pytest.mark.parametrize("n", [10, LARGE[0] - 1, LARGE[0] + 1, 5 * LARGE[0]])
def test_resize_keeps_elements_and_clears_new_ones(allocator, n):
    dirty = allocator.empty((5 * LARGE[0],), F8)
    dirty.fill(9)
    del dirty
    array = allocator.empty(LARGE, F8)
    array[:] = np.arange(LARGE[0])
    array.resize((n,))
    expected = np.arange(LARGE[0], dtype=F8)
    expected.resize((n,))
    assert np.array_equal(array, expected)
    assert array.flags.owndata


def test_new_contents_by_unpickling_replace_the_block(allocator):
    array = allocator.empty(LARGE, F8)
    array.__setstate__(np.arange(5.0).__reduce__()[2])
    assert np.array_equal(array, np.arange(5.0))
    assert np.array_equal(pickle.loads(pickle.dumps(allocator.empty(LARGE, F8)[:0])), [])


def test_zeros_in_a_used_block_are_zeros(allocator):
    dirty = allocator.empty(LARGE, F8)
    address = dirty.ctypes.data
    dirty.fill(9)
    del dirty
    previous = allocator._set_handler(allocator._handler)
    try:
        zeros = np.zeros(LARGE)
    finally:
        allocator._set_handler(previous)
    assert zeros.ctypes.data == address
    assert not zeros.any()


@pytest.mark.parametrize("shape", [(3, 4, 5), (30, 40, 500)], ids=["small", "large"])
def test_an_array_may_have_another_order_of_axes(allocator, shape):
    strides = tuple(8 * step for step in c_strides(shape, (1, 2, 0)))
    array = allocator.empty(shape, F8, strides)
    assert (array.shape, array.strides) == (shape, strides)
    assert array.flags.owndata
    array[:] = np.arange(array.size).reshape(shape)
    assert np.array_equal(array, np.arange(array.size).reshape(shape))
    assert array.transpose(1, 2, 0).flags.c_contiguous


def test_strides_beyond_the_array_are_refused(allocator):
    with pytest.raises(ValueError, match="strides"):
        allocator.empty(LARGE, F8, (16,))


def test_threads_get_blocks_of_their_own(allocator):
    failures = []

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        for _ in range(60):
            array = allocator.empty((MIB // 8 * int(rng.integers(1, 4)),), np.dtype(np.int64))
            array.fill(number)
            if not (array == number).all():
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_list_of_its_own(allocator):
    block = allocator.empty(LARGE, F8)
    del block
    held = allocator.statistics.bytes_held
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads is the point
        child = os.fork()
    if child == 0:
        array = allocator.empty(LARGE, F8)
        array.fill(1)
        fine = array.sum() == LARGE[0] and allocator.statistics.bytes_held == 0
        os._exit(7 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert allocator.statistics.bytes_held == held


def test_the_limit_follows_from_the_machines_memory(jit):
    limit = word_at(ResultAllocator(jit)._list + LIST_FIELDS["limit"]).value
    assert limit == min(4 << 30, machine_memory() // 8)
    assert limit > 0


@pytest.mark.parametrize("target", CROSS_TARGETS, ids=lambda t: f"{t.triple} {t.cpu}")
def test_the_allocator_is_generated_for_every_platform(jit, target):
    code = jit.compile_object(allocator_text(target), target)
    system_function = b"_aligned_malloc" if target.system == "windows" else b"aligned_alloc"
    assert system_function in code
