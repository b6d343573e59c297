"""Gates that cannot go on: what they have done stays done, once, and Python makes the rest.

Oracle: the undecorated function, on generators of equal state: what is drawn, written, printed and
warned of tells what was done, and how often.
"""

import traceback

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.capture.record import records
from tests.capture.behavior import compare, observe
from tests.capture.test_gates import gate_of, hits
from tests.conftest import PROFILE

EXAMPLES = 10 if PROFILE == "default" else 1000


@pytest.fixture(autouse=True)
def _entries_whatever_they_gain(monkeypatch):
    monkeypatch.setattr(records, "GUARDED", 0)


def drawn_then_selected(x, rng):
    noise = rng.normal(size=x.shape)
    kept = np.unique(np.round(x))
    return np.tanh(x) * 2 + noise, kept * 3, rng.random()


def printed_then_solved(x, rng):
    print("solving", x.shape)
    a = np.outer(x[:4], x[:4]) + np.eye(4) * (x[0] > 0)
    found = np.linalg.inv(a)
    return found * 2 + rng.random(), np.tanh(x) * x + 1


def written_then_decided(x, rng):
    x[1:] = np.sort(x[1:])
    x += rng.random()
    if np.median(x) > 1:
        return np.tanh(x) + 1, "high"
    return np.sqrt(np.abs(x)), "low"


def spread_then_divided(x, rng):
    draw = rng.random(x.shape)
    middle = np.median(x)
    return np.tanh(x - middle) / (x.std() - x.std() * (middle > 1)), draw.sum()


def counted(x, rng):
    order = np.argsort(x)
    first = rng.integers(0, 5)
    places = np.flatnonzero(x > 1)
    return np.tanh(x)[order], places, first


def several(x, rng):
    values, counts = np.unique(np.round(x), return_counts=True)
    low, high = np.percentile(x, [10, 90])
    rng.shuffle(x)
    return values * 2, counts.sum(), high - low, np.log(np.abs(x)).sum()


PROGRAMS = [
    drawn_then_selected,
    printed_then_solved,
    written_then_decided,
    spread_then_divided,
    counted,
    several,
]
SIZE = 24
DATA = {
    "usual": [0.5, 1.25, 2.5, 3.0],
    "other lengths": [0.5, 0.5, 0.5, 0.5],
    "singular": [-1.0, -2.0, -3.0, -4.0],
    "high": [5.0, 6.0, 7.0, 8.0],
    "zeros": [0.0, 0.0, 0.0, 0.0],
    "not finite": [np.nan, np.inf, 1.0, 2.0],
}


def calls(decorated, data, seed):
    """One call of each function on equal data, and generators of equal state."""
    generators = [np.random.default_rng(seed) for _ in range(2)]
    expected = observe(decorated.__wrapped__, (np.resize(data, SIZE), generators[0]), {})
    found = observe(decorated, (np.resize(data, SIZE), generators[1]), {})
    compare(expected, found)
    states = [generator.bit_generator.state for generator in generators]
    assert states[0] == states[1], "drawn as often"


@pytest.mark.usefixtures("steps_aside")
@pytest.mark.filterwarnings("default::RuntimeWarning")
@pytest.mark.parametrize(
    "program",
    [program for program in PROGRAMS if program is not spread_then_divided],  # NumPy tells events
    ids=lambda p: p.__name__,
)
def test_calls_of_numpy_need_no_replay(program):
    decorated = runmat.jit(program)
    for seed in range(8):
        calls(decorated, DATA["usual"], seed)
    is_bypassed = decorated._captured[1].bailout.kinds
    assert hits(decorated) or is_bypassed, "the gate makes such calls, or they are plain"


@pytest.mark.filterwarnings("default::RuntimeWarning")
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_other_data_go_on_in_python(program, data):
    decorated = runmat.jit(program)
    for seed in range(8):
        calls(decorated, DATA["usual"], seed)
    for seed in range(3):
        calls(decorated, DATA[data], seed)
        calls(decorated, DATA["usual"], seed)


@pytest.mark.filterwarnings("default::RuntimeWarning")
@settings(max_examples=EXAMPLES)
@given(
    program=st.sampled_from(PROGRAMS),
    order=st.lists(st.sampled_from(sorted(DATA)), max_size=12),
    warm=st.integers(0, 6),
)
def test_any_data_in_any_order(program, order, warm):
    decorated = runmat.jit(program)
    for seed, name in enumerate([*["usual"] * warm, *order]):
        calls(decorated, DATA[name], seed)


class Stop(BaseException):
    pass


class Once:
    """Stops at its n-th comparison."""

    left = 10**9

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        Once.left -= 1
        if not Once.left:
            raise Stop
        return self.value < other.value


def test_what_is_no_exception_of_programs_goes_through():
    def ordered(x, generator, objects):
        draw = generator.random()
        return x * draw + objects.argsort()

    decorated, objects = runmat.jit(ordered), np.array([Once(3), Once(1), Once(2)])
    generator = np.random.default_rng(1)
    for _ in range(8):
        decorated(np.arange(3.0), generator, objects)
    before = generator.bit_generator.state
    Once.left = 2
    with pytest.raises(Stop):
        decorated(np.arange(3.0), generator, objects)
    twin = np.random.default_rng()
    twin.bit_generator.state = before
    twin.random()
    assert twin.bit_generator.state == generator.bit_generator.state, "drawn once"


def test_exceptions_of_the_rest_show_no_frames_of_ours():
    decorated = runmat.jit(printed_then_solved)
    for seed in range(8):
        calls(decorated, DATA["usual"], seed)
    shown = []
    for function in (printed_then_solved, decorated):
        with pytest.raises(np.linalg.LinAlgError) as raised:
            function(np.resize(DATA["singular"], SIZE), np.random.default_rng(1))
        shown.append([(frame.name, frame.lineno) for frame in traceback.extract_tb(raised.tb)])
    assert shown[0][1:] == shown[1][1:]


@pytest.mark.filterwarnings("default::RuntimeWarning")
def test_the_rest_of_a_call_is_counted_as_a_replay():
    decorated = runmat.jit(counted)
    for seed in range(8):
        calls(decorated, DATA["usual"], seed)
    before = decorated.cache_info()
    calls(decorated, DATA["other lengths"], 1)  # recorded from where the gate has left
    calls(decorated, DATA["usual"], 1)
    after = decorated.cache_info()
    assert after.retraces == before.retraces + 1
    assert after.hits == before.hits + 1
    assert gate_of(decorated) is not None
