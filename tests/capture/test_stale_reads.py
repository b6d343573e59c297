"""Reads of outside state that changes between two calls; the oracle is undecorated Python.

Every way to read (attributes of functions, classes, instances and modules, globals, cells, items,
lengths, membership and text of containers) meets every way to change it: another value, of the same
or of another type that is equal, a missing one, another object.
"""

import os
import random

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, module, observe

FULL = os.environ.get("RUNMAT_TEST_PROFILE", "default") != "default"
VALUES = (
    *(1, 1.0, True, 0, 0.0, -0.0, False, np.float64(1), np.int64(1), np.float64(-0.0), np.True_),
    *(None, "1", float("nan"), (1, 2), (1.0, 2), (True, 2), [1], {"b": 1}, 1j, 1 + 0j, np.ones(2)),
)
READS = (
    *("helper.k", "hasattr(helper, 'k')", "getattr(helper, 'k', 7)", "helper.__doc__"),
    *("helper.__defaults__", "helper.__kwdefaults__", "helper.__name__", "helper.__module__"),
    *("helper.__code__.co_name", "dict(helper.__dict__)", "'k' in helper.__dict__", "helper(x)"),
    *("hasattr(helper, '__wrapped__')", "vars(helper).get('k')", "helper(x, b=3)", "C.k", "C.c()"),
    *("hasattr(C, 'k')", "C.__name__", "C.__doc__", "o.k", "hasattr(o, 'k')", "vars(o).get('k')"),
    *("o.m(x)", "o.p", "bound(x)", "m.k", "hasattr(m, 'k')", "vars(m).get('k')", "g", "(g,)"),
    *("type(g).__name__", "L[0]", "len(L)", "1 in L", "[a for a in L]", "L.count(1)", "repr(L)"),
    *("L == [1, 2]", "bool(L)", "D['a']", "D.get('a', 5)", "len(D)", "list(D)", "repr(D)", "T"),
    *("1 in T", "len(T)", "len(S)", "1 in S", "sorted(map(repr, S))", "cell(x)", "kept(x)"),
    *("kept.keywords", "os.environ.get('RUNMAT_READ')", "'RUNMAT_READ' in os.environ"),
)
PROGRAM = """
import functools, os, types

def make(v):
    def helper(x, a=v, *, b=v):
        return x, a, b
    helper.k = v
    return helper

def make_class(v):
    class C:
        k = v
        def m(self, x):
            return x, self.k
        @property
        def p(self):
            return self.k
        @classmethod
        def c(cls):
            return cls.k
    return C

def base(x, k=0):
    return x, k

def make_cell():
    q = 1
    def change(v):
        nonlocal q
        q = v
    return (lambda x: (x, q)), change

helper, C, g, L, D, T, S, m = make(1), make_class(1), 1, [1, 2], {"a": 1}, (1, 2), {1}, None
o, m, kept, (cell, change_cell) = C(), types.ModuleType("m"), functools.partial(base), make_cell()
bound, m.k = o.m, 1

def f(x):
    try:
        seen = READ
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        seen = type(error).__name__, str(error)
    return seen, x * 2

def stored(n, v):
    global g, T, kept
    helper.k = C.k = o.k = m.k = g = L[0] = D["a"] = v
    T, helper.__defaults__, helper.__kwdefaults__ = (v, 2), (v,), {"b": v}
    helper.__doc__ = C.__doc__ = repr(v)
    helper.__name__, helper.__module__, C.__name__ = f"n{n}", f"m{n}", f"K{n}"
    os.environ["RUNMAT_READ"], kept = repr(v), functools.partial(base, k=v)
    change_cell(v)
    if not isinstance(v, (list, dict, np.ndarray)):
        S.clear()
        S.add(v)
        D[v] = 1

def removed(n, v):
    for each in (helper, C, o, m):
        if n % 2 and "k" in vars(each):
            del each.k
        elif not n % 2:
            each.k = v
    if n % 2:
        helper.__defaults__ = helper.__kwdefaults__ = helper.__doc__ = None
        os.environ.pop("RUNMAT_READ", None)
        for each in (L, D, S):
            each.clear()
    else:
        helper.__defaults__, helper.__kwdefaults__, helper.__doc__ = (v,), {"b": 1}, "doc"
        L[:], D["a"], os.environ["RUNMAT_READ"] = [v, 2], v, "1"
        S.add(1)

def replaced(n, v):
    global helper, C, o, g, L, D, T, S, bound, kept
    helper, C, g, L, D, T, S = make(v), make_class(v), v, [v, 2], {"a": v}, (v,), {3, n}
    o, kept = C(), functools.partial(make(v))
    bound = o.m
"""


@pytest.mark.parametrize("way", ["stored", "removed", "replaced"])
def test_outside_state_that_changes(way, monkeypatch):
    monkeypatch.delenv("RUNMAT_READ", raising=False)
    choose = random.Random(way)
    for read in READS:
        order = choose.choices(range(len(VALUES)), k=40 if FULL else 7)
        spaces = [module(PROGRAM.replace("READ", read, 1), "stale") for _ in range(2)]
        plain, decorated = spaces[0]["f"], runmat.jit(spaces[1]["f"])
        for number in (*order, order[-1]):
            seen = []
            for space, fn in zip(spaces, (plain, decorated), strict=True):
                space[way](number, VALUES[number])
                seen.append(observe(fn, (np.ones(2),), {}))
            try:
                compare(*seen, exact=True)
            except AssertionError as error:
                raise AssertionError(f"{read}, {VALUES[number]!r}: {error}") from None


KEYS = (
    *(0.0, -0.0, 0, False, 1, 1.0, True, np.float64(1), np.int64(1), np.float64(-0.0), (1, 2)),
    *((True, 2.0), (0.0, 1), (-0.0, 1), ((1,),), ((True,),), frozenset([1]), frozenset([True])),
    *("1", None, float("nan"), float("nan"), np.str_("1"), b"1", 1 + 0j, 0j, -0j),
)
HOLDERS = {
    "keys": lambda key: {key: 1},
    "keys below": lambda key: [{"a": {key: 1}}],
    "items": lambda key: [key],
    "tuples": lambda key: (key,),
    "values": lambda key: {"a": key, key: 2},
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_equal_keys_of_arguments_are_told_apart(holder):
    def fn(x, held):
        return list(held), repr(held), [type(key) for key in held], x * 2

    choose = random.Random(holder)
    decorated = runmat.jit(fn)
    order = KEYS + tuple(choose.choices(KEYS, k=1000 if FULL else 60))
    for key in order:
        expected, found = (each(np.ones(2), HOLDERS[holder](key)) for each in (fn, decorated))
        assert repr(found) == repr(expected)


def test_methods_of_outside_lists_that_a_manager_keeps():
    text = """
from contextlib import ExitStack

class M:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        L.append("out")

L = []

def f(x):
    del L[:]
    with ExitStack() as stack:
        stack.callback(L.append, "first")
        stack.enter_context(M())
        stack.callback(L.append, "last")
    return list(L), x * 2

def g(x):
    with ExitStack() as stack:
        stack.callback(L.append, "alone")
    return list(L), x * 2
"""
    plain, other = module(text), module(text)
    for name in ("f", "g"):
        decorated = runmat.jit(other[name])
        for _ in range(3):
            compare(observe(plain[name], (np.ones(2),), {}), observe(decorated, (np.ones(2),), {}))


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_methods_that_are_class_methods_without_saying_so(place):
    classes = """
class K:
    def __class_getitem__(cls, k):
        return cls.__name__, k
    def __init_subclass__(cls, **kw):
        cls.kw = kw
    def __new__(cls, *a):
        made = super().__new__(cls)
        made.a = a
        return made
class J(K, z=3):
    pass
"""
    inside = "".join(f"    {line}\n" for line in classes.strip().split("\n"))
    text = f"""
{classes if place == "outside" else ""}
def f(x):
{inside if place == "inside" else ""}
    class I(J, w=x.sum()):
        pass
    made = J(2, x * 2)
    return K[3], J[x.shape], J.kw, I.kw, made.a, type(made).__name__, I(3).a, K.__new__(J, 1).a
"""
    plain, other = module(text)["f"], runmat.jit(module(text)["f"])
    for _ in range(3):
        compare(observe(plain, (np.arange(3.0),), {}), observe(other, (np.arange(3.0),), {}))
