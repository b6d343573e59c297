"""Kinds of arguments: arrays that capture refuses or treats specially; oracle: plain Python."""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import pathlib

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import Keywords, check, compare, observe


class Sub(np.ndarray):
    def __add__(self, other):
        return np.asarray(self) + np.asarray(other) + 1000


class Protocol:
    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.data, dtype)


class Overriding:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "overridden", ufunc.__name__

    def __array_function__(self, func, types, args, kwargs):
        return "overridden", func.__name__


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


class Count(int):
    pass


def unaligned(rng):
    return np.frombuffer(b"x" + rng.normal(size=4).tobytes(), np.uint8)[1:].view(np.float64)


def read_only(rng):
    x = rng.normal(size=4)
    x.flags.writeable = False
    return x


structured = np.dtype([("a", "f8"), ("b", "i4")])
ARRAYS = {
    "float64": lambda rng: rng.normal(size=4),
    "float32": lambda rng: rng.normal(size=4).astype(np.float32),
    "float16": lambda rng: rng.normal(size=4).astype(np.float16),
    "longdouble": lambda rng: rng.normal(size=4).astype(np.longdouble),
    "complex": lambda rng: rng.normal(size=4) * 1j + 1,
    "complex64": lambda rng: (rng.normal(size=4) * 1j + 1).astype(np.complex64),
    "int8": lambda rng: rng.integers(-100, 100, 4).astype(np.int8),
    "uint8": lambda rng: rng.integers(0, 255, 4).astype(np.uint8),
    "int32": lambda rng: rng.integers(-100, 100, 4).astype(np.int32),
    "int64": lambda rng: rng.integers(-100, 100, 4),
    "uint64": lambda rng: rng.integers(0, 100, 4).astype(np.uint64),
    "bool": lambda rng: rng.normal(size=4) > 0,
    "0-d": lambda rng: np.array(rng.normal()),
    "0-d int": lambda rng: np.array(7),
    "empty": lambda rng: np.zeros((0,)),
    "empty of two axes": lambda rng: np.zeros((3, 0)),
    "one element": lambda rng: rng.normal(size=1),
    "two axes": lambda rng: rng.normal(size=(2, 4)),
    "Fortran": lambda rng: np.asfortranarray(rng.normal(size=(2, 4))),
    "many axes": lambda rng: rng.normal(size=(1, 2, 1, 3, 1)),
    "negative strides": lambda rng: rng.normal(size=8)[::-2],
    "zero strides": lambda rng: np.broadcast_to(rng.normal(), (4,)),
    "broadcast rows": lambda rng: np.broadcast_to(rng.normal(size=4), (3, 4)),
    "odd strides": lambda rng: np.zeros(4, structured)["a"],
    "byte-swapped": lambda rng: rng.normal(size=4).astype(">f8"),
    "unaligned": unaligned,
    "read-only": read_only,
    "structured": lambda rng: np.zeros(3, structured),
    "object": lambda rng: np.array([1, 2.5, 3], dtype=object),
    "text": lambda rng: np.array(["a", "bc"]),
    "dates": lambda rng: np.array(["2020-01-01", "2021-02-03"], "datetime64[D]"),
    "durations": lambda rng: np.array([1, 2], "timedelta64[s]"),
    "subclass": lambda rng: rng.normal(size=4).view(Sub),
    "masked": lambda rng: np.ma.array(rng.normal(size=4), mask=[0, 1, 0, 1]),
    "matrix": lambda rng: np.asmatrix(rng.normal(size=(2, 2))),
    "memmap base": lambda rng: np.lib.stride_tricks.as_strided(rng.normal(size=6), (3, 3), (8, 8)),
}
pytestmark = [
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.sampled(3),
]  # of np.matrix
PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


@program
def arithmetic(x):
    return x + x, x * 2, -x, x == x


@program
def reductions(x):
    return x.sum(), x.min(), np.mean(x), x.any(), x.size


@program
def in_place(x):
    x += x
    y = x[...]
    y[:1] = x[-1:]
    return x


@program
def views_and_facts(x):
    return x.T, x[:2], x.dtype, x.shape, x.strides, x.ravel(), x.flags.writeable, len(x), x.nbytes


@program
def functions(x):
    return np.abs(x), np.sin(x), np.sort(x), np.where(x, x, 0), np.copy(x), np.isnan(x)


@program
def conversions(x):
    return x.astype(float), x.tolist(), x.item(0), np.asarray(x), x.copy(), list(x), str(x)


@program
def mixtures(x):
    return x + np.float32(1), x + 1.5, x * True, np.arange(4) + x, x**2, x / 3, x // 2, x % 3


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_arrays_of_every_kind(fn, kind):
    check(fn, lambda rng: (ARRAYS[kind](rng),), seeds=(0, 0, 1))


@pytest.mark.parametrize("other", ["float32", "0-d", "int8", "two axes", "subclass", "object"])
@pytest.mark.parametrize("kind", ["float64", "int64", "bool", "complex", "float16", "read-only"])
def test_two_arrays_of_different_kinds(kind, other):
    def fn(x, y):
        return x + y, x * y, np.maximum(x, y), x > y, x @ y.T if x.ndim else 0

    check(fn, lambda rng: (ARRAYS[kind](rng), ARRAYS[other](rng)), seeds=(0, 0))


def test_kinds_take_turns():
    def fn(x):
        y = x * 2
        return y + x, x.sum()

    makers = [ARRAYS[kind] for kind in ARRAYS if kind not in ("text", "dates", "structured")]
    numbers = {np.random.default_rng(seed).normal(): seed for seed in range(len(makers))}

    def make(rng):
        number = numbers[rng.normal()]
        return (makers[number](np.random.default_rng(number)),)

    check(fn, make, seeds=[*range(len(makers)), *range(len(makers))])


REFUSED = ("longdouble", "byte-swapped", "unaligned", "structured", "object", "text", "dates")


@pytest.mark.parametrize("kind", [*REFUSED, "subclass", "masked", "matrix"])
def test_arrays_that_make_a_call_plain(kind):
    decorated = runmat.jit(lambda x: x[:1])
    for _ in range(2):
        decorated(ARRAYS[kind](np.random.default_rng(0)))
    assert decorated.cache_info().plain == 2


@pytest.mark.parametrize(
    "kind", ["read-only", "Fortran", "negative strides", "0-d", "empty", "bool"]
)
def test_arrays_that_are_captured(kind):
    check(lambda x: x * 2 + x, lambda rng: (ARRAYS[kind](rng),), replayed=True)


OTHERS = {
    "text": "abc",
    "bytes": b"abc",
    "none": None,
    "ellipsis": Ellipsis,
    "range": range(3),
    "slice": slice(1, 3),
    "set": {1, 2},
    "frozenset": frozenset([1]),
    "fraction": fractions.Fraction(1, 3),
    "decimal": decimal.Decimal("1.5"),
    "date": datetime.date(2020, 1, 1),
    "path": pathlib.PurePosixPath("a"),
    "int enum": Color.BLUE,
    "int subclass": Count(3),
    "numpy text": np.str_("abc"),
    "numpy date": np.datetime64("2020-01-01"),
    "long double": np.longdouble(1.5),
    "void": np.zeros(1, structured)[0],
    "function": np.sin,
    "lambda": lambda y: y * 2,
    "partial": functools.partial(np.multiply, 3),
    "class": float,
    "dtype": np.dtype("f4"),
    "module": np,
    "protocol": Protocol([1.0, 2, 3, 4]),
    "overriding": Overriding(),
    "counter": collections.Counter("aab"),
    "memoryview": memoryview(b"abcd"),
    "generator": None,
    "list of numbers": [1, 2.0, 3, 4],
    "nested tuple": (1, (2, [3])),
    "big int": 2**80,
    "masked constant": np.ma.masked,
    "poly": np.poly1d([1, 2]),
    "bytearray": bytearray(b"ab"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_arguments(kind):
    value = OTHERS[kind]

    def fn(x, other):
        found = [type(other).__name__, other]
        try:
            found.append(x + other)
        except Exception as error:
            found.append(type(error).__name__)
        try:
            found.append(other(x))
        except Exception as error:
            found.append(type(error).__name__)
        try:
            found.append(x[other])
        except Exception as error:
            found.append(type(error).__name__)
        return found[0], found[2:]

    def make(rng):
        return rng.normal(size=4), (i for i in range(3)) if kind == "generator" else value

    check(fn, make, seeds=(0, 0, 1))


def test_arguments_of_every_passing_style():
    def fn(a, /, b, *args, c=2.0, **kwargs):
        return a + b, args, c, kwargs, len(args) + len(kwargs)

    x = lambda rng: rng.normal(size=3)
    check(fn, lambda rng: (x(rng), 1.0))
    check(fn, lambda rng: (x(rng), x(rng), x(rng), 4, Keywords(c=x(rng), d=x(rng), e=5)))
    check(fn, lambda rng: (x(rng), Keywords(b=x(rng))), replayed=True)


def test_keywords_in_another_order_are_another_dict():
    def fn(**kwargs):
        return list(kwargs), [value * 2 for value in kwargs.values()]

    order = {np.random.default_rng(seed).normal(): seed for seed in (0, 1)}

    def make(rng):
        if order[rng.normal()]:
            return (Keywords(a=np.ones(2), b=np.zeros(2)),)
        return (Keywords(b=np.zeros(2), a=np.ones(2)),)

    check(fn, make, seeds=(0, 0, 1, 1, 0))


class Thing:
    def __init__(self, k):
        self.k = k


@pytest.mark.parametrize("same", [True, False])
def test_an_object_given_twice_or_two_alike(same):
    def fn(x, a, b):
        return x * a.k + b.k, a is b

    decorated = runmat.jit(fn)
    for number in range(4):
        a = Thing(2.0)
        b = a if (number % 2 == 0) == same else Thing(5.0)
        assert str(decorated(np.ones(2), a, b)) == str(fn(np.ones(2), a, b))


@dataclasses.dataclass
class Tree:
    w: object
    more: object = None


def test_trees_of_arguments_are_rebuilt_and_written_back():
    def fn(tree, items):
        tree.w = tree.w * 2
        tree.more["k"][0] = items[0] + tree.w
        items[1], items[0] = items[0], tree.more["k"]
        return tree.more, items

    def make(rng):
        return Tree(rng.normal(size=2), {"k": [1.0, None]}), [rng.normal(size=2), "b"]

    check(fn, make, replayed=True)


def test_a_structure_of_another_length_is_another_kind_of_call():
    def fn(items):
        return sum(items[1:], items[0]), len(items)

    lengths = {np.random.default_rng(seed).normal(): seed for seed in range(1, 5)}

    def make(rng):
        return ([rng.normal(size=2) for _ in range(lengths[rng.normal()])],)

    check(fn, make, seeds=(1, 2, 3, 4, 1, 2, 3, 4))


def test_many_arrays():
    def fn(items):
        total = 0.0
        for item in items:
            total = total + item
        return total

    check(fn, lambda rng: ([rng.normal(size=3) for _ in range(60)],), replayed=True)


FACTOR = [1.0]


@dataclasses.dataclass
class Scaled:
    w: object

    def __matmul__(self, other):
        return self.w * FACTOR[0] @ other

    def go(self, x):
        return self.w * FACTOR[0] + x


@pytest.mark.parametrize("call", [lambda s, x: s @ x, lambda s, x: s.go(x)])
def test_methods_of_a_dataclass_see_outside_state(call):
    decorated = runmat.jit(lambda s, x: call(s, x))
    for number in range(5):
        FACTOR[0] = float(number)
        s, x = Scaled(np.arange(3.0)), np.ones(3)
        assert np.all(decorated(s, x) == call(s, x))


# -- functions as arguments, made anew for each call -----------------------------------------------
def calls_it(x, g):
    return g(x), g(x[1:])


def lists_theirs(x, g):
    return [h(x) for h in g(x)], g is g


def two_of_them(x, g):
    return g[0](x), g[1](x), g[0] is g[1]


TABLE = np.arange(4.0)
MADE_ANEW = {
    "a number in a cell": (calls_it, lambda number: (lambda c: lambda v: v * c)(number // 3)),
    "an array in a cell": (
        lambda x, g: g(x),
        lambda number: (lambda t: lambda v: v + t)(TABLE * number),
    ),
    "defaults": (calls_it, lambda number: lambda v, k=number // 3, *, z=2: v * k + z),
    "a closure in a cell": (
        calls_it,
        lambda number: (lambda h: lambda v: h(v) + 1)((lambda c: lambda v: v * c)(number // 4)),
    ),
    "a function that makes functions": (
        lists_theirs,
        lambda number: (lambda c: lambda v: [lambda w: w * c, lambda w: w + v[0] * c])(number),
    ),
    "one function or two": (
        two_of_them,
        lambda number: (lambda a, b: (a, a if number % 2 else b))(
            *[(lambda c: lambda v: v * c)(number // 4) for _ in range(2)]
        ),
    ),
    "that keeps a list": (
        calls_it,
        lambda number: (lambda kept: lambda v: (kept.append(v.sum()), list(kept))[1])([number]),
    ),
}


@pytest.mark.parametrize("name", MADE_ANEW)
def test_functions_made_anew_are_what_they_are_now(name):
    fn, make = MADE_ANEW[name]
    decorated = runmat.jit(fn)
    for number in range(12):
        x = np.arange(4.0) + number
        compare(observe(fn, (x, make(number)), {}), observe(decorated, (x, make(number)), {}))


@pytest.mark.parametrize("captured", [2.5, TABLE])
def test_functions_made_anew_with_equal_cells_and_defaults_are_repeated(captured):
    decorated = runmat.jit(lambda x, g: g(x))
    for number in range(10):
        x, c = TABLE + number, captured
        found = decorated(x, lambda v, k=3.0: v * c + k)
        np.testing.assert_array_equal(found, x * c + 3.0)
    info = decorated.cache_info()
    assert (info.misses, info.keys, info.traces) == (1, 1, 1)


def test_a_function_that_is_returned_is_the_one_given():
    decorated = runmat.jit(lambda x, g: (g, [g], x * 2))
    for _ in range(3):
        given = lambda v: v
        first, (second,), _ = decorated(TABLE, given)
        assert first is second is given


def test_a_closure_that_is_both_given_and_found_outside():
    kept = []

    def fn(x, g):
        return g(x), kept[0](x), kept[0] is g

    decorated = runmat.jit(fn)
    for number in range(9):
        given = (lambda c: lambda v: v * c)(float(number))
        if number % 4 == 0:
            kept[:] = [given]
        compare(observe(fn, (TABLE, given), {}), observe(decorated, (TABLE, given), {}))
