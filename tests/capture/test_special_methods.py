"""Special methods of the program's classes, which Python runs and no hook sees.

They find the user's line above them, whoever calls them, run in every call, and what they do is
done; the oracle is undecorated Python.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, module, observe
from tests.conftest import PROFILE

CALLS = 7
"""More than it takes for a function to be bypassed."""
EXPRESSIONS = {
    "__eq__": "z == 3",
    "__ne__": "z != 3",
    "__lt__": "z < 1",
    "__contains__": "1 in z",
    "__bool__": "bool(z)",
    "__len__": "len(z)",
    "__iter__": "list(z)",
    "__next__": "next(z)",
    "__reversed__": "reversed(z)",
    "__getitem__": "z[1]",
    "__setitem__": "stored(z)",
    "__delitem__": "deleted(z)",
    "__add__": "z + 1",
    "__radd__": "1 + z",
    "__iadd__": "added(z)",
    "__mod__": "z % 2",
    "__rmod__": "3 % z",
    "__pow__": "z ** 2",
    "__matmul__": "z @ x",
    "__rmul__": "2 * z",
    "__divmod__": "divmod(z, 2)",
    "__neg__": "-z",
    "__abs__": "abs(z)",
    "__round__": "round(z)",
    "__floor__": "math.floor(z)",
    "__index__": "[1, 2, 3][z]",
    "__float__": "float(z)",
    "__int__": "int(z)",
    "__complex__": "complex(z)",
    "__bytes__": "bytes(z)",
    "__hash__": "{z: 1}[z]",
    "__str__": "str(z)",
    "__repr__": "f'{z!r}'",
    "__format__": "f'{z}'",
    "__call__": "z(1)",
    "__init__": "Z()",
    "__new__": "Z()",
    "__getattr__": "z.missing",
    "__setattr__": "assigned(z)",
    "__array__": "np.asarray(z)",
    "__enter__": "entered(z)",
    "meth": "z.meth()",
}
RESULTS = {
    "__len__": "3",
    "__bool__": "True",
    "__contains__": "True",
    "__iter__": "iter([1])",
    "__index__": "1",
    "__float__": "1.0",
    "__complex__": "1j",
    "__bytes__": "b'a'",
    "__new__": "object.__new__(args[0])",
    "__init__": "None",
    "__setattr__": "None",
    "__array__": "np.ones(2)",
    **dict.fromkeys(("__str__", "__repr__", "__format__"), "'a'"),
}
LOOKS = {
    "warns": "warnings.warn('told', UserWarning, stacklevel=2)",
    "warns the caller": "warnings.warn('told', UserWarning, stacklevel=3)",
    "looks": "LOG.append((sys._getframe(1).f_lineno, sys._getframe(1).f_code.co_name))",
}
PROGRAM = """
import math, sys, warnings
LOG = []
class Z:
    def {name}(*args, **named):
        {look}
        return {result}
    {more}
def entered(z):
    with z:
        return 1
def added(z):
    z += 1
    return z
def stored(z):
    z[1] = 2
def deleted(z):
    del z[1]
def assigned(z):
    z.q = 1
def f(x):
    y = np.tanh(x) * 2
    for _ in range(2):
        z = Z()
        r = (
            {expression}
        )
    return y, type(r).__name__
"""
NAMES = list(EXPRESSIONS)
CASES = [
    (name, look)
    for at, name in enumerate(NAMES)
    for number, look in enumerate(LOOKS)
    if PROFILE != "default" or (at + number) % len(LOOKS) == 0
]


@pytest.mark.parametrize(("name", "look"), CASES)
def test_special_methods_find_the_line_that_runs_them(name, look):
    text = PROGRAM.format(
        name=name,
        look=LOOKS[look],
        result=RESULTS.get(name, "1"),
        expression=EXPRESSIONS[name],
        more="def __exit__(*args): pass" if name == "__enter__" else "",
    )
    plain, other = module(text), module(text)
    decorated = runmat.jit(other["f"])
    for _ in range(CALLS):
        expected = observe(plain["f"], (np.ones(3),), {})
        compare(expected, observe(decorated, (np.ones(3),), {}))
        assert plain["LOG"] == other["LOG"]
