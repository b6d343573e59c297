"""Calls that differ in extents alone. Oracles: the undecorated function, counts of recordings."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.capture.family import family_key
from runmat_jit.capture.key import call_key
from tests.capture.behavior import compare, observe


def chain(x):
    y = np.sin(x) * np.exp(-x / 10)
    return np.tanh(y) + 0.1 * y


def stencil(x):
    y = x.copy()
    y[1:-1] = (x[:-2] + x[2:]) * 0.5
    return y, x.mean(), x[::-1] * 2


def in_place(x):
    x[1:] -= x[:-1].sum()
    x *= 2


def two(x):
    a = x + 1
    return a, a.T, np.zeros_like(x), x.max()


def a_number(x, factor=3):
    return x * factor


def logarithm(x):
    return np.log(x - 0.5)


def ends(x):
    y = x.copy()
    y[-1] = 0
    first, last = y[:10], y[-10:]
    first += 1
    last *= 2
    return y * 2


def a_row(x):
    x[1] += 1
    x[-1] = x[0]
    return x


VECTORS = (chain, stencil, in_place, two, a_number)


def softmax(x):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def normalized(x):
    return (x - x.mean(axis=0)) / x[0]


MATRICES = (softmax, normalized, chain, two, a_row)


def vector(n, dtype=np.float64):
    return (np.random.default_rng(n).random(n).astype(dtype) + 0.25,)


def matrix(n, dtype=np.float64):
    return (np.random.default_rng(n).random((n, n + 3)).astype(dtype) + 0.25,)


def follow(fn, make, sizes):
    """Call a decorated function on each size, comparing with the plain one; the decorated one."""
    decorated = runmat.jit(fn)
    for size in sizes:
        expected = observe(fn, make(size), {})
        found = observe(decorated, make(size), {})
        compare(expected, found)
    return decorated


@pytest.mark.parametrize("fn", VECTORS, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_thousand_lengths_are_recorded_a_few_times(fn, dtype):
    decorated = follow(fn, lambda n: vector(n, dtype), range(5000, 5024))
    assert decorated.cache_info().misses <= 6


@pytest.mark.parametrize("fn", MATRICES, ids=lambda fn: fn.__name__)
def test_matrices_of_many_shapes_are_recorded_a_few_times(fn):
    decorated = follow(fn, matrix, range(100, 120))
    assert decorated.cache_info().misses <= 6


@pytest.mark.parametrize("fn", [*VECTORS, logarithm, ends], ids=lambda fn: fn.__name__)
@settings(max_examples=8)
@given(st.lists(st.integers(0, 60) | st.integers(1000, 20000), min_size=4, max_size=12))
def test_any_lengths_in_any_order(fn, sizes):
    follow(fn, vector, sizes)


@pytest.mark.parametrize("fn", MATRICES, ids=lambda fn: fn.__name__)
@settings(max_examples=8)
@given(st.lists(st.integers(1, 200), min_size=4, max_size=10))
def test_any_shapes_in_any_order(fn, sizes):
    follow(fn, matrix, sizes)


LOOKS = {
    "shape": lambda x: x * x.shape[0],
    "len": lambda x: x / len(x),
    "size": lambda x: x.sum() / x.size,
    "nbytes": lambda x: x + x.nbytes,
    "np.shape": lambda x: x * np.shape(x)[0],
    "np.size": lambda x: x * np.size(x),
    "a loop": lambda x: sum((x[i] for i in range(len(x) // 7)), x),
    "a branch": lambda x: x * 2 if len(x) % 2 else x * 3,
    "zeros": lambda x: np.zeros(len(x)) + x,
    "arange": lambda x: np.arange(len(x)) * x,
    "reshape": lambda x: x[: len(x) // 2 * 2].reshape(-1, 2) * 2,
    "reshape to a number": lambda x: (x[:6] * 2).reshape(3, 2),
    "the middle": lambda x: x[len(x) // 2] * x,
    "an iteration": lambda x: [row * 2 for row in x[:3]] + [x * 1],
    "split": lambda x: [part * 2 for part in np.split(x[:6], 2)],
    "strides": lambda x: x[::2] * x.strides[0],
    "concatenate": lambda x: np.concatenate([x, x[:2]]) * 2,
    "text": lambda x: (f"{x.shape} {len(x)}", x * 2),
    "a host call": lambda x: np.sort(x)[: len(x) - 1] * 2,
    "cumulated": lambda x: np.cumsum(x) * 2,
    "repeated": lambda x: np.repeat(x, 2) * 3,
    "broadcast": lambda x: x[:, None] * x,
    "a mask": lambda x: x[x > 0.5] * 2,
}


@pytest.mark.parametrize("fn", LOOKS.values(), ids=LOOKS)
def test_what_the_program_does_with_extents_is_never_stale(fn):
    follow(fn, vector, [*range(20, 29), 21, 7, 8, 40, 9, 6, *range(100, 104), 20])


SCALE = [2.0]


def test_state_from_outside_is_seen_at_every_length():
    decorated = runmat.jit(lambda x: x * SCALE[0])
    for size in range(50, 70):
        SCALE[0] = float(size % 3)
        (x,) = vector(size)
        np.testing.assert_array_equal(decorated(x), x * SCALE[0])


def test_events_are_told_at_every_length():
    decorated = runmat.jit(logarithm)
    for size in range(50, 60):
        x = np.ones(size)
        x[-1] = 0
        with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
            decorated(x)


def test_other_layouts_are_other_families():
    decorated = runmat.jit(chain)
    for size in range(40, 50):
        (x,) = matrix(size)
        for each in (x, x.T, x[:, ::2], x[::-1], np.asfortranarray(x)):
            compare(observe(chain, (each,), {}), observe(decorated, (each,), {}))


def test_arguments_that_lie_in_one_another():
    def fn(x, y):
        x += y
        return x * 2

    decorated = runmat.jit(fn)
    for size in range(40, 50):
        ours, plain = vector(size)[0], vector(size)[0]
        compare(
            observe(fn, (plain[1:], plain[:-1]), {}), observe(decorated, (ours[1:], ours[:-1]), {})
        )
        np.testing.assert_array_equal(ours, plain)


def test_explanations_are_of_the_shape():
    decorated = runmat.jit(chain)
    for size in range(5000, 5010):
        decorated(*vector(size))
    explanation = decorated.explain(*vector(5009))
    assert explanation.kinds == ["elementwise"]
    assert explanation.regions[0].bytes_read == 8 * 5009
    assert "5009" in decorated.source(*vector(5009), backend="graph")


def test_looking_at_a_template_changes_nothing():
    decorated = runmat.jit(chain)
    for size in range(5000, 5006):
        decorated(*vector(size))
    (family,) = decorated._captured[1].families.known.values()
    for candidate in family.trusted:
        str(candidate.templates[0].captured.nodes[0].type)
    assert decorated.explain(*vector(6001)).kinds == ["elementwise"]


def test_a_family_has_the_key_but_for_extents():
    def family(*args):
        return family_key(call_key(frozenset(), args, {})[0])

    first, second = family(np.ones((3, 4)), 2), family(np.ones((5, 6)), 2)
    assert first[0] == second[0]
    assert (first[1], second[1]) == ((3, 4), (5, 6))
    assert family(np.ones((3, 1)), 2)[0] != first[0]
    assert family(np.ones((3, 4)), 2.0)[0] != first[0]
    assert family(np.ones((3, 4), "f4"), 2)[0] != first[0]
    assert family(np.ones((3, 4)).T, 2) is None
    assert family(2) is None


def test_a_template_that_cannot_be_made_harms_no_call(monkeypatch, caplog):
    def fail(*_):
        raise AssertionError("a mistake")

    monkeypatch.setattr("runmat_jit.compiler.template.make_template", fail)
    monkeypatch.setattr("runmat_jit.capture.family.LOG", logging.getLogger("tests.family"))
    with caplog.at_level(logging.ERROR, "tests.family"):
        follow(chain, vector, range(40, 48))
    assert "no template was made" in caplog.text
