"""Programs that make Python numbers, texts, shapes and types of arrays; oracle: plain Python.

Many of these would be stale if what Python computes of a value were taken for a constant: the last
group is called forty times with values that change the shapes, types and kinds of results.
"""

import collections
import functools
import math
import random

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.record import elements
from tests.capture.behavior import check, compare, observe

SEEDS = (0, 0, 1, 0, 2, 3, 1, 4, 5, 0)
SPECIAL = (0.0, -0.0, math.nan, 1.0, math.inf)


def vector(rng):
    return (rng.normal(size=6),)


def matrix(rng):
    return (rng.normal(size=(3, 4)),)


def vector_and_mask(rng):
    return rng.normal(size=6), rng.normal(size=6) > 0


def two_numbers(rng):
    return int(rng.integers(3, 9)), float(rng.normal())


def number_of_numpy(rng):
    return np.float32(rng.normal()), int(rng.integers(9))


def vector_and_special(rng):
    return rng.normal(size=4), SPECIAL[int(rng.integers(5))]


# -- texts, keys and sets --------------------------------------------------------------------------
def texts(x):
    return f"{x.mean():.3f} {x.shape} {x[0]!r}"


def methods_of_texts(x):
    joined = ",".join(str(a) for a in np.round(x, 1))
    formatted = "%0.2f" % x[0], "{:.1f}".format(x[1])  # noqa: UP032
    return "a,b".upper()[0] * len(x), formatted, joined


def keys_of_dictionaries(x):
    counts = {}
    for a in np.round(x):
        counts[int(a)] = counts.get(int(a), 0) + 1
    return counts


def sets(x):
    rounded = sorted({round(float(a), 1) for a in x})
    return {int(a) for a in x} | {99}, rounded, tuple(x[:2]) + (1,), list(x) == list(x)


def special_numbers_as_keys(x, a):
    if a == 0:
        return x / a, str(a), math.copysign(1, a)
    if a != a:
        return "nan"
    return x * a, {a: 1}, f"{a}"


# -- numbers ---------------------------------------------------------------------------------------
def numbers_without_arrays(n, a):
    total = 0
    for i in range(n):
        total += a * i
    return total, n**70, a // 2, -n % 3, round(a, 2), isinstance(a, float), type(n) is int


def numbers_of_numpy(a, n):
    kinds = type(a).__name__, isinstance(a, np.floating)
    return a * n, a * 2.0, kinds, a.item(), float(a) == a


def large_integers(x):
    n = int(x[0] * 10)
    return n**30, n << 70, -n // 3, n % 7, bin(n), divmod(n, 5)


def chained_comparisons(a):
    tests = 0 < a.mean() < 1, (a > 0).all() and not (a > 5).any(), a.any() or None
    return tests, 1 if a[0, 0] else 2, a.shape == (3, 4), (a == a).all() is np.True_


def kinds_of_values(x):
    array = isinstance(x, np.ndarray), type(x) is np.ndarray, isinstance(x, (list, tuple))
    number = isinstance(x[0], float), isinstance(x.sum(), np.floating), np.isscalar(x[0])
    return array, number, isinstance(float(x[0]), float), np.ndim(x), x.dtype.kind


def attributes_by_name(x):
    asked = hasattr(x, "foo"), x.__class__.__name__, callable(x)
    return getattr(x, "sum")(), getattr(np, "cos")(x), asked  # noqa: B009


def iteration(a):
    pairs = [p * q for p, q in zip(a, a[::-1])]
    return pairs, [i * row.sum() for i, row in enumerate(a)], list(reversed(a[:, 0]))


def builtins_over_elements(x):
    doubled = list(a * 2 for a in x)
    extremes = max(x), min(x[0], x[1]), max(x.tolist()), sorted(x)[0]
    return doubled, extremes, sum(x > 0), any(x > 0), np.float64(3) * x


def slices_by_value(x):
    n = int(abs(x[0])) + 1
    k = np.argmax(x)
    views = x[n:], x[:k], x[k], x[-n], x[k : k + 1], x.reshape(n, -1) if 6 % n == 0 else 0
    return views, np.zeros(n), np.arange(k), [0] * n, "ab" * n, list(range(n))


def shapes_by_value(x, mask):
    y = x[mask]
    n = len(y)
    z = np.zeros(n)
    z[:] = y
    i = np.nonzero(mask)[0]
    products = y.reshape(-1, 1) * np.arange(n), np.outer(y, y).shape
    return z, y.shape, products, i.size, x[i[0] :] if n else None


# -- results ---------------------------------------------------------------------------------------
def results_in_a_queue(x):
    return collections.deque([x.sum(), x])


def results_in_groups(x):
    groups = collections.defaultdict(list)
    groups[0].append(x.mean())
    return dict(groups), sorted(groups), groups


def results_in_sets(x):
    return {float(x[0]), int(x[1])}, frozenset([x.shape[0]])


def results_of_partials(x):
    return [functools.partial(max, x[0])(3.0)]


def ranges_and_slices(x):
    return range(int(abs(x[0]) * 3)), slice(int(x[1]), 2)


def attributes_of_objects(x):
    class Pair:
        pass

    pair = Pair()
    pair.a = x + 1
    pair.b = [x.sum()]
    return [type(pair.a).__name__, pair.__dict__]


PROGRAMS = [
    (texts, vector),
    (methods_of_texts, vector),
    (keys_of_dictionaries, vector),
    (sets, vector),
    (special_numbers_as_keys, vector_and_special),
    (numbers_without_arrays, two_numbers),
    (numbers_of_numpy, number_of_numpy),
    (large_integers, vector),
    (chained_comparisons, matrix),
    (kinds_of_values, vector),
    (attributes_by_name, vector),
    (iteration, matrix),
    (builtins_over_elements, vector),
    (slices_by_value, vector),
    (shapes_by_value, vector_and_mask),
    (results_in_a_queue, vector),
    (results_in_groups, vector),
    (results_in_sets, vector),
    (results_of_partials, vector),
    (ranges_and_slices, vector),
    (attributes_of_objects, vector),
]


@pytest.mark.parametrize(("fn", "make"), PROGRAMS, ids=lambda each: each.__name__)
def test_programs(fn, make):
    check(fn, make, seeds=SEEDS)


@pytest.mark.parametrize(("fn", "make"), PROGRAMS[6:14], ids=lambda each: each.__name__)
def test_what_a_replay_has_done_is_taken_as_it_was_done(fn, make, monkeypatch):
    """Whether elements are deferred depends on the places of instructions, and CPython gives these
    others as it specializes them: here by chance."""
    choose = random.Random(fn.__name__)
    monkeypatch.setattr(elements, "_comes_again", lambda _: choose.random() < 0.5)
    check(fn, make, seeds=SEEDS)


# -- nothing is stale ------------------------------------------------------------------------------
def lengths_by_value(x):
    lengths = len(x.repeat(int(x[0]))), len(np.delete(x, x < 2)), np.trim_zeros(x - 1).size
    return lengths, np.histogram_bin_edges(x * x[0], "auto").size


def constants_chosen_by_value(x):
    n = int(x[0])
    place = [3, 2].index(n) if n in (2, 3) else 0
    return sorted([n, 3, 2]), place, "abc"[n % 3], (1, 2, 3)[n % 3]


def sizes_of_selections(x):
    y = x[x > x[0]]
    sizes = y.size, y.nbytes, np.size(y), np.shape(y), y.shape[0] * 2
    return sizes, np.zeros_like(y).shape, (y + 1).shape, np.add.outer(y, y).shape


def shapes_after_selections(x):
    y = x[x > x[0]]
    z = np.concatenate([y, x])
    w = np.where(z > 0)[0]
    first = z.shape, w.shape, z.reshape(-1).shape, np.outer(y, x).T.shape, y.cumsum().shape
    return first, y[::2].shape, np.sort(y).shape, np.dot(y, y).shape


STALE = [
    lengths_by_value,
    constants_chosen_by_value,
    sizes_of_selections,
    shapes_after_selections,
]


@pytest.mark.parametrize("fn", STALE, ids=lambda fn: fn.__name__)
def test_nothing_of_an_earlier_call_is_in_a_later_one(fn):
    decorated = runmat.jit(fn)
    for number in range(40):
        x = np.arange(8.0) * (1 if number % 2 else -1) + 1 + number % 5
        x[0] = 1 + number % 6
        compare(observe(fn, (x.copy(),), {}), observe(decorated, (x.copy(),), {}), exact=True)
