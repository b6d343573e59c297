"""Programs that read and change state around them; oracle: the undecorated function."""

import collections
import dataclasses
import enum
import itertools

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, check_pair, compare, observe

SEEDS = (0, 0, 1, 0, 2, 3, 1, 0)
FACTS = {"history": [1.0, 2.0], "table": np.arange(3.0)}
NUMBERS = [1, 2, 3]


class Settings:
    scale = 2.0
    table = np.ones(3)


class Direction(enum.Enum):
    FORWARD = 1
    BACKWARD = 2


@dataclasses.dataclass
class Body:
    position: np.ndarray
    steps: int = 0

    def step(self):
        self.position = self.position * 0.5
        self.steps += 1


class Layer:
    def __init__(self, weights):
        self.weights = weights
        self._kept = {}

    def __call__(self, x):
        return x * self.weights

    @property
    def norm(self):
        return np.sqrt((self.weights**2).sum())

    def __getitem__(self, index):
        return self.weights[index]


def vector(rng):
    return (rng.normal(size=6),)


def vector_and_layer(rng):
    return rng.normal(size=6), Layer(rng.normal(size=6))


def body_and_count(rng):
    return Body(rng.normal(size=4)), 3


def one_list_twice(rng):
    both = [rng.normal(size=3), 1.0]
    return both, both


def dictionary_and_its_array(rng):
    x = rng.normal(size=3)
    return {"p": x}, x


def containers(rng):
    return rng.normal(size=6), [1, 2], {"a": 1}, {1, 2}


def parameters_and_weights(rng):
    parameters = [rng.normal(size=3) for _ in range(3)]
    return parameters, {"w": [rng.normal(size=3)], "n": 2}


# -- state that changes between calls --------------------------------------------------------------
def set_class_attributes(number):
    Settings.scale = 2.0 + number % 3
    Settings.table = np.ones(3) * number


def extend_nested_globals(number):
    FACTS["history"].append(float(number))
    FACTS["table"][0] = number


def set_a_number_of_a_list(number):
    NUMBERS[1] = number


def class_attributes(x):
    return x * Settings.scale + Settings.table.sum()


def containers_in_globals(x):
    history, table = FACTS["history"], FACTS["table"]
    return x * history[-1] + table[0] + len(FACTS["history"]) + sum(history)


def lists_given_to_numpy(x):
    return x[:3] * np.array(NUMBERS) + np.sum(NUMBERS)


def lists_with_stars(x):
    doubled = [number * 2 for number in NUMBERS]
    named = {"second": NUMBERS[1]}
    return np.hypot(*NUMBERS[:2]) + x, doubled, max(NUMBERS), {**named}, (*NUMBERS,)


CHANGING = [
    (class_attributes, set_class_attributes),
    (containers_in_globals, extend_nested_globals),
    (lists_given_to_numpy, set_a_number_of_a_list),
    (lists_with_stars, set_a_number_of_a_list),
]


@pytest.mark.parametrize(("fn", "change"), CHANGING, ids=lambda each: each.__name__)
def test_state_that_changes_between_calls(fn, change):
    check_pair(
        fn, runmat.jit(fn), vector, seeds=SEEDS, replayed=None, exact=False, change=(change,)
    )


# -- state that the program changes itself ---------------------------------------------------------
def keeps_arrays_by_shape():
    def remembered(x, kept={}):  # noqa: B006  (the program under test)
        key = x.shape
        if key not in kept:
            kept[key] = np.arange(x.size) * 1.0
        return x + kept[key]

    return remembered


def adds_to_a_default():
    def total(x, sums=np.ones(6)):
        sums += x
        return sums.copy()

    return total


def counts_its_calls():
    counter = itertools.count()

    def counted(x):
        return x + next(counter)

    return counted


def keeps_the_last_argument():
    last = []

    def previous(x):
        last.append(x * 2)
        return last[-2] if len(last) > 1 else None

    return previous


STATEFUL = [keeps_arrays_by_shape, adds_to_a_default, counts_its_calls, keeps_the_last_argument]


@pytest.mark.parametrize("build", STATEFUL, ids=lambda build: build.__name__)
def test_state_that_the_program_keeps(build):
    plain, decorated = build(), runmat.jit(build())
    for seed in SEEDS:
        expected = observe(plain, vector(np.random.default_rng(seed)), {})
        compare(expected, observe(decorated, vector(np.random.default_rng(seed)), {}))


def test_an_array_that_is_an_argument_and_a_global_in_turn():
    def build():
        table = np.zeros(3)

        def add_one(x):
            x += 1
            return table * 2, x

        return table, add_one

    (table, plain), (other, inner) = build(), build()
    decorated = runmat.jit(inner)
    for through_the_global in (False, True, False, True, True):
        expected = observe(plain, (table if through_the_global else np.ones(3),), {})
        found = observe(decorated, (other if through_the_global else np.ones(3),), {})
        compare(expected, found, exact=True)


# -- objects and containers ------------------------------------------------------------------------
def objects_that_keep_results(x, layer):
    if "z" not in layer._kept:
        layer._kept["z"] = layer.weights * 2
    return layer._kept["z"] + x


def methods_that_store(body, count):
    for _ in range(count):
        body.step()
    return body.position, body


def members_of_an_enumeration(x, direction=Direction.FORWARD):
    return x if direction is Direction.BACKWARD else -x


def classes_made_inside(x):
    class Scaled:
        factor = 3

        def __init__(self, value):
            self.value = value

        def scale(self):
            return self.value * self.factor

    scaled = Scaled(x)
    scaled.shifted = x + 1
    return scaled.scale() + scaled.shifted


def lists_under_two_names(x):
    first = [x, x]
    first[0][0] = 7
    second = first
    second.append(1)
    third = first[:]
    third[0] = None
    return first, len(second), third[0]


def cells_that_are_rebound(x):
    count = 0

    def write(y):
        nonlocal count
        count += 1
        x[count] = count
        return y * count

    return write(x), write(x), count


def one_list_under_two_arguments(first, second):
    first.append(5)
    return len(second), first is second


def loops_over_containers_of_arrays(parameters, weights):
    for parameter in parameters:
        parameter *= 0.5
    for name, value in weights.items():
        if name == "w":
            value[0] = value[0] + sum(parameters)
            value.append(parameters[0])
    weights["n"] += 1
    parameters[1] = parameters[0]
    copied = {name: value for name, value in weights.items()}
    return copied, [a * b for a, b in zip(parameters, weights["w"])], parameters


def queues_and_counters(x):
    queue = collections.deque(maxlen=3)
    counter = collections.Counter()
    groups = collections.defaultdict(list)
    for i in range(5):
        queue.append(x * i)
        counter[i % 2] += 1
        groups[i % 2].append(x[i])
    return list(queue), dict(counter), dict(groups)


OBJECTS = [
    (objects_that_keep_results, vector_and_layer),
    (methods_that_store, body_and_count),
    (members_of_an_enumeration, vector),
    (classes_made_inside, vector),
    (lists_under_two_names, vector),
    (cells_that_are_rebound, vector),
    (one_list_under_two_arguments, one_list_twice),
    (loops_over_containers_of_arrays, parameters_and_weights),
    (queues_and_counters, vector),
]


@pytest.mark.parametrize(("fn", "make"), OBJECTS, ids=lambda each: each.__name__)
def test_objects_and_containers(fn, make):
    check(fn, make, seeds=SEEDS)
