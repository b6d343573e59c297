"""Prices and places. Oracles: arithmetic by hand; laws over generated profiles and programs."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.plan.place import (
    CALLS_TO_COME,
    MUST_WIN,
    Candidate,
    place,
    worth_opening,
)
from runmat_jit.plan.price import CALL_US, HostTask, Price, Task, price
from runmat_jit.plan.profile import CPU, GPU
from tests.plan.test_profile import profiles

tasks = st.lists(
    st.builds(Task, st.integers(0, 10**9), st.integers(0, 10**10), st.floats(0, 1e-2)), max_size=4
)
calls = st.lists(st.builds(HostTask, st.integers(0, 10**9), st.floats(0, 1e12)), max_size=2)
times = st.floats(0.1, 1e9)


def test_a_kernel_takes_the_longer_of_arithmetic_and_memory():
    task = Task(1000, 16_000, 1e-3)
    still = replace(CPU, launch_us=0.0, wake_us=1e9)
    assert price([task], still).kernels_us == 1.0
    near = CPU.bandwidth[0].one
    assert price([replace(task, iteration_us=0.0)], still).kernels_us == 16_000 / near


def test_the_working_set_decides_where_the_bytes_come_from():
    task = Task(10, 16_000, 0.0)
    near = price([task], CPU).kernels_us
    far = price([task], CPU, working_set=10**9).kernels_us
    assert far == 16_000 / CPU.bandwidth[-1].one > near


def test_transfers_and_waiting_are_a_cards():
    link = GPU.link
    found = price([], GPU, uploaded=[5_000_000, 1_000_000], downloaded=[4_000_000])
    up = 2 * link.upload_us + 6_000_000 / link.upload
    down = link.download_us + 4_000_000 / link.download
    assert found == Price(0.0, 0.0, up + down, CALL_US + link.submission_us + link.waiting_us)
    assert price([], CPU, uploaded=[10**9], downloaded=[10**9]).us == CALL_US


@given(profiles(), tasks, calls, st.integers(0, 3), st.integers(1, 10**9))
def test_more_of_anything_never_costs_less(profile, program, host, which, more):
    before = price(program, profile, calls=host, working_set=1e6, uploaded=[5], downloaded=[5])
    after = price(
        [*program, Task(more, more, 1e-6)] if which == 0 else program,
        profile,
        calls=[*host, HostTask(more)] if which == 1 else host,
        working_set=1e6 + (more if which == 2 else 0),
        uploaded=[5 + (more if which == 3 else 0)],
        downloaded=[5],
    )
    assert after.us >= before.us * (1 - 1e-9)


@given(profiles(), tasks, st.floats(1.0, 100.0))
def test_a_faster_device_never_loses_what_it_had(profile, program, factor):
    profile = replace(profile, threads=1)  # else the slow one may be let to more threads
    faster = replace(
        profile,
        rates={name: rate / factor for name, rate in profile.rates.items()},
        launch_us=profile.launch_us / factor,
    )
    slow = price([replace(t, iteration_us=t.iteration_us * factor) for t in program], profile)
    fast = price(program, faster)
    assert fast.us <= slow.us * (1 + 1e-9)
    other = Candidate("cpu", Price(slow.us * MUST_WIN * 1.01 + 1.0))
    if place([other, Candidate("gpu", slow)]).device == "gpu":
        assert place([other, Candidate("gpu", fast)]).device == "gpu"


@given(times, times)
def test_the_better_device_wins_and_ties_are_the_cpus(on_cpu, on_gpu):
    candidates = [Candidate("cpu", Price(on_cpu)), Candidate("gpu", Price(on_gpu))]
    found = place(candidates)
    assert found.device == ("gpu" if on_gpu * MUST_WIN <= on_cpu else "cpu")
    assert found.candidates == tuple(candidates)
    assert place([candidates[0], Candidate("gpu", Price(on_cpu))]).device == "cpu"


@given(times, times)
def test_a_changed_mind_does_not_change_back(on_cpu, on_gpu):
    candidates = [Candidate("cpu", Price(on_cpu)), Candidate("gpu", Price(on_gpu))]
    first = place(candidates, "cpu")
    second = place(candidates, first.device)
    assert second.device == first.device


@given(times, st.integers(0, 10**10))
def test_an_adapter_is_opened_only_where_it_may_regain_that(on_cpu, moved):
    refused = worth_opening(Price(on_cpu), ([moved], []), GPU)
    least = GPU.link.submission_us + GPU.link.waiting_us
    least += GPU.link.upload_us + moved / GPU.link.upload
    gain = CALLS_TO_COME * (on_cpu / MUST_WIN - least)
    assert (refused is None) == (gain > GPU.link.opening_us)


def test_small_programs_open_no_adapter_and_say_why():
    small = price([Task(1000, 16_000, 1e-4)], CPU)
    assert "transfers alone" in worth_opening(small, ([8_000], [8_000]), GPU)
    assert "opening" in worth_opening(Price(30_000.0), ([], []), GPU)
    assert worth_opening(Price(1e6), ([], []), GPU) is None
    assert "a CPU" in worth_opening(Price(1e6), ([], []), replace(GPU, link=None))


def test_a_decision_can_be_read():
    found = place([Candidate("cpu", Price(3000.0)), Candidate("gpu", Price(100.0, 0.0, 900.0))])
    assert str(found) == (
        "on gpu: 3 times as fast [cpu 3 ms (kernels 3 ms); "
        "gpu 1 ms (kernels 100 us, transfers 900 us)]"
    )
    assert found.to_dict() == {
        "device": "gpu",
        "reason": "3 times as fast",
        "predicted_us": {"cpu": 3000.0, "gpu": 1000.0},
        "measured_us": None,
        "measured_kernels_us": None,
    }
