"""What is pending is recognized by its wiring. Oracles: undecorated Python for what calls give;
graphs made anew for what is known (``BatchCache.checked`` compares them at every batch); counts
of graphs made.
"""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import runmat_jit as runmat
from runmat_jit.capture.record import batches
from runmat_jit.capture.record.batch_cache import BatchCache
from runmat_jit.capture.record.inline_cache import InlineCache
from runmat_jit.capture.tape.entries import Operation
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import compare, module, observe
from tests.capture.random_programs import programs

EXAMPLES = 15 if os.environ.get("RUNMAT_TEST_PROFILE", "default") == "default" else 1000
LOG = []
NUMBER = [0.0]


def capturer_of(decorated):
    return decorated._dispatcher.capture(current_session()).capturer


@pytest.fixture
def graphs_made(monkeypatch):
    """The graphs that are made from here on."""
    made = []
    functionalize = batches.functionalize

    def counted(*args, **kwargs):
        made.append(functionalize(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr(batches, "functionalize", counted)
    capturer = capturer_of(runmat.jit(recorded_at_every_call))
    monkeypatch.setattr(capturer, "batch_cache", BatchCache())
    return made


def recorded_at_every_call(x):
    y = x * 2 + 1
    LOG.append(len(LOG))
    return np.sqrt(y) - x


def test_a_function_that_is_recorded_at_every_call_makes_its_graphs_once(graphs_made):
    decorated = runmat.jit(recorded_at_every_call)
    for number in range(1, 5):
        x = np.arange(9.0) + number
        np.testing.assert_array_equal(decorated(x), np.sqrt(x * 2 + 1) - x)
        assert len(graphs_made) == 2
    assert decorated.cache_info().misses == 4


def diffused(u, steps):
    for _ in "." * steps:  # no loop that runs natively
        middle = u[1:-1, 1:-1]
        north, south = u[:-2, 1:-1] - middle, u[2:, 1:-1] - middle
        west, east = u[1:-1, :-2] - middle, u[1:-1, 2:] - middle
        flow = north / (1 + 70 * north**2) + south / (1 + 70 * south**2)
        flow += west / (1 + 70 * west**2) + east / (1 + 70 * east**2)
        u[1:-1, 1:-1] = middle + 0.2 * flow
    return u


def normalized(x, steps):
    for _ in "." * steps:
        y = np.exp(x - x.max(axis=1, keepdims=True))
        y = y / y.sum(axis=1, keepdims=True) + np.tanh(x) * np.cos(x) / (1 + x * x)
        x = np.sqrt(np.abs(y)) / (2 + np.sin(x)) + y / (3 + x)
    return x


def stepped(x, steps):
    def step(x):
        return np.sin(x) / (1 + np.exp(-x)) + np.tanh(x) / 2

    for _ in "." * steps:
        x = step(x) + step(x / 2)
    return x


@pytest.mark.parametrize("fn", [diffused, normalized, stepped])
def test_long_loops_are_cut_between_iterations(graphs_made, fn):
    """Then all iterations are one program, without parts of others.

    Where a loop calls functions, programs end where such a call begins.
    """
    x, decorated = np.random.default_rng(0).random((12, 14)), runmat.jit(fn)
    np.testing.assert_allclose(decorated(x.copy(), 30), fn(x.copy(), 30), rtol=1e-12)
    assert len(graphs_made) <= 4
    programs = decorated.explain(x.copy(), 30).behind.programs
    lines = [{node.line.line for node in p.captured.nodes if node.line} for p in programs]
    assert fn is stepped or all(each == lines[0] for each in lines)


def test_another_shape_dtype_or_layout_makes_other_graphs(graphs_made):
    decorated = runmat.jit(recorded_at_every_call)
    arrays = (np.ones(9), np.ones(8), np.ones(9, "f4"), np.ones(18)[::2], np.ones((3, 3)))
    for number, x in enumerate(arrays, 1):
        expected = np.sqrt(x * 2 + 1) - x
        np.testing.assert_array_equal(decorated(x), expected)
        assert len(graphs_made) == 2 * number


@pytest.mark.parametrize("number", [-0.0, 0, 1, True, 1.0, np.float32(1), 2**53 + 1, 2.0**53])
def test_a_number_counts_to_the_bit(number):
    def scaled(x):
        LOG.append(1)
        return x * NUMBER[0]

    decorated = runmat.jit(scaled)
    for value in (0.0, number, 0.0, 1.5, number):
        NUMBER[0] = value
        expected, found = scaled(np.arange(3.0)), decorated(np.arange(3.0))
        assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())


def test_arrays_that_come_to_overlap_are_computed_one_by_one():
    def shift(a, b):
        LOG.append(1)
        a += b
        b *= 2
        return a - b

    decorated = runmat.jit(shift)
    for take in (lambda m: (m[:4], m[4:]), lambda m: (m[:4], m[1:5]), lambda m: (m[:4], m[4:])):
        ours, theirs = np.arange(8.0), np.arange(8.0)
        np.testing.assert_array_equal(decorated(*take(ours)), shift(*take(theirs)))
        np.testing.assert_array_equal(ours, theirs)


def test_values_that_one_call_drops_and_another_keeps():
    keep = []

    def both(x, kept):
        LOG.append(1)
        y = x + 1
        if kept:
            keep.append(y)
        z = y * 2
        del y
        return z

    decorated = runmat.jit(both)
    for kept in (False, True, False, True):
        np.testing.assert_array_equal(decorated(np.arange(3.0), kept), np.arange(3.0) * 2 + 2)
    for value in keep:
        np.testing.assert_array_equal(value, np.arange(3.0) + 1)


def test_one_array_in_two_places_is_not_two_arrays():
    def product(a, b):
        LOG.append(1)
        return a * b

    decorated = runmat.jit(product)
    a, b = np.arange(3.0), np.full(3, 5.0)
    for x, y in ((a, a), (a, b), (b, a), (b, b), (a, a)):
        np.testing.assert_array_equal(decorated(x, y), x * y)


def test_warnings_name_the_line_of_their_own_call():
    def here(x):
        LOG.append(1)
        return 1 / x

    def there(x):
        LOG.append(1)

        return 1 / x

    for fn in (here, there, here):
        decorated, lines = runmat.jit(fn), []
        for function in (fn, decorated, decorated):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                function(np.zeros(3))
            lines.append([w.lineno for w in caught])
        assert lines[0] == lines[1] == lines[2]
        assert lines[0]


def test_arrays_on_a_device_are_not_taken_for_arrays_of_the_host():
    decorated = runmat.jit(recorded_at_every_call)
    x = np.arange(5.0)
    expected = np.sqrt(x * 2 + 1) - x
    for argument in (x, runmat.asarray(x), x):
        np.testing.assert_array_equal(np.asarray(decorated(argument)), expected)


def test_numbers_that_come_to_be_too_large_raise_as_in_numpy():
    def add(x, a):
        LOG.append(1)
        return x + a

    decorated, x = runmat.jit(add), np.arange(3, dtype=np.int32)
    np.testing.assert_array_equal(decorated(x, 5), x + 5)
    with pytest.raises(OverflowError):
        decorated(x, 2**40)
    np.testing.assert_array_equal(decorated(x, 7), x + 7)


def test_arrays_that_come_to_be_read_only_raise_as_in_numpy():
    def add(x):
        LOG.append(1)
        x += 1

    decorated, x = runmat.jit(add), np.zeros(3)
    decorated(x)
    frozen = x[:]
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        decorated(frozen)
    decorated(x)
    assert x.tolist() == [2, 2, 2]


def log_of(decorated):
    """The entries of the only call that is known."""
    (record,) = decorated._dispatcher.capture(current_session()).records.values()
    ((segment,),) = record.root.outcomes.values()
    return segment.log


def is_from_cache(entry):
    """Whether the inline cache knew the call."""
    return type(entry) is Operation and entry.slots is not None


def test_entries_of_known_calls_say_what_was_called():
    """Oracle: the tape of a recording to which no call is known."""

    def constants(x, y):
        x = x * 0.0 + (x * -0.0 + np.maximum(1, x))
        x -= np.add(y, 1.0, dtype="f8") + True
        total = x.sum(axis=(0, 1), keepdims=True) + x.sum(axis=(1, 0), keepdims=False)
        return np.where(x > 1.5, total, 2**70 - 2.0**70), np.square(y, out=y)

    arguments = np.ones((3, 4)), np.ones(4)
    decorated = runmat.jit(constants)
    capturer = capturer_of(decorated)
    capturer.inline_cache = InlineCache()
    decorated(*arguments)
    made = log_of(decorated)
    decorated.clear_cache()
    decorated(*arguments)
    remade = log_of(decorated)
    assert sum(map(is_from_cache, remade)) > 10
    assert sum(map(is_from_cache, made)) < sum(map(is_from_cache, remade))
    assert [str(entry) for entry in remade] == [str(entry) for entry in made]
    assert list(map(source_of, remade)) == list(map(source_of, made))


def source_of(entry):
    return getattr(getattr(entry, "line", None), "source", None)


@pytest.fixture
def checked(monkeypatch):
    """Every known batch is compared with one made anew."""
    capturer = capturer_of(runmat.jit(recorded_at_every_call))
    monkeypatch.setattr(capturer, "batch_cache", BatchCache(checked=True))


@pytest.mark.usefixtures("checked")
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=programs("exact"))
def test_random_programs_that_are_recorded_again_have_the_graphs_that_are_known(program):
    fn = module(program.text, "random")["f"]
    decorated = runmat.jit(fn)
    for change in (0, 1, 0, 1):
        decorated.clear_cache()
        expected = observe(fn, program.inputs(change), {})
        found = observe(decorated, program.inputs(change), {})
        compare(expected, found, exact=True)


@settings(max_examples=EXAMPLES)
@given(program=programs("exact"))
def test_random_programs_that_are_recorded_at_every_call_give_numpys_bits(program):
    text = program.text.replace("def f(", "LOG = []\ndef f(", 1)
    first = text.index(":\n", text.index("def f(")) + 2
    fn = module(f"{text[:first]}    LOG.append(1)\n{text[first:]}", "random")["f"]
    decorated = runmat.jit(fn)
    for change in (0, 1, 0):
        expected = observe(fn, program.inputs(change), {})
        found = observe(decorated, program.inputs(change), {})
        compare(expected, found, exact=True)
