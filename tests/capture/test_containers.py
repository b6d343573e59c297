"""Containers as arguments, in between and as results; the oracle is the undecorated function."""

import collections
import copy
import dataclasses
import functools

import numpy as np
import pytest

from tests.capture.behavior import check

PROGRAMS = []
Point = collections.namedtuple("Point", "x y")


def program(fn):
    PROGRAMS.append(fn)
    return fn


@dataclasses.dataclass
class State:
    x: np.ndarray
    n: int = 0

    def step(self):
        self.x = self.x * 0.5
        self.n += 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: np.ndarray
    scale: float


class Linear:
    def __init__(self, w):
        self.w = w
        self.cache = {}

    def __call__(self, x):
        return x * self.w

    @property
    def norm(self):
        return np.sqrt((self.w**2).sum())

    def __getitem__(self, i):
        return self.w[i]

    def cached(self):
        if "z" not in self.cache:
            self.cache["z"] = self.w * 2
        return self.cache["z"]


def vectors(rng):
    return rng.normal(size=6), rng.normal(size=6)


MAKERS = {
    "list": lambda rng: ([*vectors(rng), 2.0],),
    "nested": lambda rng: ({"w": [rng.normal(size=3)], "n": 2, "t": (rng.normal(size=3), None)},),
    "same list twice": lambda rng: (lambda q: (q, q))([rng.normal(size=3), 1.0]),
    "alias in tree": lambda rng: (lambda q: ({"p": q}, q))(rng.normal(size=3)),
    "dataclass": lambda rng: (State(rng.normal(size=4)), 3),
    "frozen": lambda rng: (Frozen(rng.normal(size=4), 2.0),),
    "namedtuple": lambda rng: (Point(*vectors(rng)),),
    "object": lambda rng: (rng.normal(size=6), Linear(rng.normal(size=6))),
    "set": lambda rng: (rng.normal(size=6), {1, 2}),
    "mixed": lambda rng: (rng.normal(size=6), [1, 2], {"a": 1}, {1, 2}),
    "deque": lambda rng: (collections.deque([rng.normal(size=3)]),),
    "vector": lambda rng: (rng.normal(size=6),),
    "empty": lambda rng: ([], {}, ()),
    "cycle": lambda rng: (cyclic(rng),),
    "counter": lambda rng: (collections.Counter("abca"), rng.normal(size=3)),
    "defaultdict": lambda rng: (collections.defaultdict(list), rng.normal(size=3)),
    "object array": lambda rng: (np.array([1, "a"], dtype=object), rng.normal(size=2)),
}


def cyclic(rng):
    items = [rng.normal(size=3)]
    items.append(items)
    return items


def on(name):
    def register(fn):
        PROGRAMS.append((name, fn))
        return fn

    return register


@on("list")
def a_list_is_read(items):
    a, b, scale = items
    return a * scale + b, len(items), items[-1]


@on("list")
def a_list_is_changed(items):
    items[0] = items[0] + 1
    items.append(items[1])
    items[1] *= 2
    items.reverse()
    del items[0]
    return items


@on("list")
def a_list_is_cleared_and_refilled(items):
    old = items[:]
    items.clear()
    items.extend(old[::-1])
    items += [1]
    items *= 2
    return items is old, len(items)


@on("list")
def a_list_is_sorted_and_compared(items):
    return [items[2]] == [2.0], items[2:] + [3], (items[2],) * 2, sorted(items[2:])


@on("nested")
def a_tree_is_rebuilt(tree):
    new = {key: value for key, value in tree.items()}
    new["w"] = [w * 2 for w in new["w"]]
    return new, tree["t"][0] + 1, tree["t"][1] is None


@on("nested")
def a_tree_is_changed(tree):
    for key, value in tree.items():
        if key == "w":
            value[0] = value[0] + sum(value)
            value.append(tree["t"][0])
    tree["n"] += 1
    tree["new"] = {"deep": [tree["w"][0] * 1]}
    tree.pop("t")
    return tree["new"]


@on("nested")
def a_dict_is_updated_and_popped(tree):
    tree.update(a=1, b=tree["w"][0])
    first = tree.setdefault("c", [])
    first.append(tree["b"] + 1)
    del tree["n"]
    return list(tree), tree | {"z": 1}, "w" in tree, tree.get("none")


@on("same list twice")
def the_same_list_twice(a, b):
    a.append(5)
    a[0] = a[0] * 2
    return len(b), a is b, b[0]


@on("alias in tree")
def an_array_in_a_tree_is_an_argument(d, x):
    d["p"] += 1
    return x * 1, d["p"] is x


@on("dataclass")
def methods_of_a_dataclass(state, n):
    for _ in range(n):
        state.step()
    return state.x, state


@on("dataclass")
def a_dataclass_is_replaced(state, n):
    return dataclasses.replace(state, x=state.x + n), state


@on("dataclass")
def a_dataclass_is_made(state, n):
    return State(state.x * n, n), dataclasses.astuple(State(1, 2))


@on("frozen")
def a_frozen_dataclass(frozen):
    return frozen.x * frozen.scale, frozen


@on("namedtuple")
def a_namedtuple(point):
    return point.x + point[1], point._replace(x=point.y), Point(point.y, 1), point._asdict()["y"]


@on("object")
def an_object_is_called(x, model):
    return model(x) + model.norm + model[2]


@on("object")
def an_object_caches(x, model):
    return model.cached() + x


@on("object")
def an_object_is_changed(x, model):
    model.w = model.w + x
    model.w[0] = 7
    model.extra = x
    return model.w * 2


@on("object")
def an_object_holds_an_alias(x, model):
    model.w[1:] = x[1:]
    return model.w is x, model


@on("set")
def sets(x, s):
    s.add(5)
    return {int(a) for a in x} | {99}, len(s), 1 in s, s, {1, 2} & s


@on("mixed")
def several_containers(x, items, d, s):
    items.extend([x.sum(), 3])
    items.reverse()
    d["b"] = x
    d.pop("a")
    items += [4]
    return items, d, len(s)


@on("deque")
def a_deque_argument(d):
    d.append(d[0] * 2)
    d.rotate(1)
    return d, len(d)


@on("vector")
def made_containers(x):
    d = collections.deque(maxlen=3)
    c = collections.Counter()
    dd = collections.defaultdict(list)
    for i in range(5):
        d.append(x * i)
        c[i % 2] += 1
        dd[i % 2].append(x[i])
    return list(d), dict(c), dict(dd), d, dd


@on("vector")
def lists_of_lists(x):
    a = [x, x]
    a[0][0] = 7
    b = a
    b.append(1)
    c = a[:]
    c[0] = None
    return a, len(b), c[0], a is b


@on("vector")
def arrays_from_nested_lists(x):
    return (
        np.array([x[0], x[1]]),
        np.array([[x[0], 1], [2, x.sum()]]),
        np.array([x, x * 2]),
        np.array((x, x)),
        np.stack([x, x + 1]),
        np.concatenate([x, [1.0, 2.0]]),
        np.concatenate((x[:2], x[2:] * 2)),
        np.vstack([x, x]),
        np.column_stack((x, x)),
        np.asarray([x[0]]),
        np.hstack([x, x[0]]),
        np.block([[x], [x]]),
        np.float32([x[0], 2]),
    )


@on("vector")
def arguments_spread(x):
    def inner(*args, scale=1, **kwargs):
        kwargs["z"] = args
        return args[0] * scale, kwargs

    pair = [x, x + 1]
    return inner(*pair, scale=2, y=x), inner(*[x], scale=3), [*pair, *x[:2]], {"a": x}


@on("vector")
def local_classes(x):
    class P:
        k = 3

        def __init__(self, a):
            self.a = a

        def go(self):
            return self.a * self.k

        @property
        def twice(self):
            return self.a * 2

        @staticmethod
        def still(y):
            return y - 1

        @classmethod
        def made(cls, y):
            return cls(y + 1)

    p = P(x)
    p.b = x + 1
    return p.go() + p.b + p.twice + P.still(x) + P.made(x).a, p.__dict__


@on("vector")
def functools_and_operators(x):
    half = functools.partial(np.multiply, 0.5)
    total = functools.reduce(lambda a, b: a * 0.5 + b, x)
    return half(x), total, list(map(half, [x])), functools.partial(max, x[0])(3.0)


@on("vector")
def copies(x):
    items = [x, {"a": x}]
    shallow, deep = copy.copy(items), copy.deepcopy(items)
    shallow.append(1)
    deep[0][0] = 99
    return items, shallow, deep, deep[0] is deep[1]["a"], copy.copy(x) is x


@on("vector")
def unpacking(x):
    a, *b = x
    (c, d), e = (x[0], x[1:3]), x[3]
    f = g = x + 1
    f[0] = 5
    return a, b, c, d, e, g, f is g


@on("vector")
def comprehensions(x):
    return (
        [a * 2 for a in x if a > 0],
        {i: a for i, a in enumerate(x)},
        {round(float(a), 1) for a in x},
        list(a + b for a in x[:2] for b in x[2:4]),
        [[x[i] * j for i in range(2)] for j in range(2)],
    )


@on("vector")
def slices_and_ranges_are_returned(x):
    return range(int(abs(x[0]) * 3)), slice(int(x[1]), 2), np.s_[1:2], x[slice(1, 3)], Ellipsis


@on("empty")
def empty_containers(items, d, t):
    items.append(np.ones(2))
    d["a"] = items[0]
    return t, items, d


@on("cycle")
def a_cycle(items):
    return items[0] * 2, items[1] is items, items[1][1][0] + 1


@on("counter")
def dict_subclasses(counter, x):
    counter["a"] += 1
    return counter["a"] * x, counter.most_common(1)


@on("defaultdict")
def a_defaultdict_argument(d, x):
    d["k"].append(x + 1)
    return d, len(d["k"])


@on("object array")
def an_object_array(a, x):
    return a[0] * x, len(a)


@on("vector")
def tolist_and_back(x):
    items = x.tolist()
    items[0] = 1
    return np.array(items) + x, sum(items), max(items), x.reshape(2, 3).tolist()


@on("vector")
def iteration_over_rows(x):
    m = x.reshape(2, 3)
    return [i * row.sum() for i, row in enumerate(m)], [p * q for p, q in zip(m, m[::-1])], [*m.T]


@on("vector")
def deletes(x):
    a = [x, 1, 2]
    del a[1]
    d = {"q": x}
    del d["q"]
    y = x
    del y
    return a, d


@pytest.mark.parametrize(("name", "fn"), PROGRAMS, ids=[fn.__name__ for _, fn in PROGRAMS])
def test_programs(name, fn):
    check(fn, MAKERS[name])


def renames_the_last_key(table):
    table["b"] = table.pop("c")
    return table["b"] + 1


def moves_a_key_to_the_end(table):
    table["a"] = table.pop("a")
    return list(table)


def swaps_values(table):
    table["a"], table["c"] = table["c"], table["a"]
    return table["a"] * 2


@pytest.mark.parametrize("fn", [renames_the_last_key, moves_a_key_to_the_end, swaps_values])
def test_keys_that_change_while_the_values_stay_are_written_back(fn):
    check(fn, lambda rng: ({"a": rng.normal(size=3), "c": rng.normal(size=3)},), seeds=(0, 0, 1))
