"""Gates: warm calls without Python give what Python would, and let go what no guard covers.

Oracle: the undecorated function. That Python was not needed is seen from the gate itself: what
stands behind it is called where no entry holds.
"""

import gc
import itertools
import sys
import threading
import warnings
import weakref
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.capture.replay.gate_entries import EntryMaker
from runmat_jit.capture.replay.gatekeeper import LARGE
from runmat_jit.core.gates import NotForGates
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import compare, observe

pytestmark = pytest.mark.sampled(2)

WARM = 6
SCALE = 2.5
TABLE = np.linspace(1, 2, 8)


def gate_of(decorated):
    return decorated._captured[1].gatekeeper.gate


def hits(decorated):
    """How many calls the gate has made that nobody has counted yet."""
    gate = gate_of(decorated)
    return (
        0
        if gate is None
        else sum(int(entry.words[1]) - entry.counted[0] for entry in gate._entries)
    )


def warm(decorated, make, calls=WARM):
    for _ in range(calls):
        decorated(*make())
    assert hits(decorated), "the gate makes such calls"
    return decorated


def is_let_go(decorated, *args, **kwargs):
    """Whether a call went to Python, and gave what undecorated Python gives."""
    before = hits(decorated)
    expected = observe(decorated.__wrapped__, args, kwargs)
    compare(expected, observe(decorated, args, kwargs))
    return hits(decorated) <= before


def chain(x):
    return x * 2 + x - 1


def two(x, y):
    return np.sqrt(x) * y + 1, x.sum()


def scaled(x, by):
    return x * by + 1


def reading(x):
    return x * SCALE + TABLE[:1]


def in_place(x):
    x -= x.mean()
    return x


def column(x):
    x[:, 1:] *= 0.5
    return x.T


def branching(x):
    if x.sum() > 3:
        return x * 2
    return x - 1, "small"


def added(a, b):
    a += b
    return a * 2


def kept(x, n=3):
    return {"a": x * n, "rest": (x[1:], None)}


def scanned(x):
    return np.cumsum(x * 2) + 1


class Pair(NamedTuple):
    first: np.ndarray
    second: float


def named(x):
    return Pair(x * 2, x.sum())


def vector(n=8, dtype=np.float64):
    return np.linspace(0.5, 1, n).astype(dtype)


def matrix():
    return vector(12).reshape(3, 4).copy()


CALLS = {
    "chain": (chain, lambda: (vector(),)),
    "float32": (chain, lambda: (vector(dtype=np.float32),)),
    "integers": (chain, lambda: (np.arange(9),)),
    "two arrays": (two, lambda: (vector(), vector())),
    "a float": (scaled, lambda: (vector(), 0.5)),
    "an int": (scaled, lambda: (vector(dtype=np.float32), 3)),
    "a NumPy number": (scaled, lambda: (vector(dtype=np.float32), np.float32(3))),
    "outside": (reading, lambda: (vector(),)),
    "in place": (in_place, lambda: (vector(),)),
    "a part in place": (column, lambda: (matrix(),)),
    "one branch": (branching, lambda: (vector(),)),
    "other branch": (branching, lambda: (vector() - 1,)),
    "containers": (kept, lambda: (vector(200_000), 4)),
    "a long array": (chain, lambda: (vector(300_000),)),
    "a named tuple": (named, lambda: (vector(200_000),)),
    "a call of the host": (scanned, lambda: (vector(200_000),)),
    "reversed": (chain, lambda: (vector()[::-1],)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_at_the_gate_give_what_plain_python_gives(name):
    fn, make = CALLS[name]
    decorated = warm(runmat.jit(fn), make)
    for _ in range(3):
        before = hits(decorated)
        compare(observe(fn, make(), {}), observe(decorated, make(), {}))
        assert hits(decorated) == before + 1


class Scaled:
    def __init__(self, *by):
        self.by = by[0] if by else [1.0, 2.0]


class Listed(list):
    """Another class than list."""


# -- containers ------------------------------------------------------------------------------------
def weighted(x, by):
    return x * by["w"] + by["b"]


def over_items(by):
    total = 0
    for number, (_, value) in enumerate(by.items()):
        total = total + value * (number + 1)
    return total


def of_list(items):
    return items[0] * 2 + items[1]


def of_nested(x, given):
    (first, second), factors = given
    return x * factors["f"][0] + first - second


def scaled_by(x, s):
    return x * s.by[1] + s.by[1]


W, B = np.linspace(0, 1, 8), np.linspace(1, 3, 8)
IN_CONTAINERS = {
    "dict": (weighted, lambda: (vector(), {"w": 2.0, "b": 1.5})),
    "dict of arrays": (weighted, lambda: (vector(), {"w": W.copy(), "b": B.copy()})),
    "items of a dict": (over_items, lambda: ({"a": W.copy(), "b": B.copy()},)),
    "list": (of_list, lambda: ([W.copy(), B.copy()],)),
    "nested": (of_nested, lambda: (vector(), ((1.0, 2), {"f": [0.5, "text"]}))),
    "object": (scaled_by, lambda s=Scaled([1.0, 2.5]): (vector(), s)),
}
OTHERS = {
    "dict": [
        lambda: (vector(), {"b": 1.5, "w": 2.0}),
        lambda: (vector(), {"w": 2.0, "b": 1.5, "c": 1}),
        lambda: (vector(), {"w": 2, "b": 1.5}),
        lambda: (vector(), {"w": 2.0, "b": vector()}),
        lambda: (vector(), {"".join("w"): 7.0, "b": -1.5}),
        lambda: (vector(), {"w": 2.0}),
        lambda: (vector(), dict.fromkeys("wb", 3.0)),
        lambda: (vector(), OrderedDict(w=2.0, b=1.5)),
        lambda: (vector(), [2.0, 1.5]),
    ],
    "dict of arrays": [
        lambda: (vector(), {"w": W[::-1].copy(), "b": B[::-1]}),
        lambda: (lambda x: (x, {"w": x, "b": x}))(vector()),
        lambda: (vector(), {"w": W.astype("f4"), "b": B.copy()}),
    ],
    "items of a dict": [
        lambda: ({"b": B.copy(), "a": W.copy()},),
        lambda: ({"a": W.copy(), "b": B.copy(), "c": B.copy()},),
        lambda: ({},),
        lambda: ({"a": W[:4].copy(), "b": B[:4].copy()},),
    ],
    "list": [
        lambda: ([B.copy(), W.copy()],),
        lambda: ((W.copy(), B.copy()),),
        lambda: (Listed([W.copy(), B.copy()]),),
        lambda: ([W.copy(), B.copy(), 3],),
        lambda: ([W.copy()],),
        lambda: ([W, W],),
        lambda: ([1.0, 2],),
    ],
    "nested": [
        lambda: (vector(), ((1.0, 2), {"f": [0.5, "other"]})),
        lambda: (vector(), ((1.0, 2.0), {"f": [0.5, "text"]})),
        lambda: (vector(), ((3.0, 4), {"f": [-0.5, "text"]})),
        lambda: (vector(), ([1.0, 2], {"f": [0.5, "text"]})),
    ],
    "object": [
        lambda: (vector(), Scaled([W, 2.5])),
        lambda: (vector(), Scaled([W, W])),
        lambda: (vector(), Scaled((W, 2.5))),
    ],
}


@pytest.mark.parametrize("name", IN_CONTAINERS)
def test_containers_among_the_arguments_come_to_the_gate(name):
    fn, make = IN_CONTAINERS[name]
    decorated = warm(runmat.jit(fn), make)
    for _ in range(3):
        assert not is_let_go(decorated, *make())
    for _ in range(WARM):
        for other in (make, *OTHERS[name], make):
            is_let_go(decorated, *other())


def test_a_list_that_is_given_twice_is_one():
    def fn(x, y):
        return x is y, x[0] * 2 + y[0]

    one = [vector()]
    decorated = warm(runmat.jit(fn), lambda: ([vector()], [vector()]))
    assert not is_let_go(decorated, [vector()], [vector()])
    assert is_let_go(decorated, one, one)


SETTINGS = {"low": 0.25, "high": 0.75, "table": np.linspace(0, 1, 8)}
STEPS = [1.5, 2.5]


def by_settings(x):
    return np.clip(x, SETTINGS["low"], SETTINGS["high"]) * SETTINGS["table"]


def by_steps(x):
    return x * STEPS[0] + STEPS[1]


def by_all_settings(x):
    for name, value in SETTINGS.items():
        x = x + value * len(name)
    return x


@pytest.mark.parametrize("fn", [by_settings, by_steps, by_all_settings])
def test_containers_from_outside_may_change(fn, monkeypatch):
    module = sys.modules[__name__]
    monkeypatch.setattr(module, "SETTINGS", dict(SETTINGS))
    monkeypatch.setattr(module, "STEPS", list(STEPS))
    decorated = warm(runmat.jit(fn), lambda: (vector(),))

    def changes():
        SETTINGS["low"] = 0.5
        yield
        SETTINGS["low"] = np.float32(0.125)
        yield
        SETTINGS["table"] = SETTINGS["table"][::-1]
        yield
        SETTINGS["table"][2] = 5
        yield
        SETTINGS["more"] = 1.0
        yield
        SETTINGS["low"] = SETTINGS.pop("low")
        yield
        STEPS[1] = 7.5
        yield
        STEPS.append(3.0)
        yield
        STEPS[0] = vector()
        yield
        monkeypatch.setattr(module, "SETTINGS", {**SETTINGS, "high": 0.5})
        yield
        STEPS.clear()
        yield

    for _ in changes():
        for _ in range(2 * WARM):
            is_let_go(decorated, vector())


def appending(x, kept):
    kept.append(x * 2)


REFUSED = {
    "containers are written": (appending, lambda: (np.ones(200_000), [1])),
}


@pytest.mark.parametrize("why", REFUSED)
def test_why_calls_do_not_come_to_the_gate_is_told(why):
    fn, make = REFUSED[why]
    decorated = runmat.jit(fn)
    for _ in range(WARM):
        decorated(*make())
    assert gate_of(decorated) is None
    explanation = decorated.explain(*make())
    assert explanation.mode == "replayed"
    (note,) = explanation.notes
    assert note == f"each call is replayed by Python, not by native code: {why}"


def test_calls_at_the_gate_need_no_note():
    decorated = runmat.jit(lambda x: x * 2)
    for _ in range(WARM):
        decorated(np.ones(3))
    assert gate_of(decorated) is not None
    assert not decorated.explain(np.ones(3)).notes


def test_calls_are_counted():
    decorated, x = runmat.jit(chain), vector()
    runmat.telemetry.reset()
    for _ in range(20):
        decorated(x)
    counts, info = runmat.telemetry.snapshot(), decorated.cache_info()
    assert (info.hits, info.misses) == (19, 1)
    assert counts["calls_replayed"] == 19
    assert counts["kernel_launches"] == 20
    assert counts["bytes_moved"] == 20 * 2 * x.nbytes


# -- one mutation for each guard -------------------------------------------------------------------
ARRAYS = {
    "dtype": lambda x: x.astype(np.float32),
    "byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "length": lambda x: np.append(x, 1.0),
    "rank": lambda x: x.reshape(2, -1),
    "strides": lambda x: np.repeat(x, 2)[::2],
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "unaligned": lambda x: np.frombuffer(b" " + x.tobytes(), np.float64, offset=1),
    "subclass": lambda x: x.view(type("Sub", (np.ndarray,), {})),
    "list": lambda x: x.tolist(),
    "number": lambda x: x[0],
    "float": lambda x: float(x[0]),
    "none": lambda _x: None,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_another_kind_of_argument_goes_to_python(name):
    decorated = warm(runmat.jit(chain), lambda: (vector(),))
    other = ARRAYS[name](vector())
    assert is_let_go(decorated, other)


@pytest.mark.parametrize("number", [1, True, 2**70, np.float64(2), np.float32(2), 1j, "1", None])
def test_another_kind_of_number_goes_to_python(number):
    decorated = warm(runmat.jit(scaled), lambda: (vector(), 0.5))
    assert is_let_go(decorated, vector(), number)


@pytest.mark.parametrize("number", [2**63, -(2**70), -(2**31) - 1, 2**31])
def test_ints_that_do_not_fit_go_to_python(number):
    decorated = warm(runmat.jit(scaled), lambda: (np.arange(4, dtype=np.int32), 3))
    assert is_let_go(decorated, np.arange(4, dtype=np.int32), number)


@pytest.mark.parametrize("number", [-1, 0, -(2**31), 2**31 - 1])
def test_ints_that_fit_do_not(number):
    decorated = warm(runmat.jit(scaled), lambda: (np.arange(4, dtype=np.int32) * 0, 3))
    assert not is_let_go(decorated, np.zeros(4, np.int32), number)


@pytest.mark.parametrize("number", [1e300, np.inf, np.nan, 3.5e38])
def test_floats_that_overflow_float32_go_to_python(number):
    decorated = warm(runmat.jit(scaled), lambda: (vector(dtype=np.float32), 3.0))
    assert is_let_go(decorated, vector(dtype=np.float32), number)


def test_arrays_that_lie_otherwise_go_to_python():
    decorated, x = runmat.jit(added), np.zeros(20)
    warm(decorated, lambda: (np.zeros(8), np.ones(8)))
    assert not is_let_go(decorated, x[:8], x[8:16])
    assert is_let_go(decorated, x[:8], x[4:12])
    assert is_let_go(decorated, x[:8], x[:8])


def test_other_ways_to_give_arguments_go_to_python():
    decorated = warm(runmat.jit(scaled), lambda: (vector(), 0.5))
    assert is_let_go(decorated, vector(), by=0.5)
    assert is_let_go(decorated, by=0.5, x=vector())
    with pytest.raises(TypeError, match="missing 1 required"):
        decorated(vector())
    with pytest.raises(TypeError, match="positional arguments but 3"):
        decorated(vector(), 0.5, 1)
    for _ in range(WARM):
        decorated(vector(), by=0.5)
    assert not is_let_go(decorated, vector(), by=0.5)
    assert is_let_go(decorated, x=vector(), by=0.5)


def in_module(text, **names):
    namespace = {"np": np, **names}
    import linecache

    name = f"<gates {next(NUMBER)}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), namespace)
    return namespace


NUMBER = itertools.count()
GLOBALS = {
    "a number": ("k", 2.0, 3.0),
    "a NumPy number": ("k", np.float64(2), np.float64(3)),
    "a function": ("k", lambda x: x + 1, lambda x: x + 2),
    "an array": ("k", np.ones(8), np.ones(8, np.float32)),
    "a longer array": ("k", np.ones(8), np.ones((3, 8))),
}


@pytest.mark.parametrize("name", GLOBALS)
def test_another_meaning_of_a_name_goes_to_python(name):
    key, first, second = GLOBALS[name]
    body = "k(x) * 2" if callable(first) else "x * k + k"
    module = in_module(f"def fn(x):\n    return {body}\n", **{key: first})
    decorated = warm(runmat.jit(module["fn"]), lambda: (vector(),))
    assert not is_let_go(decorated, vector())
    module[key] = second
    assert is_let_go(decorated, vector())
    del module[key]
    assert is_let_go(decorated, vector())


def test_another_meaning_of_a_builtin_name_goes_to_python():
    module = in_module("def fn(x):\n    return x * len('ab') + abs(-1.5)\n")
    decorated = warm(runmat.jit(module["fn"]), lambda: (vector(),))
    assert not is_let_go(decorated, vector())
    module["len"] = lambda _: 7
    assert is_let_go(decorated, vector())
    warm(decorated, lambda: (vector(),))
    del module["len"]
    assert is_let_go(decorated, vector())


def test_another_array_of_the_same_kind_is_read():
    module = in_module("def fn(x):\n    return x * k\n", k=np.ones(8))
    decorated = warm(runmat.jit(module["fn"]), lambda: (vector(),))
    module["k"] = np.full(8, 7.0)
    assert not is_let_go(decorated, vector())
    held = weakref.ref(module["k"])
    module["k"] = np.ones(8)
    gc.collect()
    assert held() is None, "entries do not keep arrays"
    module["k"][:] = 5
    assert not is_let_go(decorated, vector())
    x = vector()
    module["k"] = x[:]
    assert is_let_go(decorated, x), "it lies on the argument"


def test_an_array_from_outside_that_is_changed_in_place_goes_to_python():
    module = in_module("def fn(x):\n    return x * k\n", k=np.ones(8))
    decorated = warm(runmat.jit(module["fn"]), lambda: (np.ones((8, 1)),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module["k"].shape = (2, 4, 1)
    assert is_let_go(decorated, np.ones((8, 1)))


def test_other_code_of_functions_goes_to_python():
    module = in_module("def helper(x):\n    return x + 1\ndef fn(x):\n    return helper(x) * 2\n")
    decorated = warm(runmat.jit(module["fn"]), lambda: (vector(),))
    module["helper"].__code__ = (lambda x: x - 1).__code__
    assert is_let_go(decorated, vector())
    warm(decorated, lambda: (vector(),))
    module["fn"].__code__ = (lambda x: x * 5).__code__
    assert is_let_go(decorated, vector())


def test_cells():
    k = 2.0

    @runmat.jit
    def fn(x):
        return x * k + 1

    warm(fn, lambda: (vector(),))
    k = 3.0
    assert is_let_go(fn, vector())


class Model:
    offset = 1.0

    def __init__(self):
        self.k, self.weights = 2.0, np.ones(8)

    @runmat.jit
    def apply(self, x):
        return x * self.k + self.weights + self.offset


def through_a_method(model, x):
    return model.scaled(x) + 1


class Scaling:
    k = 2.0

    def scaled(self, x):
        return x * self.k


METHODS = {
    "of the object": lambda scaling: setattr(scaling, "scaled", lambda x: x - 1),
    "of the class": lambda _: setattr(Scaling, "scaled", lambda self, x: x - self.k),
    "its code": lambda _: setattr(Scaling.scaled, "__code__", (lambda self, x: x - 5).__code__),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    own, code = Scaling.scaled, Scaling.scaled.__code__
    scaling = Scaling()
    decorated = warm(runmat.jit(through_a_method), lambda: (scaling, vector()))
    assert not is_let_go(decorated, Scaling(), vector())
    METHODS[name](scaling)
    try:
        assert is_let_go(decorated, scaling, vector())
    finally:
        Scaling.scaled, own.__code__ = own, code


def with_defaults(x, by=2.0, *, plus=1.0, minus=0.5):
    return x * by + plus - minus


DEFAULTS = {
    "__defaults__": (3.0,),
    "__kwdefaults__": {"plus": 5.0, "minus": 0.5},
    "other keys": {"plus": 1.0},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name):
    decorated = warm(runmat.jit(with_defaults), lambda: (vector(),))
    assert not is_let_go(decorated, vector())
    key = name if name in ("__defaults__", "__kwdefaults__") else "__kwdefaults__"
    before = getattr(with_defaults, key)
    setattr(with_defaults, key, DEFAULTS[name])
    try:
        if name == "other keys":
            with pytest.raises(TypeError, match="minus"):
                decorated(vector())
        else:
            assert is_let_go(decorated, vector())
    finally:
        setattr(with_defaults, key, before)


def test_defaults_that_change_in_place():
    decorated = warm(runmat.jit(with_defaults), lambda: (vector(),))
    with_defaults.__kwdefaults__["plus"] = 9.0
    try:
        assert is_let_go(decorated, vector())
    finally:
        with_defaults.__kwdefaults__["plus"] = 1.0


CHANGES = {
    "a number": lambda model: setattr(model, "k", 3.0),
    "an array": lambda model: setattr(model, "weights", np.ones((2, 8))),
    "of the class": lambda model: setattr(Model, "offset", 7.0),
    "gone": lambda model: delattr(model, "k"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_attributes_of_objects(name):
    Model.apply.clear_cache()
    model = Model()
    for _ in range(WARM):
        model.apply(vector())
    assert not is_let_go(Model.apply, model, vector())
    assert not is_let_go(Model.apply, Model(), vector())
    CHANGES[name](model)
    assert is_let_go(Model.apply, model, vector())
    Model.offset = 1.0


def test_an_object_of_another_class_goes_to_python():
    Model.apply.clear_cache()
    model = Model()
    for _ in range(WARM):
        model.apply(vector())
    model.__class__ = type("Other", (Model,), {"k": 9.0})
    assert is_let_go(Model.apply, model, vector())


def test_errstate_goes_to_python():
    decorated = warm(runmat.jit(chain), lambda: (vector(),))
    with np.errstate(all="raise"):
        assert is_let_go(decorated, vector())
    assert not is_let_go(decorated, vector())


def test_states_of_errors_that_say_the_same_are_one():
    """Each ``with np.errstate(...)`` makes a state of its own."""
    state = {"divide": "ignore", "invalid": "warn", "call": observe}
    decorated = runmat.jit(chain)
    for _ in range(WARM):
        with np.errstate(**state):
            decorated(vector())
    with np.errstate(**state):
        assert not is_let_go(decorated, vector())


STATES = {
    "actions": {"divide": "warn"},
    "events that are reported": {"invalid": "ignore"},
    "what is called": {"call": compare},
    "nothing is called": {"call": None},
}


@pytest.mark.parametrize("change", STATES.values(), ids=STATES)
def test_states_of_errors_that_differ(change):
    state = {"divide": "ignore", "invalid": "warn", "call": observe}
    decorated = runmat.jit(chain)
    for _ in range(WARM):
        with np.errstate(**state):
            decorated(vector())
    with np.errstate(**{**state, **change}):
        assert is_let_go(decorated, vector())


def test_another_size_of_buffers_is_another_state():
    decorated = warm(runmat.jit(chain), lambda: (vector(),))
    before = np.setbufsize(4096)
    try:
        assert is_let_go(decorated, vector())
    finally:
        np.setbufsize(before)
    assert not is_let_go(decorated, vector())


def reciprocal(x):
    return 1 / x + 1


def reports_of_two(x, y):
    return 1 / x + 1, np.log(x) + y


def test_events_are_reported_as_numpy_does():
    fn = reciprocal
    decorated = warm(runmat.jit(fn), lambda: (vector(),))
    x = vector()
    assert not is_let_go(decorated, x)
    x[3] = 0
    assert is_let_go(decorated, x)
    for _ in range(2 * WARM):  # each call, in both states, as plain Python
        for data in (x, vector()):
            compare(observe(fn, (data,), {}), observe(decorated, (data,), {}))


def test_data_that_are_not_finite_stay_at_the_gate():
    """Alarms that are false have the entry made anew, of kernels that tell data from events."""

    def nan():
        x = vector()
        x[2] = np.nan
        return (x,)

    decorated = warm(runmat.jit(lambda x: np.where(x > 0.6, x * 2, x - 1)), lambda: (vector(),))
    for _ in range(2 * WARM):
        decorated(*nan())
    assert not is_let_go(decorated, *nan())
    assert not is_let_go(decorated, vector())
    runmat.telemetry.reset()
    decorated(*nan())
    assert runmat.telemetry.snapshot()["events_checked"] == 0


def reports_of_three(x, y):
    first = 1 / x
    second = np.log(x)
    y += 1
    return first + second + np.exp(y * 1000), y


@pytest.mark.parametrize("writes", [False, True])
def test_events_of_each_call_are_reported_at_the_gate(writes):
    """Those of which it is known what NumPy says: its texts, at the user's lines, in order."""
    fn = reports_of_three if writes else reports_of_two
    decorated, x, y = runmat.jit(fn), vector(), vector()
    x[3] = 0
    for _ in range(4 * WARM):
        plain, ours = observe(fn, (x, y.copy()), {}), observe(decorated, (x, y.copy()), {})
        compare(plain, ours)
    assert len(plain.warned) >= 2
    before = gate_of(decorated)
    assert before is not None
    assert not before.is_empty
    assert not is_let_go(decorated, x, y)
    x[4] = -1  # of which it is not known what NumPy says
    compare(observe(fn, (x, y.copy()), {}), observe(decorated, (x, y.copy()), {}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            compare(observe(fn, (x, y.copy()), {}), observe(decorated, (x, y.copy()), {}))


def test_a_watched_thread_goes_to_python():
    decorated = warm(runmat.jit(chain), lambda: (vector(),))
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        assert is_let_go(decorated, vector())
    finally:
        sys.settrace(before)


def test_disabled_threads_go_to_python():
    decorated, found = warm(runmat.jit(chain), lambda: (vector(),)), []
    with runmat.disable():
        assert is_let_go(decorated, vector())
        other = threading.Thread(target=lambda: found.append(decorated(vector())))
        other.start()
        other.join()
    assert np.array_equal(found[0], chain(vector()))
    assert not is_let_go(decorated, vector())


def test_other_options_go_to_python():
    decorated = warm(runmat.jit(chain), lambda: (vector(),))
    before = runmat.config()
    runmat.config(disable_jit=True)
    try:
        assert is_let_go(decorated, vector())
    finally:
        runmat.config(disable_jit=before.disable_jit)


def test_a_recording_under_way_goes_to_python():
    inner = warm(runmat.jit(chain), lambda: (vector(),))

    @runmat.jit
    def outer(x):
        return inner(x) * 2

    assert np.array_equal(outer(vector()), chain(vector()) * 2)
    assert len(outer.explain(vector()).regions) == 1


def test_a_cleared_cache_goes_to_python():
    decorated = warm(runmat.jit(chain), lambda: (vector(),))
    decorated.clear_cache()
    assert is_let_go(decorated, vector())


def test_a_branch_nobody_took_goes_to_python():
    decorated = warm(runmat.jit(branching), lambda: (vector(),))
    assert is_let_go(decorated, vector() - 1)
    warm(decorated, lambda: (vector() - 1,))
    assert not is_let_go(decorated, vector())
    assert not is_let_go(decorated, vector() - 1)


# -- memory and threads ----------------------------------------------------------------------------
def test_calls_leave_no_references():
    decorated, x, y = runmat.jit(two), vector(), vector()
    for _ in range(WARM):
        decorated(x, y)
    counts = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(np.dtype(np.float64))
    for _ in range(100):
        decorated(x, y)
    assert counts == (sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(np.dtype(np.float64)))


def test_functions_are_collected_with_their_gates():
    decorated = warm(runmat.jit(lambda x: x * 3 + 1), lambda: (vector(),))
    call, gone = decorated.__call__, weakref.ref(decorated)
    del decorated
    gc.collect()
    assert gone() is None
    assert np.array_equal(call(vector()), vector() * 3 + 1), "what was kept of it still works"


def test_threads_call_one_function():
    decorated, faults = warm(runmat.jit(two), lambda: (vector(), vector())), []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(300):
            x, y = rng.random(8), rng.random(8)
            (a, b), (c, d) = decorated(x, y), two(x, y)
            if not (np.array_equal(a, c) and b == pytest.approx(d, rel=1e-15)):
                faults.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_an_entry_may_be_taken_away_while_it_runs():
    """What it reads runs code of the program's, which clears the cache."""

    class Owner:
        k = 2.0

    owner = Owner()

    @runmat.jit
    def fn(x):
        return x * owner.k + 1

    warm(fn, lambda: (vector(),))

    def clear(_self):
        for _ in range(3):
            fn.clear_cache()
        gc.collect()
        return 5.0

    Owner.k = property(clear)
    compare(observe(fn.__wrapped__, (vector(),), {}), observe(fn, (vector(),), {}))


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(CALLS)),
            st.sampled_from(["same", "float32", "reversed", "longer", "NaN", "zeros", "errstate"]),
        ),
        min_size=10,
        max_size=40,
    )
)
def test_any_calls_in_any_order(calls):
    functions = {fn: runmat.jit(fn) for fn, _ in CALLS.values()}
    for name, change in calls:
        fn, make = CALLS[name]
        if len(make()[0]) > 1000 and change != "same":
            continue

        def changed(change=change, make=make):
            x, *rest = make()
            if change == "float32":
                x = x.astype(np.float32)
            elif change == "reversed":
                x = x[::-1].copy()[::-1]
            elif change == "longer":
                x = np.concatenate([x, x])
            elif change in ("NaN", "zeros") and x.dtype.kind == "f":
                x = x.copy()
                x[1:2] = np.nan if change == "NaN" else 0
            return (x, *rest)

        state = {"all": "warn"} if change == "errstate" else {}
        for _ in range(4):
            with np.errstate(**state):
                expected, found = (
                    observe(fn, changed(), {}),
                    observe(functions[fn], changed(), {}),
                )
            compare(expected, found)


# -- lengths never seen ----------------------------------------------------------------------------
def shifted(x):
    return x * 2 + 1


def damped(x, y):
    return np.exp(-x) * y + x.sum()


def standardized(x, scale):
    return (x - x.mean()) / scale


def decided(x):
    if x.max() > 2:
        return x * 3
    return np.sqrt(x) + 1


def weighted_rows(table, weights):
    return (table * weights).sum(axis=1), table.max()


def of_length(x):
    return x * len(x) + x.shape[0]


def in_place_of_any_length(x):
    x *= 2
    return x.sum()


def of_any_length(rng, size):
    return (rng.random(size) * 2.2,)


ANY_LENGTH = {
    shifted: of_any_length,
    damped: lambda rng, size: (rng.random(size), rng.random(size)),
    standardized: lambda rng, size: (rng.random(size), 2.5),
    decided: of_any_length,
    weighted_rows: lambda rng, size: (rng.random((size // 5 + 2, 7)), rng.random(7)),
    of_length: of_any_length,
}


@pytest.mark.parametrize("fn", ANY_LENGTH, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_lengths_never_seen_come_to_the_gate(fn, dtype):
    rng, make = np.random.default_rng(3), ANY_LENGTH[fn]

    def given(size):
        return tuple(
            value.astype(dtype) if isinstance(value, np.ndarray) else value
            for value in make(rng, size)
        )

    decorated, went = runmat.jit(fn), 0
    sizes = rng.permutation(np.arange(2, 500))
    decorated(*given(2))
    for size in sizes[:80]:
        is_let_go(decorated, *given(size))
    for size in sizes[80:160]:
        went += not is_let_go(decorated, *given(size))
    assert went > 60 or fn is of_length
    for args in others_of_any_length(given):
        is_let_go(decorated, *args)


def others_of_any_length(given):
    """None or one element, other orders of memory, arrays on each other, long ones, other types."""
    for size in (0, 1, 2, 3, 20_000, 300_000):
        yield given(size)
    for change in (
        lambda x: x[::-1],
        lambda x: x[1::2],
        np.asfortranarray,
        lambda x: x.astype("i8"),
        lambda x: x.astype("f2"),
        lambda x: np.stack([x, x]),
        lambda x: np.where(x > 1, np.nan, x),
        lambda x: x * 0,
    ):
        arrays = [value for value in given(37) if isinstance(value, np.ndarray)]
        rest = [value for value in given(37) if not isinstance(value, np.ndarray)]
        yield (*map(change, arrays), *rest)
    first, *rest = given(41)
    if rest and isinstance(rest[0], np.ndarray) and rest[0].shape == first.shape:
        yield first, first
        memory = np.concatenate([first, first])
        yield memory[: first.size], memory[1 : first.size + 1]
        yield memory[: first.size], memory[first.size :]


def test_writes_into_arguments_of_lengths_never_seen():
    fn, rng = in_place_of_any_length, np.random.default_rng(4)
    decorated = runmat.jit(fn)
    for size in rng.permutation(np.arange(2, 100)):
        x = rng.random(size)
        compare(observe(fn, (x.copy(),), {}), observe(decorated, (x.copy(),), {}))


def test_a_gate_that_goes_takes_no_lock():
    """It may go wherever memory is asked for: where a thread begins, where counts are added up."""
    held, over, gone = threading.Event(), threading.Event(), threading.Event()
    telemetry = current_session().telemetry
    kept = [warm(runmat.jit(lambda x: x * 3 + 1), lambda: (vector(),))]
    before = telemetry.snapshot()
    for _ in range(5):
        kept[0](vector())

    def hold():
        with telemetry._lock:
            held.set()
            over.wait(60)

    def drop():  # on a thread that has counted nothing yet
        kept.clear()
        gc.collect()
        gone.set()

    threads = [threading.Thread(target=hold), threading.Thread(target=drop)]
    threads[0].start()
    held.wait(60)
    threads[1].start()
    went = gone.wait(20)
    over.set()
    for thread in threads:
        thread.join(60)
    assert went
    after = telemetry.snapshot()
    counts = {name: after[name] - before[name] for name in ("calls_replayed", "kernel_launches")}
    assert counts == {"calls_replayed": 5, "kernel_launches": 5}


def test_what_cannot_step_aside_goes_through_the_gate():
    """The small product with its epilogue has bits of ours, and NumPy is called around it."""

    def fn(x, mask):
        w = np.linspace(-0.5, 0.5, x.shape[1])
        loss = np.maximum(0, 1 - 2 * (x @ w)) + w @ w
        return loss[mask], np.sort(loss)[:2], np.median(loss)

    rng = np.random.default_rng(0)
    decorated = runmat.jit(fn)
    warm(decorated, lambda: (rng.random((9, 4)), np.arange(9) < 4), calls=60)


@pytest.mark.parametrize(("parts", "tries"), [(10, 3), (LARGE, 1)])
def test_entries_of_large_traces_that_cannot_be_made_are_tried_once(monkeypatch, parts, tries):
    tried = []

    def make(self, *_args):
        tried.append(self)
        raise NotForGates("as it happens")

    monkeypatch.setattr(EntryMaker, "make", make)
    decorated, x = runmat.jit(lambda x: [x * float(k) for k in range(parts)]), np.arange(3000.0)
    for _ in range(20):
        decorated(x)
    assert len(tried) == tries
