"""Constants of the graph: calls of pure functions on values that do not vary.

Oracles: undecorated Python for values and warnings, at every call; counts of regions and of steps.
"""

import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.replay.steps import BatchStep, CallStep
from runmat_jit.capture.replay.tree import segments_of
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import check, compare, observe

GAIN, ZERO, ONE = np.float64(2.5), np.float32(0), np.float32(1)
COUNT = np.int64(3)
HALVES = (np.float32(0.5), 2)


def vector(seed):
    rng = np.random.default_rng(seed)
    return (rng.uniform(0.5, 2, 12).astype(np.float32),)


def doubles(seed):
    return (vector(seed)[0].astype(np.float64),)


def gelu(x):
    return np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)) * 0.5


def tone(x):
    y = x * np.float32(1.8) - np.float32(0.3)
    y = np.clip(y, np.float32(0), np.float32(1))
    y = y ** np.float32(0.5)
    return y * np.float32(255) + np.prod(x.shape)


def scaled(x):
    return x / x.dtype.type(255)


def of_module(x):
    return x * GAIN + GAIN * 2 - np.sqrt(GAIN) + float(GAIN)


def of_tuple(x):
    return x * HALVES[0] + HALVES[1]


def in_shapes(x):
    return x[:COUNT] + np.zeros(COUNT), x.reshape(COUNT, -1) * int(COUNT)


def methods(x):
    return x * GAIN.astype(np.float32) + GAIN.real - np.float32(3).item()


def integers(x):
    return x * (COUNT + np.int64(4)), x + np.uint8(250), x - np.bool_(True)


def chosen(x):
    return x + 1 if GAIN > 2 else x - 1


PROGRAMS = [gelu, tone, scaled, of_module, of_tuple, in_shapes, methods, integers, chosen]


def steps_of(fn):
    """The steps of what the only known call repeats."""
    (record,) = fn._dispatcher.capture(current_session()).records.values()
    return [step for segment in segments_of(record.root) for step in segment.steps]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs_with_constants_give_what_python_gives(fn):
    check(fn, doubles, replayed=True)


@pytest.mark.parametrize("fn", PROGRAMS[1:], ids=lambda fn: fn.__name__)
def test_the_same_of_float32(fn):  # of a float32 power as float64 the last digits would show
    check(fn, vector, replayed=True)


@pytest.mark.parametrize("fn", [gelu, tone, scaled, of_module, of_tuple], ids=lambda f: f.__name__)
def test_constants_are_no_steps_and_end_no_fusion(fn):
    decorated = runmat.jit(fn)
    (x,) = vector(0)
    decorated(x)
    assert [type(step) for step in steps_of(decorated)] == [BatchStep]
    assert decorated.explain(x).kinds == ["elementwise"]


def test_a_constant_that_changes_is_read_again():
    def of_global(x):
        return x * GAIN + np.sqrt(GAIN)

    namespace = {"np": np, "GAIN": np.float64(4)}
    fn = type(of_global)(of_global.__code__, namespace)
    decorated, x = runmat.jit(of_global), np.ones(3)
    del fn
    for value in (4.0, 4.0, 9.0, 4.0):
        globals()["GAIN"] = np.float64(value)
        try:
            np.testing.assert_array_equal(decorated(x), x * value + np.sqrt(value))
        finally:
            globals()["GAIN"] = np.float64(2.5)


def divided(x):
    return x + ONE / ZERO


def overflowing(x):
    return x * np.exp(np.float32(200))


def wrapped(x):
    return x + (np.int8(127) + np.int8(1))


def made_of_minus_one(x):
    return x + np.sqrt(np.float64(-1))


WARNING = [divided, overflowing, wrapped, made_of_minus_one]


@pytest.mark.parametrize("fn", WARNING, ids=lambda fn: fn.__name__)
def test_what_warns_is_no_constant_and_warns_at_every_call(fn):
    decorated = runmat.jit(fn)
    for _ in range(4):
        seen = []
        for function in (fn, decorated):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                function(np.ones(3, np.float32))
            seen.append([(str(w.message), w.category, w.lineno, w.filename) for w in caught])
        assert seen[0] == seen[1]
        assert seen[0]


@pytest.mark.parametrize("fn", WARNING, ids=lambda fn: fn.__name__)
def test_what_would_raise_raises_at_every_call(fn):
    decorated = runmat.jit(fn)
    for state in ("ignore", "raise", "ignore", "raise"):
        with np.errstate(all=state):
            expected = observe(fn, (np.ones(3, np.float32),), {})
            found = observe(decorated, (np.ones(3, np.float32),), {})
        compare(expected, found, exact=True)


def test_a_constant_of_the_program_is_returned_as_it_is():
    def fn(x):
        return GAIN, [np.float32(3)], {"n": COUNT}, x + 1

    check(fn, vector, replayed=True, exact=True)


def test_constants_show_themselves_as_the_numbers_that_they_are():
    def fn(x):
        seen = hash(GAIN), bool(COUNT), [0] * COUNT
        return seen, isinstance(GAIN, np.floating), {GAIN: 1}[2.5], list(range(COUNT)), x * 2

    check(fn, vector, replayed=True, exact=True)
    check(lambda x: (f"{GAIN:.2f} {GAIN} {COUNT!r}", str(GAIN), x * 2), vector, exact=True)


SAME = GAIN


def test_constants_are_the_objects_that_they_are():
    def fn(x):
        seen = GAIN is SAME, GAIN is not ONE, np.float32(1) is ONE, (GAIN,)[0] is GAIN
        return seen, GAIN in (1.0, SAME), [GAIN, 2].index(2.5), x + 1

    check(fn, vector, replayed=True, exact=True)


def test_no_constant_is_made_of_what_varies():
    def fn(x, t):
        return x * np.float32(t), np.sqrt(t) * x

    decorated, x = runmat.jit(fn), np.ones(3, np.float32)
    for t in (2.0, 3.0, 4.0):
        compare(observe(fn, (x, t), {}), observe(decorated, (x, t), {}), exact=True)
    assert all(type(step) in (BatchStep, CallStep) for step in steps_of(decorated))
