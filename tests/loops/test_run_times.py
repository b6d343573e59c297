"""Comparison of native runs of a loop with Python's. Oracle: the times that a test sets."""

import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.core import evidence
from runmat_jit.core.config import Config
from runmat_jit.loops import driver, program
from runmat_jit.loops.run_times import OPERATION_S, RUNS, SHORT_S, RunTimes
from runmat_jit.runtime.session import Session, current_session, use_session


class Clock:
    """A clock that goes on when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


def timed(native, python, work=100):
    """Times of a loop whose native runs and runs in Python have taken so many seconds."""
    clock = Clock()
    times = RunTimes(compares=True, clock=clock)
    for seconds in native:
        start = clock()
        clock.now += seconds
        times.ran(work, start)
    for seconds in python:
        times.begin(sys._getframe(), work)
        clock.now += seconds
        times.end(sys._getframe())
    return times


seconds = st.integers(1, 900).map(lambda us: us * 1e-6)
several = st.lists(seconds, min_size=RUNS, max_size=RUNS)


@given(several, several, st.integers(1, 1 << 40))
def test_runs_of_as_much_work_or_less_are_pythons_if_those_take_less(native, python, work):
    times = timed(native, python, work)
    least = [round(1e6 * min(each)) for each in (native, python)]
    if least[0] == least[1]:  # sums of a clock differ in the last bits
        return
    slower = least[1] < least[0]
    assert times.leaves(work, 1) == slower
    assert times.leaves(work // 2, 1) == slower
    assert not times.leaves(2 * work, 1)


def test_a_run_is_left_to_python_only_in_doubt():
    work = 100
    native = RUNS * [SHORT_S / 2]
    doubtful, beyond = (round(SHORT_S / 2 / OPERATION_S * factor) for factor in (3, 5))
    assert not timed(native[1:], []).leaves(work, doubtful)  # nothing is known yet
    assert timed(native, []).leaves(work, doubtful)
    assert not timed(native, []).leaves(work, beyond)
    assert not timed(RUNS * [2 * SHORT_S], []).leaves(work, doubtful)
    assert not timed(native, RUNS * [1.0]).leaves(work, doubtful)


def test_what_another_frame_ends_does_not_count():
    times = timed(RUNS * [1e-4], [])
    for _ in range(RUNS):
        times.begin(sys._getframe(), 100)
        end_in_another_frame(times)
        times.end(sys._getframe())
    assert not times.python


def end_in_another_frame(times):
    times.end(sys._getframe())


def test_nothing_is_timed_where_bits_differ():
    times = timed(RUNS * [1e-4], RUNS * [1e-5])
    times.compares = False
    assert not times.leaves(100, 1)


# -- loops of functions ----------------------------------------------------------------------------
def marked(x, n):
    for i in range(2, n):
        if x[i]:
            x[2 * i :: i] = False
    return x


def added(x, n):
    total = 0.0
    for i in range(n):
        total = total + np.abs(x - i).sum()
    return total


@pytest.fixture
def timed_runs(monkeypatch):
    """Native runs take as long as the fixture's ``native`` says, those of Python 0.1 ms."""
    monkeypatch.delitem(sys.modules, "runmat_jit.array", raising=False)
    before = use_session(Session(Config(trials=True)))
    monkeypatch.setattr(evidence, "LOOPS_PAY", 0)
    monkeypatch.setattr(evidence, "RECORDING_PAYS", 1 << 60)
    monkeypatch.setattr(driver, "LOOP_PAYS", 0)
    clock, end, attempt = Clock(), RunTimes.end, program.LoopCall.attempt
    clock.native = 0.0
    monkeypatch.setattr(program, "RunTimes", partial(RunTimes, clock=clock))

    def ended(times, frame):
        clock.now += 1e-4
        end(times, frame)

    def attempted(call, *args, **kwargs):
        clock.now += clock.native
        return attempt(call, *args, **kwargs)

    monkeypatch.setattr(RunTimes, "end", ended)
    monkeypatch.setattr(program.LoopCall, "attempt", attempted)
    yield clock
    use_session(before)


def native_runs(decorated, fn, calls, *args):
    """How many of some calls have run a loop natively; all give what Python does."""
    before = current_session().telemetry.snapshot()["loops_run"]
    for _ in range(calls):
        ours, theirs = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in "ab")
        np.testing.assert_array_equal(decorated(*ours), fn(*theirs))
    return current_session().telemetry.snapshot()["loops_run"] - before


@pytest.mark.parametrize(("native", "runs"), [(2e-4, 0), (5e-5, 20)])
def test_a_loop_runs_where_it_takes_less(timed_runs, native, runs):
    decorated, x = runmat.jit(marked), np.ones(3000, bool)
    timed_runs.native = native
    native_runs(decorated, marked, 3 * RUNS + 4, x, 400)
    assert native_runs(decorated, marked, 20, x, 400) == runs


def test_the_clock_does_not_choose_bits(timed_runs):
    decorated, x = runmat.jit(added), np.linspace(0.0, 1.0, 3000)
    timed_runs.native = 2e-4
    for _ in range(20):
        decorated(x, 400)
    before = current_session().telemetry.snapshot()["loops_run"]
    for _ in range(20):
        decorated(x, 400)
    assert current_session().telemetry.snapshot()["loops_run"] - before == 20
