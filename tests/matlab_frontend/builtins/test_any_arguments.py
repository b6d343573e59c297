"""Oracle: the contract of builtins: they give values, or raise an error of the language."""

import contextlib
import os
from itertools import product

import numpy as np
import pytest

from matlab_frontend.builtins.names import CATEGORIES
from matlab_frontend.builtins.registry import find
from matlab_frontend.errors import MatlabError, ProgramExit
from matlab_frontend.interpreter.calls import call_builtin
from matlab_frontend.interpreter.frame import Frame
from matlab_frontend.interpreter.interpreter import Interpreter
from matlab_frontend.search_path import SearchPath
from matlab_frontend.session import Session
from matlab_frontend.sparse import sparse
from matlab_frontend.tables import Table
from matlab_frontend.times import Times
from matlab_frontend.values.array import (
    Array,
    ErrorObject,
    MapObject,
    NamedHandle,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import (
    cell,
    cell_row,
    column,
    empty,
    from_numpy,
    row,
    string,
    struct,
    text,
)

pytestmark = pytest.mark.sampled(3)

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
    Times("datetime", np.array([[0.0], [1e12]])),
    Times("duration", np.full((1, 1), 36e5)),
    sparse(np.array([[1.0, 0], [0, 2.5]])),
    Table(("a", "b"), (column([1, 2]), cell([text("x"), text("y")], (2, 1))), 2),
)
WAITS = ("pause",)


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A session without a terminal, whose files and variables of the environment are its own."""
    monkeypatch.setattr(os, "environ", dict(os.environ))
    session = Session(
        write=lambda _: None,
        write_error=lambda _: None,
        read_line=lambda: "",
        path=SearchPath(current=tmp_path),
    )
    yield session
    session.streams.close_all()


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.filterwarnings("ignore")  # NumPy and SciPy warn about odd numbers
def test_a_builtin_answers_or_raises_an_error_of_the_language(category, outside):
    interpreter = Interpreter(outside)
    for name in CATEGORIES[category].split():
        if name in WAITS:
            continue
        builtin = find(name)
        calls = [(), *product(MORE_VALUES), *product(VALUES, repeat=2)]
        for arguments, outputs in product(calls, (0, 2)):
            frame = Frame(interpreter.base)
            with np.errstate(all="ignore"), contextlib.suppress(MatlabError, ProgramExit):
                for value in call_builtin(interpreter, builtin, arguments, outputs, frame):
                    assert kind_of(value)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.filterwarnings("ignore", "error::numpy.exceptions.ComplexWarning")
def test_no_builtin_loses_imaginary_parts_without_a_word(category):
    interpreter = Interpreter(Session(write=lambda _: None, write_error=lambda _: None))
    numbers = from_numpy(np.array([1 + 2j, 3, -2j])), from_numpy(np.array([[1j, 2], [3, 4]]))
    for name in CATEGORIES[category].split():
        calls = [*product(numbers), *product((*numbers, 2.0), repeat=2)]
        for arguments in calls if name not in WAITS else ():
            frame = Frame(interpreter.base)
            with np.errstate(all="ignore"), contextlib.suppress(MatlabError, ProgramExit):
                call_builtin(interpreter, find(name), arguments, 1, frame)


CUBE = from_numpy(np.arange(8.0).reshape(2, 2, 2))
DIMENSIONS = (
    *((CUBE, 3.0), (CUBE, 1.0, 3.0), (CUBE, 0.0, 3.0), (CUBE, empty(), 3.0)),
    *((CUBE, row([2, 2, 2, 1])), (CUBE, row([2, 3])), (CUBE, text("all"))),
    *((from_numpy(np.ones((1, 2, 2))), row([2, 3, 1])), (2.0, 2.0, 1.0), (row([2, 2, 1]),)),
    (Array("int8", np.ones((2, 2, 2), np.int8)), 3.0),
)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.filterwarnings("ignore")  # NumPy and SciPy warn about odd numbers
def test_no_size_ends_in_ones_beyond_the_second_dimension(category, outside):
    interpreter = Interpreter(outside)
    for name in CATEGORIES[category].split():
        for arguments, outputs in product(DIMENSIONS, (1, 2)):
            if name in WAITS:
                continue
            frame = Frame(interpreter.base)
            with np.errstate(all="ignore"), contextlib.suppress(MatlabError, ProgramExit):
                for value in call_builtin(interpreter, find(name), arguments, outputs, frame):
                    shape = shape_of(value)
                    assert len(shape) == 2 or shape[-1] != 1, (name, shape)
