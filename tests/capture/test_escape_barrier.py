"""Code that no hook sees: managers, iterators, operators, class definitions, frames.

Python runs it by itself, on real arrays, while a call is recorded. The oracle is the undecorated
function: what such code writes, reads and keeps must be what it would be there. Each program is a
module whose ``change(number)`` alters its state before call ``number``.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check_module, compare, module, observe


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
    "a manager replaces its array and keeps a list": """
class Manager:
    def __init__(self):
        self.array, self.kept = np.arange(4.0), []
    def __enter__(self):
        self.array = self.array + 1
        self.kept.append(len(self.kept))
    def __exit__(self, *error):
        self.array = self.array - 1
manager = Manager()
def change(number):
    del manager.kept[2:]
def f(x):
    held = manager.kept
    seen = [manager.array.sum(), len(held)]
    for _ in range(2):
        with manager:
            seen.append(manager.array.sum())
            seen.append(len(manager.kept))
            seen.append(held[-1])
        seen.append((manager.array * x, len(held)))
    return seen
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


SPECIAL = {
    **{
        f"__{name}__": ("state", f"k {sign} 1")
        for name, sign in (
            *(("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//")),
            *(("mod", "%"), ("pow", "**"), ("matmul", "@"), ("lshift", "<<"), ("rshift", ">>")),
            *(("and", "&"), ("or", "|"), ("xor", "^")),
        )
    },
    **{
        f"__r{name}__": ("state", f"1 {sign} k")
        for name, sign in (
            *(("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//")),
            *(("mod", "%"), ("pow", "**"), ("matmul", "@"), ("lshift", "<<"), ("rshift", ">>")),
            *(("and", "&"), ("or", "|"), ("xor", "^")),
        )
    },
    **{
        f"__{name}__": ("state > 2", f"k {sign} 3")
        for name, sign in (
            *(("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")),
        )
    },
    "__neg__": ("state", "-k"),
    "__pos__": ("state", "+k"),
    "__invert__": ("state", "~k"),
    "__abs__": ("state", "abs(k)"),
    "__round__": ("state", "round(k)"),
    "__divmod__": ("state", "divmod(k, 2)"),
    "__rdivmod__": ("state", "divmod(2, k)"),
    "__floor__": ("state", "math.floor(k)"),
    "__int__": ("state", "int(k)"),
    "__float__": ("float(state)", "math.sqrt(k)"),
    "__complex__": ("complex(state)", "complex(k)"),
    "__index__": ("state", "x[:k]"),
    "__bool__": ("state > 2", "1 if k else 2"),
    "__len__": ("state", "len(k)"),
    "__contains__": ("state > 2", "3 in k"),
    "__getitem__": ("state", "k[1]"),
    "__class_getitem__": ("state", "type(k)[1]"),
    "__iter__": ("iter([state, 2])", "[*k]"),
    "__setitem__": ("log.append(state)", "stored(k)"),
    "__delitem__": ("log.append(state)", "removed(k)"),
    "__iadd__": ("state", "added(k)"),
    "__trunc__": ("state", "math.trunc(k)"),
    "__ceil__": ("state", "math.ceil(k)"),
    "__length_hint__": ("state", "operator.length_hint(k)"),
    "__hash__": ("state", "hash(k)"),
    "__str__": ("str(state)", "f'{k}'"),
    "__repr__": ("str(state)", "repr([k])"),
    "__format__": ("str(state)", "'{:q}'.format(k), f'{k:q}'"),
    "__bytes__": ("bytes([state])", "bytes(k)"),
    "__call__": ("state", "k(1)"),
    "__reversed__": ("[state]", "reversed(k)"),
    "__getattr__": ("state", "k.missing"),
    "__copy__": ("state", "copy.copy(k)"),
    "__array__": ("np.full(2, state)", "np.asarray(k)"),
    "__array_ufunc__": ("state", "np.add(x, k)"),
    "__instancecheck__": ("state > 2", "isinstance(1, k)"),
}

CLASS = """
import copy, math, operator
state = 1
log = []
def stored(k):
    k[1] = 2
def removed(k):
    del k[1]
def added(k):
    k += 1
    return k
class K:
    def __init__(self):
        self.held = 1
    def {method}(self, *args, **named):
        return {result}
outside = K()
def change(number):
    global state
    state = number % 3 + 1
def made(x):
    k = K()
    return {use}, x + 1
def found(x):
    k = outside
    return {use}, x + 1
def f(x):
    return (made if {is_made} else found)(x)
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_made", [True, False], ids=["made", "found outside"])
@pytest.mark.parametrize("method", SPECIAL)
def test_special_methods_see_what_has_changed(method, is_made):
    result, use = SPECIAL[method]
    text = CLASS.format(method=method, result=result, use=use, is_made=is_made)
    plain, decorated = module(text), module(text)
    function = runmat.jit(decorated["f"])
    x = np.arange(4.0)
    for number in range(4):
        for each in (plain, decorated):
            each["change"](number)
        compare(observe(plain["f"], (x,), {}), observe(function, (x,), {}))
        assert decorated["log"] == plain["log"]


METACLASS = """
state = 1
class Meta(type):
    def {method}(self, *args):
        return {result}
class K(metaclass=Meta):
    value = 1
def change(number):
    global state
    state = number % 3 + 1
def f(x):
    return {use}, x + 1
"""


@pytest.mark.parametrize(
    ("method", "result", "use"),
    [
        ("__instancecheck__", "state > 2", "isinstance(1, K)"),
        ("__subclasscheck__", "state > 2", "issubclass(int, K)"),
        ("__call__", "state", "K(2)"),
        ("__getitem__", "state", "K[2]"),
        ("__len__", "state", "len(K)"),
        ("__iter__", "iter([state])", "list(K)"),
        ("__contains__", "state > 2", "3 in K"),
        ("__getattr__", "state", "K.missing"),
        ("__add__", "state", "K + 1"),
        ("__eq__", "state > 2", "K == 3"),
        ("__bool__", "state > 2", "1 if K else 2"),
        ("__str__", "str(state)", "f'{K}'"),
        ("__hash__", "state", "hash(K)"),
    ],
)
def test_special_methods_of_metaclasses_see_what_has_changed(method, result, use):
    text = METACLASS.format(method=method, result=result, use=use)
    check_module(text, vector, seeds=(0, 0, 1, 0))
