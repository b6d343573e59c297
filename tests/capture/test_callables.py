"""Methods, partials and closures among arguments, and their state; oracle: plain Python."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe


class Scaler:
    unit = 2.0

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x + self.factor

    def scale(self, x, more=1.0):
        return x * self.factor * more

    @classmethod
    def doubled(cls, x):
        return x * cls.unit

    @staticmethod
    def tripled(x):
        return x * 3


class Slotted:
    __slots__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def scale(self, x):
        return x * self.factor


class Line:
    def __init__(self, weights):
        self.weights = weights

    def value(self, x):
        return np.polyval(self.weights, x)

    def slope(self, x):
        return np.polyval(np.polyder(self.weights), x)


def apply(x, f):
    return f(x) + 1


def power(x, p):
    return x**p


MADE = {
    "method": lambda rng: Scaler(rng.normal()).scale,
    "method of slots": lambda rng: Slotted(rng.normal()).scale,
    "class method": lambda _rng: Scaler.doubled,
    "static method": lambda _rng: Scaler.tripled,
    "object that is called": lambda rng: Scaler(rng.normal()),
    "class": lambda _rng: Scaler(1.0).__class__.doubled,
    "partial of a ufunc": lambda rng: functools.partial(np.multiply, rng.normal()),
    "partial of a function": lambda rng: functools.partial(power, p=int(rng.integers(1, 4))),
    "partial of a method": lambda rng: functools.partial(Scaler(rng.normal()).scale, more=2),
    "method of a ufunc": lambda _rng: np.add.reduce,
    "closure": lambda rng: (lambda k: lambda x: x * k)(rng.normal()),
    "default": lambda rng: (lambda k: lambda x, k=k: x * k)(rng.normal()),
}


@pytest.mark.parametrize("made", MADE)
def test_callables_among_arguments_are_followed_whatever_their_state(made):
    decorated = runmat.jit(apply)
    for seed in range(40):
        x = np.random.default_rng(seed).normal(size=8)
        make = MADE[made]
        expected = observe(apply, (x, make(np.random.default_rng(seed))), {})
        found = observe(decorated, (x, make(np.random.default_rng(seed))), {})
        expected.args, found.args = (expected.args[0],), (found.args[0],)
        compare(expected, found)
    assert decorated.cache_info().misses <= 5, decorated.cache_info()


def test_two_methods_of_one_object_share_its_state():
    def newton(value, slope, x):
        for _ in range(5):
            x = x - value(x) / slope(x)
        return x

    def make(rng):
        line = Line(rng.normal(size=4))
        return line.value, line.slope, rng.normal(size=6)

    check(newton, make, seeds=(0, 1, 2, 0), replayed=True)


def test_methods_of_two_objects_are_not_those_of_one():
    def both(x, f, g):
        return f(x) - g(x)

    one, other = Scaler(2.0), Scaler(5.0)
    decorated = runmat.jit(both)
    x = np.arange(4.0)
    for f, g in ((one, one), (one, other), (other, one), (other, other)) * 2:
        found = decorated(x, f.scale, g.scale)
        np.testing.assert_array_equal(found, both(x, f.scale, g.scale))


def test_a_method_of_other_code_is_another_one():
    class Other(Scaler):
        def scale(self, x, more=1.0):
            return x + self.factor + more

    decorated = runmat.jit(apply)
    x = np.arange(4.0)
    for number in range(8):
        made = (Other if number % 2 else Scaler)(3.0).scale
        np.testing.assert_array_equal(decorated(x, made), apply(x, made))


def test_a_method_in_a_container():
    def sum_of(x, functions):
        return sum(f(x) for f in functions.values())

    def make(rng):
        return rng.normal(size=5), {"a": Scaler(2.0).scale, "b": Slotted(3.0).scale}

    check(sum_of, make, replayed=True)


def test_a_method_that_changes_its_object():
    class Counting:
        def __init__(self):
            self.seen = 0

        def note(self, x):
            self.seen += 1
            return x * self.seen

    def twice(x, f):
        return f(x) + f(x)

    check(twice, lambda rng: (rng.normal(size=5), Counting().note))


@dataclass
class Box:
    factor: float

    def scale(self, x):
        return x * self.factor


def test_a_method_sees_what_the_program_has_stored():
    def program(x, box, scale):
        y = scale(x)
        box.factor = 7.0
        return y, scale(x), box.scale(x)

    def make(rng):
        box = Box(rng.normal())
        return rng.normal(size=4), box, box.scale

    check(program, make, seeds=(0, 1, 0, 1))


def test_a_method_of_a_dataclass_that_is_no_argument():
    check(apply, lambda rng: (rng.normal(size=4), Box(rng.normal()).scale), seeds=(0, 1, 2, 0))


class Finalized:
    gone = 0

    def __del__(self):
        Finalized.gone += 1


def test_finalizers_of_arguments_run_in_time():
    def popped(x, holder):
        last = holder.pop()
        before = Finalized.gone
        del last
        return x * Finalized.gone, before

    def cleared(x, holder):
        holder.clear()
        return x * Finalized.gone

    for program in (popped, cleared):
        decorated = runmat.jit(program)
        for _ in range(4):
            seen = []
            for fn in (program, decorated):
                Finalized.gone = 0
                seen.append(fn(np.ones(2), [Finalized(), Finalized()]))
            np.testing.assert_equal(seen[1], seen[0])


class Schedule:
    def __init__(self):
        self.rate, self.count, self.is_on, self.pair = 1.0, 0, True, (1.0, 2)


def step(x, schedule):
    y = x * schedule.rate + schedule.count
    if schedule.is_on:
        y[0] = schedule.pair[0] - schedule.pair[1]
    if y.sum() > 0:
        y *= schedule.rate
    for _ in range(schedule.count % 3):
        y += 1
    return y, schedule.rate, f"{schedule.rate:.3f}"


@pytest.mark.usefixtures("steps_aside")
def test_numbers_of_objects_that_change_in_every_call_are_data():
    decorated, schedule = runmat.jit(step), Schedule()
    rng = np.random.default_rng(0)
    for number in range(100):
        schedule.rate *= 0.97
        schedule.count += 1
        schedule.is_on = number % 7 != 0
        schedule.pair = (float(number), number % 3)
        x = rng.normal(size=6)
        compare(observe(step, (x.copy(), schedule), {}), observe(decorated, (x, schedule), {}))
    assert decorated.cache_info().misses < 40, decorated.cache_info()


def test_numbers_that_change_their_class_are_not_taken_for_one_another():
    def scaled(x, schedule):
        return x * schedule.rate

    decorated, schedule = runmat.jit(scaled), Schedule()
    x = np.arange(4, dtype=np.float32)
    values = [1, 2, 3, 4, 5, 2.5, 3.5, True, np.float64(3), np.float32(2), 7, 2**70, 1j, 9, 8.5]
    for value in values * 2:
        schedule.rate = value
        compare(observe(scaled, (x, schedule), {}), observe(decorated, (x, schedule), {}))


def test_state_is_read_again_behind_a_write():
    """What is data is decided anew only where nothing of the call has been done."""

    def program(x, schedule):
        x[0] = 1.0
        if x[1] > 0:
            return x * schedule.rate
        return x + schedule.count

    decorated, schedule = runmat.jit(program), Schedule()
    for number in range(60):
        x = np.random.default_rng(number).normal(size=4)
        schedule.rate, schedule.count = float(number), number
        compare(observe(program, (x.copy(), schedule), {}), observe(decorated, (x, schedule), {}))
    assert decorated.cache_info().misses < 20, decorated.cache_info()


def test_numbers_of_classes_are_data_wherever_they_are_found():
    class Base:
        rate, pair = 1.0, (1.0, 2)

    class Derived(Base):
        def scaled(self, x):
            return x * self.rate + super().pair[0]

    def program(x):
        made = Derived()
        return made.scaled(x), x * made.pair[1], x + Derived.rate

    decorated = runmat.jit(program)
    for number in range(40):
        Base.rate, Base.pair = float(number), (number / 2, number)
        x = np.arange(3.0)
        compare(observe(program, (x,), {}), observe(decorated, (x,), {}))
    assert decorated.cache_info().misses <= 12, decorated.cache_info()
