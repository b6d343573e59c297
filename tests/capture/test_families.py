"""Calls that differ in extents alone. Oracles: the undecorated function, counts of recordings."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.capture.replay.key import call_key
from runmat_jit.capture.replay.tree import copied, segments_of
from tests.capture.behavior import compare, observe

pytestmark = pytest.mark.sampled(6)


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


def moments(x):
    return x.sum(), x.mean(), x.var(), (x - x.mean()) / (x.std() + 1), x.min(initial=0)


def scanned(x):
    return np.cumsum(x) * 0.5, x[::2] + 1, x[::-1].sum()


near = st.builds(
    int.__add__,
    st.sampled_from([8, 64, 1024, 4096, 8192, 16384, 2 * 16384, 5 * 16384, 1 << 17, 1 << 18]),
    st.integers(-2, 2),
)
any_length = st.integers(0, 3) | near | st.integers(4, 300_000)


@pytest.mark.parametrize("fn", [*VECTORS, moments, scanned], ids=lambda fn: fn.__name__)
@settings(max_examples=6)
@given(st.lists(any_length, min_size=4, max_size=10), st.randoms(use_true_random=False))
def test_lengths_around_thresholds_and_repeated_ones(fn, sizes, random):
    again = [*sizes, *(size + 1 for size in sizes), *sizes]
    random.shuffle(again)
    follow(fn, lambda n: vector(n, np.float32), again)


def pair(sizes):
    return vector(sizes[0]) + vector(sizes[1], np.float32)


def two_lengths(x, y):
    return x * 2 + x.mean(), y[1:] - y[:-1], x[:1] + y, x.sum() * y


def together(x, y):
    return x + y, np.maximum(x, y).sum()


@pytest.mark.parametrize("fn", [two_lengths, together], ids=lambda fn: fn.__name__)
@settings(max_examples=8)
@given(
    st.lists(
        st.integers(0, 20000).map(lambda n: (n, n))
        | st.tuples(st.integers(0, 3), st.integers(0, 40))
        | st.tuples(st.integers(0, 50), st.integers(0, 20000)),
        min_size=4,
        max_size=12,
    )
)
def test_two_arrays_of_any_lengths(fn, sizes):
    follow(fn, pair, sizes)


def test_arrays_of_two_lengths_are_recorded_a_few_times():
    decorated = follow(two_lengths, pair, [(n, 3 * n + 7) for n in range(500, 530)])
    assert decorated.cache_info().misses == 2


def test_equal_lengths_are_a_condition():
    decorated = follow(together, pair, [(n, n) for n in range(500, 520)])
    assert decorated.cache_info().misses == 2
    follow(together, pair, [(n, n) for n in range(500, 510)] + [(5, 6), (500, 1), (1, 500)])


def test_a_thousand_lengths_keep_two_traces_and_a_few_programs():
    decorated = follow(lambda x: np.tanh(x) * 3 + x.mean(), vector, range(20_000, 21_000))
    info = decorated.cache_info()
    assert (info.hits, info.misses, info.keys) == (998, 2, 2)
    (family,) = decorated._captured[1].families.known.values()
    (candidate,) = family.sites[family.root, None].trusted
    (batch,) = candidate.batches()
    assert len(batch.template.dynamic) <= 3
    assert len(batch.template._static) <= 6


def test_a_known_length_is_no_other_program():
    decorated = follow(chain, vector, [500, 501, 502, 500, 501, 502, 502])
    assert decorated.cache_info().misses == 2
    first, third = (decorated.source(*vector(n), backend="graph") for n in (500, 502))
    assert first.replace("500", "502") == third


def sorted_plus(x, number):
    x.sort()
    return x + number


def test_a_call_that_departs_after_a_write_is_finished_by_python():
    decorated = runmat.jit(sorted_plus)

    def bytes_of(n):
        return np.random.default_rng(n).integers(0, 200, n).astype(np.uint8)

    for size in (50, 51, 52, 53):
        np.testing.assert_array_equal(decorated(bytes_of(size), 7), np.sort(bytes_of(size)) + 7)
    for size in (54, 55, 54, 54):
        x = bytes_of(size)
        with pytest.raises(OverflowError):
            decorated(x, 300)
        np.testing.assert_array_equal(x, np.sort(x))
        np.testing.assert_array_equal(decorated(bytes_of(size), 7), np.sort(bytes_of(size)) + 7)
    assert "sort" in str(decorated.explain(bytes_of(99), 7))


def test_what_runs_python_at_the_first_call_of_a_shape_counts_as_recorded():
    calls = []

    def fn(x):
        calls.append(len(calls))
        return x * 2

    decorated = runmat.jit(fn)
    for size in range(50, 60):
        np.testing.assert_array_equal(decorated(*vector(size)), 2 * vector(size)[0])
    assert calls == list(range(10))


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


def windows(x):
    return np.lib.stride_tricks.as_strided(x, (len(x) - 1, 2), (x.strides[0], 8), writeable=True)


LAYOUTS = {
    "transposed": lambda x: x.T,
    "Fortran": np.asfortranarray,
    "columns": lambda x: x[:, ::2],
    "inner": lambda x: x[1:-1, 1:-1],
    "backwards": lambda x: x[::-1, ::-1],
    "one row": lambda x: x[1:2].T,
    "broadcast": lambda x: np.broadcast_to(x[0], x.shape),
    "overlapping": windows,
}


def transposed(x):
    y = x.T * 2
    return y, y[1:, ::2] + 1, y.T.reshape(-1) * 3, y.sum(axis=0)


def column_major(x):
    y = np.exp(x.T) + x.T
    y[0] = 1
    return y.ravel(order="K") * 2, np.zeros_like(y) + 1, y.max(axis=1)


def halved(x):
    x[1:] *= 0.5
    return x + x.mean()


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("fn", [transposed, column_major, halved, chain], ids=lambda f: f.__name__)
@settings(max_examples=6)
@given(st.lists(st.tuples(st.integers(3, 40), st.integers(3, 40)), min_size=4, max_size=10))
def test_any_layouts_and_shapes(fn, layout, sizes):
    def make(size):
        return (layout(np.random.default_rng(0).random(size)),)

    follow(fn, make, sizes)


@pytest.mark.parametrize("layout", sorted(LAYOUTS.keys() - {"broadcast"}))
def test_arrays_of_any_layout_are_recorded_a_few_times(layout):
    def make(n):
        return (LAYOUTS[layout](np.random.default_rng(n).random((n, n + 3))),)

    assert follow(chain, make, range(100, 120)).cache_info().misses <= 4


def test_strides_may_change_where_extents_do_not():
    decorated = runmat.jit(transposed)
    for step in (1, 2, 3, 4, 5, 2, 7):
        x = np.random.default_rng(step).random((30, 10 * step))[:, ::step]
        compare(observe(transposed, (x,), {}), observe(decorated, (x,), {}))


def decided(x):
    x += 1
    if x.sum() > 2 * len(x):
        x *= 2
        return x - x.max(), 1
    if x[0] > 1.5:
        return x[1:] * x.std(), 2
    return x.cumsum() * 0.5, 3


def until_small(x):
    count = 0
    while np.abs(x).max() > 1:
        x = x / 2
        count += 1
    return x, count


def by_scalars(x):
    scale = float(x.max()) + float(np.linalg.norm(x))
    return x * scale, x @ x, x.var(), x.argmin()


def summed_in_place(x):
    total = x.sum()
    x.sort()
    x[0] = total
    return x * 3 if total > 1 else x[::-1] + total


DECISIONS = (decided, until_small, by_scalars, summed_in_place)


def scaled(n, scale):
    return (np.random.default_rng(n).random(n) * 2.0**scale,)


@pytest.mark.parametrize("fn", DECISIONS, ids=lambda fn: fn.__name__)
@settings(max_examples=10)
@given(
    st.lists(
        st.tuples(st.integers(1, 9) | st.integers(1000, 5000), st.integers(-3, 3)),
        min_size=8,
        max_size=24,
    )
)
def test_decisions_at_any_lengths(fn, sizes):
    follow(fn, lambda size: scaled(*size), sizes)


@pytest.mark.parametrize("fn", [until_small, by_scalars], ids=lambda fn: fn.__name__)
def test_functions_with_decisions_are_recorded_a_few_times(fn):
    sizes = [(1000 + n, n % 4) for n in range(60)]
    info = follow(fn, lambda size: scaled(*size), sizes).cache_info()
    assert info.misses <= 10
    assert info.retraces <= 8


def test_outcomes_that_are_rare_join_the_tree_of_the_family():
    def fn(x):
        return x * 2 if x[0] > 0 else x[1:] - 1

    decorated = runmat.jit(fn)
    for size in range(50, 90):
        x = np.full(size, -1.0 if size % 5 == 0 else 1.0)
        np.testing.assert_array_equal(decorated(x), fn(x))
    info = decorated.cache_info()
    assert (info.misses, info.retraces) == (4, 2)
    explanation = decorated.explain(np.ones(97))
    assert (explanation.mode, explanation.notes) == ("replayed", ())


def test_a_shape_that_departs_grows_a_tree_of_its_own():
    def fn(x):
        return x * 2 if x[0] > 0 else x[1:] - 1

    decorated = runmat.jit(fn)
    for size in (50, 51, 52):
        decorated(np.ones(size))
    family = decorated._captured[1].families.known.popitem()[1]
    own, _ = copied(family.root)
    decorated._captured[1].families.known["again"] = family
    before = list(segments_of(family.root))
    (segment,) = own.outcomes[None]
    segment.exit.add("another outcome", segment)
    assert list(segments_of(family.root)) == before


def flattened(x):
    y = x.reshape(-1)  # a view or a copy, as the strides say
    y += 1
    return y * 2, x.ravel() + 1


def flattened_part(x):
    return flattened(x[:, ::2])


def made_contiguous(x):
    y = np.ascontiguousarray(x[:, :4])
    y *= 3
    return y


def asked_for_its_layout(x):
    return x + 1 if x.flags.c_contiguous else x - 1, x[:, :4].flags["F"]


def narrow(size):
    """A part of a matrix: every second column, so that some can be flattened in place."""
    rows, columns = size
    return (np.random.default_rng(0).random((rows, columns))[:, ::2],)


def wide(size):
    return (np.random.default_rng(0).random(size),)


def loose(size):
    """A matrix of one column, or none but one row, with strides of its own."""
    rows, columns = size
    return (np.random.default_rng(0).random((rows, 3, columns))[:, 1, : 1 + columns // 6],)


@pytest.mark.parametrize("make", [narrow, wide, loose], ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "fn",
    [flattened, flattened_part, made_contiguous, asked_for_its_layout],
    ids=lambda fn: fn.__name__,
)
@settings(max_examples=10)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=6, max_size=20))
def test_views_are_views_and_copies_copies_at_every_shape(fn, make, sizes):
    follow(fn, make, sizes)


WEIGHTS = np.arange(1.0, 6.0)


def weighted(x):
    return x[:5] * WEIGHTS + x.sum(), x * WEIGHTS[0]


def test_arrays_from_outside_are_what_they_are_in_every_call():
    global WEIGHTS
    decorated = runmat.jit(weighted)
    for size in range(50, 70):
        if size % 7 == 0:
            WEIGHTS = np.arange(float(size), float(size + 5))
        (x,) = vector(size)
        compare(observe(weighted, (x,), {}), observe(decorated, (x,), {}))
    assert decorated.cache_info().misses == 2


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
    for candidate in family.sites[family.root, None].trusted:
        for batch in candidate.batches():
            str(batch.template.graph.nodes[0].type)
    assert decorated.explain(*vector(6001)).kinds == ["elementwise"]


def test_a_family_has_the_key_but_for_extents():
    def family(*args):
        return call_key(frozenset(), args, {})[0]

    first, second = family(np.ones((3, 4)), 2), family(np.ones((5, 6)), 2)
    assert first[0] == second[0]
    assert (first[1], second[1]) == ((3, 4), (5, 6))
    assert family(np.ones((3, 4)), 2.0)[0] != first[0]
    assert family(np.ones((3, 4), "f4"), 2)[0] != first[0]
    assert family(np.ones(3), 2)[0] != first[0]
    assert family(np.ones((3, 4)).T, 2)[0] != first[0]
    assert family(np.ones((3, 4)).T, 2)[1] == (4, 3)
    assert family(2)[1] == ()


def test_strides_that_do_not_follow_from_the_shape_are_numbers_of_a_call():
    def numbers(array):
        return call_key(frozenset(), (array,), {})[0][1]

    x = np.ones((8, 4))
    assert numbers(x[:, :1]) == (8, 1, 32, 8)
    assert numbers(x[:, ::2]) == (8, 2, 32, 16)
    assert numbers(x[::-1]) == (8, 4, -32, 8)
    assert numbers(x[:1]) == (1, 4)
    assert numbers(np.ones((5, 1))) == (5, 1)
    assert numbers(np.asfortranarray(x)) == (8, 4)


def test_a_template_that_cannot_be_made_harms_no_call(monkeypatch, caplog):
    def fail(*_):
        raise AssertionError("a mistake")

    monkeypatch.setattr("runmat_jit.compiler.template.make_dynamic_program", fail)
    monkeypatch.setattr("runmat_jit.compiler.template.LOG", logging.getLogger("tests.family"))
    with caplog.at_level(logging.ERROR, "tests.family"):
        follow(lambda x: np.sin(x) * 2 + 1, vector, range(40, 48))
    assert "no program for other shapes was made" in caplog.text
