"""Recordings that run away: they are left, and the rest of the call is plain Python.

Oracle: undecorated Python, for everything a caller sees.
"""

import collections
import functools
import logging
import operator
import os
import sys
import types
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.capture.record import plain_execution
from runmat_jit.capture.record.recording import Recording
from runmat_jit.core.prices import COMPILING, FREE
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import check
from tests.capture.random_programs import programs
from tests.capture.test_random_programs import call_all

pytestmark = pytest.mark.sampled(3)

EXAMPLES = 15 if os.environ.get("RUNMAT_TEST_PROFILE", "default") == "default" else 1000
PLACES = (0, 1, 2, 3, 5, 8, 13, 30)
"""Operations after which recordings are left."""


class Leaving:
    """Recordings are left after some operations, whatever they gain."""

    def __init__(self, patch, after):
        plain = Recording.defer

        def defer(recording, operation):
            plain(recording, operation)
            if recording.left is None and len(recording.tape.items) >= after:
                recording.run_away("a test leaves it here")

        patch.setattr(Recording, "defer", defer)


# -- laws ------------------------------------------------------------------------------------------
@settings(max_examples=EXAMPLES)
@given(program=programs("exact"), after=st.integers(0, 12))
def test_random_programs_of_exact_operations(program, after):
    with pytest.MonkeyPatch.context() as patch:
        Leaving(patch, after)
        call_all(program, exact=True)


@settings(max_examples=EXAMPLES)
@given(program=programs("smooth"), after=st.integers(0, 12))
def test_random_programs_of_smooth_operations(program, after):
    with pytest.MonkeyPatch.context() as patch:
        Leaving(patch, after)
        call_all(program, exact=False)


SCALE = 3.0
STATE = {"steps": 2}


def helper(x, by=2.0):
    return np.tanh(x) * by


class Model:
    rate = 0.5

    def __init__(self, weights):
        self.weights = weights
        self.seen = []

    def step(self, x):
        self.seen.append(x.sum())
        return np.exp(-x * self.rate) + self.weights

    @property
    def mean(self):
        return self.weights.mean()


def loops(x):
    for i in range(4):
        x = x * i + np.sin(x)
    return x


def rows(x):
    for row in x:
        row /= row.sum() + 10
    return x


def while_looking(x):
    n = 0
    while np.abs(x).max() > 0.3:
        x = x * 0.5
        n += 1
    return x, n


def lists(x):
    found = [np.cos(x)]
    for part in (x[0], x[1]):
        found.append(part * 2)
    return found, [float(value.sum()) for value in found]


def dictionaries(x):
    found = {"a": x * 2}
    for name in ("b", "c"):
        found[name] = found["a"] + len(found)
    return {name: value - 1 for name, value in found.items()}


def helpers(x):
    return helper(x) + helper(x, by=3.0) * helper(helper(x))


def closures(x):
    total = x * 0

    def add(value):
        nonlocal total
        total = total + np.sqrt(np.abs(value))
        return total

    for value in (x, x + 1, x * 2):
        add(value)
    return total, add(x)


def methods(x):
    model = Model(x[0] * 0.1)
    y = model.step(x)
    y = model.step(y)
    return y, model.seen, model.mean


def generators(x):
    def parts():
        for row in x:
            yield row * 2
            yield np.exp(row)

    return sum(part.sum() for part in parts()), list(parts())


def powers(x):
    y = np.abs(x) + 0.5
    for exponent in (2, 3, 0.5, -1, 1.8, 7.25):
        y = y**exponent + 0.1
    y **= 2.5
    return y, 2.0**y, np.float64(3) ** y[0, 0], y[0, 0] ** 1.5


def reductions(x):
    found = []
    for axis in (None, 0, 1):
        found += [x.sum(axis=axis), np.mean(x, axis), np.add.reduce(x, axis=axis or 0)]
        found += [x.prod(axis, keepdims=True), x.std(axis), np.max(x, axis)]
    return found


def outputs(x):
    y = np.empty_like(x)
    np.exp(x, out=y)
    np.sin(y, y)
    np.multiply(x, y, out=(y,))
    return y


def globals_and_cells(x):
    for _ in range(STATE["steps"]):
        x = np.tanh(x) * SCALE
    return x


def comprehensions(x):
    parts = [np.sin(row) for row in x if row.sum() > -100]
    pairs = {i: part.sum() for i, part in enumerate(parts)}
    return parts, pairs, {round(float(value), 6) for value in pairs.values()}, sum(parts)


def text(x):
    y = np.exp(x * 0)
    return f"{y[0, 0]:.3f} {y.shape}", "%s %d" % (y.dtype, y.size), str(y[0])


def raises(x):
    y = np.exp(x)
    try:
        y[x.shape[0] + 3] = 1
    except IndexError as error:
        y = y + len(str(error))
    return y.reshape(7, -1)


def unpacking(x):
    a, b = x[0] * 2, x[1] + 1
    a, b = b, a
    (c, *rest) = [a, b, np.sin(a)]
    return a, b, c, rest


def inplace(x):
    y = x
    y += 1
    y *= x
    z = y[::-1]
    z -= 0.5
    return y, z, x


def matches(x):
    y = np.exp(x)
    match y.shape:
        case (rows, columns) if rows < columns:
            return y.sum(axis=0)
        case _:
            return y.sum(axis=1)


def functions_within(x):
    def half(value):
        return np.sqrt(value) * 0.5

    calls = {half.__code__: 0}
    for _ in range(200):
        x = half(x)
        calls[half.__code__] += 1
    return x, list(calls.values())


def partials(x):
    scaled = functools.partial(np.multiply, 2.0)
    return functools.reduce(operator.add, [scaled(x), np.exp(x), x]), list(map(np.sin, x))


PROGRAMS = [
    *(loops, rows, while_looking, lists, dictionaries, helpers, closures, methods, generators),
    *(powers, reductions, outputs, globals_and_cells, comprehensions, text, raises, unpacking),
    *(inplace, matches, partials),
]


@pytest.mark.parametrize("after", PLACES)
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs_that_are_left(fn, after, monkeypatch):
    Leaving(monkeypatch, after)
    check(fn, lambda rng: (rng.normal(size=(3, 4)),), seeds=(0, 0, 1, 0))


@pytest.mark.parametrize("after", PLACES)
@pytest.mark.parametrize("kind", [list, dict, collections.deque, tuple])
def test_containers_among_the_arguments(kind, after, monkeypatch):
    Leaving(monkeypatch, after)

    def fn(items, x):
        values = items.values() if isinstance(items, dict) else items
        for value in list(values):
            x = x + np.sin(value)
        if isinstance(items, dict):
            items["new"] = x * 2
            items["a"] += 1
        elif not isinstance(items, tuple):
            items.append(x * 2)
            items[0] = items[0] + 1
        return x, items

    def make(rng):
        parts = [rng.normal(size=3) for _ in range(3)]
        return kind(zip("abc", parts, strict=True)) if kind is dict else kind(parts), np.zeros(3)

    check(fn, make, seeds=(0, 0, 1, 0))


@pytest.mark.parametrize("after", PLACES)
@pytest.mark.parametrize("state", ["ignore", "warn", "raise"])
def test_events_are_reported_where_the_program_is(state, after, monkeypatch):
    Leaving(monkeypatch, after)

    def fn(x):
        with np.errstate(all=state, under="ignore"):
            for _ in range(2):
                x = np.exp(x * 100)
                x = x / (x - x)
            total = x.sum() * np.float64(1e308) * 10
            x[0] **= 2.0
        return x, total, np.log(np.zeros(2))

    check(fn, lambda rng: (rng.normal(size=3) * 10,), seeds=(0, 0, 1, 0))


@pytest.mark.parametrize("after", PLACES)
@pytest.mark.parametrize("state", ["warn", "raise"])
def test_results_in_place_where_numpy_reports_first(state, after, monkeypatch):
    """NumPy is asked for events, and must not write what the kernel is to read."""
    Leaving(monkeypatch, after)

    def fn(x):
        with np.errstate(all=state, under="ignore"):
            y = np.abs(x) + 1
            for _ in range(3):
                np.exp(y, y)
                np.tanh(y, out=y)
                y **= 1.5
                y.sum(axis=0, out=x[0])
        return y, x

    check(fn, lambda rng: (rng.normal(size=(3, 4)),), seeds=(0, 0, 1, 0))


@pytest.mark.parametrize("after", PLACES)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (1,), (1, 1), (2, 0, 3), (1, 5), (5, 1)])
def test_arrays_of_no_or_one_element_along_an_axis(shape, after, monkeypatch):
    Leaving(monkeypatch, after)

    def fn(x):
        found = []
        for part in (x, x[..., :1], x[:0], np.ones((2, *shape))[0], np.zeros((4, 5))):
            found += [np.exp(part), part.sum(), part.mean(axis=-1), part**1.5, part.prod(0)]
        return found

    check(fn, lambda rng: (rng.random(shape),), seeds=(0, 0, 1, 0))


@pytest.mark.parametrize("after", PLACES)
def test_warnings_that_are_exceptions(after, monkeypatch):
    Leaving(monkeypatch, after)

    @runmat.jit
    def fn(x):
        y = x + 1
        for _ in range(3):
            y = np.exp(y * 10)
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with pytest.raises(RuntimeWarning, match="overflow encountered in exp"):
                fn(np.full(3, 50.0))


def looks(x, k=2.0):
    y = np.sin(x)
    for _ in range(3):
        y = y * k
    found = eval("y + k"), sorted(locals()), sorted(vars())
    names = sys._getframe(0).f_code.co_name, logging.getLogger("t").findCaller()[2]
    namespace = {}
    exec("z = 1", namespace)
    return found, names, namespace["z"], [value for value in map(np.cos, (y, k))]


@pytest.mark.parametrize("after", PLACES)
def test_code_that_looks_at_its_caller_finds_the_programs_frame(after, monkeypatch):
    Leaving(monkeypatch, after)
    check(looks, lambda rng: (rng.normal(size=3),), seeds=(0, 0, 1, 0))


def test_variables_of_all_frames_become_real(monkeypatch):
    """Else plain code, to which values go afterwards, would meet traced ones."""
    Leaving(monkeypatch, 4)
    kinds = []

    def deepest(c):
        d = np.sin(c)
        e = d * 2
        f = e + 1
        kinds.append([type(value) for value in (c, d, e, f)])
        return f

    def fn(x):
        a = x * 2
        b = [a, x + 1]
        c = deepest(b[0])
        kinds.append([type(value) for value in (x, a, *b, c)])
        return a + c

    runmat.jit(fn)(np.ones(3))
    assert [kind for seen in kinds for kind in seen] == [np.ndarray] * 9


@pytest.mark.usefixtures("steps_aside")
def test_programs_become_plain():
    def fn(x):
        for i in range(len(x)):
            x[i] = {0: x[i] * 2 + 1}[0]  # no loop that runs natively
        return x

    decorated = runmat.jit(fn)
    for _ in range(4):
        np.testing.assert_array_equal(decorated(np.arange(3000.0)), fn(np.arange(3000.0)))
    info = decorated.cache_info()
    assert (info.misses, info.plain) == (1, 3)
    assert decorated.explain(np.arange(3000.0)).mode == "plain Python"


# -- what a first call may compile -----------------------------------------------------------------
def shrinking(x):
    while len(x) > 1:
        x = x[1:] * 0.99
    return x


def growing(x):
    out = x[:1]
    for i in range(1, len(x)):
        out = np.concatenate([out, x[: i + 1].sum(keepdims=True) + out[-1:]])
    return out


def prefixes(x):
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = x[:i].sum()
    return out


def strided(x):
    total = 0.0
    for step in range(1, len(x)):
        total += (x[::step] * 2).sum()
    return total


def windows(x):
    out = np.zeros(len(x))
    for i in range(len(x) - 8):
        out[i] = (x[i : i + 8] * x[:8]).sum()
    return out


def normalized_rows(x):
    x = np.stack([x, x + 1, x * 2]).T.copy()
    for row in x:
        row /= row.sum()
    return x


def recurrent(x):
    h, found = np.zeros(3), []
    for t in range(len(x) - 3):
        h = np.tanh(h * 0.5 + x[t : t + 3])
        found.append(h)
    return np.stack(found)


def indexed(x):
    for k in range(900):
        x = x * 0.5 + k
    return x


def stepped(x):
    for _ in range(900):
        x = x + 0.01 * np.sin(x)
    return x


def eliminated(x):
    a = np.outer(x[:30], x[:30]) + np.eye(30) * 50
    for k in range(29):
        for i in range(k + 1, 30):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return a


RUNAWAYS = {
    # what it compiles in its first call, at most
    shrinking: 11,
    growing: 10,
    prefixes: 10,
    strided: 11,  # of some reductions each, whose code is long
    eliminated: 11,
    # these repeat themselves: a program for the loop, one each for its beginning and its end
    windows: 8,
    normalized_rows: 6,
    recurrent: 5,
    indexed: 4,
    stepped: 4,
}


@pytest.mark.parametrize("fn", RUNAWAYS, ids=lambda fn: fn.__name__)
def test_a_first_call_compiles_a_bounded_number_of_programs(fn):
    x = np.random.default_rng(3).random(600) + 0.5
    telemetry = current_session().telemetry
    before = telemetry.snapshot()["programs_built"]
    found = runmat.jit(fn)(x.copy())
    np.testing.assert_allclose(found, fn(x.copy()), rtol=1e-6)
    assert telemetry.snapshot()["programs_built"] - before <= RUNAWAYS[fn]


@pytest.mark.parametrize("fn", [windows, normalized_rows, recurrent, indexed, stepped])
def test_loops_whose_batches_differ_in_places_and_numbers_alone_are_replayed(fn):
    check(fn, lambda rng: (rng.random(300) + 0.5,), seeds=(0, 0, 1), replayed=True)


@pytest.mark.usefixtures("steps_aside")
def test_recordings_that_are_not_kept_are_left_sooner():
    def fn(x):
        with np.nditer(x, op_flags=["readwrite"]) as items:
            for item in items:
                item[...] = item * 2 + 1
        return x

    assert COMPILING < FREE / 10
    decorated = runmat.jit(fn)
    for _ in range(2):
        np.testing.assert_array_equal(decorated(np.ones(3000)), np.full(3000, 3.0))
    info = decorated.cache_info()
    assert (info.misses, info.plain) == (1, 1)


@pytest.mark.usefixtures("steps_aside")
def test_other_extents_do_not_run_away_again():
    decorated = runmat.jit(recurrent_by_hand)
    for length in (500, 501, 600, 500):
        x = np.linspace(0, 1, length)
        np.testing.assert_allclose(decorated(x), recurrent_by_hand(x), rtol=1e-6)
    assert decorated.cache_info().misses == 1


def recurrent_by_hand(x):
    total = 0.0
    for i in range(1, len(x)):
        total = total + {0: np.sin(x[:i]).sum()}[0]  # no loop that runs natively
    return total


# -- threads ---------------------------------------------------------------------------------------
def test_a_loop_may_be_found_while_those_found_are_counted(monkeypatch):
    """Each look at a loop finds another one, as a thread that calls the function may."""

    class Loop:
        is_idle = True

        def __init__(self, hooks, number):
            self.hooks, self.number = hooks, number

        @property
        def asked(self):
            self.hooks.loop_of(self.number + 1)
            return 0

    monkeypatch.setattr(plain_execution, "PlainLoop", Loop)
    plain = types.SimpleNamespace(lines=None, converter=None, executor=None)
    hooks = plain_execution.PlainHooks(plain, lambda x: x)
    hooks.loop_of(0)
    assert not hooks.is_idle()
