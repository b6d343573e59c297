"""Bypassed calls by position, and what ends a bypass. Oracle: undecorated Python."""

import os
import sys
import traceback

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.replay.bailout import BAILOUT_CALLS
from tests.capture.behavior import compare, observe

pytestmark = pytest.mark.usefixtures("steps_aside")

CALLS = BAILOUT_CALLS + 4


def aside(fn, *args, **kwargs):
    """The decorated function after calls from which nothing is gained."""
    decorated = runmat.jit(fn)
    for _ in range(CALLS):
        both(decorated, *args, **kwargs)
    assert decorated._captured[1].bailout.kinds
    return decorated


def both(decorated, *args, **kwargs):
    """Make a call, as plain Python makes it; return True if it was bypassed."""
    before = decorated.cache_info()
    plain = observe(decorated.__wrapped__, args, kwargs)
    compare(plain, observe(decorated, args, kwargs))
    return decorated.cache_info() == before


def of_elements(x, start=0.0):
    total = start + x[0] * 2 + x[1] * 2 + x[2] * 2 + x[3] * 2
    if total > 1e6:
        raise ValueError(total)
    return total


def of_rows(x, scale):
    os.getpid()
    found = [np.exp(x[0] * scale) + 1, np.exp(x[1] * scale) + 1, np.exp(x[2] * scale) + 1]
    return found, np.exp(x[:2])  # which may differ in the last bits once it is compiled


PLAIN = of_elements, (np.arange(4.0), 1.0)
ROWS = of_rows, (np.arange(4.0), 0.5)


@pytest.mark.parametrize(("fn", "args"), [PLAIN, ROWS], ids=["elements", "rows"])
def test_such_calls_are_bypassed(fn, args):
    decorated = aside(fn, *args)
    for _ in range(3):
        assert both(decorated, *args)


@pytest.mark.parametrize(("fn", "args"), [PLAIN, ROWS], ids=["elements", "rows"])
def test_other_calls_are_looked_at(fn, args):
    decorated, (x, number) = aside(fn, *args), args
    others = [
        (x.astype("f4"), number),
        (x[::-1], number),
        (np.stack([x, x]), number),
        (list(x), number),
        (x, np.float32(number)),
        (x, int(number)),
        (x[:2], number),
        (x.astype(object), number),
        (x.astype(">f8"), number),
        (np.ones(1 << 20), number),
        (x.view(np.matrix), number),
    ]
    for other in others * 3:
        both(decorated, *other)
        both(decorated, *args)
    names = fn.__code__.co_varnames
    both(decorated, x, **{names[1]: number})
    both(decorated, **{names[0]: x, names[1]: number})


def test_exceptions_show_the_frames_of_the_program():
    fn, args = PLAIN
    decorated = aside(fn, *args)
    with pytest.raises(ValueError, match=r"1\.") as caught:
        decorated(np.full(4, 1e6), 1.0)
    names = [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert names[1:] == [fn.__name__]
    fn, args = ROWS
    rows = aside(fn, *args)
    with pytest.raises(IndexError) as caught:
        rows(np.arange(2.0), 0.5)
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][1:] == ["of_rows"]


def test_a_function_that_changes_is_looked_at():
    def fn(x, start=1.0):
        return of_elements(x, start)

    decorated = aside(fn, np.arange(4.0), 1.0)
    fn.__code__ = (lambda x, start=1.0: ("other code", start)).__code__
    assert decorated(np.arange(4.0), 1.0) == ("other code", 1.0)
    fn.__defaults__ = (3.0,)
    assert decorated(np.arange(4.0)) == ("other code", 3.0)


def test_defaults_of_bypassed_functions_may_change():
    def fn(x, *, scale=0.5):
        return of_rows(x, scale)

    decorated = aside(fn, np.arange(4.0))
    fn.__kwdefaults__ = {"scale": 0.25}
    both(decorated, np.arange(4.0))
    fn.__kwdefaults__["scale"] = 0.125
    both(decorated, np.arange(4.0))


@pytest.mark.parametrize(("fn", "args"), [PLAIN, ROWS], ids=["elements", "rows"])
def test_watched_and_disabled_threads(fn, args):
    decorated, before = aside(fn, *args), sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        compare(observe(fn, args, {}), observe(decorated, args, {}))
    finally:
        sys.settrace(before)
    with runmat.disable():
        compare(observe(fn, args, {}), observe(decorated, args, {}))
    assert both(decorated, *args)


def rows_above(table, least):
    kept = table[table.sum(axis=1) > least]
    return (kept.mean(axis=0) if len(kept) else kept), (kept * kept).sum()


def test_calls_whose_entries_end_in_python_are_let_through_as_well():
    """How many rows are kept differs from call to call: entries begin, Python makes the rest."""
    decorated, rng = runmat.jit(rows_above), np.random.default_rng(3)
    tables = [rng.random((33, 3), dtype=np.float32) for _ in range(40)]
    for table in tables * 8:
        decorated(table, np.float64(1.2))
    assert decorated._captured[1].bailout.kinds
    for table in tables:
        assert both(decorated, table, np.float64(1.2))
