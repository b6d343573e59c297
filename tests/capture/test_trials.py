"""Trials: what takes less without kernels is let through. Oracle: undecorated Python."""

import os
import threading
import traceback
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture import trial as trials
from runmat_jit.core.config import Config
from runmat_jit.core.hotness import ENTRIES
from runmat_jit.runtime.session import Session, use_session
from tests.parity.coverage import programs
from tests.parity.parity import compare_calls, configurations

pytestmark = pytest.mark.sampled(4)

ENOUGH = trials.CALLS + 8
"""Calls after which there is a finding, and the next way is taken."""


@pytest.fixture(autouse=True)
def session(steps_aside):
    """Tests count replays: elsewhere there are no trials."""
    before = use_session(Session(Config(trials=True)))
    yield
    use_session(before)


class Clock:
    """Tells the time in calls; those without us take ``aside`` as long as those with us."""

    def __init__(self, decorated, aside):
        self.now, self.aside, self.tick = 0.0, aside, 0.9e-3
        dispatcher = decorated._dispatcher
        self.captured = dispatcher.captured[1]
        self.trial = dispatcher._trial
        self.trial.clock, self.made = self, self.captured.bypass_of
        self.captured.bypass_of = self.bypass_of
        self.calls = 0

    def __call__(self):
        self.now += self.tick
        return self.now

    def bypass_of(self, kind):
        made = self.made(kind)

        def call(*args, **kwargs):
            self.calls += 1
            self.now += self.tick * (self.aside - 1)
            return made(*args, **kwargs)

        return None if made is None else call


def moved(x, y):
    return (x * 2 + y)[::-1]


def softened(x):
    return np.exp(-x).sum()


def numbers(n=16, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def called(decorated, times, *args):
    for _ in range(times):
        found = decorated(*args)
    return found


def stepped_aside(decorated):
    return bool(decorated._dispatcher.captured[1].bailout.kinds)


def begun(fn, *args, aside):
    """A decorated function that has been called once, and its clock."""
    decorated = runmat.jit(fn)
    decorated(*args)
    return decorated, Clock(decorated, aside)


def test_calls_that_take_less_without_us_are_let_through():
    x, y = numbers(), numbers(seed=1)
    decorated, _ = begun(moved, x, y, aside=0.5)
    called(decorated, ENOUGH, x, y)
    assert stepped_aside(decorated)
    before = runmat.telemetry.snapshot()
    np.testing.assert_array_equal(decorated(x, y), moved(x, y))
    assert runmat.telemetry.snapshot()["kernel_launches"] == before["kernel_launches"]


@pytest.mark.parametrize("aside", [1.0, 2.0])
def test_calls_that_take_as_long_or_longer_are_not(aside):
    x, y = numbers(), numbers(seed=1)
    decorated, clock = begun(moved, x, y, aside=aside)
    called(decorated, ENOUGH, x, y)
    assert not stepped_aside(decorated)
    assert clock.calls == trials.COLD + trials.PAIRS
    called(decorated, ENOUGH, x, y)
    assert clock.calls == trials.COLD + trials.PAIRS


@pytest.mark.parametrize(("aside", "steps"), [(0.5, True), (1.0, False), (2.0, False)])
def test_long_calls_are_compared_at_once(aside, steps):
    x, y = numbers(), numbers(seed=1)
    decorated, clock = begun(moved, x, y, aside=aside)
    clock.tick = 0.01
    called(decorated, 5, x, y)  # with the one that was recorded, six
    assert stepped_aside(decorated) == steps
    called(decorated, ENOUGH, x, y)
    assert stepped_aside(decorated) == steps
    assert clock.calls <= 4


@pytest.mark.parametrize(("aside", "calls"), [(5.0, trials.COLD + 2), (50.0, 2)])
def test_two_calls_that_take_far_longer_end_a_trial(aside, calls):
    """Those that take more than what compiling takes end it at once: ours take a millisecond."""
    x, y = numbers(), numbers(seed=1)
    decorated, clock = begun(moved, x, y, aside=aside)
    called(decorated, ENOUGH, x, y)
    assert not stepped_aside(decorated)
    assert clock.calls == calls


@pytest.mark.parametrize(
    ("share", "tried"), [(0.5, True), (0.9 * trials.BEYOND, True), (4.0, False)]
)
def test_work_by_count_leaves_no_doubt_only_if_it_takes_far_longer(share, tried):
    """Calls take a millisecond by the clock; counts of loops may be several times too high."""
    x, y = numbers(), numbers(seed=1)
    decorated, clock = begun(moved, x, y, aside=0.5)
    clock.captured.work_of = lambda *_: int(share * 1e-3 / trials.CALL_S)
    called(decorated, ENOUGH, x, y)
    assert stepped_aside(decorated) == tried


def test_the_clock_does_not_decide_where_bits_may_differ():
    x = numbers(1001)
    decorated, clock = begun(softened, x, aside=0.5)
    first = decorated(x)
    clock.captured.work_of = lambda *_: 1  # the clock says a call takes a millisecond
    found = {called(decorated, 1, x).tobytes() for _ in range(ENOUGH + 20)}
    assert not stepped_aside(decorated)
    assert found == {first.tobytes()}


@pytest.mark.parametrize("exponent", [3, 4, -2, 2.5])
def test_powers_of_a_number_that_is_given_keep_their_bits(exponent):
    def raised(x, power):
        return np.abs(x) ** power

    x = numbers()
    decorated, clock = begun(raised, x, exponent, aside=0.5)
    clock.captured.work_of = lambda *_: 1
    assert len({called(decorated, 1, x, exponent).tobytes() for _ in range(ENOUGH + 20)}) == 1


@pytest.mark.parametrize(("aside", "runs"), [(0.5, 0), (2.0, 3)])
def test_loops_in_functions_that_no_replay_can_repeat_are_tried_both_ways(aside, runs):

    def fn(n):
        s = 0.0
        for i in range(n):
            s = s * 0.5 + i
        os.getpid()
        return s

    decorated, _ = begun(fn, 4000, aside=aside)
    called(decorated, ENOUGH + 20, 4000)
    before = runmat.telemetry.snapshot()["loops_run"]
    assert called(decorated, 3, 4000) == fn(4000)
    assert runmat.telemetry.snapshot()["loops_run"] - before == runs
    assert decorated.explain(4000).mode == "plain Python"


def test_larger_arrays_are_replayed_as_before():
    x, y = numbers(), numbers(seed=1)
    decorated, _ = begun(moved, x, y, aside=0.5)
    called(decorated, ENOUGH, x, y)
    large = numbers(1000), numbers(1000, seed=1)
    called(decorated, 4, *large)
    before = runmat.telemetry.snapshot()["kernel_launches"]
    np.testing.assert_array_equal(decorated(*large), moved(*large))
    assert runmat.telemetry.snapshot()["kernel_launches"] > before


def test_what_is_recorded_later_has_a_trial_of_its_own():
    x, y = numbers(), numbers(seed=1)
    decorated, clock = begun(moved, x, y, aside=2.0)
    called(decorated, ENOUGH, x, y)
    large = numbers(1000), numbers(1000, seed=1)
    clock.aside = 0.5
    called(decorated, 4 * ENOUGH, *large)
    limits = [each.below for each in clock.captured.bailout.kinds]
    assert limits == [1024]


def test_calls_that_are_recorded_each_time_are_let_through():
    def spread(x):
        chosen = x[x > 0]
        return [chosen * len(chosen), type("T", (), {"x": chosen})]

    def same(call):
        (found, cls), (expected, _) = decorated(numbers(seed=call)), spread(numbers(seed=call))
        return np.array_equal(found, expected) and isinstance(cls, type)

    decorated, clock = begun(spread, numbers(), aside=0.5)
    assert all(map(same, range(ENOUGH)))
    assert stepped_aside(decorated)
    recorded = clock.captured.counts.recorded
    assert all(map(same, range(10)))
    assert clock.captured.counts.recorded == recorded


def test_calls_of_several_sizes_and_kinds_are_compared_with_their_own():
    """In turn: large arrays of float64 take longer without us, all other cases less."""
    cases = [numbers(n).astype(kind) for kind in "dfl" for n in (16, 100, 5000)]
    decorated, clock = begun(moved, cases[0], cases[0], aside=0.5)
    made = clock.bypass_of

    def bypass_of(kind):
        without = made(kind)

        def call(x, y):
            if x.size == 5000 and x.dtype == float:
                clock.now += 0.01
            return without(x, y)

        return call

    clock.captured.bypass_of = bypass_of
    for _ in range(ENOUGH):
        for x in cases:
            np.testing.assert_array_equal(decorated(x, x), moved(x, x))
    limits = {each.kind.named[0].dtype.char: each.below for each in clock.captured.bailout.kinds}
    assert limits == {"d": 128, "f": 8192, "l": 8192}
    assert not clock.trial.active


def test_a_trial_ends_though_its_cases_are_too_many():
    decorated, clock = begun(moved, numbers(), numbers(), aside=2.0)
    kinds = np.dtype("d"), np.dtype("f"), np.dtype("l"), np.dtype("i"), np.dtype("h")
    for turn in range(trials.WARM + trials.MOST * ENTRIES):
        x = numbers(1 << (turn % 11)).astype(kinds[turn % 5])
        decorated(x, x)
        if not clock.trial.active:
            break
    assert not clock.trial.active
    assert len(clock.trial.judged) <= ENTRIES


def test_calls_that_raise_are_compared_too():
    def fails(x, y):
        return x * 2 + y

    decorated = runmat.jit(fails)
    good = numbers(), numbers()
    decorated(*good)
    _ = Clock(decorated, 0.5)
    for _ in range(ENOUGH):
        with pytest.raises(ValueError, match="broadcast") as caught:
            decorated(numbers(3), numbers(4))
        names = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert all(name == __file__ for name in names)


def test_warnings_are_at_the_lines_of_the_program():
    def divided(x):
        return 1 / x * 2

    decorated = runmat.jit(divided)
    x = np.zeros(16)
    for call in range(ENOUGH):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            decorated(x)
        assert [w.filename for w in seen] == [__file__], call
        assert seen[0].lineno == divided.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    "options", [{"fullgraph": True}, {"device": "gpu"}], ids=["fullgraph", "gpu"]
)
def test_what_was_asked_for_has_no_trial(options):
    if options.get("device") == "gpu":
        pytest.importorskip("wgpu")
    decorated = runmat.jit(**options)(moved)
    dispatcher = decorated._dispatcher
    made = dispatcher.capture(Session(Config(trials=True)))
    assert dispatcher.trial_of(Session(Config(trials=True)), made) is None


def test_recursive_functions_have_none():
    def halved(x):
        return x if len(x) < 2 else halved(x[::2] * 0.5)

    decorated = halved = runmat.jit(halved)
    decorated(numbers())
    assert decorated._dispatcher._trial is None


def test_there_is_none_where_it_is_switched_off():
    before = use_session(Session(Config(trials=False)))
    decorated = runmat.jit(moved)
    decorated(numbers(), numbers())
    assert decorated._dispatcher._trial is None
    use_session(before)


def test_plain_calls_stay_plain_in_a_trial():
    x = numbers(1001)
    decorated, clock = begun(softened, x, aside=0.5)
    clock.captured.work_of = lambda *_: 1
    called(decorated, trials.WARM + trials.PAIRS, x)
    plain = softened(x).tobytes()
    with runmat.disable():
        assert {decorated(x).tobytes() for _ in range(ENOUGH)} == {plain}
    assert not clock.calls


def test_threads_that_call_at_once_get_the_right_results():
    x, y = numbers(), numbers(seed=1)
    decorated, clock = begun(moved, x, y, aside=0.5)
    wrong = []

    def work():
        for _ in range(ENOUGH):
            if not np.array_equal(decorated(x, y), moved(x, y)):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert stepped_aside(decorated)
    assert clock.trial._lock.acquire(blocking=False)


def test_a_function_that_is_called_again_within_a_call():
    inner = []

    def outer(x):
        if len(x) > 8 and inner:
            return x * 2 + inner[0](x[:8])[0]
        return x * 3

    decorated = runmat.jit(outer)
    inner.append(decorated)
    x = numbers()
    expected = x * 2 + (x[:8] * 3)[0]
    for _ in range(ENOUGH):
        np.testing.assert_array_equal(decorated(x), expected)


EVERY = 16


@pytest.mark.parametrize("name", sorted(programs())[::EVERY])
@pytest.mark.parametrize("aside", [0.5, 1.0])
def test_programs_compute_the_same_in_every_call_of_a_trial(name, aside, monkeypatch):
    monkeypatch.setattr(trials, "WARM", 2)
    program = programs()[name]
    decorated = runmat.jit(program.fn)
    configuration = configurations(program, whole=False)[0]
    compare_calls(program, decorated, configuration, 0)
    if decorated._dispatcher._trial is not None:
        clock = Clock(decorated, aside)
        clock.captured.work_of = lambda *_: 1
    for seed in range(1, 2 * trials.PAIRS + trials.COLD + 20):
        compare_calls(program, decorated, configuration, seed % 3)
