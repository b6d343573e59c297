"""Verification of repeated calls: everything that a caller can see is compared.

Oracle: two calls that differ in one thing, which must be refused, and equal ones, which must not.
"""

import copy
import dataclasses

import numpy as np
import pytest

from runmat_jit.capture.shapes.families import Families
from runmat_jit.verified_call import VerificationError, compare, verified_call


@dataclasses.dataclass
class Point:
    x: object


def read_only(array):
    array.flags.writeable = False
    return array


EQUAL = [
    1,
    2.5,
    "a",
    None,
    np.float32(1),
    np.arange(3),
    [np.ones(2), {"a": 1.0}],
    Point(np.ones(2)),
]
DIFFERENT = {
    "a class": (1, 1.0),
    "a class of NumPy": (np.float32(1), np.float64(1)),
    "a number": (1, 2),
    "a complex number": (1 + 2j, 1 + 3j),
    "text and bytes": ("a", b"a"),
    "text in an array": (np.array(["a", "b"]), np.array(["a", "c"])),
    "a number of an array": (np.array([1, 2]), np.array([1, 3])),
    "a float beyond the tolerance": (np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-8])),
    "NaN": (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
    "a dtype": (np.ones(2), np.ones(2, np.float32)),
    "a shape": (np.ones(2), np.ones((2, 1))),
    "strides": (np.ones((2, 2)), np.asfortranarray(np.ones((2, 2)))),
    "a flag": (np.ones(2), read_only(np.ones(2))),
    "a length": ([1.0], [1.0, 2.0]),
    "keys": ({"a": 1}, {"b": 1}),
    "the order of keys": ({"a": 1, "b": 1}, {"b": 1, "a": 1}),
    "a list and a tuple": ([1.0], (1.0,)),
    "an item": ([1.0, {"a": np.ones(2)}], [1.0, {"a": np.zeros(2)}]),
    "an attribute": (Point(1), Point(2)),
}


@pytest.mark.parametrize("value", EQUAL, ids=repr)
def test_equal_values_pass(value):
    compare(value, copy.deepcopy(value), "it")


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_difference_is_refused(what):
    with pytest.raises(VerificationError, match="it"):
        compare(*DIFFERENT[what], "it")


class Captured:
    """What verification asks of a captured function: here one that repeats another one."""

    def __init__(self, fn, repeated):
        self.fn, self.call = fn, lambda args, kwargs: repeated(*args, **kwargs)

    families = Families()

    def key_of(self, _args, _kwargs):
        return None

    records = property(lambda self: {None: self})
    root = property(lambda self: self)
    outcomes, ordered = True, False


def gives_itself(x, y):
    return x


def gives_another(x, y):
    return y.copy()


def changes_it(x, y):
    y += 1
    return x


@pytest.mark.parametrize("repeated", [gives_another, changes_it], ids=lambda fn: fn.__name__)
def test_identity_and_mutation_are_compared(repeated):
    verified_call(Captured(gives_itself, gives_itself), (np.ones(2), np.ones(2)), {})
    with pytest.raises(VerificationError):
        verified_call(Captured(gives_itself, repeated), (np.ones(2), np.ones(2)), {})
