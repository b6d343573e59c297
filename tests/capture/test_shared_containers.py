"""Containers that others change while a call runs: threads, callbacks, handlers of events.

The oracle is undecorated Python: what the call does to a container among its arguments, or to one
that it reaches through objects and globals, is done to that container, and what others do stays.
"""

import array
import collections
import copy
import itertools
import sys
import threading
import types
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.capture.tape.edits import edits_of
from runmat_jit.capture.tape.pytree import at_once, take_apart
from tests.capture.behavior import check, compare, module, observe
from tests.conftest import PROFILE

pytestmark = pytest.mark.sampled(4)

FULL = PROFILE == "full"
THREADS, CALLS = (8, 10) if FULL else (4, 5)


# -- edits -----------------------------------------------------------------------------------------
CHANGES = {
    "append": lambda c, n: c.append(n),
    "insert": lambda c, n: c.insert(n % (len(c) + 1), n),
    "store": lambda c, n: c and c.__setitem__(n % len(c), n),
    "delete": lambda c, n: c and c.__delitem__(n % len(c)),
    "slice": lambda c, n: c.__setitem__(slice(n % 3, n % 5), [n, n + 1]),
    "reverse": lambda c, _: c.reverse(),
}
OF_DICTS = {
    "store": lambda c, n: c.__setitem__(n % 7, n),
    "delete": lambda c, n: c.pop(n % 7, None),
    "move": lambda c, n: c.update({n % 7: c.pop(n % 7, n)}),
    "another key": lambda c, n: (c.pop(1, None), c.__setitem__([1, True, 1.0][n % 3], n)),
}


class Item:
    """A value with an identity."""

    def __init__(self, number):
        self.number = number


def changed(container, steps, changes):
    for name, number in steps:
        changes[name](container, Item(number) if name == "append" else number)


def edits_between(before, after):
    edits = edits_of(take_apart(before), take_apart(after))
    if edits is None:
        return None
    (_, olds), (_, news) = take_apart(before), take_apart(after)
    return edits, [olds[n] for n in edits.olds] + [news[n] for n in edits.news]


def identities(container):
    keys = [(id(key), type(key)) for key in container] if isinstance(container, dict) else []
    return keys, [id(child) for child in take_apart(container)[1]]


@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 9)), max_size=8),
)
def test_edits_make_one_list_the_other(count, steps):
    before = [Item(number) for number in range(count)]
    after, target = list(before), list(before)
    changed(after, steps, CHANGES)
    if (found := edits_between(before, after)) is not None:
        found[0].apply(target, found[1])
    assert identities(target) == identities(after)


@given(
    st.integers(0, 7),
    st.lists(st.tuples(st.sampled_from(sorted(OF_DICTS)), st.integers(0, 20)), max_size=8),
)
def test_edits_make_one_dict_the_other(count, steps):
    before = {number: Item(number) for number in range(count)}
    after, target = dict(before), dict(before)
    changed(after, steps, OF_DICTS)
    if (found := edits_between(before, after)) is not None:
        found[0].apply(target, found[1])
    assert identities(target) == identities(after)


@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 9)), max_size=8),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_edits_keep_what_others_have_put_in(count, steps, first, last):
    before = [Item(number) for number in range(count)]
    after = list(before)
    changed(after, steps, CHANGES)
    others = [Item(-1) for _ in range(first + last)]
    target = [*others[:first], *before, *others[first:]]
    if (found := edits_between(before, after)) is not None:
        found[0].apply(target, found[1])
    counts = collections.Counter(map(id, target))
    assert all(counts[id(other)] >= 1 for other in others)
    mine = [item for item in target if all(item is not other for other in others)]
    assert collections.Counter(map(id, mine)) == collections.Counter(map(id, after))


# -- threads ---------------------------------------------------------------------------------------
MAKERS = {
    "list": list,
    "dict": dict,
    "set": set,
    "deque": collections.deque,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": lambda: collections.defaultdict(list),
    "Counter": collections.Counter,
    "bytearray": bytearray,
    "array": lambda: array.array("q"),
}
ADDS = {
    "list": [
        "c.append((k, y))",
        "c.extend([(k, y), (k + 1, y)])",
        "c.insert(0, (k, y))",
        "c += [(k, y)]",
        "c.append((k, y)); c.append((k + 1, y))",
        "list(map(c.append, [(k, y), (k + 1, y)]))",
        "list.append(c, (k, y))",
    ],
    "dict": [
        "c[k] = y",
        "c.update({k: y, k + 1: y})",
        "c |= {k: y}",
        "c.setdefault(k, y)",
        "c.setdefault('all', []).append((k, y))",
    ],
    "set": ["c.add(k)", "c.update([k, k + 1])", "c |= {k}"],
    "deque": ["c.append((k, y))", "c.appendleft((k, y))", "c.extend([(k, y)])", "c += [(k, y)]"],
    "OrderedDict": ["c[k] = y", "c.update({k: y})"],
    "defaultdict": ["c[k].append(y)", "c['all'].append((k, y))"],
    "Counter": ["c.update([k, k])", "c[k] += 1"],
    "bytearray": ["c.append(k % 256)", "c.extend([k % 256, 1])"],
    "array": ["c.append(k)", "c.extend([k, k + 1])"],
}
TAKES = {
    "list": ["c.pop()", "c.pop(0)", "c.pop(-1)"],
    "dict": ["c.popitem()", "c.pop(k, None)"],
    "set": ["c.pop()"],
    "deque": ["c.pop()", "c.popleft()"],
    "OrderedDict": ["c.popitem()", "c.popitem(last=False)"],
    "bytearray": ["c.pop()"],
    "array": ["c.pop()", "c.pop(0)"],
}
PLACES = {
    "argument": ("holder", lambda c: c),
    "twice": ("holder[0]", lambda c: [c, c]),
    "in a list": ("holder[1]", lambda c: [0, c]),
    "in a dict": ("holder['c']", lambda c: {"c": c}),
    "attribute": ("holder.c", lambda c: types.SimpleNamespace(c=c)),
    "in an attribute": ("holder.d['c']", lambda c: types.SimpleNamespace(d={"c": c})),
    "global": ("HELD", lambda _: None),
}


def cases(table):
    every = [(kind, act, place) for kind in table for act in table[kind] for place in PLACES]
    return every[:: 2 if FULL else 3]


def contents(container):
    """What a container holds, by number, in some order."""
    items = container.items() if isinstance(container, dict) else container
    return sorted(map(str, map(number_of, items)))


def number_of(item):
    if isinstance(item, tuple) and isinstance(item[1], list):
        return item[0], sorted(str(part[0] if isinstance(part, tuple) else 0) for part in item[1])
    return item[0] if isinstance(item, tuple) else item


def in_threads(decorated, holder, calls):
    """The results of calls with numbers, made by some threads at once."""
    results, errors = [], []

    def work(number):
        try:
            for call in range(calls):
                results.append(decorated(holder, np.arange(4.0), 1000 * number + 2 * call))
        except BaseException as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]
    return results


def program(source, container, place):
    """A function of a holder, an array and a number; the holder of a container."""
    path, hold = PLACES[place]
    namespace = module(source.replace("PATH", path))
    namespace["HELD"] = container
    return namespace["f"], hold(container)


@pytest.mark.parametrize(("kind", "act", "place"), cases(ADDS))
def test_all_that_threads_put_into_a_container_arrives(kind, act, place):
    source = f"def f(holder, x, k):\n    y = np.tanh(x) + k\n    c = PATH\n    {act}\n    return y"
    shared, plain = MAKERS[kind](), MAKERS[kind]()
    fn, holder = program(source, shared, place)
    in_threads(runmat.jit(fn), holder, CALLS)
    fn, holder = program(source, plain, place)
    for number, call in itertools.product(range(THREADS), range(CALLS)):
        fn(holder, np.arange(4.0), 1000 * number + 2 * call)
    assert contents(shared) == contents(plain)


@pytest.mark.parametrize(("kind", "act", "place"), cases(TAKES))
def test_each_item_of_a_container_is_taken_by_one_thread(kind, act, place):
    source = f"def f(holder, x, k):\n    y = np.tanh(x) + k\n    c = PATH\n    return {act}, y"
    numbers = [1000 * n + 2 * call for n in range(THREADS) for call in range(CALLS + 2)]
    if kind == "bytearray":
        numbers = [number % 256 for number in numbers]
    pairs = [(number, number) for number in numbers]
    held = pairs if kind in ("dict", "OrderedDict") else numbers
    shared = array.array("q", held) if kind == "array" else type(MAKERS[kind]())(held)
    fn, holder = program(source, shared, place)
    taken = [result[0] for result in in_threads(runmat.jit(fn), holder, CALLS)]
    taken = [item[0] if isinstance(item, tuple) else item for item in taken]
    left = list(shared)
    assert len(taken) == THREADS * CALLS
    assert sorted(taken + left) == sorted(numbers)


# -- callbacks -------------------------------------------------------------------------------------
MID_CALL = {
    "unknown code": "exec('act()', {'act': act})",
    "a handler of events": (
        "with np.errstate(over='call', call=lambda *_: act()):\n        np.exp(x * 1000)"
    ),
    "a logger of events": ("with np.errstate(over='log', call=Log()):\n        np.exp(x * 1000)"),
    "a shown warning": "y = np.exp(x * 1000)",
    "an operator": "Operand() + 1",
    "an attribute": "Operand().value",
    "a manager": "with Operand():\n        pass",
}
OF_CALLBACK = {
    "list": ["c.append('other')", "c.insert(0, 'other')", "c.pop()", "c.reverse()", "c.clear()"],
    "dict": ["c['other'] = 1", "c.pop(1)", "c.clear()", "c[1] = 'other'"],
    "set": ["c.add('other')", "c.clear()"],
    "deque": ["c.append('other')", "c.rotate()"],
}
OF_CALL = {
    "list": [
        "c.append(y)",
        "c[0] = y",
        "c.insert(0, y)",
        "c += [y]",
        "c[1:2] = [y, y]",
        "c.sort()",
    ],
    "dict": ["c['own'] = y", "c[2] = y", "c.update(own=y)"],
    "set": ["c.add(k)"],
    "deque": ["c.append(y)", "c[0] = y"],
}
CALLBACK_CASES = [
    (kind, way, theirs, ours)
    for kind in OF_CALL
    for way in MID_CALL
    for theirs in OF_CALLBACK[kind]
    for ours in OF_CALL[kind]
]
AROUND = """
import types
class Operand:
    def __add__(self, other):
        act()
        return other
    @property
    def value(self):
        return act()
    def __enter__(self):
        act()
    def __exit__(self, *_):
        pass
class Log:
    def write(self, text):
        act()
def act():
    c = SHARED
    {theirs}
def f(c, x, k):
    y = x.sum() + k
    {ours}
    {way}
    n = len(c)
    z = x * 2
    {again}
    return z, n, list(c)
"""
STARTS = {"list": lambda: [1, 2, 3], "dict": lambda: {1: 1, 2: 2}, "set": lambda: {1}}


@pytest.mark.parametrize(("kind", "way", "theirs", "ours"), CALLBACK_CASES[:: 3 if FULL else 4])
def test_what_callbacks_do_to_a_container_stays_in_its_place(kind, way, theirs, ours):
    again = {"list": "c.append(n)", "dict": "c['n'] = n", "set": "c.add(n)"}.get(
        kind, "c.append(n)"
    )
    text = AROUND.format(theirs=theirs, ours=ours, way=MID_CALL[way], again=again)
    namespace = module(text)
    fn = namespace["f"]
    decorated = runmat.jit(fn)
    for number in range(3):
        seen = []
        for each in (fn, decorated):
            shared = STARTS.get(kind, lambda: collections.deque([1, 2, 3]))()
            namespace["SHARED"] = shared
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                if way == "a shown warning":
                    warnings.showwarning = lambda *_: namespace["act"]()
                else:
                    warnings.simplefilter("ignore")
                seen.append(observed(each, shared, number))
        compare(*seen)


def observed(fn, shared, number):
    """As ``observe``, which would show warnings in a way of its own."""
    try:
        result = fn(shared, np.ones(3), number)
    except Exception as error:
        result = type(error), str(error)
    return types.SimpleNamespace(
        **vars(observe(lambda: (result, copy.copy(shared)), (), {})),
    )


# -- one thread ------------------------------------------------------------------------------------
ALONE = {
    "list": [*ADDS["list"], *TAKES["list"], "del c[0]", "c.remove(2.0)", "c.sort()", "c.reverse()"],
    "dict": [*ADDS["dict"], *TAKES["dict"], "del c[1]", "c[1] = c.pop(1)", "c.clear(); c[k] = y"],
}


@pytest.mark.parametrize(
    ("kind", "act", "place"),
    [(k, act, place) for k in ALONE for act in ALONE[k] for place in PLACES if place != "global"],
)
def test_containers_change_as_in_python(kind, act, place):
    """Identity, order, aliasing, and the state when an exception leaves half way."""
    path, hold = PLACES[place]
    act = act.replace("\n", "; ")
    namespace = module(
        f"def f(holder, x, k):\n    y = x.sum() + k\n    c = {path}\n    before = len(c)\n"
        f"    {act}\n    z = y * 2\n    if k == 2:\n        c[(0,)]\n"
        "    return z, before, c, holder\n"
    )

    def make(rng):
        start = (
            [1.0, 2.0, rng.normal(size=2)] if kind == "list" else {1: 1.0, 2: rng.normal(size=2)}
        )
        return hold(start), rng.normal(size=3), int(rng.integers(3))

    check(namespace["f"], make, seeds=(0, 1, 2, 3, 0, 1))


def test_a_container_that_changes_while_it_is_looked_at_is_looked_at_again():
    held, looks = {1: 1, 2: 2}, []

    def look():
        looks.append(1)
        found = []
        for key in held:
            found.append(key)
            if len(looks) == 1:
                held[3] = 3
        return found

    assert at_once(look) == [1, 2, 3]
    assert len(looks) == 2
    with pytest.raises(RuntimeError, match="other"):
        at_once(lambda: (_ for _ in ()).throw(RuntimeError("other")))
