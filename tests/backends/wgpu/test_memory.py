"""Oracle: NumPy's own copies."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.backends.wgpu.adapter import adapters
from runmat_jit.backends.wgpu.memory import DeviceMemory, memory_of, padded
from runmat_jit.backends.wgpu.staging import ABANDONED, BUFFERS, PIECE, Staging
from runmat_jit.core.errors import BackendError
from runmat_jit.runtime.session import current_session
from tests.backends.wgpu.shaders import device, runner

FLOAT32 = np.dtype(np.float32)


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
@pytest.mark.parametrize("size", [0, 1, 3, 64, 1001])
def test_what_is_uploaded_comes_back(dtype, size):
    memory = runner().backend.memory
    x = np.random.default_rng(0).integers(0, 2, size).astype(dtype)
    array = memory.upload(x)
    assert (array.size, array.nbytes, array.origin) == (size, x.nbytes, 0)
    assert array.buffer.size == padded(x.nbytes)
    assert np.array_equal(memory.download(array), x)


@pytest.mark.usefixtures("adapter")
def test_freed_buffers_are_used_again():
    memory = DeviceMemory(device(), keep_nbytes=0)
    first, second = memory.empty(200, FLOAT32), memory.empty(200, FLOAT32)
    memory.free([first, second])
    assert (memory.used_nbytes, memory.kept_nbytes) == (0, 2048)
    assert memory.empty(193, FLOAT32).buffer in (first.buffer, second.buffer)
    assert (memory.used_nbytes, memory.kept_nbytes) == (1024, 1024)
    memory.clear()
    assert (memory.used_nbytes, memory.kept_nbytes) == (1024, 0)


@pytest.mark.usefixtures("adapter")
def test_no_more_is_kept_beside_what_is_used_than_was_ever_used_at_once():
    memory = DeviceMemory(device(), keep_nbytes=0)
    small = [memory.empty(64, FLOAT32) for _ in range(4)]
    memory.free(small)
    assert memory.kept_nbytes == 1024
    large = memory.empty(192, FLOAT32)  # of the four that were used at once, three must go
    assert (memory.used_nbytes, memory.kept_nbytes) == (768, 256)
    assert memory.empty(64, FLOAT32).buffer is small[3].buffer  # the first ones went
    memory.free([large])
    memory.clear()


@pytest.mark.usefixtures("adapter")
def test_what_many_allocations_have_passed_by_is_given_back():
    memory = DeviceMemory(device(), keep_nbytes=256)
    memory.free([memory.empty(1000, FLOAT32), memory.empty(64, FLOAT32)])
    assert memory.kept_nbytes == 4096 + 256
    for _ in range(300):
        memory.free([memory.empty(64, FLOAT32)])
    assert memory.kept_nbytes == 256
    memory.clear()


@pytest.mark.usefixtures("adapter")
def test_where_there_is_no_room_what_is_kept_makes_room(monkeypatch):
    memory = DeviceMemory(device(), keep_nbytes=1 << 20)
    memory.free([memory.empty(64, FLOAT32)])
    create, asked = memory._create, []

    def first_refused(nbytes):
        asked.append((nbytes, memory.kept_nbytes))
        if len(asked) == 1:
            raise BackendError("out of memory")
        return create(nbytes)

    monkeypatch.setattr(memory, "_create", first_refused)
    memory.free([memory.empty(1000, FLOAT32)])
    assert asked == [(4096, 256), (4096, 0)]
    memory.clear()


@pytest.mark.usefixtures("adapter")
def test_a_loop_over_results_of_one_size_allocates_once():
    memory = DeviceMemory(device(), keep_nbytes=0)
    memory.free([memory.empty(5000, FLOAT32), memory.empty(3000, FLOAT32)])  # of other work
    used = set()
    for _ in range(20):
        array = memory.empty(4000, FLOAT32)
        used.add(id(array.buffer))
        memory.discard(array)
    assert len(used) == 1
    memory.clear()


@pytest.mark.usefixtures("adapter")
def test_a_buffer_that_no_device_has_is_refused():
    with pytest.raises(BackendError, match="no buffers of"):
        runner().backend.memory.empty(2**50, np.dtype(np.float32))


def test_sizes_are_those_of_whole_vectors():
    assert [padded(n) for n in (0, 1, 256, 257)] == [256, 256, 256, 512]


@given(
    shape=st.lists(st.integers(0, 4), max_size=3),
    steps=st.lists(st.sampled_from((-2, -1, 1, 3)), min_size=3, max_size=3),
    flip=st.booleans(),
)
def test_the_memory_of_an_array_holds_every_element_at_its_stride(shape, steps, flip):
    base = np.arange(np.prod([20] * len(shape), dtype=int)).reshape([20] * len(shape))
    x = base[tuple(slice(None, None, step) for step in steps[: len(shape)])]
    x = x[tuple(slice(extent) for extent in shape)]
    x = x.T if flip else x
    flat, origin = memory_of(x)
    strides = [stride // x.itemsize for stride in x.strides]
    for index in np.ndindex(x.shape):
        assert flat[origin + sum(i * s for i, s in zip(index, strides, strict=True))] == x[index]


def test_adapters_are_listed_with_real_ones_first():
    found = [adapter.info.software for adapter in adapters()]
    assert found == sorted(found)


@pytest.mark.parametrize("started", [0, 1])
def test_copies_are_whole_where_no_further_thread_starts(gpu, monkeypatch, started):
    memory, start, begun = DeviceMemory(gpu.backend.device), threading.Thread.start, []
    if memory.transfers is None:
        pytest.skip("nothing is submitted natively here")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)

    def start_some(thread):
        begun.append(thread)
        if len(begun) > started:
            raise RuntimeError("can't start new thread")
        start(thread)

    x = np.random.default_rng(0).random(PIECE // 4, dtype=np.float32)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start_some)
        array = memory.upload(x)
        assert np.array_equal(memory.download(array), x)
    assert begun
    assert np.array_equal(memory.download(memory.upload(-x)), -x)
    assert np.array_equal(memory.download(array), x), "no copy of before comes late"
    memory.clear()


@pytest.mark.parametrize("kinds", [(True,), (False,), (True, False)])
def test_rings_leave_room_for_small_copies_in_pinned_memory(gpu, monkeypatch, kinds):
    """Oracle: wgpu's allocator, as a model. A buffer lies in the first block that has room."""
    memory, made, make = DeviceMemory(gpu.backend.device), [], Staging.__init__

    def record(self, opened, queue, nbytes, *, reads):
        make(self, opened, queue, nbytes, reads=reads)
        made.append((nbytes, reads))

    monkeypatch.setattr(Staging, "__init__", record)
    if memory.transfers is None:
        pytest.skip("nothing is submitted natively here")
    memory.download(memory.upload(np.zeros(BUFFERS * PIECE // 4, FLOAT32)))
    assert [nbytes for nbytes, _ in made].count(PIECE) == 2 * BUFFERS
    free = []
    for nbytes in [nbytes for nbytes, reads in made if reads in kinds]:
        if all(room < nbytes for room in free):
            free.append(1 << 26)
        free[next(number for number, room in enumerate(free) if room >= nbytes)] -= nbytes
    assert max(free) >= PIECE, "the next copy would make a block, and give it back"
    memory.clear()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("after", [0, 2])
def test_copies_that_do_not_end_leave_memory_for_the_next_ones(gpu, error, reads, after):
    """Their buffers, of which some are being mapped, are kept; oracle: the array."""
    memory, x = current_session().gpu.backend.memory, np.arange(PIECE + 5, dtype=np.float32)
    there, copied = memory.upload(x), []
    np.testing.assert_array_equal(memory.download(there), x)
    transfers = memory.transfers
    if transfers is None:
        pytest.skip("nothing is submitted natively here")
    copy, before = transfers._copy, len(ABANDONED)

    def fails(source, target):
        copied.append(None)
        if len(copied) > after:
            raise error
        copy(source, target)

    transfers._copy = fails
    with pytest.raises(error):
        memory.download(there) if reads else memory.write(there, x + 1)
    transfers._copy = copy
    assert len(ABANDONED) == before + 1
    memory.write(there, x + 2)
    for _ in range(2):
        np.testing.assert_array_equal(memory.download(there), x + 2)
