"""Host calls as nodes of the graph: ordered by their operands, no end of a fusion.

Oracles: undecorated Python for values, dtypes, strides, warnings and mutation; counts of kernels of
the same program without the host calls.
"""

import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe


def pair(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=40), rng.normal(size=40)


def beside(x, y):
    a = np.sort(x)
    b = np.argsort(y)
    return np.tanh(x * 2) + 1, np.exp(y) - 1, a, b


def without(x, y):
    return np.tanh(x * 2) + 1, np.exp(y) - 1


def between(x, y):
    return np.sort(np.exp(x) + 1) * 2 - y


def of_a_copy_written_before(x, y):
    x = x.copy()
    x[3:] += 1
    ordered = np.sort(x)
    x *= 2
    return ordered, x, y


def of_an_argument_written_before(x, y):
    x += 1
    ordered = np.argsort(x)
    x -= y
    return ordered, np.cumsum(x)


def written_afterwards(x, y):
    ordered = np.sort(x)
    ordered[0] = 7
    ordered[2:5] += y[2:5]
    return ordered, np.sort(ordered)


def unused(x, y):
    np.sort(x)
    return x + y


def twice(x, y):
    return np.sort(x) + np.sort(x), np.sort(x)


def product(x, y):
    a, b = x.reshape(5, 8), y.reshape(8, 5)
    return (a @ b + 1) * 2, np.dot(x, y), np.matmul(b, a).sum()


def by_axis(x, y):
    a = (x * 2).reshape(5, 8)
    return np.sort(a, axis=0) + 1, np.cumsum(a, axis=1), np.argsort(-a)


def transposed(x, y):
    a = x.reshape(5, 8).T
    return np.sort(a, axis=0), np.cumsum(a, axis=1), a @ a.T


def decided_by(x, y):
    ordered = np.sort(x)
    if ordered[0] > 0:
        return x
    return ordered - y


def ufuncs_without_rows(x, y):
    return np.arctan2(x, y) + np.log1p(np.abs(x)) * np.hypot(x, y)


def literals(x, y):
    weights = np.array([1.0, 4.0, 1.0])
    grid = np.linspace(0, 1, 40)
    return x[:3] * weights + grid[:3], np.eye(3) * 2 + weights, grid * y


def literals_written(x, y):
    table = np.array([[1, 2], [3, 4]])
    table[0, 1] = 9
    row = table[1]
    row += 1
    return table, row, x


def grids(x, y):
    u, v = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 2, 8))
    return x.reshape(8, 5) * u + v, np.mgrid[0:8, 0:5][1] + y.reshape(8, 5)


def large_grids(x, y):
    u, v = np.mgrid[0:200, 0:100]
    w = np.linspace(0, 1, 20_000) * 2
    return u + v, w + x[0], np.full((3, 2), y[0])


PROGRAMS = [
    large_grids,
    *(beside, between, of_a_copy_written_before, of_an_argument_written_before),
    *(written_afterwards, unused, twice, product, by_axis, transposed, decided_by),
    *(ufuncs_without_rows, literals, literals_written, grids),
]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs_with_host_calls_give_what_python_gives(fn):
    check(fn, pair, replayed=True)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_the_same_for_lengths_that_no_recording_has_seen(fn):
    decorated = runmat.jit(fn)
    sizes = (40,) if fn in (literals, grids) else (40, 80, 120, 40, 200)
    for size in sizes:
        rng = np.random.default_rng(size)
        values = [rng.normal(size=size) for _ in range(2)]
        expected = observe(fn, [v.copy() for v in values], {})
        found = observe(decorated, [v.copy() for v in values], {})
        compare(expected, found, exact=False)


def launches(fn, *args):
    """Kernels of a repeated call."""
    decorated = runmat.jit(fn)
    for _ in range(3):
        decorated(*args)
    before = runmat.telemetry.snapshot()["kernel_launches"]
    decorated(*args)
    return runmat.telemetry.snapshot()["kernel_launches"] - before


def test_host_calls_beside_a_computation_cost_it_no_kernel():
    assert launches(beside, *pair(0)) == launches(without, *pair(0))


def test_explanations_list_host_calls_where_they_run():
    decorated = runmat.jit(between)
    x, y = pair(0)
    decorated(x, y)
    assert decorated.explain(x, y).kinds == ["elementwise", "host", "elementwise"]


@pytest.mark.parametrize("state", ["warn", "ignore", "raise"])
def test_events_of_host_calls_are_reported_in_their_place(state):
    def fn(x, y):
        a = np.log(x)
        b = np.sort(y)
        return a, b, np.sqrt(y)

    decorated = runmat.jit(fn)
    large = np.full(3, 1e308)
    for arguments in ((np.ones(3), np.ones(3)), (np.zeros(3), large), (-large, -large)) * 2:
        seen = []
        for function in (fn, decorated):
            with warnings.catch_warnings(record=True) as caught, np.errstate(all=state):
                warnings.simplefilter("always")
                result = observe(function, arguments, {})
            told = [(str(w.message), w.lineno) for w in caught]
            seen.append((result, told))
        compare(seen[0][0], seen[1][0], exact=False)
        assert seen[0][1] == seen[1][1]


def test_integers_divided_by_zero_are_reported_at_the_line_of_the_program():
    def fn(x, y):
        doubled = x * 2
        return np.fmod(doubled, y) + 1

    decorated = runmat.jit(fn)
    for zeros in (0, 3, 0, 3):
        x, y = np.arange(5), np.arange(5) + zeros
        seen = []
        for function in (fn, decorated):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = function(x, y)
            seen.append((result.tolist(), [(str(w.message), w.lineno) for w in caught]))
        assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("fn", "error"),
    [
        (lambda x, y: np.sort(x, axis=3), np.exceptions.AxisError),
        (lambda x, y: x.reshape(5, 8) @ y, ValueError),
        (lambda x, y: np.cumsum(x, axis=1), np.exceptions.AxisError),
        (lambda x, y: np.arctan2(x, y[:7]), ValueError),
    ],
    ids=["sort", "matmul", "cumsum", "arctan2"],
)
def test_what_raises_is_no_node(fn, error):
    decorated = runmat.jit(fn)
    for _ in range(3):
        with pytest.raises(error):
            decorated(*pair(0))


def test_each_call_gets_memory_of_its_own():
    def fn(x):
        return np.array([1.0, 2.0]), np.sort(x), np.linspace(0, 1, 3)

    decorated, x = runmat.jit(fn), np.ones(3)
    kept = decorated(x)
    for _ in range(3):
        again = decorated(x)
        for ours, theirs in zip(kept, again, strict=True):
            assert not np.shares_memory(ours, theirs)
            ours[:] = 7
            np.testing.assert_array_equal(theirs, fn(x)[[*map(id, again)].index(id(theirs))])
