"""Loops that cannot end natively. Oracle: plain Python, for all that is seen, lines included."""

import math
import os
import signal
import threading
import time

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import program
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from
from tests.loops.test_programs import array, both, give, ramp

# Where nothing may be raised, Python can but tell of an interrupt or of too deep a recursion.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def out_of_range(x, out, at):
    for i in range(len(x)):
        out[i] = x[i] * 2
        if i == at:
            out[i + 100] = 1.0
    return out


@pytest.mark.parametrize("at", [0, 3, 8])
def test_an_index_out_of_range(at, natively):
    both(out_of_range, ramp(9), ramp(9), give(at), natively=natively, times=0)


def test_the_last_index_is_one_too_far(natively):
    def fn(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i + 1] - x[i]
        return s

    both(fn, ramp(5), natively=natively, times=0)


@pytest.mark.parametrize("index", [-1, -5, -6, 4, 5])
def test_indices_count_from_the_end(index, natively):
    def fn(x, at):
        s = 0.0
        for i in range(3):
            s += x[at] * i
        return s

    inside = -5 <= index < 5
    both(fn, ramp(5), give(index), natively=natively, times=3 if inside else 0)


def smoothed(x, out):
    s = 0.0
    for i in range(len(x)):
        s = 0.5 * s + x[i]
        out[i] = s
    return s


def settling(x):
    s = 0.0
    for v in x:
        s = 0.25 * s + v
    return s


def decaying(x, out):
    for t in range(20):
        x = x - 0.1 * np.sin(x)
        out[t % len(out)] = x[0]
    return x


@pytest.mark.parametrize("fn", [smoothed, decaying])
def test_a_kernel_that_the_compiler_refuses(fn, natively, monkeypatch, no_mistakes_of_ours):
    """A mistake of ours: Python runs the loop, and the log tells."""

    def refuse(_kernel):
        raise AssertionError("no valid text")

    runmat.jit(settling)(np.ones(3))  # by then there is who compiles
    natively()
    monkeypatch.setattr(program.Services, "compile", property(lambda _: refuse))
    both(fn, ramp(9), ramp(9), natively=natively, times=0)
    assert all("please report this" in message for message in no_mistakes_of_ours)
    assert no_mistakes_of_ours
    no_mistakes_of_ours.clear()


SETTLING = """def f(x, limit):
    s, seen = 1.0, []
    for v in x:
        s = 0.5 * s + v
        seen.append(s)
        if s > limit:
            raise ValueError(f"{s} after {len(seen)} of {x!r}") from None
        assert s > -limit, (s, x)
    return seen
"""


@pytest.mark.parametrize(("limit", "times"), [(100, 3), (2, 0), (0.1, 0)])
def test_exceptions_that_the_program_raises(limit, times, natively):
    both(function_from(SETTLING), ramp(9), give(limit), natively=natively, times=times)


def test_exceptions_of_functions_that_are_called(natively):
    def root(v):
        if v < 0:
            raise ValueError(v)
        return math.sqrt(v)

    def fn(x, shift):
        s = 0.0
        for v in x:
            s += root(v + shift)
        return s

    both(fn, ramp(9), give(3), natively=natively)
    both(fn, ramp(9), give(2), natively=natively, times=0)


def test_division_by_zero_of_pythons_numbers(natively):
    def fn(n, d):
        s = 0.0
        for i in range(n):
            s += 1 / (d - i)
        return s

    both(fn, give(5), give(9), natively=natively)
    both(fn, give(5), give(3), natively=natively, times=0)
    both(fn, give(5), give(3.0), natively=natively, times=0)


def test_remainders_by_zero(natively):
    def fn(x, d):
        s = 0
        for i in range(len(x)):
            s += x[i] % (d - i)
        return s

    both(fn, ramp(5, "l"), give(2), natively=natively, times=0)
    both(fn, ramp(5), give(2), natively=natively, times=0)


def test_integers_grow_beyond_64_bits(natively):
    def fn(n):
        a = 1
        for _ in range(n):
            a = a * 3
        return a

    both(fn, give(39), natively=natively)
    both(fn, give(41), natively=natively, times=0)


@pytest.mark.parametrize("first", [2**62, 2**63 - 3, -(2**63) + 3])
def test_sums_of_integers_grow(first, natively):
    def fn(a, by, n):
        for _ in range(n):
            a = a + by
        return a

    both(fn, give(first), give(1), give(2), natively=natively)
    both(fn, give(first), give(2**61), give(9), natively=natively, times=0)
    both(fn, give(first), give(-(2**61)), give(20), natively=natively, times=0)


def test_numpys_integers_warn(natively):
    def fn(x):
        s = x[0]
        for i in range(len(x)):
            s = s + x[i]
        return s

    both(fn, lambda: np.full(5, 2**61), natively=natively, times=0)
    both(fn, lambda: np.full(5, 2**30, "i"), natively=natively, times=0)


def quotients(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] / y[i]
    return out


def test_numpys_events_are_reported_where_they_happen(natively):
    both(quotients, ramp(9), ramp(9), ramp(9), natively=natively, times=0)


def test_ignored_events_are_none(natively):
    def fn(x, y, out):
        with np.errstate(all="ignore"):
            for i in range(len(x)):
                out[i] = x[i] / y[i]
        return out

    both(fn, ramp(9), ramp(9), ramp(9), natively=natively)


@pytest.mark.parametrize("event", ["divide", "invalid"])
def test_events_of_which_some_are_ignored(event, natively):
    def fn(x, y, out):
        with np.errstate(**{event: "ignore"}):
            for i in range(len(x)):
                out[i] = x[i] / y[i]
        return out

    both(
        fn, array(1, 2), array(0, 1), array(0, 0), natively=natively, times=3 * (event == "divide")
    )


def test_events_that_raise(natively):
    def fn(x, y, out):
        with np.errstate(all="raise"):
            for i in range(len(x)):
                out[i] = x[i] / y[i]
        return out

    both(fn, array(1, 2, 3), array(1, 0, 1), array(0, 0, 0), natively=natively, times=0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_data_that_are_not_finite_are_no_events(value, natively):
    def fn(x, out):
        s = 0.0
        for i in range(len(x)):
            out[i] = x[i] * 0.5 + 1
            s += out[i]
            if s > 1e9:
                s = 0.0
        return s

    both(fn, array(1, value, 2), array(0, 0, 0), natively=natively)


def test_a_result_that_nobody_uses_warns(natively):
    def fn(x):
        s = 0.0
        for v in x:
            t = v * 1e300
            if v > 2:
                s += t * 0
            t = v * 1e10
        return s

    both(fn, array(1, 1e200, 2), natively=natively, times=0)


def test_a_result_that_one_way_alone_uses_warns(natively):
    def fn(x, wanted):
        s = 0.0
        for v in x:
            t = v * 1e300
            if wanted:
                s += t
        return s

    both(fn, array(1, 1e200, 2), give(False), natively=natively, times=0)


def test_a_sum_of_an_inner_loop_that_nobody_uses_warns(natively):
    def fn(x):
        s = 0.0
        for i in range(len(x)):
            t = x[0]
            for j in range(3):
                t = t + x[j] * 1e308
            s += i
        return s

    both(fn, array(1.0, 0.5, 0.1), natively=natively)
    both(fn, array(1.0, 5.0, 9.0), natively=natively, times=0)


def test_functions_of_math_raise(natively):
    def fn(x):
        s = 0.0
        for v in x:
            s += math.sqrt(v) + math.exp(v)
        return s

    both(fn, array(1, 2), natively=natively)
    both(fn, array(1, -2), natively=natively, times=0)
    both(fn, array(1, 1e4), natively=natively, times=0)


def test_floats_become_integers(natively):
    def fn(x, out):
        for i in range(len(x)):
            out[i] = x[i]
        return out

    both(fn, array(1.5, -2.5), array(0, 0, dtype="l"), natively=natively)
    both(fn, array(1.5, math.nan), array(0, 0, dtype="l"), natively=natively, times=0)
    both(fn, array(1.5, 3e9), array(0, 0, dtype="i"), natively=natively, times=0)


def test_arrays_that_cannot_be_written(natively):
    def fn(x):
        for i in range(len(x)):
            x[i] = 0.0
        return x

    def fixed():
        made = np.arange(3.0)
        made.flags.writeable = False
        return made

    both(fn, fixed, natively=natively, times=0)


def test_names_that_are_unbound(natively):
    def fn(x):
        for i in range(len(x)):
            if x[i] > 100:
                found = i
        return found

    both(fn, ramp(9), natively=natively, times=0)


def test_a_loop_that_leaves_each_time_becomes_pythons():
    decorated = runmat.jit(out_of_range)
    left = runmat.telemetry.snapshot()["loops_left"]
    for _ in range(12):
        with pytest.raises(IndexError):
            decorated(np.arange(9.0), np.arange(9.0), 3)
    assert runmat.telemetry.snapshot()["loops_left"] - left <= 3


def test_loops_in_try_are_pythons(natively):
    """What a loop has bound by then is seen afterwards."""

    def fn(x):
        s = 0.0
        try:
            for i in range(len(x) + 1):
                s += x[i]
        except IndexError:
            return s, i
        return s

    both(fn, ramp(5), natively=natively, times=0)


def spin(x, turns):
    s = 0
    for _ in range(10):
        j = 1
        while j > 0 and s < turns:
            j = j + 1 if j < 100 else 50
            s += 1
        x[0] = s
    return s


def many(x, turns):
    s = 0.0
    for i in range(turns):
        s += x[i % 3]
        x[0] = 1.0
    return s


@pytest.mark.parametrize("fn", [spin, many])
def test_an_interrupt_ends_a_loop_and_other_threads_run(fn):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    turns, ended, decorated = [0], threading.Event(), runmat.jit(fn)
    for number in (10, 1 << 25):  # each kind of number has been seen then
        decorated(np.ones(3), number)

    def count():
        while not ended.is_set():
            turns[0] += 1
            time.sleep(0.001)

    def interrupt():
        for pause in (0.3, 5, 5):  # once is enough, unless it comes where nobody may raise
            if ended.wait(pause):
                return
            os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=count)

    timer = threading.Thread(target=interrupt)
    x = np.ones(3)
    other.start()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            decorated(x, 10**11)  # it ends, if nothing else works
    finally:
        ended.set()
        timer.join()
        other.join()
        signal.signal(signal.SIGINT, before)
    assert x.tolist() == [1, 1, 1]
    assert turns[0] > 3


@pytest.mark.parametrize(
    "body",
    [
        "s = c / a[i]",
        "s = c / a[i]; u = s",
        "s = c; s += c / a[i]",
        "s, c = c, c / a[i]",
        "s = c / a[i]\n        if x[i] > 2: continue",
        "s = c / a[i]\n        if x[i] > 2: s = 0.0",
        "s = 1.0\n        for j in range(2): s = c / a[i]",
        "u = s = c / a[i]\n        if x[i] > 2: break",
    ],
)
def test_events_of_results_that_the_next_turn_drops(body):
    """Nobody reads what the division gives, and NumPy reports it in that turn all the same."""
    body = body.replace("; ", "\n        ")
    text = f"""def f(x, a):
    s, u, c = 0.0, 1.0, np.float64(0.0)
    for i in range(len(x)):
        {body}
    return s, u
"""
    fn = function_from(text, np=np)
    decorated = runmat.jit(fn)
    for zeros in (1, 3, 0, 2):
        given = ramp(4)(), np.array([0] * zeros + [2] * (4 - zeros), np.int32)
        compare(observe(fn, given, {}), observe(decorated, given, {}))
