"""Functions that gain nothing, or that Python drives; oracle: plain Python and the counters."""

import logging
import os
import threading

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.signal

import runmat_jit as runmat
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import check, compare, observe

pytestmark = pytest.mark.usefixtures("steps_aside")


def tells(x):
    os.getpid()
    return x.size


def test_a_function_without_kernels_steps_aside_with_one_line_in_the_log(caplog):
    decorated = runmat.jit(tells)
    with caplog.at_level(logging.DEBUG, logger="runmat_jit"):
        for _ in range(40):
            compare(observe(tells, (np.ones(3),), {}), observe(decorated, (np.ones(3),), {}))
    assert decorated.cache_info().misses == 4
    why = "unknown-call: getpid: capture does not know what it does (test_bailout.py:21 in tells)"
    messages = [record.message for record in caplog.records]
    assert messages == [f"tells is plain Python from now on: {why}"]
    explanation = decorated.explain(np.ones(3))
    assert explanation.mode == "plain Python"
    assert "stepped aside" in explanation.notes[0]
    assert [reason.id for reason in explanation.reasons] == ["unknown-call"]


def test_a_function_that_steps_aside_for_many_kinds_says_so_once(caplog):
    decorated = runmat.jit(tells)
    with caplog.at_level(logging.DEBUG, logger="runmat_jit"):
        for dtype in "dfilq?":
            for _ in range(20):
                decorated(np.ones(3, dtype))
    assert len(decorated._captured[1].bailout.kinds) == 6
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "tells is plain Python from now on"
    ]


def test_a_function_that_stepped_aside_comes_back_for_arguments_of_another_kind():
    def fn(x):
        if isinstance(x, str):
            return x.upper()
        return x * 2

    decorated = runmat.jit(fn)
    for _ in range(20):
        assert decorated("text") == "TEXT"
    for _ in range(3):
        assert decorated(np.ones(2)).tolist() == [2, 2]
        assert decorated("text") == "TEXT"
    assert decorated.cache_info().hits >= 2


@pytest.mark.parametrize(("size", "misses"), [(3, 4), (2_000_000, 20)])
def test_a_function_steps_aside_where_kernels_between_effects_do_not_pay(size, misses):
    def fn(x):
        y = x * 2 + 1
        os.getpid()
        return y

    decorated = runmat.jit(fn)
    for _ in range(20):
        np.testing.assert_array_equal(decorated(np.ones(size)), fn(np.ones(size)))
    assert decorated.cache_info().misses == misses


def decides_by_a_number(x):
    x += 1
    n = int(x[0])
    y = x * 3
    return list(range(n)), y


@pytest.mark.parametrize(("size", "misses"), [(2, 15), (2_000_000, 80)])
def test_python_drives_where_replays_do_not_come_to_an_end(size, misses):
    decorated = runmat.jit(decides_by_a_number)
    for number in range(80):
        args = np.full(size, float(number))
        expected = observe(decides_by_a_number, (args.copy(),), {})
        compare(expected, observe(decorated, (args,), {}))
    info = decorated.cache_info()
    assert misses - 1 <= info.misses <= misses  # the last one may be that which costs too much
    explanation = decorated.explain(np.ones(size))
    if size == 2:
        assert explanation.mode == "plain Python"
    else:
        assert info.segments == 0
        assert "otherwise in each call" in explanation.notes[0]


def test_a_function_steps_aside_where_each_recording_has_a_program_of_its_own():
    """How many elements are chosen is part of the kernels."""

    def fn(x):
        chosen = x[x > x[0]]
        return np.abs(chosen - len(chosen)).max()

    decorated = runmat.jit(fn)
    for seed in range(60):
        args = np.random.default_rng(seed).random(1_000_000)
        assert decorated(args) == fn(args)
    assert decorated.cache_info().misses < 50
    assert decorated.explain(np.ones(1_000_000)).mode == "plain Python"


def test_scipy_functions_are_repeated_without_python():
    def fn(x):
        a = scipy.linalg.solve(x @ x.T + np.eye(4), x[0])
        lu, pivots = scipy.linalg.lu_factor(x)
        spectrum = scipy.fft.fft(x[0])
        filtered = scipy.signal.lfilter([1.0], [1.0, 0.5], x[1])
        return a * 2, spectrum.real, filtered + 1, lu, pivots

    check(fn, lambda rng: (rng.normal(size=(4, 4)),), seeds=(0, 0, 1, 2), replayed=True)


def test_scipy_functions_that_may_overwrite_their_arguments_are_effects():
    def fn(x):
        y = scipy.linalg.inv(x, overwrite_a=True)
        z = scipy.fft.fft(x.astype(complex), None, -1, None, True)
        return y, z.real, x.shape

    check(fn, lambda rng: (np.asfortranarray(rng.normal(size=(3, 3))),), replayed=False)


def test_threads_that_call_ten_functions_first_at_once_compile_each_once():
    plain = [eval(f"lambda x: np.sqrt(x * {n}.25 + {n}) - x.sum()", {"np": np}) for n in range(10)]
    sources = [runmat.jit(lambda x, n=n: np.sqrt(x * (n + 0.25) + n) - x.sum()) for n in range(10)]
    barrier, errors = threading.Barrier(16), []
    before = runmat.telemetry.snapshot()["programs_built"]

    def work():
        barrier.wait()
        for fn, decorated in zip(plain, sources, strict=True):
            x = np.arange(1.0, 9.0)
            if not np.allclose(fn(x), decorated(x), rtol=1e-12):
                errors.append(fn)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert errors == []
    assert runmat.telemetry.snapshot()["programs_built"] - before <= 20


def test_reading_elements_is_no_gain():
    def shown(x, sink):
        os.getpid()
        sink.append(float(x[0] + 1))
        return np.sort(x)

    decorated, x = runmat.jit(shown), np.arange(5.0)
    for _ in range(20):
        kept = []
        np.testing.assert_array_equal(decorated(x, kept), x)
        assert kept == [1.0]
    assert decorated.cache_info().misses == 4


def test_explanations_of_what_stepped_aside_or_changes_its_arguments():
    told = runmat.jit(tells)
    for _ in range(20):
        told(np.ones(3))
    assert told.explain(np.ones(4)).mode == "plain Python"

    def changes(items):
        items.append(np.ones(3))
        return items[0] * 2

    assert runmat.jit(changes).explain([np.ones(5)]).regions


def numbers(n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + i * 0.25
    return s


def arrays(n):
    x = np.ones(7)
    for i in range(n):
        x = x * 0.5 + i * 0.25
    return x


def sums(n):
    x, s = np.ones(9), 0.0
    for i in range(n):
        s = s * 0.5 + (x * i).sum()
    return s


def lists(n):
    out = []
    for i in range(n):
        out.append(i * 0.5)
    return out


@pytest.mark.parametrize("loop", [numbers, arrays, sums, lists])
def test_native_loops_run_in_functions_that_no_replay_can_repeat(loop):
    """Plain execution gains what they do; recordings of the rest would gain no more."""

    def fn(n):
        found = loop(n)
        os.getpid()
        return found

    decorated, count = runmat.jit(fn), current_session().telemetry
    for _ in range(8):
        compare(observe(fn, (4_000,), {}), observe(decorated, (4_000,), {}))
    before = count.snapshot()
    for _ in range(4):
        compare(observe(fn, (4_000,), {}), observe(decorated, (4_000,), {}))
    after = count.snapshot()
    assert after["loops_run"] - before["loops_run"] == 4
    assert after["calls_recorded"] == before["calls_recorded"]
    assert decorated.explain(4_000).mode == "plain Python"
