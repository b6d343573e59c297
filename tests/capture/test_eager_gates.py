"""Gates of single calls that are executed eagerly: entries for certain shapes, and for all.

Oracle: the same kernels, run by Python; undecorated NumPy for what it computes itself.
"""

import os
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.capture.record.eager_kernels import OWN_FUNCTIONS, EagerKernels
from runmat_jit.capture.tape import call_forms

EXAMPLES = 20 if os.environ.get("RUNMAT_TEST_PROFILE", "default") == "default" else 1500
UNARY = sorted(
    (fn for fn in OWN_FUNCTIONS if isinstance(fn, np.ufunc) and (fn.nin, fn.nout) == (1, 1)),
    key=lambda fn: fn.__name__,
)
REDUCTIONS = [fn for fn in (np.sum, np.mean, np.prod, np.std, np.var) if fn in OWN_FUNCTIONS]
LENGTHS = (0, 1, 2, 3, 5, 7, 8, 9, 16, 31, 33, 64, 100, 257, 1000, 4099, 20_000)


@pytest.fixture
def kernels():
    """Kernels of single calls without what other tests have left."""

    def fn(x):
        return x + 1

    plain = runmat.jit(fn)
    plain(np.ones(3))
    found = plain._captured[1].capturer.kernels
    return EagerKernels(found.executor, found.states, found.lines, found.room)


def same(kernels, fn, args, kwargs):
    """A call through the gate is what Python makes of it, to the bit; so are its warnings."""
    seen = []
    for call in (
        lambda: kernels.call(fn, args, kwargs),
        lambda: call_gate(kernels, fn, args, kwargs),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = call()
        seen.append((found, sorted(str(warning.message) for warning in caught)))
    (expected, told), (found, ours) = seen
    assert type(found) is type(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.strides == expected.strides
    assert found.tobytes("A") == expected.tobytes("A")
    assert ours == told


def call_gate(kernels, fn, args, kwargs):
    return kernels.function(fn)(*args, **kwargs)


def entries(kernels, fn):
    return kernels._gates[fn]._gate._entries


def hits(kernels, fn):
    return sum(int(entry.words[1]) for entry in entries(kernels, fn))


def data(rng, shape, dtype, layout="C"):
    made = (rng.random(shape) * 3 + 0.1).astype(dtype)
    if layout == "F":
        return np.asfortranarray(made)
    return made[..., ::-1] if layout == "reversed" and made.ndim else made


@pytest.mark.parametrize("fn", UNARY, ids=lambda fn: fn.__name__)
def test_one_entry_is_for_all_lengths(kernels, fn):
    rng = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        for length in (*range(2, 40), *LENGTHS):
            same(kernels, fn, (data(rng, length, np.float32) / 4,), {})
    assert hits(kernels, fn) >= 25
    assert len(entries(kernels, fn)) <= 3


@settings(max_examples=EXAMPLES)
@given(
    fn=st.sampled_from([*UNARY, *REDUCTIONS]),
    dtype=st.sampled_from(["f4", "f8", "i4", "i8", "?", "f2"]),
    layout=st.sampled_from(["C", "F", "reversed"]),
    rank=st.integers(0, 3),
    rng=st.integers(0, 1000).map(np.random.default_rng),
)
def test_calls_of_changing_shapes(fn, dtype, layout, rank, rng):
    kernels = kernels_of_a_session()
    lengths = {0: (1,), 1: LENGTHS, 2: LENGTHS[:13], 3: LENGTHS[:8]}[rank]
    kwargs = {"axis": (None, -1, 0)[rng.integers(3)]} if rank and fn in REDUCTIONS else {}
    for _ in range(12):
        shape = tuple(rng.choice(lengths) for _ in range(rank))
        x = data(rng, shape, dtype, layout)
        if x.dtype.kind == "f" and x.size and rng.random() < 0.2:
            x.flat[rng.integers(x.size)] = rng.choice([0.0, np.nan, np.inf, -1.0])
        same(kernels, fn, (x,), kwargs)


def kernels_of_a_session():
    decorated = runmat.jit(np_add_one)
    decorated(np.ones(3))
    found = decorated._captured[1].capturer.kernels
    return EagerKernels(found.executor, found.states, found.lines, found.room)


def np_add_one(x):
    return x + 1


@pytest.mark.parametrize("kinds", ["aa", "an", "na", "as"])
def test_two_operands_of_changing_shapes(kernels, kinds):
    """Arrays, a Python number, a NumPy scalar; extents that agree, and extents that broadcast."""
    rng, fn = np.random.default_rng(2), np.power
    for length in (*range(2, 30), 1, 0, 31, 5000, 40, 40, 40):
        given = {
            "a": lambda length=length: data(rng, length, "f8"),
            "n": lambda: float(rng.random()) + 0.3,
            "s": lambda: np.float64(rng.random() + 0.3),
        }
        same(kernels, fn, tuple(given[kind]() for kind in kinds), {})
        if kinds == "aa":
            same(kernels, fn, (data(rng, (3, length), "f8"), data(rng, length, "f8")), {})
            same(kernels, fn, (data(rng, (length, length % 7 + 1), "f8"), given["a"]()[:1]), {})
    assert hits(kernels, fn) >= 10


def test_results_are_memory_of_their_own(kernels):
    fn, kept = np.exp, []
    for length in range(2, 60):
        x = np.full(length, float(length) / 60)
        kept.append((kernels.function(fn)(x), length))
    assert hits(kernels, fn) > 40
    for found, length in kept:
        np.testing.assert_array_equal(found, np.full(length, found[0]))
        np.testing.assert_allclose(found[0], np.exp(length / 60), rtol=1e-14)
        assert found.flags.owndata


def test_events_of_changing_shapes_are_told(kernels):
    fn, rng = np.log, np.random.default_rng(3)
    for length in range(2, 60):
        x = data(rng, length, "f8")
        if length % 3 == 0:
            x[length // 2] = 0
        same(kernels, fn, (x,), {})


def test_calls_that_numpy_computes_are_made_from_the_gate(kernels):
    x = np.arange(12).reshape(3, 4)
    for number in range(2, 9):
        for args in ((x[:, :2].copy() * number,), (np.arange(number),)):
            same(kernels, np.sum, args, {})
            same(kernels, np.square, args, {})
    assert hits(kernels, np.sum) > 0
    special = [np.zeros((0, 3), int), np.ones((1, 4), int), x.T, x[::2], np.asfortranarray(x)]
    for array in special:
        for _ in range(4):
            same(kernels, np.sum, (array,), {})
    rows = np.sum, call_forms.method_of("sum")
    assert all(row in OWN_FUNCTIONS or row.__name__ == "sum" for row in rows)


def here():
    return sys._getframe(1).f_lineno


def test_events_are_told_at_the_line_of_each_call(kernels):
    """The entry for an operation is shared by all lines at which it stands."""
    x = np.array([0.5, 0.0, 2.0])
    log, power = kernels.function(np.log), kernels.function(np.power)
    for number in range(60):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if number % 3 == 0:
                line, _ = here(), log(x)
            elif number % 3 == 1:
                line, _ = here(), log(x)
            else:
                line, _ = here(), power(x, -1.5)
        (found,) = caught
        assert (found.filename, found.lineno) == (__file__, line)


def many_nans(rng):
    x = data(rng, 40, np.float64)
    x[::7] = np.nan
    return x


def test_data_that_are_not_finite_pass_an_entry(kernels):
    """Few elements, too, of which Python would ask NumPy at each call."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        same(kernels, np.log, (many_nans(rng),), {})
    before = hits(kernels, np.log)
    same(kernels, np.log, (many_nans(rng),), {})
    assert hits(kernels, np.log) == before + 1


@pytest.mark.parametrize(
    ("fn", "value", "state", "passes"),
    [
        (np.log, 0.0, {"divide": "ignore", "invalid": "ignore"}, True),
        (np.log, -1.0, {"divide": "ignore", "invalid": "ignore"}, True),
        (np.exp, 1e4, {"over": "ignore"}, True),
        (np.log, 0.0, {"invalid": "ignore"}, False),
        (np.exp, 1e4, {"divide": "ignore"}, False),
    ],
)
def test_events_that_are_ignored_pass_an_entry(kernels, fn, value, state, passes):
    """Under a state of its own in each call; what may not happen at all is not looked for."""
    rng = np.random.default_rng(8)

    def call():
        x = data(rng, 40, np.float64)
        x[3] = value
        with np.errstate(**state):
            same(kernels, fn, (x,), {})

    for _ in range(12):
        call()
    before = hits(kernels, fn)
    call()
    assert (hits(kernels, fn) == before + 1) is passes


def test_states_have_entries_of_their_own(kernels):
    """The same calls under two states, by turns."""
    rng = np.random.default_rng(8)

    def calls():
        for state in ("ignore", "warn"):
            with np.errstate(all=state, under="ignore"):
                same(kernels, np.log10, (data(rng, 40, np.float64),), {})

    for _ in range(12):
        calls()
    before = hits(kernels, np.log10)
    calls()
    assert hits(kernels, np.log10) == before + 2


def test_methods_of_ufuncs_have_numpys_bits():
    """Eager execution calls them as they are."""
    assert not [fn for fn in OWN_FUNCTIONS if type(getattr(fn, "__self__", None)) is np.ufunc]
