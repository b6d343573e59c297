"""What Python and NumPy say of what they refuse; the oracle is the undecorated function.

Of each case: class, text, cause, context, and the lines of the traceback, in calls that record and
in calls that follow.
"""

import itertools
import traceback

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import module
from tests.conftest import PROFILE

pytestmark = pytest.mark.sampled(3)

BINARY = ("+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^")
COMPARISONS = ("<", "<=", ">", ">=")
EXPRESSIONS = (
    *(f"a {op} b" for op in (*BINARY, *COMPARISONS, "in")),
    *(f"1 if a {op} b else 2" for op in COMPARISONS),
    *("max(a, b)", "min(a, b)", "max([a, b])", "sorted([a, b])", "sum([a, b])", "divmod(a, b)"),
    *(
        "a[b]",
        "round(a, b)",
        "-b",
        "~b",
        "[*b]",
        "np.add(a, b)",
        "np.less(a, b)",
        "np.matmul(a, b)",
    ),
    *("np.reshape(a, b)", "np.split(a, b)", "np.take(a, b)", "np.sum(a, axis=b)", "a.reshape(b)"),
    *("np.logical_and(a, b)", "np.concatenate([a, b])", "np.add.outer(a, b)", "len(b)", "b()"),
    "np.matmul(a, b)",
    *("''.join(b)", "np.dtype(b)"),
)
UNPACKING = (
    *("(*b,)", "{*b}", "[a, *b]", "{**b}", "{'k': a, **b}", "[a, *b, *a]"),
    *("call(*b)", "call(a, *b)", "call(*b, *a)", "call(**b)", "call(k=a, **b)", "call(*b, **b)"),
    *(
        "call(**b, **b)",
        "max(*b)",
        "dict(**b)",
        "dict(k=a, **b)",
        "(lambda *q: q)(*b)",
        "a.sum(*b)",
    ),
    *("np.add(*b)", "np.add(a, a, **b)", "a(*b)", "call(*b)(**a)"),
)
STATEMENTS = (
    *(f"a {op}= b" for op in BINARY),
    *("a[b] = 1", "a[0] = b", "del a[b]", "del b.x", "x, y = b", "x, *y = b"),
    *("for i in b: a = a + i", "a.shape = b", "b.x = a"),
) + ("with b: pass",)
OBJECT = object()
VALUES = {
    "vector": lambda: np.arange(3.0),
    "integers": lambda: np.arange(3),
    "flags": lambda: np.array([True, False, True]),
    "matrix": lambda: np.ones((2, 3)),
    "without axes": lambda: np.array(2.0),
    "float64": lambda: np.float64(2.5),
    "int8": lambda: np.int8(3),
    "int": lambda: 3,
    "large int": lambda: 10**30,
    "float": lambda: 2.5,
    "complex": lambda: 1j,
    "None": lambda: None,
    "text": lambda: "ab",
    "list": lambda: [1.0, 2.0],
    "tuple": lambda: (1, 2),
    "dict": lambda: {"k": 1},
    "set": lambda: {1, 2},
    "object": lambda: OBJECT,
}
TRACED = list(VALUES)[:11]
PAIRS = [
    (a, b)
    for a, b in itertools.product(VALUES, VALUES)
    if (a in TRACED or b in TRACED) and (a, b) != ("large int", "large int")  # as an exponent
]
CALLS = 3
STEP = 11 if PROFILE == "full" else 23
"""Of how many pairs one is taken; another one for each expression."""


def told(error, depth=0):
    """Everything that a program can see of an exception."""
    if error is None or depth > 3:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    lines = [(frame.filename, frame.lineno, frame.name) for frame in frames]
    return (
        type(error),
        str(error),
        [line for line in lines if line[0] != __file__],
        told(error.__cause__, depth + 1),
        told(error.__context__, depth + 1),
        error.__suppress_context__,
    )


def refused(fn, *makers):
    """What a call raises; None if it does not."""
    try:
        with np.errstate(all="ignore"):
            fn(*(make() for make in makers))
    except Exception as error:
        return told(error)
    return None


def differences(body, pairs):
    helper = "def call(*args, **named): return args, named"
    namespace = module(f"\n{helper}\ndef f(a, b):\n    {body}\n    return a\n")
    for names in pairs:
        makers = [VALUES[name] for name in names]
        decorated = runmat.jit(namespace["f"])
        expected = refused(namespace["f"], *makers)
        for call in range(CALLS):
            found = refused(decorated, *makers)
            if found != expected:
                yield names, call, found, expected


@pytest.mark.parametrize(
    ("number", "body"),
    list(enumerate([*(f"a = {each}" for each in EXPRESSIONS), *STATEMENTS])),
)
def test_messages_are_pythons_and_numpys(number, body):
    """The full profile takes more of the 274 pairs of each of 71 programs than the default."""
    assert not list(differences(body, PAIRS[number % STEP :: STEP]))


@pytest.mark.parametrize("expression", UNPACKING)
def test_what_cannot_be_unpacked_is_told_as_python_does(expression):
    """Which function is called, and of which class the value is: 18 values, twice each."""
    pairs = [(a, b) for a in ("vector", "float") for b in VALUES]
    assert not list(differences(f"a = {expression}", pairs))


def test_an_augmented_assignment_is_named_as_such():
    for op in ("+", "@", "<<", "&", "|"):
        for names in (("float", "None"), ("None", "float"), ("dict", "int"), ("object", "int")):
            assert not list(differences(f"a {op}= b", [names]))


def test_comparisons_name_their_operands_in_the_order_of_the_program():
    for body in ("a = a < b", "a = 1 if a >= b else 2", "a = max(a, b)", "a = sorted([b, a])"):
        for names in (("dict", "int"), ("int", "dict"), ("None", "float64"), ("int", "complex")):
            assert not list(differences(body, [names]))
