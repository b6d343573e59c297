"""Calls that no replay can repeat step aside; oracle: plain Python, and counts of recordings.

The kinds are those of ``benchmarks/unreplayed.py``: results, stores, callees and exceptions that
need Python at each call.
"""

import inspect
import itertools
import os
import sys
import traceback

import numpy as np
import pytest

import runmat_jit as runmat
from benchmarks import unreplayed
from benchmarks.unreplayed import KINDS, RAISING, plain, same
from tests.capture.behavior import observe

pytestmark = [
    pytest.mark.usefixtures("steps_aside"),
    pytest.mark.sampled(2),
    # Where nothing may be raised, Python can but tell of an interrupt or of too deep a recursion.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

WARM, MORE = 28, 10
"""Calls of one kind after which none is recorded any more, and calls that show it."""
RAISING_EVENTS = 3
"""Calls at the end, in which events are exceptions."""


# -- variants of each kind -------------------------------------------------------------------------
def as_it_is(fn):
    return fn


def with_bits_of_ours(fn):
    def ours(x):
        y = np.tanh(x) + 1
        return fn(y), np.exp(y).sum()

    return ours


def at_some_calls(fn):
    def sometimes(x):
        if x.ndim and x[0] > 2:
            return x * 2 + 1
        return fn(x)

    return sometimes


VARIANTS = [as_it_is, with_bits_of_ours, at_some_calls]


def counts():
    """Recordings, and programs compiled, in this session."""
    found = runmat.telemetry.snapshot()
    return found["calls_recorded"], found["programs_built"]


def arguments():
    """Arrays of one kind, as often as it takes; every third has another outcome."""
    for number in itertools.count():
        yield np.linspace(1.0, 2.0, 100) + (3 if number % 3 == 2 else 0)


def others():
    """Arguments of other kinds and sizes, and those of the first kind among them."""
    yield np.linspace(1, 2, 100, dtype=np.float32)
    yield np.arange(1, 30)
    yield np.linspace(1, 2, 100)
    yield np.linspace(1, 2, 50_000)
    yield np.ones((8, 7))
    yield np.ones(3)
    yield np.float64(1.5)
    yield np.linspace(1, 2, 100)[::2]
    yield np.linspace(1, 2, 100)


def all_calls(fn, after_warm):
    """What each of many calls does, while arguments and outside state change."""
    unreplayed.begin()
    given, seen = arguments(), []
    seen += [one_call(fn, next(given)) for _ in range(WARM)]
    before = after_warm()
    seen += [one_call(fn, next(given)) for _ in range(MORE)]
    assert after_warm() == before, "calls are still recorded, or compiled"
    seen += [one_call(fn, x) for _ in range(2) for x in others()]
    unreplayed.TABLE["missing"] = 2.0
    unreplayed.MODEL.moment, unreplayed.MODEL.calls, unreplayed.Model.count = 3.0, -1, 70
    unreplayed.STATE["calls"] = 1.5
    unreplayed.HISTORY[:] = [4.0] * 5
    unreplayed.window.cache_clear()
    seen += [one_call(fn, next(given)) for _ in range(4)]
    del unreplayed.TABLE["missing"]
    with np.errstate(divide="raise", over="ignore"):
        seen += [one_call(fn, next(given)) for _ in range(RAISING_EVENTS)]
    return seen


def one_call(fn, x):
    """Everything that a caller sees; the result as lists."""
    seen = observe(fn, (x,), {})
    seen.result = None if seen.error else plain(seen.result)
    return seen


CASES = [
    pytest.param(fn, variant, id=f"{fn.__name__}-{variant.__name__}", marks=marks)
    for number, fn in enumerate((*KINDS, *RAISING))
    for other, variant in enumerate(VARIANTS)
    for marks in [() if (number + other) % 4 == 0 else pytest.mark.slow]
]


@pytest.mark.parametrize(("fn", "variant"), CASES)
def test_after_some_calls_none_is_recorded_and_each_is_as_undecorated(fn, variant):
    expected = all_calls(variant(fn), after_warm=lambda: None)
    found = all_calls(runmat.jit(variant(fn)), after_warm=counts)
    bits = {}
    for number, (theirs, ours) in enumerate(zip(expected, found, strict=True)):
        for name in ("error", "error_lines", "printed", "warned"):
            assert getattr(ours, name) == getattr(theirs, name), (number, name)
        assert same(theirs.result, ours.result), (number, theirs.result, ours.result)
        assert np.array_equal(theirs.args[0], ours.args[0], equal_nan=True), number
        key = theirs.args[0].tobytes(), theirs.args[0].shape, repr(theirs.result)
        bits.setdefault(key, set()).add(repr(ours.result))
    for (*_, theirs), ours in bits.items():  # NumPy's where a call is not compiled
        assert len(ours | {theirs}) <= 2, "the bits of compiled calls depend on the call"


# -- one by one ------------------------------------------------------------------------------------
def too_long(x):
    y = x * 2 + 1
    if y.max() > 5:
        raise ValueError(f"{len(x)} values")
    return y


def calls_of(decorated, arrays):
    """Recordings that calls make, each of which may raise."""
    before = runmat.telemetry.snapshot()["calls_recorded"]
    for x in arrays:
        observe(decorated, (x,), {})
    return runmat.telemetry.snapshot()["calls_recorded"] - before


def test_a_call_that_raises_is_recorded_twice():
    for fn, x in ((too_long, np.full(10, 9.0)), (unreplayed.bad_shapes, np.ones(10))):
        assert calls_of(runmat.jit(fn), [x] * 20) == 2


def test_calls_that_do_not_raise_any_more_are_recorded_in_the_end():
    decorated = runmat.jit(too_long)
    high, low = np.full(10, 9.0), np.zeros(10)
    assert calls_of(decorated, [high] * 5) == 2
    assert calls_of(decorated, [low] * 20) == 0
    assert calls_of(decorated, [low] * 1200) == 1
    assert decorated.cache_info().hits > 200
    large = np.zeros(1_000_000)  # which is worth much sooner
    assert calls_of(decorated, [large] * 4) <= 2


def test_an_outcome_that_raises_now_and_then_does_not_take_the_replays_of_large_arrays_away():
    decorated = runmat.jit(too_long)
    high, low = np.full(2_000_000, 9.0), np.zeros(2_000_000)
    for _ in range(4):
        calls_of(decorated, [low, low, low, high])
    assert decorated.cache_info().hits >= 8


@pytest.mark.parametrize("fn", [unreplayed.counter_in_dict, unreplayed.appended_outside])
def test_larger_arrays_are_recorded_though_smaller_ones_gain_nothing(fn):
    decorated, small, large = runmat.jit(fn), np.ones(100), np.ones(2_000_000)
    assert calls_of(decorated, [small] * 20) == 4
    assert calls_of(decorated, [large] * 20) == 20
    assert calls_of(decorated, [small, small[:50], small[:1]]) == 0


def computes(x, by=2.0):
    os.getpid()
    y = np.exp(x) * by
    if len(x) == 3:
        raise ValueError("three")
    return y


def bypassed():
    """A function that has stepped aside, though compiled it differs from NumPy in the last bits."""
    decorated = runmat.jit(computes)
    x = np.linspace(0.1, 3, 100)
    first = decorated(x)
    assert calls_of(decorated, [x] * 10) == 3
    assert decorated.explain(x).mode == "plain Python"
    return decorated, x, first


def test_what_is_not_compiled_has_numpys_bits():
    decorated, x, first = bypassed()
    assert not np.array_equal(computes(x), first)
    np.testing.assert_array_equal(decorated(x), computes(x))
    with runmat.disable():
        np.testing.assert_array_equal(decorated(x), computes(x))


@pytest.mark.parametrize("options", [{"compile": "first call"}, {"reproducible": True}])
def test_one_set_of_bits_where_that_is_asked_for(options):
    runmat.config(**options)
    decorated, x = runmat.jit(computes), np.linspace(0.1, 3, 100)
    first = decorated(x)
    assert not np.array_equal(computes(x), first)
    for _ in range(40):
        np.testing.assert_array_equal(decorated(x), first)
    assert decorated.explain(x).mode == "recorded at every call"


def test_calls_that_are_let_through_follow_the_functions_defaults():
    decorated, x, _ = bypassed()
    computes.__defaults__ = (4.0,)
    np.testing.assert_array_equal(decorated(x), np.exp(x) * 4.0)
    computes.__defaults__ = (2.0,)
    np.testing.assert_array_equal(decorated(x), np.exp(x) * 2.0)


@pytest.mark.parametrize("fn", [computes, unreplayed.bad_shapes, too_long])
def test_tracebacks_of_calls_that_are_let_through_show_the_users_frames_alone(fn):
    decorated, x = runmat.jit(fn), np.full(3, 9.0)
    for _ in range(6):
        with pytest.raises(ValueError, match=r"three|broadcast|3 values") as caught:
            decorated(np.tile(x, 3) if fn is unreplayed.bad_shapes else x)
        frames = traceback.extract_tb(caught.tb)
        assert [frame.name for frame in frames][1:] == [fn.__name__]


def test_a_bypassed_recursion_gets_as_deep_as_undecorated():
    def down(n, x):
        os.getpid()
        return 1 + down(n - 1, np.exp(x)) if n else 0

    depth, x = sys.getrecursionlimit() - len(inspect.stack()) - 50, np.full(3, -1.0)
    with np.errstate(over="ignore"):
        assert down(depth, x) == depth
        down = runmat.jit(down)
        for _ in range(10):
            assert down(1, x) == 1
        assert down.explain(1, x).mode == "plain Python"
        assert down(depth, x) == depth


def test_recordings_that_nothing_repeats_end():
    decorated, x = runmat.jit(lambda x, name: (x * 2, name)), np.ones(20_000)
    before = runmat.telemetry.snapshot()["calls_recorded"]
    for number in range(100):
        decorated(x, f"name {number}")
    assert runmat.telemetry.snapshot()["calls_recorded"] - before == 15
    decorated = runmat.jit(lambda x, name: (x * 2, name))
    for number in range(60):
        decorated(x, f"name {number % 14}")
    assert decorated.cache_info().hits == 46


@pytest.mark.parametrize(
    ("size", "one_in", "ends"),
    [(5, 2, True), (5, 60, True), (50_000, 2, True), (50_000, 60, False)],
)
def test_replays_pay_for_recordings(size, one_in, ends):
    """By the work of their kernels: where they do not, such calls end in plain Python."""
    decorated, x = runmat.jit(lambda x, name: (x * 2, name)), np.ones(size)
    for number in range(3000):
        decorated(x, f"name {number}" if number % one_in == 0 else "the usual one")
    recorded = decorated.cache_info().misses
    assert (recorded < 2900 / one_in) == ends
    assert (decorated.explain(x, "the usual one").mode == "plain Python") == ends


def test_replays_that_gain_nothing_step_aside():
    decorated, x = runmat.jit(unreplayed.singular_and_caught), np.ones(100)
    assert calls_of(decorated, [x] * 40) == 1
    assert decorated.cache_info().hits < 17
    assert decorated.explain(x).mode == "plain Python"
