"""Frames and tracebacks that a program looks at while it runs. Oracle: undecorated Python."""

import inspect
import sys
import traceback
import warnings

import numpy as np
import pytest

import runmat_jit as runmat

CALLS = 9
"""Recorded, replayed, left to Python."""


def names(trace):
    return [(each.name, each.lineno) for each in traceback.extract_tb(trace)]


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.seen = names(trace), error is None or error.__traceback__ is trace
        return True


def by_a_manager(x):
    with Manager() as manager:
        x[9]
    return manager.seen


def by_two_managers(x):
    with Manager() as outer, Manager() as inner:
        np.tanh(x)[9]
    return outer.seen, inner.seen


def by_a_handler(x):
    try:
        x[9]
    except IndexError as error:
        return names(error.__traceback__), traceback.format_exc()


def by_a_handler_of_its_cause(x):
    try:
        try:
            x.reshape(7)
        except ValueError as error:
            raise KeyError("a") from error
    except KeyError as error:
        return names(error.__traceback__), names(error.__cause__.__traceback__)


def by_a_handler_of_a_helper(x):
    def helper(y):
        return np.linalg.inv(y)

    try:
        helper(x)
    except np.linalg.LinAlgError as error:
        return [each[0] for each in names(error.__traceback__)]


@pytest.mark.parametrize(
    "program",
    [
        by_a_manager,
        by_two_managers,
        by_a_handler,
        by_a_handler_of_its_cause,
        by_a_handler_of_a_helper,
    ],
)
def test_tracebacks_have_the_programs_frames_alone(program):
    decorated = runmat.jit(program)
    for call in range(CALLS):
        assert decorated(np.ones(3)) == program(np.ones(3)), call


def stack(x):
    return [frame.function for frame in inspect.stack()[1:3]], x.sum()


def frames(x):
    return sys._getframe(1).f_code.co_name, sys._getframe(2).f_code.co_name, x.sum()


def current(x):
    return inspect.currentframe().f_back.f_code.co_name, x.sum()


def in_a_function_within(x):
    def inner():
        return sys._getframe(2).f_code.co_name

    return inner(), x.sum()


def caller_of_caller():
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_back.f_code.co_name


def through_a_helper(x):
    return caller_of_caller(), (x * 2).sum()


@pytest.mark.parametrize(
    "program", [stack, frames, current, in_a_function_within, through_a_helper]
)
def test_a_function_finds_its_callers(program):
    def calling(fn):
        return fn(np.ones(3))

    decorated = runmat.jit(program)
    for call in range(CALLS):
        assert calling(decorated) == calling(program), call
    assert decorated.explain(np.ones(3)).mode in ("plain Python", "recorded at every call")


def test_a_function_whose_code_is_replaced_is_asked_anew():
    @runmat.jit
    def fn(x):
        return sys._getframe(1).f_code.co_name

    assert fn(np.ones(3)) == "test_a_function_whose_code_is_replaced_is_asked_anew"
    fn.__code__ = (lambda x: x * 2).__code__
    for _ in range(3):
        assert fn(np.ones(3)).tolist() == [2, 2, 2]
    assert fn.explain(np.ones(3)).kinds == ["elementwise"]


class Unhashable:
    __hash__ = None

    def __eq__(self, _other):
        return True


def warns(x, _extra=None):
    for level in (1, 2, 3, 4):
        warnings.warn("told", UserWarning, stacklevel=level)
    return x


def warns_and_asks_for_names(x, _extra=None):
    for level in (1, 2, 3, 4):
        warnings.warn("told", UserWarning, stacklevel=level)
    return len(locals()), x


@pytest.mark.parametrize("extra", [None, Unhashable(), np.array(["a"], object)])
@pytest.mark.parametrize("program", [warns, warns_and_asks_for_names])
def test_warnings_count_the_programs_frames_alone(program, extra):
    """Recorded, and plain for three reasons: the source, an argument, calls that gain nothing."""

    def around(fn):
        def calling(fn):
            return fn(np.ones(2), extra)

        return calling(fn)

    decorated = runmat.jit(program)
    for call in range(CALLS):
        seen = []
        for fn in (program, decorated):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                around(fn)
            seen.append([(each.filename, each.lineno) for each in caught])
        assert seen[0] == seen[1], call
