"""Containers of the standard library, callbacks of NumPy, facts of arrays; oracle: plain Python."""

import bisect
import collections
import contextlib
import copy
import dataclasses
import enum
import heapq
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, compare, module, observe

SEEDS = (0, 0, 1, 2, 0, 1)


def vector(rng):
    return (np.round(rng.normal(size=6), 3),)


def whole(rng):
    return (rng.integers(0, 3, size=5),)


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class State:
    position: np.ndarray
    speed: float = 0.5
    names: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Outer:
    inner: State
    parts: tuple


class Result:
    def __init__(self, value):
        self.value = value
        self.parts = [value + 1]


class Mark(enum.Enum):
    NONE = 0
    ONE = 1
    TWO = 2


class Open(enum.Enum):
    ONE = 1

    @classmethod
    def _missing_(cls, value):
        return cls.ONE if FALLBACK and value else None


FALLBACK = True


def queues(x):
    queue = collections.deque([0.0] * 2, maxlen=2)
    seen = []
    for value in x:
        seen.append(queue.popleft())
        queue.append(value * 2)
        queue.appendleft(seen[-1])
    return seen, queue, queue[0], len(queue), list(queue)


def groups(x):
    by_sign = collections.defaultdict(list)
    counts = collections.defaultdict(int)
    for value in x:
        by_sign[bool(value > 0)].append(value)
        counts["all"] += 1
    ordered = collections.OrderedDict((key, sum(by_sign[key])) for key in sorted(by_sign))
    return by_sign, counts, ordered, {k: len(v) for k, v in by_sign.items()}


def counters(x):
    counter = collections.Counter(x.tolist())
    counter[7] += 1
    return counter, counter.most_common(1), sum(counter.values()), collections.Counter(), x * 2


def heaps(x):
    heap = []
    for number, value in enumerate(x[:4]):
        heapq.heappush(heap, (value, number))
    first = heapq.heappop(heap)
    small = heapq.nsmallest(2, x[:3].tolist(), key=lambda v: -v)
    cuts = [0.0, 1.0]
    bisect.insort(cuts, float(x[0]))
    return first, heap, small, bisect.bisect([-1.0, 0.0, 1.0], float(x[1])), cuts


def tuples_and_dataclasses(x):
    point = Point(x, x.sum())
    moved = point._replace(y=x * 2)
    state = State(x * 2, names=["a"])
    nested = Outer(dataclasses.replace(state, speed=float(x[0])), (x, 1))
    return moved, moved._asdict(), state, nested, Point._make([1, x[0]])


def as_dicts(x):
    nested = Outer(State(x * 2, names=["a"]), (x, 1))
    taken = dataclasses.asdict(nested)
    taken["inner"]["position"][0] = 9
    return nested, taken, dataclasses.asdict(Outer(nested.inner, (x,)))["parts"]


def own_objects(x):
    space = SimpleNamespace(x=x, total=0.0)
    space.total += x.sum()
    result = Result(space.x * 2)
    return space, result, [result, result], result.parts


def members(x):
    return [Mark(v) for v in x.tolist()], Mark(x[0]).name, [m.value for m in Mark], x + 1


def caught(x):
    found = []
    with contextlib.suppress(ValueError):
        found.append(["a"].index("b"))
    return found, x * 2


def callbacks(x):
    table = np.fromfunction(lambda i, j: i + 2 * j, (2, 3), dtype=int)
    rows = x.reshape(2, 3)
    smooth = np.apply_along_axis(np.convolve, 1, rows, np.ones(2), mode="same")
    bent = np.piecewise(x, [x < -0.5, x > 0.5], [-1.0, lambda v: v * 2, lambda v: v - 1])
    return table, smooth, bent, np.piecewise(x, [x < 0], [lambda v: -v]), rows


def polynomials(x):
    nodes, weights = np.polynomial.legendre.leggauss(3)
    return nodes * x[:3], weights, np.polynomial.chebyshev.chebval(x, [1, 2, 3])


@pytest.mark.parametrize(
    "fn",
    [
        queues,
        groups,
        heaps,
        tuples_and_dataclasses,
        own_objects,
        caught,
        callbacks,
        polynomials,
    ],
    ids=lambda fn: fn.__name__,
)
def test_programs_with_library_containers_need_no_python(fn):
    check(fn, vector, seeds=SEEDS, replayed=True)


@dataclasses.dataclass
class Own:
    """Replaced by ``copy.replace`` in a way of its own, which ``dataclasses.replace`` ignores."""

    x: np.ndarray
    speed: float = 1.0

    def __replace__(self, /, **changes):
        return Own(**{"x": self.x + 1, **changes})


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def __replace__(self, /, **changes):
        return Pair(changes.get("first", self.first), changes.get("second", self.second * 2))


def test_dataclasses_with_a_way_to_be_replaced_are_replaced_field_by_field():
    def fn(x):
        return dataclasses.replace(Own(x * 2), speed=float(x[0]))

    check(fn, vector, seeds=SEEDS, replayed=True)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace is of Python 3.13")
def test_copies_with_changes_need_no_python():
    def fn(x):
        state, own = State(x * 2, names=["a"]), Own(x + 1)
        pair = copy.replace(Pair(x, x * 3), first=x - 1)
        called = state.__replace__(speed=2.0)
        changed = copy.replace(state, speed=float(x[0])), copy.replace(own, speed=0.5)
        return changed, called, copy.replace(Point(x, 1), y=x * 2), pair.first, pair.second

    check(fn, vector, seeds=SEEDS, replayed=True)


def test_dicts_of_dataclasses_are_copies():
    check(as_dicts, vector, seeds=SEEDS)


@pytest.mark.parametrize("fn", [counters, members], ids=lambda fn: fn.__name__)
def test_programs_with_whole_numbers_as_keys_need_no_python(fn):
    check(fn, whole, seeds=SEEDS, replayed=True)


KEPT = collections.deque([1.0], maxlen=3)
TABLE = collections.OrderedDict(a=1)


def test_library_containers_from_outside_are_never_stale():
    def fn(x):
        KEPT.append(float(x[0]))
        TABLE["b"] = len(KEPT)
        return list(KEPT), dict(TABLE), KEPT[0] * x, len(KEPT)

    decorated = runmat.jit(fn)
    for number in range(5):
        KEPT.clear()
        TABLE.clear()
        expected = observe(fn, (np.full(2, float(number)),), {})
        KEPT.clear()
        TABLE.clear()
        compare(expected, observe(decorated, (np.full(2, float(number)),), {}))


def test_heaps_among_the_arguments_change_as_in_python():
    def fn(heap, x):
        heapq.heappush(heap, float(x[0]))
        return heapq.heappop(heap), x * 2

    check(fn, lambda rng: ([0.5, 1.0], rng.normal(size=2)), seeds=SEEDS)


def test_functions_that_take_a_key_from_outside_are_followed(monkeypatch):
    decorated = runmat.jit(sorted_by_key)
    for sign in (1, 1, -1, -1):
        monkeypatch.setattr(sys.modules[__name__], "SIGN", sign)
        args = (np.arange(4.0),)
        compare(observe(sorted_by_key, args, {}), observe(decorated, args, {}))


SIGN = 1


def sorted_by_key(x):
    return heapq.nlargest(2, x.tolist(), key=lambda v: SIGN * v), x * 2


def test_enumerations_that_make_members_up_stay_with_python(monkeypatch):
    def fn(x):
        return Open(int(x[0])), x * 2

    decorated = runmat.jit(fn)
    for fallback in (True, True, False):
        monkeypatch.setattr(sys.modules[__name__], "FALLBACK", fallback)
        args = (np.array([3.0]),)
        compare(observe(fn, args, {}), observe(decorated, args, {}))


def test_results_of_a_users_class_are_new_at_each_call():
    decorated, x = runmat.jit(own_objects), np.arange(3.0)
    first, second, third = (decorated(x) for _ in range(3))
    assert decorated.cache_info().hits == 2
    assert second[1] is second[2][0] is second[2][1]
    assert second[1] is not third[1]
    assert second[3] is second[1].parts
    assert type(second[1]) is Result
    assert first[0] is not second[0]


def test_classes_with_finalizers_are_made_by_python():
    made = []

    class Counted:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            made.append(1)

    def fn(x):
        return Counted(x * 2)

    decorated = runmat.jit(fn)
    for _ in range(3):
        decorated(np.ones(2))
    assert len(made) == 3


def facts(x, view):
    y = x * 2
    z = y[1:]
    c = np.asfortranarray(y.reshape(2, 3))
    return (
        (y.flags.c_contiguous, c.flags["F_CONTIGUOUS"], x.flags.writeable, x.flags.aligned),
        (y.flags.owndata, z.flags.owndata, view.flags.owndata, c.T.flags.c_contiguous),
        (z.base is y, x.base is None, y.base, x[1:].base is x, x.T.base is x),
        (np.shares_memory(z, y), np.shares_memory(x, y), np.may_share_memory(x, x[:2])),
        z,
    )


def test_facts_of_arrays_are_numpys():
    def make(rng):
        x = rng.normal(size=6)
        return x, x[2:]

    check(facts, make, seeds=SEEDS)


def test_who_owns_the_memory_of_an_argument_is_looked_at_in_each_call():
    def fn(x):
        return x.flags.owndata, x.base is None, x[1:].base is x, x * 2

    decorated, base = runmat.jit(fn), np.arange(12.0)
    for x in (base[:3].copy(), base[:3].copy(), base[:3], base[3:6], base[:3].copy()):
        compare(observe(fn, (x,), {}), observe(decorated, (x,), {}))


def test_flags_that_are_set_or_shown_are_numpys():
    def fn(x):
        y = x * 2
        y.flags.writeable = False
        text = str(x.flags)
        with contextlib.suppress(ValueError):
            y[0] = 3
        return y, text, x.flags, x.flags == y.flags

    decorated, x = runmat.jit(fn), np.ones(3)
    for _ in range(3):
        expected, found = fn(x), decorated(x)
        assert not found[0].flags.writeable
        assert found[0].tolist() == [2, 2, 2]
        assert (str(found[2]), *found[1::2]) == (str(expected[2]), *expected[1::2])


def test_windows_over_an_array_are_views_of_it():
    def fn(x):
        size = x.strides[0]
        windows = np.lib.stride_tricks.as_strided(x, (4, 3), (size, size))
        sums = windows.sum(axis=1)
        x[2] = 50
        before = windows * 1
        windows += 1
        windows[1:, 1] = sums[1:]
        return sums, before, x, windows

    check(fn, vector, seeds=SEEDS)


class Bare:
    """A class without ``__init__``."""

    def fill(self, value):
        self.value = value
        return self


class Derived(Bare):
    scale = 3.0


def test_objects_of_classes_without_an_initializer_are_repeated():
    def fn(x):
        first, second = Bare().fill(x * 2), Derived().fill(x + 1)
        return first.value + second.value * second.scale

    check(fn, vector, seeds=SEEDS, replayed=True)


@pytest.mark.parametrize("spelled", ["deque(maxlen=w)", "deque(x.tolist(), w)", "deque((), w + 1)"])
def test_the_length_of_a_deque_may_be_a_number_of_the_call(spelled):
    lines = [
        "def fn(x, w):",
        f"kept = {spelled}",
        "kept.extend(x * 2)",
        "return list(kept), kept.maxlen",
    ]
    text = "\n    ".join(lines) + "\n"
    namespace = module(text)
    namespace["deque"] = collections.deque
    decorated = runmat.jit(namespace["fn"])
    for w in (3, 3, 2, 3):
        args = np.arange(5.0), w
        compare(observe(namespace["fn"], args, {}), observe(decorated, args, {}))
