"""Programs that store into attributes of instances from outside; oracle: the undecorated function.

Both kinds are run: instances that are arguments, made anew for each call, and one instance that
lives through all calls of a function.
"""

import dataclasses
import functools

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe

SEEDS = (0, 0, 1, 2, 0, 3, 4, 1, 0)


class Model:
    momentum = 0.9

    def __init__(self, weights):
        self.weights = weights
        self.speed = np.zeros_like(weights)
        self.steps = 0
        self.last = None

    def step(self, gradient):
        self.speed = self.momentum * self.speed - 0.1 * gradient
        self.weights = self.weights + self.speed
        self.steps += 1
        return np.abs(self.speed).sum()


class Slotted:
    __slots__ = ("total", "weights")

    def __init__(self, weights):
        self.weights, self.total = weights, 0.0


@dataclasses.dataclass
class State:
    weights: np.ndarray
    total: float = 0.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    weights: np.ndarray


class Checked:
    """Stores by code of its own."""

    def __init__(self, weights):
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "log", [])

    def __setattr__(self, name, value):
        self.log.append(name)
        object.__setattr__(self, name, value)


class Limited:
    """Has a property that stores."""

    def __init__(self, weights):
        self._weights = weights

    @property
    def weights(self):
        return self._weights

    @weights.setter
    def weights(self, value):
        self._weights = np.clip(value, -1, 1)


def trains(model, x):
    return model.step(x), model.step(x * 2)


def stores_and_reads(model, x):
    model.weights = x * 2
    y = model.weights + 1
    model.weights = y
    return model.weights, y is model.weights


def stores_an_argument(model, x):
    model.weights = x
    model.weights += 1
    return model.weights is x, x


def writes_after_a_store(model, x):
    y = x * 2
    model.weights = y
    y[0] = 9
    y += x
    model.last = y[1:]
    y[1] = -1
    return y.sum()


def swaps_attributes(model, x):
    model.weights, model.speed = model.speed, model.weights
    model.speed[0] = x[0]
    return model.weights + model.speed


def decides_between_stores(model, x):
    model.steps = model.steps + 1
    if x.sum() > 0:
        model.weights = x * 2
        if x[0] > 0:
            model.last = x.sum()
        return model.weights.max()
    model.speed = x
    return model.last


def raises_after_a_store(model, x):
    model.last = x * 3
    if x[0] > 0:
        raise ValueError("too large")
    return model.last[0]


def stores_constants(model, x):
    model.last = "seen"
    model.mode = None
    model.steps = 7
    model.flag = x[0] > 0
    model.scale = float(x[0])
    return model.last, model.mode, model.steps, model.flag, model.scale


def stores_over_a_class_attribute(model, x):
    before = model.momentum
    model.momentum = 0.5
    return model.momentum * x, before


def stores_by_name(model, x):
    model.last = x + 1
    return model.last, hasattr(model, "last"), vars(model)["last"] is model.last


def deletes_what_was_stored(model, x):
    model.extra = x + 1
    y = model.extra * 2
    del model.extra
    return y, hasattr(model, "extra")


def warns_between_stores(model, x):
    model.last = np.log(x * 0)
    model.weights = np.sqrt(np.abs(x))
    return model.weights


def stores_in_a_loop(model, x):
    for i in range(4):
        model.weights = model.weights * 0.5 + x
        model.steps += i
    return model.weights


def stores_containers(model, x):
    model.last = [x, x * 2]
    model.table = {"a": x.sum()}
    return model.last[1]


def accumulates(state, x):
    state.total = state.total + float(x.sum())
    state.weights = state.weights * 0.5 + x
    return state.total


BUILDS = {
    "model": Model,
    "slotted": Slotted,
    "state": State,
    "frozen": Frozen,
    "checked": Checked,
    "limited": Limited,
}
OF_MODELS = [
    trains,
    stores_and_reads,
    stores_an_argument,
    writes_after_a_store,
    swaps_attributes,
    decides_between_stores,
    raises_after_a_store,
    stores_constants,
    stores_over_a_class_attribute,
    stores_by_name,
    deletes_what_was_stored,
    warns_between_stores,
    stores_in_a_loop,
    stores_containers,
]
OF_OTHERS = [
    (accumulates, "slotted"),
    (accumulates, "state"),
    (stores_and_reads, "slotted"),
    (stores_and_reads, "frozen"),
    (stores_and_reads, "checked"),
    (stores_and_reads, "limited"),
]
PROGRAMS = [*((fn, "model") for fn in OF_MODELS), *OF_OTHERS]


@pytest.mark.parametrize(("fn", "kind"), PROGRAMS)
def test_instances_that_are_arguments(fn, kind):
    def make(rng):
        return BUILDS[kind](rng.normal(size=5)), rng.normal(size=5)

    check(fn, make, seeds=SEEDS)


@pytest.mark.parametrize(("fn", "kind"), PROGRAMS)
def test_an_instance_that_lives_through_all_calls(fn, kind):
    decorated = runmat.jit(fn)
    first, second = BUILDS[kind](np.arange(5.0)), BUILDS[kind](np.arange(5.0))
    held = []
    for seed in (*SEEDS, *SEEDS):
        x = np.random.default_rng(seed).normal(size=5)
        expected = observe(fn, (first, x.copy()), {})
        found = observe(decorated, (second, x.copy()), {})
        compare(expected, found)
        held.append((expected.result, found.result))
        for theirs, ours in held:  # what was given earlier may be changed by later calls: alike
            compare(observe(lambda: theirs, (), {}), observe(lambda: ours, (), {}))


def test_methods_count_their_calls():
    class Trained(Model):
        step = runmat.jit(Model.step)

    plain, trained = Model(np.arange(5.0)), Trained(np.arange(5.0))
    for number in range(12):
        gradient = np.arange(5.0) - number
        assert plain.step(gradient) == trained.step(gradient)
        np.testing.assert_array_equal(plain.weights, trained.weights)
    assert plain.steps == trained.steps


def two(a, b, x):
    a.weights = x * 2
    y = b.weights + 1
    b.weights = y
    return a.weights, y


def through_an_attribute(a, b, x):
    a.last = b
    a.weights = x
    return a.last.weights + 1


@pytest.mark.parametrize("fn", [two, through_an_attribute])
@pytest.mark.parametrize("order", ["apart first", "same first"])
def test_instances_that_are_one_in_some_calls(fn, order):
    decorated = runmat.jit(fn)
    for number in range(12):
        same = (number % 3 == 0) == (order == "same first")
        seen = []
        for each in (fn, decorated):
            a = Model(np.arange(3.0))
            b = a if same else Model(np.arange(3.0) + 5)
            seen.append(observe(each, (a, b, np.arange(3.0) + number), {}))
        compare(*seen)


def test_an_instance_found_outside_that_becomes_the_argument():
    def build():
        outside = Model(np.ones(3))

        def fn(model, x):
            model.weights = x * 2
            return outside.weights + 1

        return outside, fn

    (theirs, plain), (ours, inner) = build(), build()
    decorated = runmat.jit(inner)
    for number in range(12):
        x = np.arange(3.0) + number
        expected = observe(plain, (theirs if number % 3 == 2 else Model(np.ones(3)), x), {})
        found = observe(decorated, (ours if number % 3 == 2 else Model(np.ones(3)), x), {})
        compare(expected, found)


def test_a_replaced_setter_is_noticed():
    class Late:
        def __init__(self):
            self.weights = np.ones(3)

    def fn(late, x):
        late.weights = x * 2
        return late.weights.sum()

    decorated, late, seen = runmat.jit(fn), Late(), []
    for _ in range(4):
        decorated(late, np.ones(3))
    Late.__setattr__ = lambda self, name, value: seen.append(name)
    late.__dict__["weights"] = np.zeros(3)
    assert decorated(late, np.ones(3)) == 0.0
    assert seen == ["weights"]


def test_wrapped_methods_store():
    def logged(method):
        @functools.wraps(method)
        def call(self, *args):
            self.last = "called"
            return method(self, *args)

        return call

    class Logged(Model):
        step = runmat.jit(logged(Model.step))

    logged_model, plain = Logged(np.arange(3.0)), Model(np.arange(3.0))
    for number in range(8):
        assert logged_model.step(np.ones(3) * number) == plain.step(np.ones(3) * number)
    assert logged_model.last == "called"


def test_a_property_that_appears_is_noticed():
    class Late:
        def __init__(self):
            self.weights = np.ones(3)

    def fn(late, x):
        late.weights = x * 2
        return x.sum()

    decorated, late, seen = runmat.jit(fn), Late(), []
    for _ in range(4):
        decorated(late, np.ones(3))
    Late.weights = property(lambda self: None, lambda self, value: seen.append(value))
    decorated(late, np.ones(3))
    np.testing.assert_array_equal(seen, [[2.0, 2.0, 2.0]])


@pytest.mark.parametrize("count", [3, 40])
def test_many_instances_of_a_class(count):
    def moves(bodies, x):
        for body in bodies:
            body.weights = body.weights + 0.5 * x
            body.total = body.total + body.weights[0]
        return sum(body.total for body in bodies)

    plain, ours = ([State(np.arange(4.0) + n) for n in range(count)] for _ in range(2))
    decorated = runmat.jit(moves)
    for number in range(8):
        x = np.arange(4.0) - number
        compare(observe(moves, (plain, x), {}), observe(decorated, (ours, x), {}))
