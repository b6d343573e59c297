"""GPU programs on unusual arrays and failing devices. Oracle: the CPU's program, bit for bit.

On adapters that are no software the results may differ by what the rows' GPU columns say.
"""

import logging
import threading
from dataclasses import replace

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.backends.wgpu.adapter import Device
from runmat_jit.runtime.session import Session, current_session, use_session
from tests.compiler.test_gpu_program import agree, chain, several, softmax, sums

pytestmark = [pytest.mark.usefixtures("gpu"), pytest.mark.sampled(3)]

FLOATS = (np.float32, np.float64)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e-310, 3e38, 1.5, -2.5, 1e-45]


def arithmetic(x, y):
    return x + y, x * y - x, x < y, np.maximum(x, y), -x, np.floor(x), x // y, np.isnan(x)


def both(fn, make):
    """Call on the GPU and on the CPU, each on fresh arguments; results and arguments must agree."""
    on_gpu, on_cpu = runmat.jit(fn, device="gpu"), runmat.jit(fn, device="cpu")
    first, second = make(), make()
    with np.errstate(all="ignore"):
        found, expected = on_gpu(*first), on_cpu(*second)
        explanation = on_gpu.explain(*make())
    pairs = [*zip(several(found), several(expected), strict=True), *zip(first, second, strict=True)]
    for a, b in pairs:
        assert (type(a), np.shape(a)) == (type(b), np.shape(b))
        agree(a, b)
    return explanation


def on_the_gpu(fn, make):
    assert set(both(fn, make).devices) == {"gpu"}


# -- arrays ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0), (1,), (1, 1)], ids=str)
def test_arrays_without_axes_or_elements(kind, shape):
    make = lambda: (np.full(shape, 2, kind), np.full(shape, 3, kind))
    both(arithmetic, make)
    both(lambda x, y: (x.sum(), (x * y).sum(axis=-1, keepdims=True)) if x.ndim else x + y, make)


@pytest.mark.parametrize("n", [*range(1, 10), 63, 65, 1023, 1026])
def test_lengths_that_are_no_multiples_of_a_vector(n):
    rng = np.random.default_rng(n)
    x, mask = rng.standard_normal(n).astype(np.float32), rng.random(n) < 0.5
    on_the_gpu(lambda a, m: (a * 2, ~m, np.where(m, a, -a), m & (a > 0)), lambda: (x, mask))


LAYOUTS = {
    "strided": lambda x: x[::3],
    "reversed": lambda x: x[::-1],
    "strided and reversed": lambda x: x[::-2],
    "shifted": lambda x: x[3:],
    "columns": lambda x: x[:60].reshape(4, 15)[:, 2:9:2],
    "transposed": lambda x: x[:60].reshape(4, 15).T,
    "Fortran": lambda x: np.asfortranarray(x[:60].reshape(4, 15)),
    "broadcast": lambda x: np.broadcast_to(x[:7], (5, 7)),
    "broadcast columns": lambda x: np.broadcast_to(x[:7, None], (7, 6)),
    "one element many times": lambda x: np.broadcast_to(x[5], (13,)),
}


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.bool_])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, kind):
    x = LAYOUTS[layout]((np.arange(101) % 7).astype(kind))
    y = np.arange(x.shape[-1]).astype(np.float32)
    on_the_gpu(lambda a, b: (a + b, a.max(axis=0), (a * b).sum(axis=-1)), lambda: (x, y))


def test_overlapping_writes():
    def shift(x):
        x[1:] = x[:-1] + x[1:]
        x[::-1] *= 2
        return x.sum()

    both(shift, lambda: (np.arange(37, dtype=np.float32),))


# -- numbers ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", FLOATS)
def test_special_numbers(gpu, kind):
    name = "f32" if kind is np.float32 else "f64"
    if not gpu.findings.floats[name].keeps_subnormals:
        pytest.skip("the adapter flushes subnormal numbers; test_accuracy leaves those out")
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL).astype(kind)
    a, b = (side.ravel() for side in np.meshgrid(x, x))
    on_the_gpu(arithmetic, lambda: (a, b))
    on_the_gpu(lambda x: (x.max(), x.min(), x.sum(), np.exp(x), x.astype(np.int32)), lambda: (x,))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_integers_wrap(kind):
    limits = np.iinfo(kind)
    x = np.array([limits.min, limits.min + 1, limits.max, -1, 0, 1, 7, 31], kind)
    a, b = (side.ravel() for side in np.meshgrid(x, x))
    on_the_gpu(
        lambda a, b: (a + b, a * b, a - b, a // b, a % b, abs(a), a << (b & 15), a.sum()),
        lambda: (a, b),
    )


@pytest.mark.parametrize("kind", ["uint32", "uint8", "int16", "float16", "complex64"])
def test_what_is_not_compiled_is_numpys(kind):
    x = np.arange(10).astype(kind)
    both(lambda x: (x + x, x * 2), lambda: (x,))


# -- limits ----------------------------------------------------------------------------------------
def test_arrays_larger_than_a_binding(monkeypatch):
    monkeypatch.setattr(Device, "largest_binding", property(lambda _: 1 << 15))
    x = np.random.default_rng(0).standard_normal(50_001).astype(np.float32)
    rows = np.random.default_rng(1).standard_normal((70, 1001)).astype(np.float32)
    on_the_gpu(chain, lambda: (x,))
    on_the_gpu(lambda x: x.sum(), lambda: (x,))
    on_the_gpu(softmax, lambda: (rows,))
    on_the_gpu(lambda x: x[::2] > x[1::2].mean(), lambda: (x[:-1],))


def test_an_array_that_does_not_fit_a_binding_costs_one_line(monkeypatch, caplog):
    monkeypatch.setattr(Device, "largest_binding", property(lambda _: 1 << 15))
    x = np.random.default_rng(0).standard_normal((300, 301)).astype(np.float32)
    with caplog.at_level(logging.WARNING, "runmat_jit"):
        both(lambda x: x.T + x[:, :1].T[::-1], lambda: (x,))
        both(lambda x: x[::-1].sum(axis=0), lambda: (x,))
    assert all("CPU takes over" in record.message for record in caplog.records)


@pytest.mark.parametrize(("kind", "what"), [(np.float64, "float64"), (np.int64, "64-bit integers")])
def test_a_type_that_the_adapter_lacks_stays_on_the_cpu(gpu, monkeypatch, kind, what):
    monkeypatch.setattr(gpu.backend.device, "info", replace(gpu.info, features=frozenset()))
    x = np.arange(7).astype(kind)
    explanation = both(lambda x: (x * 3 + x, x.sum()), lambda: (x,))
    assert set(explanation.devices) == {"cpu"}
    assert f"has no {what}" in str(explanation.reasons[0])
    on_the_gpu(lambda x: x * 3, lambda: (np.arange(7, dtype=np.int32),))


# -- failures --------------------------------------------------------------------------------------
@pytest.fixture
def own_session():
    """A session whose device may be ruined."""
    before = use_session(Session(current_session().config))
    yield current_session()
    use_session(before)


def increments(x):
    x += 1
    return x * 2


def calls(decorated, times=3):
    """Results and arguments of several calls."""
    arguments = [np.arange(9, dtype=np.float32) + i for i in range(times)]
    results = [decorated(x) for x in arguments]
    for i, (x, result) in enumerate(zip(arguments, results, strict=True)):
        np.testing.assert_array_equal(x, np.arange(9) + i + 1)
        np.testing.assert_array_equal(result, 2 * (np.arange(9) + i + 1))


def test_a_lost_device_costs_one_line_and_no_result(own_session, caplog):
    decorated = runmat.jit(increments, device="gpu")
    calls(decorated)
    own_session.gpu.backend.device.close()
    with caplog.at_level(logging.WARNING, "runmat_jit"):
        calls(decorated)
        other = runmat.jit(lambda x: x - 1, device="gpu")
        x = np.arange(5, dtype=np.float32)
        np.testing.assert_array_equal(other(x), x - 1)
    (record,) = caplog.records
    assert "the CPU takes over" in record.message
    assert "was lost" in str(other.explain(x).reasons[0])


def test_too_little_memory_costs_one_line_and_passes(own_session, caplog, monkeypatch):
    decorated = runmat.jit(increments, device="gpu")
    device = own_session.gpu.backend.device
    limits = {**device.info.limits, "max-buffer-size": 100}
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, "runmat_jit"):
        patch.setattr(device, "info", replace(device.info, limits=limits))
        calls(decorated)
        assert len(caplog.records) == 1
    before = runmat.telemetry.snapshot()["gpu_submits"]
    calls(decorated, times=2)
    assert runmat.telemetry.snapshot()["gpu_submits"] == before + 2


def test_a_shader_that_does_not_compile_leaves_the_cpu(own_session, caplog, monkeypatch):
    monkeypatch.setattr(
        "runmat_jit.backends.wgpu.backend.print_shader", lambda *_: "fn main( { nonsense"
    )
    with caplog.at_level(logging.WARNING, "runmat_jit"):
        calls(runmat.jit(increments, device="gpu"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_two_threads_share_the_device():
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((20, 30 + i)).astype(np.float32) for i in range(8)]
    on_gpu, on_cpu = runmat.jit(softmax, device="gpu"), runmat.jit(softmax)
    expected, found, failures = [on_cpu(x) for x in inputs], {}, []

    def work(first):
        try:
            for _ in range(3):
                for number in range(first, len(inputs), 2):
                    found[number] = on_gpu(inputs[number])
        except BaseException as error:  # noqa: BLE001  (shown below)
            failures.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for number, result in found.items():
        agree(result, expected[number])


def test_shaders_with_bounds_checks_compute_the_same(own_session):
    """A check that had something to do would change a result or an element beside it."""
    object.__setattr__(own_session.gpu.backend, "trusted", False)
    x = np.random.default_rng(2).standard_normal((13, 101)).astype(np.float32)
    for fn in (chain, sums, softmax):
        on_the_gpu(fn, lambda: (x[:, ::-1],))
    on_the_gpu(lambda x: (x[::2, 1:] > 0, x.T + 1), lambda: (x,))


# -- counts ----------------------------------------------------------------------------------------
def counted(run):
    names = ("gpu_submits", "gpu_launches", "gpu_pipelines", "gpu_bind_groups")
    before = runmat.telemetry.snapshot()
    run()
    after = runmat.telemetry.snapshot()
    return tuple(after[name] - before[name] for name in names)


@pytest.mark.usefixtures("own_session")
def test_one_submission_a_call_and_nothing_bound_or_compiled_twice():
    decorated = runmat.jit(lambda x, y: np.exp(x - x.max()).sum() + y, device="gpu")
    x, y = np.ones((90, 70), np.float32), np.ones(3, np.float32)
    kernels = decorated.explain(x, y)
    launches = sum(region.kernels for region in kernels.regions)
    assert launches > 1
    decorated = runmat.jit(lambda x, y: np.exp(x - x.min()).sum() + y, device="gpu")
    submits, launched, pipelines, bound = counted(lambda: decorated(x, y))
    assert (submits, launched, bound) == (1, launches, launches)
    assert 0 < pipelines <= launches
    for _ in range(3):
        assert counted(lambda: decorated(x + 1, y)) == (1, launches, 0, 0)


@pytest.mark.usefixtures("own_session")
def test_another_number_is_written_and_nothing_bound():
    decorated = runmat.jit(lambda x, a: x * a + x, device="gpu")
    x = np.arange(11, dtype=np.float32)
    assert counted(lambda: decorated(x, 2.0)) == (1, 1, 1, 1)
    for a in (3.0, -1.5, 3.0):
        assert counted(lambda a=a: decorated(x, a)) == (1, 1, 0, 0)
        np.testing.assert_array_equal(decorated(x, a), x * np.float32(a) + x)


@pytest.mark.usefixtures("own_session")
def test_another_shape_of_a_kernel_compiles_nothing():
    decorated = runmat.jit(lambda x: x * 2 + x, device="gpu")
    counted(lambda: decorated(np.ones(64, np.float32)))
    assert counted(lambda: decorated(np.ones(128, np.float32))) == (1, 1, 0, 1)


@pytest.mark.usefixtures("own_session")
def test_inputs_are_uploaded_and_results_read_back_once():
    decorated = runmat.jit(lambda x, y: (x * 2 + y.sum(), x > 0), device="gpu")
    x, y = np.ones(101, np.float32), np.ones((7, 9), np.float32)
    for _ in range(2):
        before = runmat.telemetry.snapshot()
        decorated(x, y)
        after = runmat.telemetry.snapshot()
        moved = [after[n] - before[n] for n in ("bytes_uploaded", "bytes_downloaded")]
        assert moved == [x.nbytes + y.nbytes, x.nbytes + x.size]
