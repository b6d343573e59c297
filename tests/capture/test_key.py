"""What traces are told apart by: calls whose arguments differ in one fact take turns.

Oracle: the undecorated function on equal arguments, in every call. Each pair of argument lists
differs in one thing alone, and the function shows it; a key without that fact would have the trace
of the one repeated for the other.
"""

import datetime
import enum
import types

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, module, observe


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def apart():
    base = np.arange(1.0, 13.0)
    return base[:5], base[6:11]


def overlapping():
    base = np.arange(1.0, 13.0)
    return base[:5], base[2:7]


def read_only():
    x = np.arange(1.0, 13.0)
    x.flags.writeable = False
    return x


def by_default(fn):
    """The same code, with a default for its second parameter."""
    return types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, (3.0,))


def add_shifted(a, b):
    a[1:] += b[:-1]
    b *= 2
    return a + b


def increase(x):
    x += 1
    return x * 2


def is_writeable(x):
    return x * 2, x.flags.writeable


def is_owner(x):
    return x * 2, x.flags.owndata


def has_no_base(x):
    return x * 2, x.base is None


def pass_on(x, other):
    return x * 2, other


def text_of(x, other):
    return x * 2, f"{other}"


def scaled_by(x, fn):
    return fn(x) * 2


def same_twice(a, b):
    a.append(5.0)
    return len(b), a is b, np.add(a, 1.0)


def layout(x):
    y = x + 1
    return y, y.strides, y.flags.c_contiguous


def power(x, n):
    return x * 2, 2**n, isinstance(2**n, int)


def kind_of(x, other):
    return x * other, type(other).__name__


def items(x, table):
    return x * 2, list(table), [type(key).__name__ for key in table]


def plus(y, k):
    return y + k


SCALES = [module("def by(y): return y * scale\n") | {} for _ in range(2)]
for number, namespace in enumerate(SCALES):
    namespace["by"].__globals__["scale"] = 2.0 + number


def ones():
    return np.ones(3)


PAIRS = {
    "arrays that overlap": (add_shifted, apart, overlapping),
    "one array twice": (
        add_shifted,
        lambda: (np.ones(5), np.ones(5)),
        lambda: (one := np.ones(5), one),
    ),
    "a list twice": (same_twice, lambda: ([1.0], [1.0]), lambda: (one := [1.0], one)),
    "a read-only array": (increase, lambda: (np.arange(1.0, 13.0),), lambda: (read_only(),)),
    "a flag that is asked for": (
        is_writeable,
        lambda: (np.arange(1.0, 13.0),),
        lambda: (read_only(),),
    ),
    "who owns the memory": (is_owner, lambda: (np.ones(3),), lambda: (np.ones(9)[:3],)),
    "whether there is a base": (has_no_base, lambda: (np.ones(3),), lambda: (np.ones(9)[:3],)),
    "the order of axes": (
        layout,
        lambda: (np.ones((3, 4)),),
        lambda: (np.asfortranarray(np.ones((3, 4))),),
    ),
    "gaps": (layout, lambda: (np.ones((4, 3)),), lambda: (np.ones((4, 6))[:, ::2],)),
    "an extent of one": (layout, lambda: (np.ones((4, 3)),), lambda: (np.ones((4, 1)),)),
    "a dtype": (layout, lambda: (np.ones(3),), lambda: (np.ones(3, np.float32),)),
    "an array of no dimension": (kind_of, lambda: (ones(), np.float64(2)), lambda: (ones(), 2.0)),
    "text": (pass_on, lambda: (ones(), "a"), lambda: (ones(), "b")),
    "text and bytes": (pass_on, lambda: (ones(), "a"), lambda: (ones(), b"a")),
    "NumPy's text": (pass_on, lambda: (ones(), np.str_("a")), lambda: (ones(), np.str_("b"))),
    "truth values": (pass_on, lambda: (ones(), True), lambda: (ones(), False)),
    "a truth value and a number": (pass_on, lambda: (ones(), True), lambda: (ones(), 1)),
    "nothing": (pass_on, lambda: (ones(), None), lambda: (ones(), 0)),
    "NumPy's dates": (
        text_of,
        lambda: (ones(), np.datetime64("2020-01-01")),
        lambda: (ones(), np.datetime64("2021-01-01")),
    ),
    "units of dates": (
        text_of,
        lambda: (ones(), np.timedelta64(1, "D")),
        lambda: (ones(), np.timedelta64(1, "h")),
    ),
    "Python's dates": (
        text_of,
        lambda: (ones(), datetime.date(2020, 1, 1)),
        lambda: (ones(), datetime.date(2021, 1, 1)),
    ),
    "long doubles": (
        text_of,
        lambda: (ones(), np.longdouble(1)),
        lambda: (ones(), np.longdouble(2)),
    ),
    "members of an enumeration": (
        pass_on,
        lambda: (ones(), Color.RED),
        lambda: (ones(), Color.BLUE),
    ),
    "the sign of a power": (power, lambda: (ones(), 3), lambda: (ones(), -3)),
    "classes of numbers": (kind_of, lambda: (ones(), 2), lambda: (ones(), np.int64(2))),
    "slices": (pass_on, lambda: (ones(), slice(0, 2)), lambda: (ones(), slice(0, 3))),
    "ranges": (pass_on, lambda: (ones(), range(2)), lambda: (ones(), range(3))),
    "dtypes": (pass_on, lambda: (ones(), np.dtype("f4")), lambda: (ones(), np.dtype("f8"))),
    "lists and tuples": (items, lambda: (ones(), [1, 2]), lambda: (ones(), (1, 2))),
    "keys": (items, lambda: (ones(), {"a": 1}), lambda: (ones(), {"b": 1})),
    "classes of keys": (items, lambda: (ones(), {1: 1}), lambda: (ones(), {True: 1})),
    "the order of keys": (
        items,
        lambda: (ones(), {"a": 1, "b": 2}),
        lambda: (ones(), {"b": 2, "a": 1}),
    ),
    "the module of a function": (
        scaled_by,
        lambda: (ones(), SCALES[0]["by"]),
        lambda: (ones(), SCALES[1]["by"]),
    ),
    "a default": (scaled_by, lambda: (ones(), by_default(plus)), lambda: (ones(), plus)),
    "ufuncs": (scaled_by, lambda: (ones(), np.sin), lambda: (ones(), np.cos)),
}


@pytest.mark.parametrize("turns", ["001101", "110010"])
@pytest.mark.parametrize("fact", PAIRS)
def test_calls_that_differ_in_one_fact_take_turns(fact, turns):
    fn, *makes = PAIRS[fact]
    decorated = runmat.jit(fn)
    for turn in turns:
        make = makes[int(turn)]
        compare(observe(fn, *arguments(make)), observe(decorated, *arguments(make)))


def arguments(make):
    return make(), {}


def test_functions_of_equal_code_have_different_globals_here():
    """What the pair above is about."""
    first, second = (namespace["by"] for namespace in SCALES)
    assert first.__code__ == second.__code__
    assert first.__globals__ is not second.__globals__
    assert first(1.0) != second(1.0)
