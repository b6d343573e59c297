"""Where ``auto`` runs programs. Oracles: the CPU's results; profiles that leave no doubt.

The card is an adapter of this machine that passes for one: what is placed there really runs there.
"""

from dataclasses import replace

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.compiler import placement
from runmat_jit.core.config import read_config
from runmat_jit.core.errors import BackendError
from runmat_jit.plan.profile import CPU, GPU, Bandwidth, Link, Products
from runmat_jit.runtime import session as sessions
from runmat_jit.runtime.session import Session, current_session, use_session

SLOW_CPU = replace(CPU, rates={name: 1000.0 * rate for name, rate in CPU.rates.items()})
FAST = {name: 0.01 * rate for name, rate in GPU.rates.items()}
FAST_CARD = replace(GPU, rates=FAST, link=Link(1e5, 1e5, 0.1, 0.1, 1.0, 1.0, 1.0), launch_us=0.1)
SLOW_CARD = replace(
    GPU,
    bandwidth=(Bandwidth(1 << 62, 1e-3, 1e-3),),
    link=Link(1e9, 1e9, 0.1, 0.1, 0.1, 0.1, 1.0),
)


def waves(x):
    return np.tanh(np.sin(x) * np.exp(-x)) + 1


def product(a):
    return np.maximum(a @ a + a, 0)


@pytest.fixture
def auto(monkeypatch, tmp_path):
    """A session that may have a card, and nothing known of it."""
    monkeypatch.setattr(sessions, "might_have_gpu", lambda: True)
    made = Session(
        replace(
            read_config({"RUNMAT_COMPILE": "first", "RUNMAT_TRIALS": "0"}),
            cache_dir=str(tmp_path / "cache"),
            device="auto",
        )
    )
    before = use_session(made)
    yield made
    use_session(before)


@pytest.fixture
def card(gpu, auto):  # first the usual session's, whose adapter is known
    """The same with an opened card: this machine's adapter."""
    auto.__dict__["gpu"] = replace(gpu, info=replace(gpu.info, software=False))
    return auto


def profiles(session, cpu, card):
    session.__dict__["profile"] = cpu
    session.__dict__["gpu_profile"] = replace(card, measured=True)


@pytest.mark.parametrize(
    ("cpu", "other", "device"), [(SLOW_CPU, FAST_CARD, "gpu"), (CPU, SLOW_CARD, "cpu")]
)
@pytest.mark.parametrize("fn", [waves, product], ids=lambda fn: fn.__name__)
def test_a_program_runs_where_it_is_predicted_to_take_least(card, fn, cpu, other, device):
    profiles(card, cpu, other)
    x = np.linspace(0.1, 2.0, 64 * 64, dtype=np.float32).reshape(64, 64)
    decorated, before = runmat.jit(fn), runmat.telemetry.snapshot()
    for _ in range(4):
        np.testing.assert_allclose(decorated(x), fn(x), rtol=2e-5)
    explanation = decorated.explain(x)
    assert set(explanation.devices) == {device}
    launched = runmat.telemetry.snapshot()["gpu_launches"] - before["gpu_launches"]
    assert (launched > 0) == (device == "gpu")
    (decision,) = explanation.to_dict()["placements"]
    assert decision["device"] == device
    assert set(decision["predicted_us"]) == {"cpu", "gpu"}
    assert min(decision["predicted_us"], key=decision["predicted_us"].get) == device
    assert decision["measured_us"] > 0
    has_clock = "timestamp-query" in card.gpu.info.features
    assert (decision["measured_kernels_us"] is not None) == (device == "gpu" and has_clock)
    assert decision in runmat.telemetry.snapshot()["placements"]
    assert f"placed:\n  - on {device}: " in str(explanation)
    assert ", took " in str(explanation)


def test_other_lengths_are_placed_by_themselves(card):
    """Compiled for one length a program may be the CPU's, and the card's for a longer one."""
    profiles(card, CPU, replace(FAST_CARD, link=Link(1e5, 1e5, 0.1, 0.1, 100.0, 1.0, 1.0)))
    decorated = runmat.jit(waves)
    seen = {}
    for size in (10, 20, 30, 40, 3_000_000, 50):
        x = np.linspace(0.1, 2.0, size, dtype=np.float32)
        np.testing.assert_allclose(decorated(x), waves(x), rtol=2e-5)
        seen[size] = decorated.explain(x).devices
    assert seen.pop(3_000_000) == ["gpu"]
    assert all(devices == ["cpu"] for devices in seen.values())


def test_what_no_device_computes_stays_on_the_cpu_and_says_why(card):
    profiles(card, SLOW_CPU, FAST_CARD)
    decorated = runmat.jit(lambda x: np.cumsum(np.sin(x)) * 2)
    x = np.linspace(0.1, 2.0, 5000)
    np.testing.assert_allclose(decorated(x), np.cumsum(np.sin(x)) * 2)
    explanation = decorated.explain(x)
    assert set(explanation.devices) == {"cpu"}
    assert "one element after the other" in str(explanation)


def test_arrays_of_ours_are_computed_where_they_are(card):
    profiles(card, CPU, SLOW_CARD)
    decorated = runmat.jit(waves)
    x = np.linspace(0.1, 2.0, 500, dtype=np.float32)
    for home in ("gpu", "cpu", "gpu"):
        a = runmat.asarray(x, home)
        for _ in range(3):
            result = decorated(a)
            assert result.device == home
            np.testing.assert_allclose(result, waves(x), rtol=2e-5)
        explanation = decorated.explain(a)
        assert explanation.devices == [home]
        (decision,) = explanation.placements
        assert decision.candidates[0].price.transfers_us == 0.0  # nothing is moved


def test_new_arrays_go_to_the_card(card):
    assert runmat.asarray(np.ones(3)).device == "gpu"


def no_adapter(*_, **__):
    raise BackendError("there is none")


def test_small_programs_look_for_no_adapter(auto, monkeypatch):
    def found(*_, **__):
        raise AssertionError("an adapter was looked for")

    monkeypatch.setattr(sessions, "open_gpu", found)
    decorated = runmat.jit(waves)
    for size in (10, 1000, 100_000):
        decorated(np.linspace(0.1, 2.0, size))
    assert {d["device"] for d in runmat.telemetry.snapshot()["placements"]} == {"cpu"}


def test_without_an_adapter_that_works_the_cpu_computes(auto, monkeypatch):
    monkeypatch.setattr(sessions, "open_gpu", no_adapter)
    profiles(auto, SLOW_CPU, FAST_CARD)
    decorated, x = runmat.jit(waves), np.linspace(0.1, 2.0, 100_000)
    np.testing.assert_allclose(decorated(x), waves(x))
    assert "no GPU that works" in str(decorated.explain(x))
    assert runmat.asarray(x).device == "cpu"


def test_an_interrupt_while_an_adapter_is_opened_loses_nothing(auto, monkeypatch):
    """The call is not made; the next one looks again, and one that finds none does so once."""
    profiles(auto, SLOW_CPU, FAST_CARD)
    looked, answers = [], [KeyboardInterrupt(), BackendError("there is none")]

    def found(*_, **__):
        looked.append(1)
        raise answers[len(looked) - 1]

    monkeypatch.setattr(sessions, "open_gpu", found)

    def counted(x):
        done.append(1)
        return waves(x) * x

    done = []
    decorated, x = runmat.jit(counted), np.linspace(0.1, 2.0, 100_000)
    with pytest.raises(KeyboardInterrupt):
        decorated(x)
    for size in (100_000, 90_000, 80_000):
        np.testing.assert_allclose(decorated(x[:size]), waves(x[:size]) * x[:size])
    assert len(looked) == 2
    assert len(done) == 4


def test_software_adapters_are_cpus(auto, gpu):
    if not gpu.info.software:
        pytest.skip("no software adapter")
    auto.__dict__["gpu"] = gpu
    assert not auto.may_have_gpu
    assert runmat.jit(waves)(np.ones(5)).shape == (5,)
    assert runmat.asarray(np.ones(3)).device == "cpu"


def test_on_a_machine_without_cards_nothing_is_placed(monkeypatch, auto):
    monkeypatch.setattr(sessions, "might_have_gpu", lambda: False)
    decorated, x = runmat.jit(waves), np.linspace(0.1, 2.0, 1000)
    decorated(x)
    explanation = decorated.explain(x)
    assert "placed" not in str(explanation)
    (decision,) = explanation.to_dict()["placements"]
    assert decision["predicted_us"]["cpu"] > 0
    assert runmat.telemetry.snapshot()["placements"] == []


def test_a_lost_card_is_not_placed_on(card):
    profiles(card, SLOW_CPU, FAST_CARD)
    device = current_session().gpu.backend.device
    device.lost = True
    try:
        decorated, x = runmat.jit(waves), np.linspace(0.1, 2.0, 1000)
        np.testing.assert_allclose(decorated(x), waves(x))
        assert "was lost" in str(decorated.explain(x))
    finally:
        device.lost = False


def test_placements_are_logged_by_name(auto, caplog):
    runmat.config(log="placement")
    runmat.jit(waves)(np.linspace(0.1, 2.0, 1000))
    (record,) = caplog.records
    assert record.name == "runmat_jit.placement"
    assert record.message.startswith("placed on cpu: transfers alone would take")


# -- other extents -------------------------------------------------------------------------------
def numbers(size):
    return np.linspace(0.1, 2.0, size, dtype=np.float32)


@pytest.mark.parametrize(("times", "may"), [(1e-3, False), (20.0, True)])
def test_one_program_serves_small_arrays_of_all_extents(auto, monkeypatch, times, may):
    ask, answers = placement.may_win, []
    monkeypatch.setattr(placement, "may_win", lambda *a: answers.append(ask(*a)) or answers[-1])
    rates = {name: times * rate for name, rate in CPU.rates.items()}
    auto.__dict__["profile"] = replace(CPU, rates=rates)
    decorated = runmat.jit(waves)
    for size in (40, 50, 60, 7, 300, 41):
        np.testing.assert_allclose(decorated(numbers(size)), waves(numbers(size)), rtol=1e-6)
    assert decorated.cache_info().misses == 2, "the second one has symbolic extents"
    assert set(answers) == {may}


@pytest.mark.parametrize(
    ("fn", "large"), [(waves, 1_000_000), (product, 200)], ids=["waves", "product"]
)
def test_large_arrays_are_placed_each(card, fn, large):
    late = Link(1e5, 1e5, 50.0, 50.0, 100.0, 100.0, 1.0)
    multiplies_slowly = replace(CPU, products=(Products(float(1 << 62), 1500.0, 1500.0),))
    profiles(card, multiplies_slowly, replace(FAST_CARD, link=late))
    decorated, devices, misses = runmat.jit(fn), [], []
    for size in (20, 24, 30, large, 18, large + 1):
        x = numbers(size) if fn is waves else numbers(size * size).reshape(size, size)
        np.testing.assert_allclose(decorated(x), fn(x), rtol=1e-5)
        misses.append(decorated.cache_info().misses)
        devices += decorated.explain(x).devices
    assert devices == ["cpu", "cpu", "cpu", "gpu", "cpu", "gpu"]
    assert misses == [1, 2, 2, 3, 3, 4]
