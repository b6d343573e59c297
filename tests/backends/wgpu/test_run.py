"""Oracle: NumPy, on kernels simple enough to be read."""

import threading

import numpy as np
import pytest

from runmat_jit.backends.wgpu.adapter import Device
from runmat_jit.backends.wgpu.backend import WgpuBackend
from runmat_jit.backends.wgpu.memory import DeviceArray
from runmat_jit.backends.wgpu.run import KernelRun, WgpuRunner
from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.backends.wgpu.stopwatch import stopwatch_of
from runmat_jit.core.errors import BackendError
from runmat_jit.kernel.build import Builder
from tests.backends.wgpu.shaders import EMULATED, check, device, runner

pytestmark = pytest.mark.usefixtures("adapter")
F32 = np.dtype(np.float32)


def doubled(*, gathered=False):
    """``out[i] = 2 * x[i]``, noting what is not finite."""
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        place = b.convert("trunc", lanes.i, "i32") + b.lane_id()
        value = (b.gather(x, place) if gathered else b.load(x, lanes.i)) * 2.0
        b.note(value)
        b.store(out, lanes.i, value)
    return b.finish()


def row_sums():
    """Sums of rows of ``n`` elements that lie ``step`` apart."""
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    rows, n, step = (b.scalar(name, "index") for name in ("rows", "n", "step"))
    with b.grid(rows) as cell:
        with b.total(0, n, [("add", "f32")]) as total:
            total.yield_(b.load(x, cell.i * step + total.i))
        b.store(out, cell.i, total.out[0], stride=0)
    return b.finish()


def test_later_runs_of_a_batch_see_what_earlier_ones_stored():
    memory = runner().backend.memory
    first = memory.upload(np.arange(500, dtype=np.float32))
    second, third = (memory.empty(500, first.dtype) for _ in range(2))
    kernel = doubled()
    arrays = [(first, second), (second, third), (third, first)] * 2
    runs = [KernelRun(kernel, {"x": x, "out": y, "n": 500}, (0, 500)) for x, y in arrays]
    assert not runner().run(runs)
    assert np.array_equal(memory.download(first), np.arange(500, dtype=np.float32) * 64)


def test_a_batch_may_be_submitted_again_and_forgets_its_events():
    memory = runner().backend.memory
    x = np.ones(10, np.float32)
    source, target = memory.upload(x), memory.empty(10, x.dtype)
    run = KernelRun(doubled(), {"x": source, "out": target, "n": 10}, (0, 10))
    batch = runner().prepare([run])
    for value, event in ((1.0, False), (np.inf, True), (3.0, False)):
        memory.write(source, np.full(10, value, np.float32))
        runner().submit(batch)
        assert runner().happened(batch) == event
        assert memory.download(target)[3] == 2 * value


def test_a_stopwatch_times_what_it_is_given_to_and_nothing_else():
    device, memory = runner().device, runner().backend.memory
    source, target = memory.upload(np.ones(1 << 20, np.float32)), memory.empty(1 << 20, F32)
    run = KernelRun(doubled(), {"x": source, "out": target, "n": 1 << 20}, (0, 1 << 20))
    batch, watch, unused = runner().prepare([run]), stopwatch_of(device), stopwatch_of(device)
    if watch is None:
        pytest.skip("the adapter has no clock")
    runner().submit(batch)
    runner().submit(batch, watch)
    runner().submit(batch)
    assert 0 < watch.us == watch.us < 60e6
    assert unused.us is None
    assert set(memory.download(target)) == {2.0}


def test_an_array_may_be_read_and_written_by_one_kernel():
    memory = runner().backend.memory
    both = memory.upload(np.arange(333, dtype=np.float32))
    runner().run([KernelRun(doubled(), {"x": both, "out": both, "n": 333}, (0, 333))])
    assert np.array_equal(memory.download(both), 2 * np.arange(333))


def test_parts_of_one_array_may_be_read_and_written_by_one_kernel():
    memory = runner().backend.memory
    whole = memory.upload(np.arange(200, dtype=np.float32))
    upper = DeviceArray(whole.buffer, whole.dtype, whole.size, 100)
    runner().run([KernelRun(doubled(), {"x": whole, "out": upper, "n": 100}, (0, 100))])
    assert np.array_equal(memory.download(whole)[100:], 2 * np.arange(100))


def test_more_workgroups_than_one_dimension_holds():
    b = Builder()
    out, n = b.buffer("out", "i32", written=True), b.scalar("n", "index")
    with b.grid(n) as cell:
        b.store(out, cell.i, b.convert("trunc", cell.i, "i32"), stride=0)
    cells = 65_535 * 4 + 17
    memory = runner().backend.memory
    array = memory.empty(cells, np.dtype(np.int32))
    schedule = Schedule(4, 64, 16)
    run = KernelRun(b.finish(), {"out": array, "n": cells}, (0, cells), schedule)
    batch = runner().prepare([run])
    assert batch.dispatches[0].groups == (32_770, 2, 1)
    runner().submit(batch)
    assert np.array_equal(memory.download(array), np.arange(cells))


def test_more_workgroups_of_lanes_than_one_dimension_holds():
    x = np.arange(65_535 * 4 + 9, dtype=np.float32)
    memory = runner().backend.memory
    source, target = memory.upload(x), memory.empty(x.size, x.dtype)
    arguments = {"x": source, "out": target, "n": x.size}
    batch = runner().prepare([KernelRun(doubled(), arguments, (0, x.size), Schedule(4, 1, 1))])
    assert batch.dispatches[0].groups == (32_769, 2, 1)
    runner().submit(batch)
    assert np.array_equal(memory.download(target), 2 * x)


def test_other_numbers_in_the_same_memory_bind_nothing():
    b = Builder()
    out, n, value = (
        b.buffer("out", "f32", written=True),
        b.scalar("n", "index"),
        b.scalar("a", "f32"),
    )
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, value + 0.0)
    kernel, memory = b.finish(), runner().backend.memory
    target = memory.empty(100, np.dtype(np.float32))
    arguments = {"out": target, "n": 100, "a": 1.5}
    first = runner().prepare([KernelRun(kernel, arguments, (0, 100), given={"a": "its name"})])
    second = runner().renumber(first, {"its name": -2.0})
    assert second.dispatches is first.dispatches
    runner().submit(second)
    assert np.array_equal(memory.download(target), np.full(100, -2.0))


@pytest.fixture
def small_bindings(monkeypatch):
    """A device that binds 32 KiB at once."""
    monkeypatch.setattr(Device, "largest_binding", property(lambda _: 1 << 15))


@pytest.mark.usefixtures("small_bindings")
def test_arrays_larger_than_a_binding_are_bound_part_by_part():
    x = np.random.default_rng(0).standard_normal(50_001).astype(np.float32)
    memory = {"x": x, "out": np.zeros_like(x), "n": x.size}
    assert np.array_equal(check(doubled(), memory, (0, x.size))["out"], 2 * x)


@pytest.mark.usefixtures("small_bindings")
def test_rows_of_an_array_larger_than_a_binding_are_summed_part_by_part():
    x = np.random.default_rng(0).standard_normal(60 * 1003).astype(np.float32)
    memory = {"x": x, "out": np.zeros(60, np.float32), "rows": 60, "n": 1000, "step": 1003}
    check(row_sums(), memory, (0, 60))


@pytest.mark.usefixtures("small_bindings")
@pytest.mark.parametrize("n", [1, 3000, 4096, 5000, 50_000])
def test_an_array_that_is_needed_at_once_must_fit_a_binding(n):
    x = np.zeros(50_000, np.float32)
    with pytest.raises(BackendError, match="keep the arrays on the CPU"):
        check(doubled(gathered=True), {"x": x, "out": x.copy(), "n": x.size}, (0, n))


def test_extents_beyond_31_bits_are_refused():
    memory = runner().backend.memory
    x = memory.upload(np.zeros(4, np.float32))
    run = KernelRun(row_sums(), {"x": x, "out": x, "rows": 1, "n": 2**31, "step": 1}, (0, 1))
    with pytest.raises(BackendError, match="31 bits"):
        runner().prepare([run])


@pytest.mark.parametrize("op", ["sdiv", "srem"])
@pytest.mark.parametrize("begin", [0, 2, -9])
@pytest.mark.parametrize("period", [1, 2, 3, 4, 5, 7, 1000])
def test_numbers_of_lanes_are_divided(period, begin, op):
    b = Builder()
    out, n = b.buffer("out", "i32", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        number = b.convert("trunc", lanes.i + begin, "i32") + b.lane_id()
        divisor = b.convert("trunc", b.scalar("period", "index"), "i32")
        b.store(out, lanes.i, b.prim(op, number, divisor))
    kernel = b.finish()
    memory = {"out": np.zeros(45, np.int32), "n": 45, "period": period}
    check(kernel, memory, (0, 45))
    assert "%" not in runner().backend.source(kernel), "Vulkan leaves it undefined below zero"


def doubles_and_sums(running):
    """Run a batch of two kernels, one of them twice; check what it stores."""
    memory = running.backend.memory
    x, y, sums = (memory.upload(np.ones(60, np.float32)) for _ in range(3))
    double = KernelRun(doubled(), {"x": x, "out": y, "n": 60}, (0, 60))
    add = KernelRun(row_sums(), {"x": y, "out": sums, "rows": 3, "n": 20, "step": 20}, (0, 3))
    running.run([double, add, double])
    assert memory.download(sums)[:3].tolist() == [40, 40, 40]
    assert running.backend.compiles == 2


def test_shaders_are_compiled_where_no_thread_starts(monkeypatch):
    def fail(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    doubles_and_sums(WgpuRunner(WgpuBackend(device(), EMULATED)))


def test_shaders_of_a_batch_are_compiled_at_once(monkeypatch):
    running = WgpuRunner(WgpuBackend(device(), EMULATED))
    meeting, compile_one = threading.Barrier(2), WgpuBackend._compile

    def compile_beside_another(self, *args):
        meeting.wait(timeout=60)
        return compile_one(self, *args)

    monkeypatch.setattr(WgpuBackend, "_compile", compile_beside_another)
    doubles_and_sums(running)


def test_checked_shaders_give_the_same_results():
    x = np.random.default_rng(0).standard_normal(3000).astype(np.float32)
    memory = {"x": x, "out": np.zeros(3, np.float32), "rows": 3, "n": 999, "step": 1000}
    checked = runner(trusted=False)
    assert not checked.backend.trusted
    check(row_sums(), memory, (0, 3), using=checked)
