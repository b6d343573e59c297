"""Code that looks at its caller's frame finds the user's function, its line and its variables.

The oracle is undecorated Python: what each way of looking tells is the same.
"""

import functools
import importlib.util
import itertools
import logging
import operator
import types
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare_values, module

pytestmark = pytest.mark.sampled(6)

LOOKS = {
    "sys._getframe": "frame = sys._getframe(1)",
    "inspect.currentframe": "frame = inspect.currentframe().f_back",
    "inspect.stack": "frame = inspect.stack()[1].frame",
    "a generator's": "frame = next(sys._getframe(depth) for depth in [2])",
}
TOLD = """
    code = frame.f_code
    names = {k: v for k, v in frame.f_locals.items() if k.isidentifier()}
    place = code.co_name, code.co_qualname, code.co_filename, frame.f_lineno
    return place, names, frame.f_globals["MARK"], sorted(names)
"""
WAYS = {
    "a function": "looks(x)",
    "a keyword": "looks(given=x)",
    "starred": "looks(*[x], **{})",
    "a method": "Looker().method(x)",
    "a partial": "functools.partial(looks, x)()",
    "a callable object": "Looker()(x)",
    "a class": "Looker(x).told",
    "a property": "Looker().looked",
    "over lines": "looks(\n        x\n    )",
    "an inner function": "(lambda u: looks(u))(y)",
    "a comprehension": "[looks(u) for u in [y]]",
    "a callback of a builtin": "list(map(looks, [y]))",
    "a function made inside": "(lambda: looks(x))()",
    "a vectorized function": "np.vectorize(lambda q: looks(q)[0][0] == '<lambda>')(y[:1])",
}
PROGRAM = """
import functools, inspect, sys
MARK = 17
def looks(given=None):
    {look}{told}
class Looker:
    def __init__(self, given=None):
        self.told = None if given is None else self.method(given)
    def method(self, given=None):
        return looks(given)
    __call__ = method
    looked = property(lambda self: looks(self))
def build(scale):
    def f(x, n, *rest, key="k", **more):
        y = np.tanh(x) * n * scale
        items, table = [y, y, 1], {{"y": y, "m": MARK}}
        if n > 5:
            unbound = 1
        total = y.sum()
        view = y[1:]
        {way}
        told = {call}
        view += 1
        return told, items, table, y, total * 2
    return f
f = build(2.0)
"""
AROUND = {"plainly": "pass", "after a write": "x[0] = 9.0", "after a store": "items.append(view)"}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("look", LOOKS)
def test_who_looks_at_a_frame_sees_the_users(look, way, around):
    text = PROGRAM.format(look=LOOKS[look], told=TOLD, way=AROUND[around], call=WAYS[way])
    namespace = module(text)
    fn = namespace["f"]
    decorated = runmat.jit(fn)
    for number in (1, 2, 7, 1, 1, 1, 1):  # the last ones are bypassed
        expected, found = (
            each(np.arange(4.0), number, 5, more=(number,)) for each in (fn, decorated)
        )
        compare_values(expected, found, "", exact=False)


OUTER = """
import sys
def looks():
    found, frame = [], sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        found.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    return found
def inner(y):
    z = y * 2
    told = looks()
    return told, z
def f(x):
    y = x + 1
    return inner(y)
def caller(function, x):
    local = 1
    return function(x)
"""


def test_frames_above_are_those_of_the_functions_that_called():
    namespace = module(OUTER)
    namespace["__file__"] = namespace["f"].__code__.co_filename
    expected = namespace["caller"](namespace["f"], np.ones(2))
    decorated = runmat.jit(namespace["f"])
    for _ in range(3):
        found = namespace["caller"](decorated, np.ones(2))
        assert found[0] == expected[0]
        assert np.array_equal(found[1], expected[1])


BUILTINS = types.SimpleNamespace(evaluate=eval, execute=exec, variables=locals, names=dir)


def evaluates(x, k, into):
    y = np.tanh(x) * k
    BUILTINS.execute("into.append((x * k, sorted(locals())))")
    return BUILTINS.evaluate("x * k + y"), y, sorted(BUILTINS.variables()), BUILTINS.names()


def test_builtins_that_read_variables_read_the_users():
    decorated = runmat.jit(evaluates)
    for number in range(3):
        seen = []
        for fn in (evaluates, decorated):
            into = []
            seen.append((fn(np.arange(3.0), number + 0.5, into), into))
        compare_values(*seen, "", exact=False)


class Places(logging.Handler):
    """Keeps where records come from."""

    def __init__(self):
        super().__init__()
        self.found = []

    def emit(self, record):
        self.found.append((record.funcName, record.lineno, record.filename, record.getMessage()))


LOG = logging.getLogger("tests.caller_frames")


def logs(x):
    y = x * 2
    LOG.warning("here %s", y.sum())
    LOG.warning("there", stacklevel=2)
    return y


@pytest.mark.parametrize("repeats", [1, 3])
def test_loggers_find_the_line(repeats):
    places = Places()
    LOG.addHandler(places)
    LOG.propagate = False
    try:
        decorated = runmat.jit(logs)
        seen = []
        for fn in (logs, decorated):
            for _ in range(repeats):
                fn(np.ones(3))
            seen.append(places.found[:])
            places.found.clear()
    finally:
        LOG.removeHandler(places)
        LOG.propagate = True
    assert seen[0] == seen[1]


def deprecated_library(value):
    """As libraries do it; ``exec`` hides it from capture."""
    exec("warnings.warn('old', DeprecationWarning, stacklevel=3)", {"warnings": warnings})
    return value


def uses_deprecated(x):
    y = x * 2
    z = LIBRARY(y)
    return z + 1


LIBRARY = (
    functools.partial(operator.call, deprecated_library) if hasattr(operator, "call") else None
)


@pytest.mark.skipif(LIBRARY is None, reason="operator.call is of Python 3.11")
def test_warnings_of_unknown_code_belong_to_the_users_line():
    lines = []
    for fn in (uses_deprecated, runmat.jit(uses_deprecated)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fn(np.ones(2))
        lines.append([(w.lineno, w.filename) for w in caught])
    assert lines[0] == lines[1]


def queried(frame, x, lim):
    low = np.tanh(x).sum() + lim
    return frame.query("a > @low"), low


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_pandas_finds_variables_by_name():
    import pandas as pd

    table = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    decorated = runmat.jit(queried)
    for number in range(3):
        expected, found = (fn(table, np.zeros(2), number) for fn in (queried, decorated))
        assert expected[0].equals(found[0])


def evaluated(x, k):
    y = x * 2
    return NUMEXPR.evaluate("x*k + y")


NUMEXPR = importlib.import_module("numexpr") if importlib.util.find_spec("numexpr") else None


@pytest.mark.skipif(NUMEXPR is None, reason="numexpr is not installed")
def test_numexpr_finds_variables_by_name():
    decorated = runmat.jit(evaluated)
    for number, _ in itertools.product(range(2), range(2)):
        expected, found = (fn(np.arange(3.0), number) for fn in (evaluated, decorated))
        assert np.array_equal(expected, found)
