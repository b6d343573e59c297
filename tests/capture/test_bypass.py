"""Calls let through to the undecorated function; oracle: that function, and counts of its calls."""

import inspect
import pickle
import sys
import traceback
from contextlib import nullcontext

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.replay.bailout import BAILOUT_CALLS, Bailout, kind_of
from tests.capture.behavior import compare, observe

# Where nothing may be raised, Python can but tell of an interrupt or of too deep a recursion.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

TOLD = []


def told(value):
    """Has an effect, so that Python is needed at each call."""
    TOLD[:] = [value]
    return value


def bypassed(fn, *args, **kwargs):
    """The decorated function, after so many fruitless calls that it has stepped aside."""
    decorated = runmat.jit(fn)
    for _ in range(BAILOUT_CALLS + 2):
        decorated(*args, **kwargs)
    assert is_let_through(decorated, *args, **kwargs)
    return decorated


def is_let_through(decorated, *args, **kwargs):
    """Whether such a call is neither recorded, nor repeated, nor counted."""
    before = decorated.cache_info()
    decorated(*args, **kwargs)
    return decorated.cache_info() == before


def tells(x, sink=None, /, by=2, *more, last=3, **named):
    return told(repr((x, sink, by, more, last, named)))


CALLS = [
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3, 4, 5), {}),
    ((1,), {"by": 7}),
    ((1,), {"last": 1, "by": 7}),
    ((1, 2, 3, 4), {"last": 5, "a": 6, "b": 7}),
    ((1,), {"b": 7, "a": 6}),
    ((1,), {"x": 5, "sink": 6}),
    ((), {}),
    ((1, 2, 3), {"by": 3}),
]


@pytest.mark.parametrize("first", range(7))
def test_arguments_arrive_as_they_were_given(first):
    args, kwargs = CALLS[first]
    decorated = bypassed(tells, *args, **kwargs)
    for args, kwargs in CALLS:
        compare(observe(tells, args, kwargs), observe(decorated, args, kwargs))


@pytest.mark.parametrize("call", [((), {}), ((1, 2), {}), ((1,), {"y": 2}), ((1,), {"x": 2})])
def test_calls_that_no_function_takes_are_refused_in_pythons_words(call):
    def one(x):
        return told(str(x))

    compare(observe(one, *call), observe(bypassed(one, 1), *call))


def test_a_call_by_name_is_let_through_as_one_by_position_is():
    def fn(x, sink):
        sink.append(told(x.size))

    decorated = bypassed(fn, np.ones(2), [])
    assert is_let_through(decorated, x=np.ones(3), sink=[])
    assert is_let_through(decorated, np.ones(3), sink=[])
    assert not is_let_through(decorated, np.ones(3, np.float32), sink=[])


def test_kinds_are_counted_apart():
    def fn(x):
        return told(x.size)

    decorated = runmat.jit(fn)
    kinds = ["f4", "f8", "i2", "M8[s]", "M8[D]", "U3", "U5", ">f8", "i4,f4"]
    for _ in range(BAILOUT_CALLS + 1):
        for kind in kinds:
            decorated(np.zeros(3, kind))
    assert all(is_let_through(decorated, np.zeros(3, kind)) for kind in kinds)
    assert is_let_through(decorated, np.zeros(3, np.dtype("f8").newbyteorder()))


def test_a_number_is_no_kind_of_array():
    assert kind_of(1.0) != kind_of(np.ones(1))  # although NumPy finds float and float64 equal

    def fn(x):
        return told(str(x)) if type(x) is float else x * 2

    decorated = bypassed(fn, 1.0)
    assert not is_let_through(decorated, np.ones(3))
    assert decorated.cache_info().hits == 0
    decorated(np.ones(3))
    assert decorated.cache_info().hits == 1


def test_a_fruitful_call_of_the_same_kind_keeps_the_decorator_in_place():
    def fn(x, shown):
        return told(str(x)) if shown else x * 2

    decorated, x = runmat.jit(fn), np.ones(20_000)
    for number in range(5 * BAILOUT_CALLS):
        decorated(x, number % 3 > 0)
    assert decorated.cache_info().hits > BAILOUT_CALLS


def test_the_function_of_a_gate_may_change():
    def fn(x, y=1):
        return told(str((x, y)))

    decorated = bypassed(fn, 1)
    decorated.__defaults__ = (5,)
    assert decorated(1) == fn(1) == "(1, 5)"
    decorated = bypassed(fn, 1)
    fn.__defaults__ = (6,)
    assert decorated(1) == "(1, 6)"
    fn.__code__ = (lambda x, y: told(str([x, y]))).__code__
    recorded = runmat.telemetry.snapshot()["calls_recorded"]
    assert decorated(1) == "[1, 6]"
    assert runmat.telemetry.snapshot()["calls_recorded"] == recorded + 1
    decorated = bypassed(fn, 1)
    decorated.__code__ = (lambda y, x: told(str([y, x]))).__code__
    assert decorated(x=1, y=2) == "[2, 1]"


def test_changed_options_are_looked_at():
    def fn(x):
        return told(str(x))

    decorated = bypassed(fn, 1)
    before = runmat.config().verify
    try:
        runmat.config(verify=1 - before)
        recorded = runmat.telemetry.snapshot()["calls_recorded"]
        decorated(1)  # asking the function itself, as above, would take the bypass away
        assert runmat.telemetry.snapshot()["calls_recorded"] == recorded + 1
    finally:
        runmat.config(verify=before)


def test_within_disable_and_under_a_debugger_and_when_cleared():
    def fn(x):
        return told(str(x))

    decorated = bypassed(fn, 1)
    with runmat.disable():
        assert decorated(1) == "1"
    lines = []
    sys.settrace(lambda frame, *_: lines.append(frame.f_code.co_name))
    decorated(1)
    sys.settrace(None)
    assert "fn" in lines
    decorated.clear_cache()
    assert not is_let_through(decorated, 1)


def test_errors_show_the_users_frames_alone():
    def fn(x):
        raise KeyError(str(x))

    decorated = runmat.jit(fn)
    for _ in range(3):
        with pytest.raises(KeyError) as caught:
            decorated(1)

    def sometimes(x):
        return told(str(1 // x))

    decorated = bypassed(sometimes, 1)
    with pytest.raises(ZeroDivisionError) as caught:
        decorated(0)
    names = [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert names == ["test_errors_show_the_users_frames_alone", "sometimes"]


class Counter:
    def __init__(self):
        self.seen = []

    @runmat.jit
    def count(self, x):
        self.seen.append(str(x))
        return len(self.seen)


def test_methods_are_let_through():
    counter = Counter()
    for number in range(1, 30):
        assert counter.count(np.ones(2)) == number
    assert is_let_through(Counter.count, counter, np.ones(2))
    assert counter.count.explain.__self__ is Counter.count
    assert pickle.loads(pickle.dumps(Counter.count)) is Counter.count


@pytest.mark.parametrize("off", [False, True])
def test_a_function_that_calls_itself_gets_as_deep_as_undecorated(off):
    def down(n):
        told(str(n))
        return 1 + down(n - 1) if n else 0

    depth = sys.getrecursionlimit() - len(inspect.stack()) - 50
    assert down(depth) == depth
    down = runmat.jit(down)
    with runmat.disable() if off else nullcontext():
        for _ in range(BAILOUT_CALLS + 2):
            assert down(1) == 1
        assert down(depth) == depth


def test_the_kinds_that_are_counted_are_bounded():
    def fn(x):
        return told(str(x))

    decorated = runmat.jit(fn)
    classes = [type(f"K{n}", (), {}) for n in range(200)]
    for _ in range(3):
        for each in classes:
            decorated(each())
    aside = decorated._captured[1].bailout
    assert isinstance(aside, Bailout)
    assert len(aside._tallies) <= 64
