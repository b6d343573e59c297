"""Nothing traced leaves a call, in whatever it is returned; the oracle is undecorated Python."""

import gc
import itertools
import sys
import types

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.record.hooks import Hooks
from runmat_jit.capture.record.traced import Traced, TracedMethod
from tests.capture.behavior import compare_values, module

RESULTS = """{"a": y * 2}.values(); {"a": y * 2}.items(); {"a": y}.keys(); D.values(); D.items()
D.get; D | {}; {**D}; {1: {2: y * 2}}.values(); [D.values()]
OrderedDict(a=y * 2).values(); L.append; OrderedDict(a=y * 2).items()
defaultdict(list, D).items(); iter(D.values()); iter(D); iter(L); iter(T)
reversed(L); enumerate(L); zip(L, T); zip([y * 2], [y]); map(np.sin, [y * 2])
map(abs, L); filter(None, [n * 2]); (i for i in L); iter([y * 2]); iter((y * 2,))
[iter(L)]; [y * 2].__iter__; chain([y * 2], L); chain.from_iterable([L]); cycle(L)
repeat(y * 2); islice(L, 1); count(n * 2); accumulate([y * 2, y]); product([y * 2])
starmap(np.add, [(y, y)]); tee([y * 2]); groupby([n * 2])
zip_longest([y * 2], [y, y]); takewhile(bool, [n * 2]); compress([y * 2], [1])
pairwise([y, y * 2]); partial(g, y * 2); partial(max, n * 2); lambda: y * 2; g; h; G
G(); (y * 2).sum; (y * 2).flat; K; K(); K().m; K.c; K.s; K.p; [K]; Slot(y * 2)
DC(y * 2); [DC(y * 2)]; NT(y * 2, n); Sub([y * 2]); SubD(a=y * 2); SubT((y * 2,))
Error(y * 2); ValueError(y * 2); ExceptionGroup("a", [Error(y * 2)])
SimpleNamespace(a=y * 2); deque([y * 2]); nullcontext(y * 2); itemgetter(n * 1)
slice(n * 2, None); methodcaller("sum", n); attrgetter("shape"); frozenset([n * 2])
{n * 2}; range(n * 2); L * 2; {(n * 2, 1): 1}; {frozenset([n * 2]): 1}
{NT(n * 2, 1): 1}; {Frozen(n * 2): 1}; {n * 2: 1}.keys(); dict([((n * 2, 1), 1)])
dict.fromkeys([n * 2], 1); set([n * 2]); (n * 2).bit_length; n.__add__
MappingProxyType({"a": y * 2}); Counter([n * 2]).items()
type("Made", (), {"a": y * 2})""".replace("\n", ";").split(";")
PROGRAM = """
import typing
from collections import Counter, OrderedDict, defaultdict, deque
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import *
from operator import attrgetter, itemgetter, methodcaller
from types import MappingProxyType, SimpleNamespace

class Error(Exception):
    pass

class Slot:
    __slots__ = ("a",)
    def __init__(self, a):
        self.a = a

class Sub(list):
    pass

class SubD(dict):
    pass

class SubT(tuple):
    pass

class NT(typing.NamedTuple):
    a: object
    b: object

@dataclass
class DC:
    a: object

@dataclass(frozen=True)
class Frozen:
    a: object

def f(y, n, given, table):
    L, D, T = given, table, (y * 2, n * 2)
    class K:
        a = y * 2
        def m(self):
            return self.a
        @staticmethod
        def s(b=y * 2):
            return b
        @classmethod
        def c(cls):
            return cls.a
        p = property(lambda self, b=y * 2: b)
    def g(b=y * 2):
        return b
    def h(*, b=y * 2):
        return b, y
    def G():
        z = y * 2
        def k():
            nonlocal z
            z = z + 1
            return z
        return k
    return (RESULT), y + 1
"""
UNSEEN = ("(i for i in L)", *(("islice(L, 1)",) if sys.version_info >= (3, 14) else ()))
"""A generator runs on, and gives real values; what it holds meanwhile nobody sees."""


def reached(value):
    """The traced things that a value leads to."""
    seen, left = set(), [value]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if type(each) in (Traced, TracedMethod):
            yield each
        is_outside = isinstance(each, (types.ModuleType, Hooks)) or (
            isinstance(each, type) and "<locals>" not in each.__qualname__
        )
        if not is_outside and not (isinstance(each, dict) and "__builtins__" in each):
            left += gc.get_referents(each)


def used(value):
    """What a caller gets of a value by using it."""
    if type(value) is np.ndarray or isinstance(value, (int, float, str, type)):
        return value if not isinstance(value, type) else {**vars(value)}.get("a")
    if hasattr(value, "__next__"):
        return type(value).__name__, [used(each) for each in itertools.islice(value, 3)]
    if isinstance(value, BaseException):
        return [used(each) for each in value.args]
    if callable(value):
        try:
            return used(value())
        except TypeError as error:
            return str(error)
    if hasattr(value, "items") or isinstance(value, (list, tuple, set, frozenset)):
        return (
            type(value).__name__,
            [used(each) for each in value],
            [*getattr(value, "values", list)()],
        )
    if type(value).__name__.startswith(("dict_", "odict_")):
        return type(value).__name__, [used(each) for each in value]
    return type(value).__name__


@pytest.mark.sampled(2)
@pytest.mark.parametrize("result", [each.strip() for each in RESULTS])
def test_results(result):
    fn = module(PROGRAM.replace("RESULT", result))["f"]
    decorated = runmat.jit(fn)
    for _ in range(3):
        expected, found = (
            each(np.array([1.0, 2]), 3, [np.ones(2), 4], {"a": np.ones(2)})
            for each in (fn, decorated)
        )
        assert type(found[0]).__name__ == type(expected[0]).__name__
        if result not in UNSEEN:
            assert not list(reached(found))
        compare_values(used(expected[0]), used(found[0]), "", exact=True)
        assert not list(reached(used(found[0])))


def test_iterators_that_do_not_tell_how_they_are_made_give_real_items():
    def fn(x):
        pairs = itertools.pairwise([x, x * 2, x * 3, x * 4])
        return next(pairs)[1], pairs

    with pytest.raises(TypeError, match="pickle"):
        itertools.pairwise([]).__reduce__()
    for decorated in (fn, runmat.jit(fn)):
        first, pairs = decorated(np.ones(2))
        found = list(pairs)
        assert not list(reached(found))
        np.testing.assert_array_equal(first, [2, 2])
        np.testing.assert_array_equal(found, [[[2, 2], [3, 3]], [[3, 3], [4, 4]]])


def test_repeated_lists_hold_the_same_lists():
    def fn(rows, n):
        made = rows * n
        made[0].append(n)
        return made, [[0]] * n

    for decorated in (fn, runmat.jit(fn)):
        rows = [[1], [2]]
        made, zeros = decorated(rows, 2)
        assert made == [[1, 2], [2], [1, 2], [2]]
        assert made[0] is made[2] is rows[0]
        assert zeros[0] is zeros[1]
