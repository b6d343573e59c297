"""Builtins that a program replaces. Oracles: who calls them, by frames; undecorated Python."""

import builtins
import sys
import types
import unittest.mock

import numpy as np
import pytest

import runmat_jit as runmat

FUNCTIONS = [
    name
    for name, value in vars(builtins).items()
    if type(value) is types.BuiltinFunctionType and name[0] != "_" and name not in ("exec", "eval")
]


def decides(x):
    y = np.tanh(x) * 2
    return y + len(x) if y.sum() > 0 else y


def loops(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * i
    return total


def effects(x):
    np.set_printoptions(np.get_printoptions()["precision"])
    return np.sin(x) + max(x[:2])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_our_code_calls_none_that_a_program_has_put_there(name):
    callers, original = set(), getattr(builtins, name)

    def replaced(*args, **kwargs):
        callers.add(str(sys._getframe(1).f_globals.get("__name__")).partition(".")[0])
        return original(*args, **kwargs)

    for fn in (decides, loops, effects):
        decorated = runmat.jit(fn)
        decorated(np.ones(5))  # loads what it needs
        vars(builtins)[name] = replaced
        try:
            for size in (5, 5, 60, 60, 60, 60, 700):
                decorated(np.ones(size))
        finally:
            vars(builtins)[name] = original
    assert "runmat_jit" not in callers


def test_a_replaced_builtin_is_what_the_program_calls():
    def largest(x):
        return max(x), len(x)

    decorated = runmat.jit(largest)
    for _ in range(3):
        assert decorated(np.arange(3.0)) == (2.0, 3)
        with (
            unittest.mock.patch.object(builtins, "max", lambda _: "max"),  # noqa: PT008  (mocks call it, too)
            unittest.mock.patch.object(builtins, "len", lambda _: "len"),  # noqa: PT008  (likewise)
        ):
            assert decorated(np.arange(3.0)) == largest(np.arange(3.0)) == ("max", "len")
