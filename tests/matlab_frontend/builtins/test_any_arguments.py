"""Oracle: the contract of builtins: they give values, or raise an error of the language."""

import contextlib
from itertools import product

import numpy as np
import pytest

from matlab_frontend.builtins.names import CATEGORIES
from matlab_frontend.builtins.registry import find
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter.calls import call_builtin
from matlab_frontend.interpreter.frame import Frame
from matlab_frontend.interpreter.interpreter import Interpreter
from matlab_frontend.session import Session
from matlab_frontend.values.array import (
    Array,
    ErrorObject,
    MapObject,
    NamedHandle,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import cell_row, empty, from_numpy, row, string, struct, text

VALUES = (
    3.0,
    row([1, 2, 3]),
    text("abc"),
    cell_row([1.0, text("a")]),
    struct({"a": 1.0}),
    empty(),
    from_numpy(np.ones((2, 2, 2), np.float32)),
)
MORE_VALUES = (
    *VALUES,
    True,
    float("nan"),
    string("s"),
    NamedHandle("sin"),
    from_numpy(np.array([1 + 2j, 3])),
    Array("int8", np.ones((2, 1), np.int8)),
    MapObject({"a": 1.0}, "char"),
    ErrorObject("a:b", "message"),
)
WAITS = ("pause",)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.filterwarnings("ignore")  # NumPy and SciPy warn about odd numbers
def test_a_builtin_answers_or_raises_an_error_of_the_language(category):
    interpreter = Interpreter(Session(write=lambda _: None, write_error=lambda _: None))
    for name in CATEGORIES[category].split():
        if name in WAITS:
            continue
        builtin = find(name)
        calls = [(), *product(MORE_VALUES), *product(VALUES, repeat=2)]
        for arguments, outputs in product(calls, (0, 2)):
            frame = Frame(interpreter.base)
            with np.errstate(all="ignore"), contextlib.suppress(MatlabError):
                for value in call_builtin(interpreter, builtin, arguments, outputs, frame):
                    assert kind_of(value)


CUBE = from_numpy(np.arange(8.0).reshape(2, 2, 2))
DIMENSIONS = (
    *((CUBE, 3.0), (CUBE, 1.0, 3.0), (CUBE, 0.0, 3.0), (CUBE, empty(), 3.0)),
    *((CUBE, row([2, 2, 2, 1])), (CUBE, row([2, 3])), (CUBE, text("all"))),
    *((from_numpy(np.ones((1, 2, 2))), row([2, 3, 1])), (2.0, 2.0, 1.0), (row([2, 2, 1]),)),
    (Array("int8", np.ones((2, 2, 2), np.int8)), 3.0),
)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.filterwarnings("ignore")  # NumPy and SciPy warn about odd numbers
def test_no_size_ends_in_ones_beyond_the_second_dimension(category):
    interpreter = Interpreter(Session(write=lambda _: None, write_error=lambda _: None))
    for name in CATEGORIES[category].split():
        for arguments, outputs in product(DIMENSIONS, (1, 2)):
            if name in WAITS:
                continue
            frame = Frame(interpreter.base)
            with np.errstate(all="ignore"), contextlib.suppress(MatlabError):
                for value in call_builtin(interpreter, find(name), arguments, outputs, frame):
                    shape = shape_of(value)
                    assert len(shape) == 2 or shape[-1] != 1, (name, shape)
