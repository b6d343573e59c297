"""Code that no hook sees: managers, iterators, operators, class definitions, frames.

Python runs it by itself, on real arrays, while a call is recorded. The oracle is the undecorated
function: what such code writes, reads and keeps must be what it would be there. Each program is a
module whose ``change(number)`` alters its state before call ``number``.
"""

import numpy as np
import pytest

from tests.capture.behavior import check_module


def vector(rng):
    return (rng.normal(size=4),)


PROGRAMS = {
    "a manager appends to a list that it was given": """
log = []
class Manager:
    def __init__(self, kept):
        self.kept = kept
    def __enter__(self):
        self.kept.append("in")
    def __exit__(self, *error):
        self.kept.append("out")
def f(x):
    with Manager(log):
        y = x * 2
    return y, list(log), len(log)
""",
    "a manager changes a dict that it was given": """
state = {"depth": 0}
class Manager:
    def __init__(self, kept):
        self.kept = kept
    def __enter__(self):
        self.kept["depth"] += 1
    def __exit__(self, *error):
        self.kept["last"] = self.kept.pop("depth")
        self.kept["depth"] = 0
def change(number):
    state["depth"] = number
def f(x):
    with Manager(state):
        y = x * state["depth"]
    return y, dict(state)
""",
    "a generator as a manager scales an argument and scales it back": """
from contextlib import ExitStack, contextmanager
@contextmanager
def scaled(array, factor):
    array *= factor
    try:
        yield array
    finally:
        array /= factor
def f(x):
    before = x + 1
    manager = scaled(x, 4.0)
    between = x * 3
    with manager as y:
        inside, seen, first = x.sum(), y + 1, y[0]
    with ExitStack() as stack:
        stack.enter_context(scaled(x, 2.0))
        within = x - 1
    return before, between, inside, seen, first, within, x
""",
    "a generator writes to an argument while it is iterated": """
def steps(array):
    for number in range(3):
        array[0] += 1
        yield number
def f(x):
    total = []
    for number in steps(x):
        total.append(x * number)
    return total, x
""",
    "an iterator among the arguments of a call writes to an array": """
table = np.arange(4.0)
class Steps:
    def __init__(self):
        self.count = 0
    def __iter__(self):
        return self
    def __next__(self):
        self.count += 1
        if self.count > 3:
            raise StopIteration
        table[self.count] += 10
        return self.count
def f(x):
    seen = []
    for number in Steps():
        seen.append(table * number)
    return seen, x + table
""",
    "an operator of an object outside writes to its array": """
class Scale:
    def __init__(self):
        self.array = np.arange(4.0)
    def __matmul__(self, number):
        self.array *= number
        return self
scale = Scale()
def change(number):
    scale.array = np.arange(4.0) + number
def f(x):
    before = scale.array + x
    scale @ 2.0
    after = scale.array + x
    return before, after
""",
    "an operator reads what was written before": """
table = np.arange(4.0)
class Total:
    def __neg__(self):
        return float(table.sum())
total = Total()
def f(x):
    table[:] = x
    table[0] += 1
    return -total, x * 2
""",
    "a manager of an object outside reads and writes its array": """
class Frozen:
    def __init__(self):
        self.array = np.arange(4.0)
    def __enter__(self):
        self.array += 1
        return self.array
    def __exit__(self, *error):
        self.array[:] = 0
frozen = Frozen()
def change(number):
    frozen.array[:] = number
def f(x):
    with frozen as inside:
        y = inside * x
    return y, frozen.array + x
""",
    "a base class counts its subclasses": """
made = []
class Base:
    def __init_subclass__(cls, **named):
        made.append(cls.__name__)
def change(number):
    del made[2:]
def f(x):
    class Inner(Base):
        factor = 2.0
    return x * Inner.factor, len(made)
""",
    "a metaclass counts its classes": """
class Meta(type):
    made = 0
    def __new__(cls, *args):
        Meta.made += 1
        return super().__new__(cls, *args)
def f(x):
    class Inner(metaclass=Meta):
        factor = 2.0
    return x * Inner.factor, Meta.made
""",
    "the function looks at its own frame": """
import sys
def f(x):
    frame = sys._getframe()
    y = x * 2
    return y, frame.f_code.co_name, sorted(frame.f_locals)
""",
    "the function asks the module inspect for its frame": """
import inspect
from inspect import currentframe
def f(x):
    y = x * 2
    return y, inspect.stack()[0].function, inspect.currentframe().f_lineno, currentframe().f_lineno
""",
    "a helper asks for its caller": """
import sys
def caller():
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_lineno, frame.f_globals["__name__"]
def f(x):
    y = x * 2
    return y, caller()
""",
    "a traceback is made into text while the exception is handled": """
import sys, traceback
def f(x):
    try:
        x[9]
    except IndexError:
        text = traceback.format_exc()
        names = [frame.name for frame in traceback.extract_tb(sys.exc_info()[2])]
    return text.count("File"), names, x * 2
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_no_hook_sees_is_done_as_in_plain_python(name):
    check_module(PROGRAMS[name], vector, seeds=(0, 0, 1, 1, 0, 2))


def test_arrays_are_fused_beside_code_that_no_hook_sees():
    """Only what such code can get at is computed at once: intermediate results are not."""
    text = """
class Plus:
    def __add__(self, number):
        return number
plus = Plus()
def f(x):
    y = np.exp(x)
    return ((y * 2 + 1) * y - (plus + 3)) * 2
"""
    decorated = check_module(text, lambda rng: (rng.normal(size=64),), seeds=(0, 0, 1))
    x = np.linspace(0, 1, 64)
    assert len(decorated.explain(x).kinds) <= 2
