"""No traced value leaves a recording; oracle: plain Python, and the classes of what comes out."""

import collections
import copy
import dataclasses
import functools
import gc
import pickle
import types
import weakref

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.api import program_tracer
from runmat_jit.capture.record.traced import Traced, TracedMethod
from tests.capture.behavior import check, check_module

pytestmark = pytest.mark.sampled(3)

KEPT = []
REGISTRY = {}
PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def vector(rng):
    KEPT.clear()
    REGISTRY.clear()
    return (rng.normal(size=4),)


class Holder:
    def __init__(self, value=None):
        self.value = value


class Slotted:
    __slots__ = ("value",)


@program
def a_closure_is_returned(x):
    return lambda y: y + x.sum()


@program
def a_closure_over_a_local_is_returned(x):
    z = x * 2

    def inner():
        return z

    return inner


@program
def a_function_with_a_default_is_returned(x):
    def inner(y=x * 2, *, k=x.sum()):
        return y * k

    return inner


@program
def a_bound_method_is_returned(x):
    return x.sum


@program
def a_partial_is_returned(x):
    return functools.partial(np.add, x * 2)


@program
def an_object_is_returned(x):
    made = Holder(x + 1)
    made.more = [x.sum(), {"k": x}]
    made.self = made
    return made


@program
def an_object_with_slots_is_returned(x):
    made = Slotted()
    made.value = x * 2
    return made


@program
def a_deque_and_a_defaultdict_are_returned(x):
    d = collections.defaultdict(list)
    d[0].append(x.mean())
    return collections.deque([x.sum(), x]), d, collections.OrderedDict(a=x * 2)


@program
def sets_are_returned(x):
    return {float(x[0]), int(x[1])}, frozenset([x.shape[0], x[0]])


@program
def keys_are_returned(x):
    return {float(x[0]): x, x[1]: 2, (x[2], 1): 3}


@program
def nested_containers_are_returned(x):
    inner = [x, (x + 1, {"k": [x * 2]})]
    return inner, inner[1], [inner]


@program
def an_exception_is_returned(x):
    return ValueError(x.sum(), x)


@program
def a_global_list_keeps_values(x):
    KEPT.append(x.sum())
    KEPT.append([x, x * 2])
    KEPT.extend([x + 1])
    return len(KEPT)


@program
def a_global_dict_keeps_values(x):
    REGISTRY["a"] = x * 2
    REGISTRY.setdefault("b", []).append(x.sum())
    REGISTRY.update(c={"d": x})
    return sorted(REGISTRY)


@program
def a_kept_list_is_changed_afterwards(x):
    items = [x]
    KEPT.append(items)
    items.append(x * 2)
    items[0] = x.sum()
    return KEPT[0] is items


@program
def a_kept_object_is_changed_afterwards(x):
    made = Holder(x)
    KEPT.append(made)
    made.value = x * 2
    made.more = x.sum()
    return KEPT[0] is made, KEPT[0].value


@program
def a_kept_closure_runs_afterwards(x):
    y = x * 2
    KEPT.append(lambda: y)
    y = y + 1
    z = y[:]
    z[0] = 7
    return KEPT[0](), y + 1


@program
def an_attribute_of_a_function(x):
    a_bound_method_is_returned.note = x * 2
    return a_bound_method_is_returned.note


@program
def an_exception_is_kept(x):
    try:
        raise ValueError(x.sum())
    except ValueError as error:
        KEPT.append(error)
    return KEPT[0].args


@program
def a_weak_reference(x):
    made = Holder(x)
    KEPT.append(weakref.ref(made))
    return KEPT[0]() is made


@program
def copies_of_values(x):
    return copy.copy(x), copy.deepcopy([x, x]), pickle.loads(pickle.dumps({"a": x + 1}))


@program
def iterators_are_returned(x):
    return list(iter([x])), next(iter([x * 2]))


@program
def an_exception_with_a_cause_is_kept(x):
    try:
        try:
            raise KeyError(x * 2)
        except KeyError as error:
            raise ValueError("no") from error
    except ValueError as error:
        KEPT.append(error)
    return x.sum()


@program
def an_exception_with_a_context_is_kept(x):
    try:
        try:
            raise KeyError(x * 2)
        except KeyError:
            x.reshape(3, 3)
    except ValueError as error:
        KEPT.append(error)
    return x.sum()


@dataclasses.dataclass(slots=True)
class Slots:
    value: object


@program
def slots_are_returned(x):
    return Slots(x * 2), [Slots(x.sum())]


@program
def a_slot_is_stored_into(x):
    made = Slots(x)
    made.value = x + 1
    KEPT.append(made)
    return made


@program
def members_of_sets(x):
    found = {x.sum(), 1.0}
    found.add(float(x[0]))
    KEPT.append(frozenset([x[1]]))
    return sorted(found)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs(fn):
    check(fn, vector, seeds=(0, 0, 1))


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_nothing_traced_is_left(fn):
    decorated = runmat.jit(fn)
    for seed in (0, 0, 1):
        result = decorated(*vector(np.random.default_rng(seed)))
        assert traced_in([result, KEPT, REGISTRY]) == []


def traced_in(value):
    """Traced values that can be reached from a value, by the garbage collector's own word.

    Frames are left alone: those of a traceback show what the program saw, to a debugger.
    """
    found, seen, stack = [], set(), [value]
    while stack:
        each = stack.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if type(each) in (Traced, TracedMethod):  # first: a traced array says that it is an ndarray
            found.append(each)
        elif isinstance(each, (str, np.ndarray, types.TracebackType)) or hasattr(each, "__spec__"):
            continue
        elif type(each).__module__ in ("builtins", "collections", "functools", __name__):
            inside = isinstance(each, dict) and "__builtins__" in each
            stack += [] if inside or isinstance(each, type) else gc.get_referents(each)
    return found


def test_what_looks_for_traced_values_finds_them_in_cells_and_containers():
    tracer = program_tracer()
    array, number = tracer.lift(np.ones(2)), tracer.lift(2.0)
    assert [each is array for each in traced_in([lambda: array])] == [True]
    assert len(traced_in({"a": [(array,)], "b": {"c": number}})) == 2


def test_a_returned_closure_computes_real_values():
    decorated = runmat.jit(a_closure_is_returned)
    for _ in range(2):
        inner = decorated(np.ones(3))
        assert type(inner(1.0)) is np.float64
        assert inner(np.ones(2)).tolist() == [4.0, 4.0]


def test_a_returned_generator_gives_real_values():
    def fn(x):
        def inner():
            got = yield x * 2
            yield got
            return x

        return inner(), (a * 2 for a in x)

    decorated = runmat.jit(fn)
    for _ in range(2):
        first, second = decorated(np.ones(2))
        assert type(next(first)) is np.ndarray
        assert first.send("back") == "back"
        with pytest.raises(StopIteration) as stopped:
            next(first)
        assert type(stopped.value.value) is np.ndarray
        assert [type(a) for a in second] == [np.float64, np.float64]


def test_returned_iterators_give_real_values():
    def fn(x):
        return iter([x, x * 2]), map(lambda a: a, [x + 1]), zip([x], [x.sum()]), enumerate([x])

    decorated = runmat.jit(fn)
    for _ in range(2):
        found = [list(each) for each in decorated(np.ones(2))]
        assert traced_in(found) == []
        assert found[1][0].tolist() == [2.0, 2.0]
        assert found[2][0][1] == 2.0


def test_a_closure_keeps_working_on_what_it_shares():
    def fn(x):
        items = [x]

        def add(y):
            items.append(y)
            return len(items), items[0] + y

        return add, items

    for _ in range(2):
        add, items = runmat.jit(fn)(np.ones(2))
        assert add(np.ones(2))[1].tolist() == [2.0, 2.0]
        assert len(items) == 2
        assert traced_in(items) == []


def test_arguments_are_freed_after_the_call():
    def fn(x):
        return x.sum()

    decorated = runmat.jit(fn)
    for _ in range(3):
        x = np.ones(5)
        gone = weakref.ref(x)
        decorated(x)
        del x
        gc.collect()
        assert gone() is None


def test_objects_of_a_recording_are_freed_after_the_call():
    def fn(holder):
        return holder.value * 2

    decorated = runmat.jit(fn)
    for _ in range(3):
        holder = Holder(np.ones(3))
        gone = weakref.ref(holder)
        decorated(holder)
        del holder
        gc.collect()
        assert gone() is None


def test_temporaries_are_freed_while_recording():
    def fn(x):
        gone = []
        y = np.sort(x)
        gone.append(weakref.ref(y))
        del y
        return [reference() is None for reference in gone]

    check(fn, vector, seeds=(0, 0))


def test_a_value_of_one_recording_in_another():
    inner = runmat.jit(lambda y: y * 2)

    def fn(x):
        KEPT.append(x)
        return inner(KEPT[0]) + inner(x)

    check(fn, vector, seeds=(0, 0, 1))


def test_library_code_that_calls_a_decorated_function_gets_real_values():
    inner = runmat.jit(lambda n: np.arange(3.0) * n)
    cached = functools.lru_cache(inner)

    def fn(x):
        return cached(2) + x, sorted([3, 1], key=lambda n: float(inner(n).sum()))

    decorated = runmat.jit(fn)
    for _ in range(3):
        result = decorated(np.ones(3))
        assert traced_in(result) == []
        assert type(cached(2)) is np.ndarray
        assert result[0].tolist() == [1.0, 3.0, 5.0]
        assert result[1] == [1, 3]


FINALIZED = """
told = []  # by finalizers, from one call to the next
class Kept:
    def __init__(self, a): self.a = a
    def __del__(self):
        print("gone", self.a.size)
        told.append(self.a.size)
def change(number): print("told", told)
def f(x):
    print("begin")
    kept = Kept(x * 2)
    told.append(0)
    del kept
    print("between")
    kept = Kept(x[1:])
    kept = None
    print("end")
    return x
"""


def test_objects_with_finalizers_go_when_the_program_lets_them_go():
    check_module(FINALIZED, lambda rng: (rng.normal(size=3),), seeds=(0, 0, 1))
