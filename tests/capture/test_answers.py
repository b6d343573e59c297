"""What values answer while a call is recorded: what the plain values answer; the oracle is Python.

One table of kinds of values, one of ways in which they come into a program, and laws over all of
them: classes and protocols, patterns, attributes by name, methods by name.
"""

import collections.abc
import numbers
import os
import random
import re
import typing

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.record.traced import Traced
from tests.capture.behavior import compare, module, observe

FULL = os.environ.get("RUNMAT_TEST_PROFILE", "default") != "default"
KINDS = {
    "int": 3,
    "float": 2.5,
    "complex": 1j,
    "bool": True,
    "str": "ab",
    "None": None,
    "bytes": b"x",
    "np.str_": np.str_("a"),
    "datetime64": np.datetime64("2020-01-01"),
    **{np.dtype(char).name: np.dtype(char).type(1) for char in "?bhilBHILefdFDgG"},
    **{
        f"{np.dtype(char).name} array of {ndim} axes": np.ones((2,) * ndim, char)
        for char in "?bBilfdFDeg"
        for ndim in range(3)
    },
    "text array": np.array(["a"]),
    "object array": np.array([1, None], object),
    "empty array": np.zeros((0,)),
    "tuple": (1.0, 2),
    "list": [1.0],
    "dict": {"a": 1.0},
    "set": {1.0},
    "range": range(3),
    "slice": slice(1, 2),
}
COMES_BY = {
    "argument": "x",
    "item": "[x][0]",
    "computed": "x * 1 if isinstance(x, (int, float, complex, np.ndarray, np.number)) else x",
    "element": "np.asarray(x)[()]",
}
CLASSES = (
    *(getattr(collections.abc, name) for name in collections.abc.__all__),
    *(getattr(numbers, name) for name in numbers.__all__),
    *(typing.SupportsInt, typing.SupportsFloat, typing.SupportsComplex, typing.SupportsIndex),
    *(typing.SupportsAbs, typing.SupportsRound, typing.SupportsBytes, type, object),
    *(int, float, complex, bool, str, tuple, list, dict, np.ndarray, np.generic, np.number),
    *(np.floating, np.integer, np.inexact, np.float64, np.bool_, np.complexfloating),
)
NAMES = sorted(
    {name for value in KINDS.values() for name in dir(value)}
    | {*dir(Traced), "_rm_held", "__call__", "mro", "__mro__", "__name__", "__slots__", "missing"}
)
UNDEFINED = ("mT",)
"""Attributes that some arrays refuse with another error than AttributeError."""
HOSTILE = frozenset(
    (
        "__init__ __setstate__ __new__ __class__ __dir__ __sizeof__ __buffer__ __dlpack__ resize"
    ).split()
    + "tofile dump ctypes data __array_interface__ __array_struct__ __reduce_ex__".split()
    + "__subclasshook__ __init_subclass__ __delattr__ __setattr__ __getattribute__".split()
)
"""Attributes that hold addresses, or change what they are read of."""
RUN_BY = re.compile(r"\w+\.(\w+\(\) takes)")
"""Which class a message names: another one where CPython calls the method without binding it."""


def given(value):
    return value.copy() if isinstance(value, (np.ndarray, list, dict, set)) else value


def same(plain, decorated, value, what):
    for _ in range(2):
        expected = observe(plain, (given(value), np.ones(3)), {})
        found = observe(decorated, (given(value), np.ones(3)), {})
        for seen in expected, found:
            seen.error = RUN_BY.sub(r"\1", seen.error)
        try:
            compare(expected, found)
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}") from None


@pytest.mark.parametrize("way", COMES_BY)
def test_classes_and_names(way):
    text = f"""
def f(x, y):
    x = {COMES_BY[way]}
    classes = [isinstance(x, each) for each in CLASSES]
    of_type = [issubclass(type(x), each) for each in CLASSES]
    names = [hasattr(x, name) for name in NAMES]
    return classes, of_type, names, callable(x), type(x), x.__class__, type(x).__name__, y * 2
"""
    fn = module(text)["f"]
    fn.__globals__.update(CLASSES=CLASSES, NAMES=tuple(n for n in NAMES if n not in UNDEFINED))
    for kind, value in KINDS.items():
        same(fn, runmat.jit(fn), value, kind)


@pytest.mark.parametrize("way", COMES_BY)
def test_class_patterns(way):
    classes = "C.Iterable C.Sized C.Hashable C.Sequence C.Collection C.Mapping C.Callable N.Number"
    classes += " N.Real N.Integral N.Complex Index Round typing.SupportsFloat int float complex"
    classes += " bool str tuple list dict object np.ndarray np.generic np.floating np.float64"
    ask = """
    match x:
        case {0}():
            r.append(1)
    match [x]:
        case [{0}() as v]:
            r.append(type(v))
"""
    itself = """
    match x:
        case {0}(v):
            r.append((v, type(v)))
"""
    text = "import collections.abc as C, numbers as N, typing\n"
    text += "from typing import SupportsIndex as Index, SupportsRound as Round\n"
    text += f"def f(x, y):\n    r = []\n    x = {COMES_BY[way]}\n"
    text += "".join(map(ask.format, classes.split()))
    text += "".join(map(itself.format, ("int", "float", "bool", "str", "tuple", "list")))
    fn = module(f"{text}    return r, y * 2\n")["f"]
    for kind, value in KINDS.items():
        if way != "element" or not isinstance(value, (dict, set, slice)):
            same(fn, runmat.jit(fn), value, kind)


def sampled(count):
    """Values by kind, and names: all pairs in the full profile, else some."""
    plain = (dict, set, list, tuple, range, slice, bytes, type(None))
    pairs = [
        (kind, name)
        for kind, value in KINDS.items()
        if not isinstance(value, plain)
        for name in NAMES
        if name not in HOSTILE
    ]
    return random.Random(0).sample(pairs, min(len(pairs), 4 * count if FULL else count))


def test_attributes_by_name():
    text = """
def f(x, y):
    seen = hasattr(x, {0!r}), type(getattr(x, {0!r}, None)).__name__
    z = x.{0}
    return seen, type(z).__name__ if callable(z) or type(z).__name__ == "flatiter" else z, y * 2
"""
    for kind, name in sampled(500):
        if name not in UNDEFINED and name != "flags":
            fn = module(text.format(name))["f"]
            same(fn, runmat.jit(fn), KINDS[kind], (kind, name))


def test_methods_by_name():
    choose = random.Random(1)
    text = """
def f(x, y):
    z = x.{}({})
    return type(z).__name__ if callable(z) or hasattr(z, "__next__") else z, y * 2
"""
    for kind, name in sampled(500):
        given = choose.choice(("", "2", "2.5", "y", "x", "None", "1j", "0", "(1, 2)"))
        unlike = name == "__array__" or (kind == "complex256" and "div" in name)
        if not unlike:
            fn = module(text.format(name, given))["f"]
            same(fn, runmat.jit(fn), KINDS[kind], (kind, name, given))


def test_methods_and_flags_have_their_classes():
    def fn(x, y):
        method, flags = x.sum, x.flags
        kinds = type(method).__name__, type(flags).__name__, isinstance(flags, np.ndarray)
        names = hasattr(flags, "writeable"), hasattr(method, "shape"), getattr(method, "T", 1)
        return kinds, callable(method), callable(flags), names, method.__qualname__, y * 2

    same(fn, runmat.jit(fn), np.ones(3), "method")


def test_constants_have_methods_that_take_values():
    def fn(x, y):
        return (3).__add__(x), (3).__add__(x * 1.0), (2.5).__rsub__(x), (7).__divmod__(x), y * 2

    for value in (2, 2.5, True, np.float64(2), np.ones(2), 1j, "a"):
        same(fn, runmat.jit(fn), value, value)


def test_a_metaclass_is_asked_with_the_value():
    text = """
seen = []

class Asks(type):
    def __instancecheck__(cls, value):
        seen.append(value)
        return value > 2

class Big(metaclass=Asks):
    pass

def f(x, y):
    match x:
        case Big():
            z = 1
        case _:
            z = 0
    return isinstance(x, Big), z, [type(each) for each in seen[-2:]], y * 2
"""
    fn = module(text)["f"]
    for value in (3, 1.0, np.float32(3)):
        same(fn, runmat.jit(fn), value, value)
