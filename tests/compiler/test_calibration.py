"""The GPU is measured in the background. Oracle: undecorated Python; a measurement made up."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.compiler import calibrate_gpu, placement
from runmat_jit.compiler.calibration import Calibration
from runmat_jit.core.config import read_config
from runmat_jit.core.errors import BackendError
from runmat_jit.plan import profile as plan_profile
from runmat_jit.plan.profile import CPU, GPU, Link
from runmat_jit.runtime import session as sessions
from runmat_jit.runtime.session import Session, current_session, use_session

pytestmark = pytest.mark.measures
SLOW_CPU = replace(CPU, rates={name: 1000.0 * rate for name, rate in CPU.rates.items()})
NEVER = replace(GPU, link=Link(1.0, 1.0, 1e9, 1e9, 1e9, 1e9, 1e9))
FAST = replace(
    GPU,
    rates={name: 0.01 * rate for name, rate in GPU.rates.items()},
    link=Link(1e5, 1e5, 0.1, 0.1, 1.0, 1.0, 1.0),
    launch_us=0.1,
    measured=True,
)
X = np.linspace(0.1, 2.0, 5000, dtype=np.float32)


def waves(x):
    return np.tanh(np.sin(x) * np.exp(-x)) + 1


@pytest.fixture
def machine(gpu, monkeypatch, tmp_path):
    """A session of a machine with a GPU that is not open, and what opens it."""
    opened = []

    def open_gpu(*_, **__):
        opened.append(True)
        return replace(gpu, info=replace(gpu.info, software=False))

    monkeypatch.setattr(sessions, "might_have_gpu", lambda: True)
    monkeypatch.setattr(sessions, "open_gpu", open_gpu)
    for module in (placement, plan_profile):  # as shipped: none is worth to be opened
        monkeypatch.setattr(module, "GPU", NEVER)
    monkeypatch.setattr(placement, "LARGE_GPU", FAST)
    config = replace(
        read_config({"RUNMAT_COMPILE": "first", "RUNMAT_TRIALS": "0"}),
        cache_dir=str(tmp_path / "cache"),
        device="auto",
    )
    made = Session(config)
    made.__dict__["profile"] = SLOW_CPU
    made.opened = opened
    before = use_session(made)
    yield made
    made.service(Calibration, Calibration).stop()
    use_session(before)


def over(session):
    """Wait for the measurement of a session."""
    session.service(Calibration, Calibration).wait()


def measured(monkeypatch, profile, started=None, goes_on=None):
    """Have measurements give a profile, or raise; the number of them."""
    calls = []

    def measure_gpu(_gpu, tell):
        calls.append(threading.current_thread())
        if started is not None:
            started.set()
            goes_on.wait(10)
        tell("memory")
        if isinstance(profile, Exception):
            raise profile
        return profile

    monkeypatch.setattr(calibrate_gpu, "measure_gpu", measure_gpu)
    return calls


def devices(fn):
    np.testing.assert_allclose(fn(X), waves(X), rtol=2e-5)
    return fn.explain(X).devices


def test_programs_move_to_a_gpu_that_was_measured(machine, monkeypatch):
    started, goes_on = threading.Event(), threading.Event()
    calls, fn = measured(monkeypatch, FAST, started, goes_on), runmat.jit(waves)
    assert devices(fn) == ["cpu"]
    assert started.wait(10)
    assert devices(fn) == ["cpu"], "nobody waits for the measurement"
    goes_on.set()
    over(machine)
    assert len(calls) == 1
    assert calls[0] is not threading.main_thread()
    assert current_session() is not machine
    assert current_session().gpu_profile == FAST
    for _ in range(3):
        assert devices(fn) == ["gpu"]
    assert len(machine.opened) == len(calls) == 1


def test_a_configuration_that_is_chosen_meanwhile_stays(machine, monkeypatch):
    started, goes_on = threading.Event(), threading.Event()
    measured(monkeypatch, FAST, started, goes_on)
    devices(runmat.jit(waves))
    assert started.wait(10)
    other = machine.configured(replace(machine.config, device="cpu"))
    use_session(other)
    goes_on.set()
    over(machine)
    assert current_session() is other


def test_a_profile_that_was_kept_is_not_measured_again(machine, monkeypatch):
    calls, fn = measured(monkeypatch, FAST), runmat.jit(waves)
    devices(fn)
    over(machine)
    again = Session(machine.config)
    again.__dict__["profile"] = SLOW_CPU
    use_session(again)
    devices(fn)
    over(again)
    assert devices(fn) == ["gpu"]
    assert len(calls) == 1


def test_programs_stay_where_the_measured_gpu_would_not_win(machine, monkeypatch):
    calls, fn = measured(monkeypatch, replace(NEVER, measured=True)), runmat.jit(waves)
    for _ in range(3):
        assert devices(fn) == ["cpu"]
        over(machine)
    assert current_session() is machine, "nothing is made anew"
    assert len(calls) == 1


@pytest.mark.parametrize("fails", ["measurement", "adapter"])
def test_what_cannot_be_measured_changes_nothing(machine, monkeypatch, fails):
    calls, fn = measured(monkeypatch, BackendError("it is lost")), runmat.jit(waves)
    if fails == "adapter":
        monkeypatch.setattr(sessions, "open_gpu", no_adapter)
    for size in (5000, 5001):
        x = np.linspace(0.1, 2.0, size, dtype=np.float32)
        np.testing.assert_allclose(fn(x), waves(x), rtol=2e-5)
        assert fn.explain(x).devices == ["cpu"]
        over(machine)
    assert current_session() is machine
    assert len(calls) == (fails == "measurement")


def no_adapter(*_, **__):
    raise BackendError("there is none")


def test_nothing_is_measured_for_programs_that_no_gpu_would_win(machine, monkeypatch):
    calls, fn = measured(monkeypatch, FAST), runmat.jit(waves)
    machine.__dict__["profile"] = CPU
    monkeypatch.setattr(placement, "LARGE_GPU", NEVER)
    devices(fn)
    over(machine)
    assert not calls
    assert not machine.opened


def test_the_end_of_a_process_ends_a_measurement(machine, monkeypatch):
    started, goes_on = threading.Event(), threading.Event()
    measured(monkeypatch, FAST, started, goes_on)
    devices(runmat.jit(waves))
    assert started.wait(10)
    calibration = machine.service(Calibration, Calibration)
    threading.Timer(0.05, goes_on.set).start()
    calibration.stop()
    assert current_session() is machine
    assert not machine.profiles.find("gpu", machine.gpu.info.key)
