"""Oracle: the CPU's program on the same arguments."""

from dataclasses import replace

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.backends.wgpu.findings import Findings, FloatFindings
from runmat_jit.backends.wgpu.memory import DeviceMemory
from runmat_jit.compiler import gpu_program
from runmat_jit.core.errors import BackendError
from runmat_jit.runtime.session import Session, current_session, use_session


def chain(x):
    y = np.sin(x) * np.exp(-x / 10)
    return np.tanh(y * np.cos(x / 4)) + 0.1 * y


def sums(x):
    return x.sum(), x.sum(axis=0), x.max(axis=1), (x * 2).mean(axis=1, keepdims=True)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def writes(x):
    x[1:] += x[:-1] * 2
    return x.T, x[::2] > 0


def scaled(x, factor):
    return x * factor, (x * factor).astype(np.int32)


def power_of_rows(x):
    """A guard that the driver takes away in loops leaves the low part of the logarithm at 0."""
    return (x - x.min(axis=1, keepdims=True)) ** 1.8


def narrowed(x):
    """Numbers that are stored as float32 in between have its digits."""
    return x.astype(np.float32).astype(np.float64) * 3, (x * 7).astype(np.float32) / np.float64(3)


def walks(x):
    return np.cumsum(x * 2, axis=0), np.maximum.accumulate(np.cumsum(x, axis=1) % 3, axis=1)


ARGUMENTS = {
    narrowed: lambda kind: (np.random.default_rng(5).random(100, dtype=kind),),
    power_of_rows: lambda kind: (np.random.default_rng(4).random((9, 777), dtype=kind),),
    chain: lambda kind: (np.linspace(0, 12, 1001, dtype=kind),),
    sums: lambda kind: (np.random.default_rng(1).random((37, 90), dtype=kind),),
    softmax: lambda kind: (np.random.default_rng(2).random((5, 70), dtype=kind),),
    writes: lambda kind: (np.random.default_rng(3).random((6, 7), dtype=kind)[:, ::-1],),
    scaled: lambda kind: (np.arange(20, dtype=kind), 2.5),
    walks: lambda kind: (np.random.default_rng(6).random((530, 540), dtype=kind),),
}


def agree(a, b):
    """Equal bits on a software adapter, elsewhere what several operations of 4 ULP may leave."""
    if np.asarray(a).dtype.kind == "f":
        np.testing.assert_array_max_ulp(a, b, 0 if current_session().gpu.info.software else 64)
    else:
        np.testing.assert_array_equal(a, b)


def several(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("fn", ARGUMENTS, ids=lambda fn: fn.__name__)
def test_programs_give_the_cpus_results(gpu, fn, kind):
    on_gpu, on_cpu = runmat.jit(fn, device="gpu"), runmat.jit(fn)
    for _ in range(2):
        first, second = ARGUMENTS[fn](kind), ARGUMENTS[fn](kind)
        found, expected = on_gpu(*first), on_cpu(*second)
        for a, b in zip(several(found), several(expected), strict=True):
            assert (type(a), a.dtype, a.strides) == (type(b), b.dtype, b.strides)
            agree(a, b)
        agree(first[0], second[0])
    assert set(on_gpu.explain(*ARGUMENTS[fn](kind)).devices) == {"gpu"}


def test_events_are_reported(gpu):
    decorated = runmat.jit(lambda x: np.log(x) + 1, device="gpu")
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
        decorated(np.array([0.0, 1.0], np.float32))


def test_where_the_device_fails_the_cpu_takes_over(gpu, monkeypatch, caplog):
    def fail(self, memory, **_):
        raise BackendError("the device is lost")

    monkeypatch.setattr(gpu_program.GpuProgram, "_compute", fail)
    x = np.linspace(0, 1, 50, dtype=np.float32)
    agree(runmat.jit(chain, device="gpu")(x), runmat.jit(chain)(x))
    assert "the CPU takes over" in caplog.text


def in_place(x):
    x += 1
    return x * 2


def written(x):
    x[...] = np.sqrt(x) + 3


@pytest.mark.parametrize("copies", [0, 1])
@pytest.mark.parametrize("fn", [chain, sums, writes, in_place, written])
def test_where_a_copy_breaks_off_the_cpu_computes_with_the_inputs_as_they_were(
    gpu, monkeypatch, fn, copies
):
    download, made = DeviceMemory.download, []

    def break_off(self, source, into=None):
        found = download(self, source, into)
        made.append(found)
        if len(made) > copies:
            found[...] = 77
            raise BackendError("the device is lost")
        return found

    monkeypatch.setattr(DeviceMemory, "download", break_off)
    x = np.random.default_rng(0).random((6, 7), dtype=np.float32)
    ours, plain = x.copy(), x.copy()
    found, expected = runmat.jit(fn, device="gpu")(ours), fn(plain)
    np.testing.assert_allclose(ours, plain, rtol=1e-6)
    for a, b in zip(several(found), several(expected), strict=True):
        if b is not None:
            np.testing.assert_allclose(a, b, rtol=1e-5)
    assert made


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x * 2 + 1,
        lambda x: np.asfortranarray(x) - 1,
        lambda x: x.T * 3,
        lambda x: x.transpose(2, 0, 1) > 0.5,
        lambda x: (x.sum(axis=0), x[::2] * x[1::2]),
    ],
)
def test_results_are_copied_once_whatever_the_order_of_their_axes(gpu, monkeypatch, fn):
    def copy_twice(*_):
        raise AssertionError

    monkeypatch.setattr(gpu_program, "downloaded", copy_twice)
    x = np.random.default_rng(0).random((4, 5, 6), dtype=np.float32)
    found, expected = (several(f(x)) for f in (runmat.jit(fn, device="gpu"), fn))
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.strides) == (b.dtype, b.strides)
        agree(a, b)


def test_without_an_adapter_the_cpu_runs_and_explain_says_so(monkeypatch):
    def none(cache, log, *, reproducible):
        raise BackendError("no adapter was found")

    monkeypatch.setattr("runmat_jit.runtime.session.open_gpu", none)
    before = use_session(Session())
    try:
        decorated = runmat.jit(chain, device="gpu")
        x = np.linspace(0, 1, 50, dtype=np.float32)
        np.testing.assert_array_equal(decorated(x), runmat.jit(chain)(x))
        explanation = decorated.explain(x)
        assert explanation.devices == ["cpu"]
        assert [reason.id for reason in explanation.reasons] == ["not-on-device"]
    finally:
        use_session(before)


def test_devices_lists_the_cpu_first_and_marks_software(gpu):
    first, *others = runmat.devices()
    assert first.kind == "cpu"
    assert {device.kind for device in others} == {"gpu"}
    assert all(isinstance(device.software, bool) for device in others)
    assert "float32" in others[0].dtypes


def test_source_shows_wgsl(gpu):
    text = runmat.jit(chain, device="gpu").source(np.ones(8, np.float32), backend="wgsl")
    assert "@compute" in text


@pytest.fixture
def reproducible(gpu):
    """A session whose GPU results must be the CPU's; the device is the one of before."""
    before = current_session()
    runmat.config(reproducible=True)
    yield current_session()
    use_session(before)


@pytest.mark.parametrize("fn", ARGUMENTS, ids=lambda fn: fn.__name__)
def test_reproducible_results_have_the_cpus_bits_wherever_they_are_computed(reproducible, fn):
    arguments = ARGUMENTS[fn](np.float32), ARGUMENTS[fn](np.float32)
    on_gpu = runmat.jit(fn, device="gpu")
    found, expected = on_gpu(*arguments[0]), runmat.jit(fn)(*arguments[1])
    for a, b in zip(several(found), several(expected), strict=True):
        np.testing.assert_array_equal(a, b)
    explanation = on_gpu.explain(*ARGUMENTS[fn](np.float32))
    refused = reproducible.gpu.findings.irreproducible("f32")
    assert set(explanation.devices) == ({"gpu"} if refused is None else {"cpu"})


def test_the_promise_is_part_of_what_a_program_is_compiled_for(gpu, reproducible):
    assert reproducible.gpu.reproducible
    assert not gpu.reproducible
    assert reproducible.gpu.backend.device is gpu.backend.device
    assert reproducible.gpu.backend.arithmetic == gpu.findings.arithmetic(reproducible=True)
    assert gpu.backend.arithmetic == gpu.findings.arithmetic(reproducible=False)


def test_results_that_are_verified_are_reproducible(gpu):
    before = current_session()
    try:
        runmat.config(verify=1)
        assert current_session().gpu.reproducible
        runmat.config(verify=0)
        assert current_session().gpu.reproducible == before.config.reproducible
    finally:
        use_session(before)


def test_where_an_adapter_flushes_reproducible_floats_stay_on_the_cpu(gpu, monkeypatch):
    coarse = FloatFindings("or", "or", False, True, True, False, True)
    found = Findings({"f32": coarse, "f64": coarse}, {})
    session = current_session()
    monkeypatch.setitem(session.__dict__, "gpu", replace(gpu, findings=found))
    runmat.config(reproducible=True)
    try:
        x = np.linspace(0, 1, 50, dtype=np.float32)
        explanation = runmat.jit(chain, device="gpu").explain(x)
        assert explanation.devices == ["cpu"]
        (reason,) = explanation.reasons
        assert "subnormal" in str(reason)
        whole = runmat.jit(lambda n: n * 3 + (n > 2), device="gpu")
        assert whole.explain(np.arange(9, dtype=np.int32)).devices == ["gpu"]
    finally:
        use_session(session)


def diffused(x, steps):
    for _ in range(steps):
        x = x + 0.01 * (np.sin(x) - x**3)
    return x


def test_loops_over_numpys_arrays_say_why_they_run_on_the_cpu(gpu):
    """Oracle: the undecorated function; the same loop over an array of a GPU runs there."""
    decorated, x = runmat.jit(diffused, device="gpu"), np.linspace(-1, 1, 4000)
    for given, devices in ((x, {"cpu"}), (runmat.asarray(x, "gpu"), {"gpu"})):
        for _ in range(3):
            np.testing.assert_allclose(decorated(given, 50), diffused(x, 50), rtol=1e-12)
        explanation = decorated.explain(given, 50)
        assert set(explanation.devices) >= devices
    (reason,) = decorated.explain(x, 50).reasons
    assert reason.id == "not-on-device"
    assert "loops over NumPy's arrays run on the CPU" in str(reason)
