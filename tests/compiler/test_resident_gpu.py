"""Oracle: the same function with ndarrays on the same device; telemetry for transfers."""

import gc
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.backends.wgpu.memory import DeviceMemory
from runmat_jit.core.errors import BackendError
from runmat_jit.runtime.session import Session, current_session, use_session

pytestmark = pytest.mark.sampled(3)


@pytest.fixture
def own_gpu(gpu):
    """A device of a session of its own, which a test may break."""
    before = use_session(Session())
    yield current_session().gpu
    use_session(before)


def moved():
    """Bytes up and down since the last look."""
    found = runmat.telemetry.snapshot()
    runmat.telemetry.reset()
    return found["bytes_uploaded"], found["bytes_downloaded"]


def ramp(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def listed(results):
    return results if isinstance(results, tuple) else (results,)


def smooth(x):
    return np.tanh(x) * 0.5 + x


def split(x):
    return x - x.mean(axis=1, keepdims=True), (x > 0).sum(axis=0), x.copy()


def changed(x):
    x += 1
    x[1] *= 2
    return x


def blended(x, y):
    x[...] = y
    y -= x.max(axis=0)
    return x[0]


def stepped(x):
    x[1:-1, 1:-1] += 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] - 2 * x[1:-1, 1:-1])
    x[::2, 3] = x[::2, 4]
    x[0, 1:4] = 7
    return x[:, ::-1] * 1


def test_what_a_program_took_is_told_without_waiting_for_it(gpu):
    decorated = runmat.jit(smooth, device="gpu")
    a = runmat.asarray(ramp(64, 64), "gpu")
    for _ in range(8):
        decorated(a)
    (told,) = decorated.explain(a).to_dict()["placements"]
    assert told["measured_us"] is None, "a call is over before the device is"
    if "timestamp-query" in gpu.info.features:
        assert told["measured_kernels_us"] > 0


@pytest.mark.parametrize("fn", [smooth, split, changed, stepped])
def test_warm_calls_on_resident_arrays_move_no_bytes(gpu, fn):
    decorated = runmat.jit(fn, device="gpu")
    a, x = runmat.asarray(ramp(8, 16), "gpu"), ramp(8, 16)
    for _ in range(4):
        moved()
        decorated(a)
        decorated(x)
    moved()
    again = decorated(a)
    assert moved() == (0, 0)
    expected = decorated(x)
    for ours, theirs in zip(listed(again), listed(expected), strict=True):
        assert ours.device == "gpu"
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(a, x)


def test_a_chain_of_calls_moves_no_bytes_and_binds_nothing_anew(gpu):
    decorated = runmat.jit(smooth, device="gpu")
    a, x = runmat.asarray(ramp(64, 64), "gpu"), ramp(64, 64)
    for _ in range(6):
        a, x = decorated(a), decorated(x)
    moved()
    for _ in range(6):
        a = decorated(a)
    counts = runmat.telemetry.snapshot()
    assert (counts["gpu_bind_groups"], counts["gpu_pipelines"], counts["gpu_submits"]) == (0, 0, 6)
    assert moved() == (0, 0)
    for _ in range(6):
        x = decorated(x)
    np.testing.assert_array_equal(a, x)


def test_what_numpy_computes_in_between_is_uploaded_once(gpu):
    ordered = runmat.jit(lambda x: np.sort(x, axis=0), device="gpu")
    decorated = runmat.jit(smooth, device="gpu")
    a = runmat.asarray(ramp(8, 16)[::-1], "gpu")
    for _ in range(3):
        found = ordered(a)
    moved()
    for _ in range(3):
        decorated(found)
    assert moved()[0] == found.nbytes


def test_weights_in_attributes_stay_on_the_device(gpu):
    class Layer:
        def __init__(self, weight):
            self.weight = weight

        @runmat.jit(device="gpu")
        def apply(self, x):
            return np.tanh(x * self.weight)

    layer = Layer(runmat.asarray(ramp(16), "gpu"))
    a = runmat.asarray(ramp(8, 16), "gpu")
    for _ in range(4):
        moved()
        found = layer.apply(a)
    assert moved() == (0, 0)
    np.testing.assert_array_equal(found, Layer(ramp(16)).apply(ramp(8, 16)))


def test_values_swap_between_arguments(gpu):
    decorated = runmat.jit(blended, device="gpu")
    x, y = ramp(4, 4), ramp(4, 4)[::-1].copy()
    a, b = runmat.asarray(x, "gpu"), runmat.asarray(y, "gpu")
    for _ in range(4):
        moved()
        row, expected = decorated(a, b), decorated(x, y)
        np.testing.assert_array_equal(a, x)
        np.testing.assert_array_equal(b, y)
        np.testing.assert_array_equal(row, expected)


def test_a_function_of_the_cpu_reads_an_array_back_once(gpu):
    decorated = runmat.jit(smooth, device="cpu")
    a = runmat.jit(smooth, device="gpu")(runmat.asarray(ramp(8, 16), "gpu"))
    a = runmat.jit(smooth, device="gpu")(a)
    moved()
    for _ in range(3):
        result = decorated(a)
    assert result.device == "cpu"
    assert moved()[1] <= a.nbytes
    for _ in range(3):
        np.asarray(a)
    assert moved() == (0, 0)


def test_a_function_of_the_gpu_uploads_an_array_of_the_host_once(gpu):
    decorated = runmat.jit(smooth, device="gpu")
    a = runmat.asarray(ramp(8, 16), "cpu")
    moved()
    for _ in range(3):
        result = decorated(a)
    assert result.device == "gpu"
    assert a.device == "cpu"
    assert moved()[0] == a.nbytes
    a[0] = 5
    decorated(a)
    assert moved()[0] == a.nbytes


def test_device_memory_of_dead_arrays_is_used_again(gpu):
    decorated = runmat.jit(split, device="gpu")
    a = runmat.asarray(ramp(32, 32), "gpu")
    decorated(a)
    memory = gpu.backend.memory
    gc.collect()
    memory.collect()
    used, kept = memory.used_nbytes, memory.kept_nbytes
    for _ in range(1000):
        results = decorated(a)
    most = used + 2 * sum(-(-r.nbytes // 256) * 256 for r in results)
    assert memory.used_nbytes <= most
    del results
    memory.collect()
    assert memory.used_nbytes == used
    assert memory.kept_nbytes <= kept + most


def test_explaining_a_call_leaves_its_arrays_on_the_device(gpu):
    decorated = runmat.jit(lambda x: np.exp(x) + 1, device="gpu")
    a = runmat.asarray(np.ones(1000, np.float32), "gpu")
    decorated(a)
    decorated.explain(a)
    before = runmat.telemetry.snapshot()["bytes_uploaded"]
    decorated(a)
    assert runmat.telemetry.snapshot()["bytes_uploaded"] == before


def test_memory_of_arrays_in_reference_cycles_is_used_again(gpu):
    """The collector finalizes all of a cycle: the array that gives memory back, and the memory."""
    decorated = runmat.jit(lambda x: x * 2 + 1, device="gpu")
    x = np.arange(777, dtype=np.float32)
    for _ in range(3):
        cycle = [decorated(runmat.asarray(x, "gpu")) for _ in range(4)]
        cycle.append(cycle)
        del cycle
        gc.collect()
        for found in [decorated(runmat.asarray(x, "gpu")) for _ in range(6)]:
            np.testing.assert_array_equal(found, x * 2 + 1)


def test_events_of_arrays_that_stay_on_a_device_are_looked_for_where_they_raise(gpu):
    decorated = runmat.jit(lambda x: np.log(x) + 1, device="gpu")
    number = runmat.jit(lambda x: np.log(x).sum(), device="gpu")
    a = runmat.asarray(np.array([0.0, 1.0], np.float32), "gpu")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for _ in range(2):
            with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
                number(a)  # which is read anyway
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = decorated(a)
    assert not seen
    assert np.array_equal(np.asarray(found), [-np.inf, 1])
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match="divide by zero"):
        warnings.simplefilter("error")
        decorated(a)
    with pytest.raises(FloatingPointError), np.errstate(divide="raise"):
        decorated(a)


def test_one_may_wait_for_arrays_and_for_all(gpu):
    decorated = runmat.jit(lambda x: x * 2, device="gpu")
    a = runmat.asarray(np.arange(5, dtype=np.float32), "gpu")
    found = decorated(a)
    assert found.block_until_ready() is found
    assert runmat.asarray(np.arange(3), "cpu").block_until_ready().device == "cpu"
    runmat.synchronize()
    assert np.array_equal(np.asarray(found), np.arange(5) * 2)


def test_waiting_opens_no_device():
    before = use_session(Session())
    try:
        runmat.synchronize()
        assert current_session().opened_gpu is None
    finally:
        use_session(before)


def test_dtypes_that_a_device_lacks_are_computed_by_the_cpu(gpu):
    decorated = runmat.jit(lambda x: x * 2 + x, device="gpu")
    for dtype in (np.int8, np.complex128, np.uint16):
        x = np.arange(6).astype(dtype)
        a = runmat.asarray(x, "gpu")
        for _ in range(2):
            found = decorated(a)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, x * 2 + x)


def test_without_an_adapter_the_cpu_computes_and_asking_for_the_gpu_by_name_says_what_to_do(
    monkeypatch,
):
    def none(cache, log, **options):
        raise BackendError("no adapter was found")

    monkeypatch.setattr("runmat_jit.runtime.session.open_gpu", none)
    before = use_session(Session())
    try:
        x = ramp(5)
        with pytest.raises(runmat.BackendError, match="install"):
            runmat.asarray(x, "gpu")
        a = runmat.asarray(x, "auto")
        assert a.device == "cpu"
        found = runmat.jit(smooth, device="gpu")(a)
        np.testing.assert_array_equal(found, runmat.jit(smooth)(x))
        runmat.config(device="gpu")
        assert runmat.asarray(x).device == "cpu"
    finally:
        use_session(before)


def test_auto_means_a_gpu_that_is_no_software_adapter(gpu):
    expected = "cpu" if gpu.info.software else "gpu"
    assert runmat.asarray(ramp(3), "auto").device == expected


def test_where_the_device_fails_the_cpu_takes_over(gpu, monkeypatch, caplog):
    def full(self, nbytes):
        raise BackendError("out of memory")

    decorated = runmat.jit(split, device="gpu")
    a, x = runmat.asarray(ramp(7, 900), "gpu"), ramp(7, 900)
    expected = decorated(x)
    gpu.backend.memory.clear()
    monkeypatch.setattr(DeviceMemory, "_create", full)
    for ours, theirs in zip(decorated(a), runmat.jit(split)(x), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert "the CPU takes over" in caplog.text
    monkeypatch.undo()
    for ours, theirs in zip(decorated(a), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_writes_are_done_once_where_the_device_fails(gpu, monkeypatch):
    def full(self, nbytes):
        raise BackendError("out of memory")

    decorated = runmat.jit(changed, device="gpu")
    x = ramp(5, 1100)
    a = runmat.asarray(x, "gpu")
    changed(x)
    decorated(a)
    gpu.backend.memory.clear()
    monkeypatch.setattr(DeviceMemory, "_create", full)
    assert decorated(a) is a
    np.testing.assert_array_equal(a, changed(x))


def test_a_lost_device_loses_what_was_on_it_alone_and_says_so(own_gpu):
    decorated = runmat.jit(smooth, device="gpu")
    a, never_read = (runmat.asarray(ramp(5), "gpu") for _ in range(2))
    only_there, read = decorated(decorated(a)), decorated(a)
    expected, _ = np.array(read), np.array(a)
    own_gpu.backend.device.close()
    np.testing.assert_array_equal(a, ramp(5))
    np.testing.assert_array_equal(read, expected)
    np.testing.assert_array_equal(decorated(a), runmat.jit(smooth)(ramp(5)))
    for use in (np.asarray, decorated, lambda x: x + 1, repr):
        with pytest.raises(runmat.BackendError, match="lost with the device"):
            use(only_there)
        with pytest.raises(runmat.BackendError, match="lost with the device"):
            use(never_read)


def test_scalars_and_copies_of_a_lost_device_raise_and_end_no_process(own_gpu):
    """The device is closed between warm calls, whose entry and buffers are kept."""
    total = runmat.jit(lambda x: (x * 2).sum(), device="gpu")
    seen, unseen = (runmat.asarray(ramp(5000), "gpu") for _ in range(2))
    for _ in range(4):
        assert total(seen) == total(unseen)
    np.array(seen)
    memory, kept = own_gpu.backend.memory, own_gpu.backend.memory.upload(ramp(5000))
    memory.download(kept)
    own_gpu.backend.device.close()
    assert total(seen) == pytest.approx((ramp(5000) * 2).sum(), abs=1e-3)
    for use in (total, np.asarray):
        with pytest.raises(runmat.BackendError, match="lost with the device"):
            use(unseen)
    for use in (lambda: memory.download(kept), lambda: memory.upload(ramp(5_000_000))):
        with pytest.raises(runmat.BackendError):
            use()


def test_arrays_of_another_session_are_taken(gpu):
    a = runmat.jit(smooth, device="gpu")(runmat.asarray(ramp(5), "gpu"))
    a = runmat.jit(smooth, device="gpu")(a)
    expected = runmat.jit(smooth, device="gpu")(np.array(a))
    before = use_session(Session())
    try:
        np.testing.assert_array_equal(runmat.jit(smooth, device="gpu")(a), expected)
    finally:
        use_session(before)


class Holder:
    """Has what it is given."""

    def __init__(self, value):
        self.value = value


def holding(value):
    return lambda: value


LEAVING = {
    "array": lambda x: x * 2,
    "tuple": lambda x: (x * 2, x + 1),
    "array and view": lambda x: (y := x * 2, y[1:]),
    "argument": lambda x: x,
    "tuple in a tuple": lambda x: (x + 1, (x * 2,)),
    "list": lambda x: [x * 2, x + 1],
    "dict": lambda x: {"a": x * 2},
    "object": lambda x: Holder(x * 2),
    "closure": lambda x: holding(x * 2),
    "generator": lambda x: (part for part in (x * 2, x + 1)),
}


def arrays_in(value):
    """NumPy's contents of all arrays in a result."""
    if isinstance(value, Holder):
        return arrays_in(value.value)
    if callable(value):
        return arrays_in(value())
    if isinstance(value, dict):
        return arrays_in(list(value.values()))
    if isinstance(value, np.ndarray | runmat.Array):
        return [np.array(value)]
    return [each for part in value for each in arrays_in(part)]


@pytest.mark.parametrize("name", LEAVING)
def test_results_have_their_contents_however_they_leave_a_call(gpu, name):
    """Oracle: the same function of ndarrays. Arrays of ours need not be copied to the host."""
    fn, host = LEAVING[name], ramp(4000)
    decorated, count = runmat.jit(fn, device="gpu"), runmat.telemetry.snapshot
    for call in range(4):
        x = runmat.asarray(host, "gpu")
        before = count()["bytes_downloaded"]
        result = decorated(x)
        copied = count()["bytes_downloaded"] - before
        for found, expected in zip(arrays_in(result), arrays_in(fn(host)), strict=True):
            np.testing.assert_array_equal(found, expected)
        if name in ("array", "tuple", "array and view", "argument"):
            assert copied == 0, f"call {call}"
