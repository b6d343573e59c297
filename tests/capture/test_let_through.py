"""Calls that are let through without a frame of ours, and what eager execution calls at once.

Oracle: undecorated Python, for everything a caller sees; for eager execution the bits of the rows
that are ours, however they are come to.
"""

import sys
import traceback
import types

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.replay.bailout import BAILOUT_CALLS
from tests.capture.behavior import compare, observe

CALLS = BAILOUT_CALLS + 4


def gate_of(decorated):
    captured = decorated._captured
    return None if captured is None else captured[1].gatekeeper.gate


def hits(decorated):
    gate = gate_of(decorated)
    return sum(int(entry.words[1]) for entry in gate._entries) if gate is not None else 0


def aside(fn, *args, **kwargs):
    """The decorated function after calls from which nothing is gained."""
    decorated = runmat.jit(fn)
    for _ in range(CALLS):
        both(decorated, *args, **kwargs)
    assert decorated._captured[1].bailout.kinds
    return decorated


def both(decorated, *args, **kwargs):
    """A call, as plain Python makes it: whether native code let it through."""
    before = hits(decorated)
    plain = observe(decorated.__wrapped__, args, kwargs)
    compare(plain, observe(decorated, args, kwargs))
    return hits(decorated) > before


def of_elements(x, start=0.0):
    total = start
    for i in range(4):
        total = total + x[i] * 2
    if total > 1e6:
        raise ValueError(total)
    return total


def of_rows(x, scale):
    found = []
    for i in range(3):
        found.append(np.exp(x[i] * scale) + 1)
    return found, np.exp(x[:2])


PLAIN = of_elements, (np.arange(4.0), 1.0)
EAGER = of_rows, (np.arange(4.0), 0.5)


@pytest.mark.parametrize(("fn", "args"), [PLAIN, EAGER], ids=["plain", "eager"])
def test_such_calls_need_no_frame_of_ours(fn, args):
    decorated = aside(fn, *args)
    for _ in range(3):
        assert both(decorated, *args)


@pytest.mark.parametrize(("fn", "args"), [PLAIN, EAGER], ids=["plain", "eager"])
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
    fn, args = EAGER
    eager = aside(fn, *args)
    with pytest.raises(IndexError) as caught:
        eager(np.arange(2.0), 0.5)
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][1:] == ["of_rows"]


def test_a_function_that_changes_is_looked_at():
    def fn(x, start=1.0):
        return of_elements(x, start)

    decorated = aside(fn, np.arange(4.0), 1.0)
    fn.__code__ = (lambda x, start=1.0: ("other code", start)).__code__
    assert decorated(np.arange(4.0), 1.0) == ("other code", 1.0)
    fn.__defaults__ = (3.0,)
    assert decorated(np.arange(4.0)) == ("other code", 3.0)


def test_defaults_of_what_is_executed_eagerly_may_change():
    def fn(x, *, scale=0.5):
        return of_rows(x, scale)

    decorated = aside(fn, np.arange(4.0))
    fn.__kwdefaults__ = {"scale": 0.25}
    both(decorated, np.arange(4.0))
    fn.__kwdefaults__["scale"] = 0.125
    both(decorated, np.arange(4.0))


@pytest.mark.parametrize(("fn", "args"), [PLAIN, EAGER], ids=["plain", "eager"])
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


# -- what eager execution calls at once ------------------------------------------------------------
def helper(x, by=2.0, *, more=0.0):
    return np.exp(x * by) + more


def other_helper(x, by=2.0, *, more=0.0):
    return np.exp(x) - by + more


class Model:
    def __init__(self, scale):
        self.scale = scale

    def grow(self, x):
        return np.exp(x * self.scale)


class Computing(Model):
    def __init__(self, scale):
        super().__init__(float(np.exp(scale)))


def calling(x):
    def inner(y):
        return np.exp(y) * 2

    found = []
    for i in range(3):
        found += [helper(x[i]), inner(x[i]), Model(0.5).grow(x[i]), Computing(0.5).scale]
    return [float(value) for value in found], max(found)


def bits(decorated, x):
    """What the recording of a call gives, which eager execution gives, too."""
    fresh = runmat.jit(decorated.__wrapped__)
    return fresh(x), decorated(x)


def executed_eagerly(x):
    decorated = runmat.jit(calling)
    for _ in range(4 * CALLS):
        decorated(x)
    assert decorated.explain(x).mode == "executed eagerly"
    return decorated


def test_functions_methods_and_classes_of_the_program_keep_their_bits():
    x = np.linspace(0.1, 2.3, 5)
    decorated = executed_eagerly(x)
    first, later = bits(decorated, x)
    assert first == later
    np.testing.assert_allclose(later[0], calling(x)[0], rtol=1e-14)


def change_code():
    helper.__code__ = other_helper.__code__


def change_defaults():
    helper.__defaults__ = (0.5,)


def change_keyword_defaults():
    helper.__kwdefaults__ = {"more": 1.5}


def change_keyword_default_in_place():
    helper.__kwdefaults__["more"] = 2.5


def change_method():
    Model.grow = lambda self, x: np.exp(x) + self.scale


def change_class():
    Model.__init__ = lambda self, scale: setattr(self, "scale", np.exp(scale))


def change_name():
    globals()["helper"] = other_helper


@pytest.mark.parametrize(
    "change",
    [
        change_code,
        change_defaults,
        change_keyword_defaults,
        change_keyword_default_in_place,
        change_method,
        change_class,
        change_name,
    ],
)
def test_what_is_called_at_once_may_change(change, monkeypatch):
    copied = types.FunctionType(helper.__code__, globals(), "helper", helper.__defaults__)
    copied.__kwdefaults__ = dict(helper.__kwdefaults__)
    monkeypatch.setitem(globals(), "helper", copied)
    monkeypatch.setattr(Model, "grow", Model.grow)
    monkeypatch.setattr(Model, "__init__", Model.__init__)
    x = np.linspace(0.1, 2.3, 5)
    decorated = executed_eagerly(x)
    change()
    for _ in range(5):
        first, later = bits(decorated, x)
        assert first == later
        np.testing.assert_allclose(later[0], calling(x)[0], rtol=1e-14)


def test_two_functions_of_one_code_have_their_own_globals_and_variables():
    def made(by):
        return lambda x: np.exp(x * by)

    first, second = made(1.0), made(2.0)
    others = types.FunctionType(helper.__code__, {"np": np, "__name__": "other"}, "helper")
    others.__defaults__, others.__kwdefaults__ = (3.0,), {"more": 1.0}

    def fn(x):
        return [float(g(x[i])) for i in range(3) for g in (first, second, helper, others)]

    decorated, x = runmat.jit(fn), np.linspace(0.1, 1, 5)
    for _ in range(4 * CALLS):
        np.testing.assert_allclose(decorated(x), fn(x), rtol=1e-14)
