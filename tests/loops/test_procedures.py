"""Functions of the program's in loops, and calls as statements. Oracle: the undecorated functions.

Everything that a caller sees is compared to the bit, in the first calls and after what the loop
reads has changed.
"""

import itertools

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, module, observe

HELPERS = {
    "plain": "def helper(a, b):\n    return a * 0.5 + b",
    "decorated": "@jit\ndef helper(a, b):\n    return a * 0.5 + b",
    "default": "@jit\ndef helper(a, b, k=2.0):\n    return a * k + b",
    "two defaults": "def helper(a, b=1.5, *_ignored):\n    return a * b",
    "positional": "@jit\ndef helper(a, b, /):\n    return a - b if a > b else b - a",
    "of integers": "@jit\ndef helper(a, b, n=3, flag=True):\n    return a * n if flag else b",
    "raising": (
        "@jit\ndef helper(a, b):\n    if a > 1e3:\n        raise ValueError(b)\n    return a * 1.5"
    ),
    "calls another": (
        "@jit\ndef inner(a):\n    return a * 0.25\n"
        "@jit\ndef helper(a, b):\n    return inner(a) + inner(b)"
    ),
    "calls itself": "@jit\ndef helper(a, b):\n    return a if a < 1.0 else helper(a - 1.0, b)",
    "lambda": "helper = jit(lambda a, b: a * 2.0 - b)",
    "a ufunc": "helper = np.fmax",
}
CALLS = (
    "helper(total, x[i])",
    "helper(b=total, a=x[i])",
    "helper(x[i])",
    "helper(x[i], total, 4.0)",
)
PROGRAM = """
from tests.loops.test_procedures import decorate as jit
{helper}
def f(x):
    total = 0.25
    for i in range(len(x)):
        total = {call}
        x[i] += total
    return total
def change(number):
    global helper
    if number == 1 and getattr(helper, "__defaults__", None):
        helper.__defaults__ = tuple(value * 2 for value in helper.__defaults__)
    if number == 2:
        helper = lambda a, b=1.0, c=2.0: a - b * c
"""
DECORATES = [False]


def decorate(fn):
    """Decorate a function of a program, or do not."""
    return runmat.jit(fn) if DECORATES[0] else fn


def both(text):
    """A program with its functions decorated, and the same undecorated; their namespaces."""
    found = []
    for decorates in (False, True):
        DECORATES[0] = decorates
        found.append(module(text))
    return found


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("helper", HELPERS)
def test_functions_of_the_program(helper, call):
    plain, ours = both(PROGRAM.format(helper=HELPERS[helper], call=call))
    decorated = runmat.jit(ours["f"])
    for number in range(4):
        for each in (plain, ours):
            each["change"](number)
        for seed in range(3):
            x = np.random.default_rng(seed).integers(-20, 20, 40) * 0.25
            expected = observe(plain["f"], (x.copy(),), {})
            compare(expected, observe(decorated, (x.copy(),), {}), exact=True)


NATIVE = ("plain", "decorated", "default", "positional", "lambda", "calls another")


@pytest.mark.parametrize("helper", NATIVE)
def test_decorated_functions_run_in_native_loops(natively, helper):
    _, ours = both(PROGRAM.format(helper=HELPERS[helper], call=CALLS[0]))
    decorated = runmat.jit(ours["f"])
    for _ in range(3):
        decorated(np.ones(9))
    assert natively() >= 3


BODIES = {
    "a procedure": "step(x, y)",
    "one with a default": "scale(x)\nscale(y, by=0.5)",
    "one that returns": "bump(x, i)\ntotal = total + bump(y, i)",
    "of views": "step(x[1:], y[:-1])\nstep(y[::2], x[::2])",
    "of one array twice": "step(x, x)",
    "in a branch": "if i % 2:\n    step(x, y)\nelse:\n    scale(x)",
    "that raises": "check(x, i)\nstep(x, y)",
    "of a new array": "z = x + y\nstep(z, x)\ntotal = total + z[i]",
    "a ufunc into an array": "np.add(x, y, out=x)\nnp.multiply(y, 0.5, y)",
    "into a view of what it reads": "np.subtract(x[1:], x[:-1], out=x[1:])",
    "into what it reads backwards": "np.add(x, x[::-1], out=x)",
    "of numbers": "np.add(1.5, i, out=x)",
    "into fewer axes": "np.add(m, x, out=x)",
    "into more axes": "np.add(x, 1.0, out=m)",
    "extremes": "np.maximum(x, y, out=x)\nnp.minimum(x, 2.0, y)",
    "of one operand": "np.sqrt(y, out=y)\nnp.negative(x, x)",
    "into integers": "np.add(n, 1, out=n)\nnp.multiply(x, 2, out=n)",
    "of truth values": "np.greater(x, y, out=t)\ntotal = total + t.sum()",
    "fill": "x.fill(i)\nn.fill(2)\ntotal = total + x[0]",
    "fill with another class": "n.fill(2.5)\ntotal = total + n[0]",
    "fill of a part": "x[2:4].fill(total)\nm[1].fill(i)\ntotal = total * 0.5 + 1.0",
    "fill with an array": "m[0].fill(x[0])\nx.fill(y)",
    "where": "np.add(x, y, out=x, where=t)",
    "print": "print(i)\ntotal = total + x[i]",
    "a method": "x.sort()\ntotal = total + x[i]",
    "a condition on what is changed": "while x[0] < 4.0:\n    scale(x, 1.0)\n    x += 1.0",
}
PROCEDURES = """
from tests.loops.test_procedures import decorate as jit
@jit
def step(a, b):
    a[:] = a * 0.5 + b
    b += 1.0
def scale(a, by=2.0):
    a *= by
@jit
def bump(a, i):
    a[i] += 1.0
    return a[i]
def check(a, i):
    if i == 3:
        raise ValueError(i)
    a[i] = 0.0
def f(x, y, m, n, t):
    total = 0.0
    for i in range(5):
        {body}
    return total, i
"""


@pytest.mark.parametrize("body", BODIES)
def test_calls_as_statements(body):
    lines = BODIES[body].replace("\n", "\n        ")
    plain, ours = both(PROCEDURES.format(body=lines))
    decorated = runmat.jit(ours["f"])

    def make(seed, special):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(-9, 9, 9) * 0.25, rng.integers(-9, 9, 9) * 0.5
        x[seed], y[-1 - seed] = special
        m = rng.integers(0, 9, (3, 9)) * 1.0
        return x, y, m, np.arange(9), x > 0

    specials = ((0.0, 1.0), (np.nan, -0.0), (np.inf, 1e308), (0.0, 1.0))
    for seed, special in enumerate(specials):
        expected = observe(plain["f"], make(seed, special), {})
        compare(expected, observe(decorated, make(seed, special), {}), exact=True)


NATIVE_BODIES = [name for name in itertools.islice(BODIES, 11) if name != "that raises"]


@pytest.mark.parametrize("body", [*NATIVE_BODIES, "fill", "fill of a part", "of one operand"])
def test_they_run_natively(natively, body):
    _, ours = both(PROCEDURES.format(body=BODIES[body].replace("\n", "\n        ")))
    decorated = runmat.jit(ours["f"])
    for _ in range(3):
        decorated(np.ones(9), np.ones(9), np.ones((3, 9)), np.arange(9), np.zeros(9, bool))
    assert natively() >= 3


TABLES = {
    "of pairs": ("((0, 1), (1, 0), (0, -1))", "for dx, dy in TABLE:\n            s += dx * i - dy"),
    "of numbers": ("(0.5, 1, 2.5)", "for c in TABLE:\n            s = s * c + i"),
    "by index": ("(0.5, 0.25, 2.0)", "s += TABLE[1] * i + TABLE[-1]"),
    "unpacked": ("(1.5, 2)", "a, b = TABLE\n        s = s + a * b"),
    "with others": ("((1, 2), 3.5)", "(a, b), c = TABLE\n        s = s + a - b * c"),
    "of signed zeros": ("(0.0, -0.0)", "for c in TABLE:\n            s += np.arctan2(c, -1.0)"),
    "in a function": ("(0.5, 1.5)", "s += helper(i)"),
    "of a length": ("(1, 2, 3, 4)", "s += len(TABLE) + i"),
    "of text": ("('a', 'b')", "s += len(TABLE[0]) + i"),
}
OF_TABLES = """
TABLE = {table}
def helper(i):
    a, b = TABLE
    return a * i + b
def f(n):
    s = 0.0
    for i in range(n):
        {body}
    return s
def change(number):
    global TABLE
    if number == 1 and type(TABLE[0]) is not str:
        TABLE = tuple(-x if type(x) is float else x for x in TABLE)
    if number == 2 and all(type(x) is int for x in TABLE):
        TABLE = tuple(map(float, TABLE))
    if number == 3:
        TABLE = TABLE[:-1]
"""


@pytest.mark.parametrize("table", TABLES)
def test_tuples_of_numbers_are_known_by_value(table):
    text, body = TABLES[table]
    plain, ours = both(OF_TABLES.format(table=text, body=body))
    decorated = runmat.jit(ours["f"])
    for number in range(4):
        for each in (plain, ours):
            each["change"](number)
        for n in (5, 6, 5):
            expected = observe(plain["f"], (n,), {})
            compare(expected, observe(decorated, (n,), {}), exact=True)


@pytest.mark.parametrize("table", ["of pairs", "of numbers", "unpacked", "in a function"])
def test_loops_over_tables_run_natively(natively, table):
    text, body = TABLES[table]
    _, ours = both(OF_TABLES.format(table=text, body=body))
    decorated = runmat.jit(ours["f"])
    for _ in range(3):
        decorated(9)
    assert natively() >= 3


@pytest.mark.parametrize(
    "expression", ["b ** i", "i ** 3", "(-b) ** i", "(i - 2) ** i", "2 ** (b * i)"]
)
def test_powers_of_pythons_integers(expression):
    body = f"    for i in range(n):\n        s += {expression}\n    return s\n"
    plain, ours = both(f"def f(b, n):\n    s = 0\n{body}")
    decorated = runmat.jit(ours["f"])
    for b, n in ((2, 9), (3, 30), (0, 5), (1, 70), (-1, 80), (7, 40), (2, 63), (2, 66), (-2, 64)):
        compare(observe(plain["f"], (b, n), {}), observe(decorated, (b, n), {}), exact=True)
