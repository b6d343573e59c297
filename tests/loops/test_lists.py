"""Loops that append to lists. Oracle: the undecorated functions, in everything that a caller sees.

Items are compared with their classes, lists by identity; ``times``: so often loops ran natively.
"""

# ruff: noqa: PERF401, PERF402  (appending is what is tested)

import math
from collections import deque

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import list_buffers
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from
from tests.loops.random_lists import arguments, program
from tests.loops.test_programs import both, give, ramp

pytestmark = pytest.mark.sampled(8)


def named(text, **names):
    """The function of a text."""
    return function_from(text, np=np, math=math, **names)


def appending(item, before="s = 0.0", after="s = s + x[i]", start="[]"):
    """A function that appends an expression in each turn."""
    return named(
        f"def f(x):\n    out = {start}\n    {before}\n"
        f"    for i in range(len(x)):\n        out.append({item})\n        {after}\n"
        f"    return out\n"
    )


# -- items -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["d", "f", "l", "i", "?"])
def test_numbers_of_numpys(dtype, natively):
    both(appending("x[i]", "pass", "pass"), lambda: np.arange(9).astype(dtype), natively=natively)


@pytest.mark.parametrize(
    "item",
    [
        *("i", "float(i)", "i > 3", "0.5", "7", "True", "-i * 0.25", "int(x[i])", "float(x[i])"),
        *("x[i] * 2", "x[i] > 0", "np.sqrt(abs(x[i]))", "abs(x[i])", "max(i, 3)", "s"),
        *("math.sin(i)", "x[i] if i > 3 else x[0]", "np.float32(x[i])", "len(out)", "s + i"),
    ],
)
@pytest.mark.parametrize("dtype", ["d", "l"])
def test_expressions(item, dtype, natively):
    both(appending(item), ramp(9, dtype), natively=natively)


def test_items_of_two_classes(natively):
    """Python's integers and floats of one expression are Python's; others are known."""
    both(appending("i if i % 2 else 0.5"), ramp(9), natively=natively, times=0)
    both(appending("i if x[i] > 0 else x[i]"), ramp(9), natively=natively)


@pytest.mark.parametrize("items", [("i", "0.5"), ("i", "x[i]"), ("x[i]", "(i, x[i])"), ("1", "x")])
def test_statements_with_items_of_two_classes(items, natively):
    first, other = items
    text = f"""def f(x):
    out = []
    for i in range(len(x)):
        if x[i] > 0:
            out.append({first})
        else:
            out.append({other})
    return out
"""
    both(named(text), ramp(9), natively=natively, times=0 if other == "x" else None)


def test_a_number_becomes_one_of_numpys(natively):
    def fn(x):
        out, s = [], 0.0
        for v in x:
            out.append(s)
            s = 0.5 * s + v
        out.append(s)
        return out, np.array(out)

    both(fn, ramp(9), natively=natively)
    both(fn, ramp(1), natively=natively)
    both(fn, ramp(9, "f"), natively=natively)


def test_an_integer_becomes_a_float(natively):
    def fn(n):
        out, s = [], 0
        for i in range(n):
            out.append(s)
            s = s * 0.5 + i
        return out

    both(fn, give(9), natively=natively)


@pytest.mark.parametrize(
    "item",
    [
        *("(i, x[i])", "(i, s)", "(x[i], (i, 2.0))", "[i, x[i]]", "(i, [x[i], i])", "()", "(i,)"),
        *("(i, 'a')", "None", "'b'", "(None, i)", "[]", "(i > 3, x[i] * 2, 1.0)", "([], i)"),
    ],
)
def test_tuples_and_lists(item, natively):
    both(appending(item), ramp(9), natively=natively)


def test_tuples_by_name(natively):
    def fn(x):
        out = []
        for pair in enumerate(x):
            twice = pair, 2
            out.append(pair)
            out.append(twice)
        return out

    both(fn, ramp(9), natively=natively)


def test_a_list_by_name_is_pythons(natively):
    """It is one object, whoever holds it."""

    def fn(x):
        out = []
        for v in x:
            pair = [v, v * 2]
            out.append(pair)
            out.append(pair)
        return out

    both(fn, ramp(9), natively=natively, times=0)


@pytest.mark.parametrize(
    "item",
    ["u.copy()", "u * 2", "u[1:] - u[:-1]", "a @ u", "np.zeros_like(u)", "np.where(u > 0, u, 0)"],
)
def test_new_arrays(item, natively):
    text = f"""def f(u, a):
    out = []
    for i in range(7):
        u = u * 0.5 + i
        out.append({item})
    return out, np.array(out)
"""
    both(named(text), ramp(5), lambda: np.arange(25.0).reshape(5, 5) / 4, natively=natively)


def test_arrays_and_numbers(natively):
    def fn(u):
        times, states = [], []
        for i in range(6):
            u = u + 0.25
            times.append((i, u.max()))
            states.append((u * 2, i, u - 1))
        return times, states

    both(fn, ramp(5), natively=natively)
    both(fn, lambda: np.arange(12.0).reshape(3, 4), natively=natively)


KEPT = {
    "an expression": ("u = u + 1\nh.append(u)", "h"),
    "and the last one": ("u = u + 1\nh.append(u)", "h, u"),
    "in a tuple": ("u = u + 1\nh.append((i, (u, 1)))", "h, u"),
    "stored to before": ("v = u.copy()\nv[1:-1] = u[2:]\nu = v\nh.append(u)", "h, u"),
    "an inner loop": ("for j in range(3):\n    u = u * 2\n    h.append(u)", "h"),
    "by a test": ("u = u * 0.5\nif u[-1] > 0.1:\n    h.append(u)", "h"),
    "two names": ("v = u + 1\nu = v\nh.append(v)", "h, u, v"),
}
NOT_KEPT = {
    "stored to after": ("u = u * 2\nh.append(u)\nu += 1", "h, u"),
    "stored to by an element": ("u = u * 2\nh.append(u)\nu[i] = 1", "h"),
    "stored to by a part": ("v = u * 2\nw = v[1:]\nh.append(v)\nw[0] = 3", "h"),
    "of a turn before": ("h.append(u)\nu = u * 2", "h"),
    "the one before": ("p = u\nu = u * 2\nh.append(u)", "h, p"),
    "now and then another": ("if i % 2:\n    u = u * 2\nh.append(u)", "h"),
    "twice": ("u = u * 2\nh.append(u)\nh.append(u)", "h"),
    "in an inner loop": ("u = u * 2\nfor j in range(3):\n    h.append(u)", "h"),
    "after a break": ("u = u * 2\nif i == 4:\n    break\nh.append(u)", "h, u"),
    "now and then the last": ("u = u * 2\nif i % 2:\n    h.append(u)", "h, u"),
    "a part": ("u = u * 2\nh.append(u[1:])", "h"),
    "an argument": ("h.append(x)\nu = u + x", "h"),
}


def keeping(body, result):
    """A function that appends arrays which names hold."""
    lines = "\n        ".join(body.split("\n"))
    return named(
        f"def f(u, x, n):\n    h, p, v, i = [], 0, 0, 0\n    for i in range(n):\n        {lines}\n"
        f"    return {result}\n"
    )


@pytest.mark.parametrize(("body", "result"), KEPT.values(), ids=KEPT)
def test_arrays_that_names_hold(body, result, natively):
    """The list and the name have one array between them."""
    fn = keeping(body, result)
    both(fn, ramp(6), ramp(6), give(7), natively=natively)
    both(fn, ramp(6, "f"), ramp(6), give(8), natively=natively)


@pytest.mark.parametrize(("body", "result"), NOT_KEPT.values(), ids=NOT_KEPT)
def test_arrays_that_may_be_others(body, result, natively):
    both(keeping(body, result), ramp(6), ramp(6), give(7), natively=natively, times=0)


# -- lists -----------------------------------------------------------------------------------------
def test_two_names_of_one_list(natively):
    def fn(x):
        a = b = []
        for v in x:
            a.append(v)
            if v > 0:
                b.append(1)
        return a, b, a is b

    both(fn, ramp(9), natively=natively)


def test_several_lists(natively):
    def fn(x):
        small, large, order = [], [], []
        for i, v in enumerate(x):
            if v < 0:
                small.append(v)
            elif v > 1:
                large.append((i, v))
            order.append(i)
        return small, large, order

    both(fn, ramp(19), natively=natively)


@pytest.mark.parametrize("first", [[], [1], ["a", None], [2.0, 1], list(range(50))])
def test_a_list_among_the_arguments(first, natively):
    def fn(x, out):
        for i in range(len(x)):
            out.append(x[i] * 2)
        return len(out), out

    both(fn, ramp(9), lambda: list(first), natively=natively)


def test_a_list_in_a_list(natively):
    def fn(x, lists):
        out = lists[0]
        for v in x:
            out.append(v)
        return lists

    both(fn, ramp(9), lambda: [[], [1]], natively=natively)


def test_one_list_by_two_arguments(natively):
    def fn(x, a, b):
        for v in x:
            a.append(v)
            b.append(len(a))

    shared = []

    def make():
        shared[:] = [[3]]
        return shared[0]

    decorated = runmat.jit(fn)
    for _ in range(3):
        make()
        expected = observe(fn, (ramp(9)(), shared[0], shared[0]), {})
        again = [3]
        compare(expected, observe(decorated, (ramp(9)(), again, again), {}), exact=True)
    assert natively() == 3


def test_what_was_made_before_and_comes_after(natively):
    def fn(x):
        out = [x.sum()]
        for v in x:
            out.append(v + 1)
        out.append("end")
        for i in range(3):
            out.append(i)
        return out, sum(out[:5]), len(out), np.array(out[:4], dtype="f")

    both(fn, ramp(9), natively=natively, times=6)


def test_a_list_twice_in_turn(natively):
    """A loop that goes on with the list of another one."""

    def fn(x):
        out = []
        for v in x:
            out.append(v)
        for v in out[:3]:
            out.append(v * 2)
        k = 0
        while k < 5:
            out.append(k)
            k += 1
        return out

    both(fn, ramp(9), natively=natively, times=6)


# -- reading ---------------------------------------------------------------------------------------
def test_the_last_items(natively):
    def fn(n):
        out = [0, 1]
        while len(out) < n:
            out.append(out[-1] + out[-2])
        return out

    both(fn, give(40), natively=natively)
    both(fn, give(400), natively=natively, times=0)  # beyond 64 bits


def test_smoothing_by_the_last_item(natively):
    def fn(x):
        out = [x[0]]
        for v in x[1:]:
            out.append(0.5 * v + 0.5 * out[-1])
        return out

    both(fn, ramp(9), natively=natively)
    both(fn, ramp(9, "f"), natively=natively)


def test_the_last_item_may_be_pythons(natively):
    def fn(x):
        out = [0.0]
        for v in x:
            out.append(out[-1] + v)
            if len(out) > 4 and out[4] > 100:
                break
        return out

    both(fn, ramp(9), natively=natively)


def test_items_by_any_index(natively):
    def fn(x):
        out = []
        for i in range(len(x)):
            out.append(x[i])
            out.append(out[i] * 0.5 + out[i // 2])
        return out

    both(fn, ramp(9), natively=natively)


def test_an_index_that_no_item_has(natively):
    def fn(x):
        out = [1.0]
        for i in range(len(x)):
            out.append(out[-3] + x[i])
        return out

    both(fn, ramp(9), natively=natively, times=0)


def test_items_of_others_are_pythons(natively):
    def fn(x, out):
        for _ in x:
            out.append(out[-1])
        return out

    both(fn, ramp(9), lambda: [None, 2.0], natively=natively, times=0)
    both(fn, ramp(9), lambda: [1.0] * 40, natively=natively, times=0)


# -- ends ------------------------------------------------------------------------------------------
def test_a_break_between(natively):
    def fn(x, limit):
        before, after = [], []
        for i, v in enumerate(x):
            before.append(i)
            if v > limit:
                break
            after.append(v)
        return before, after, i

    for limit in (-9, 0, 1, 9):
        both(fn, ramp(9), give(limit), natively=natively)


def test_no_turns(natively):
    def fn(n):
        out = [5]
        for i in range(n):
            out.append(i)
        return out

    both(fn, give(0), natively=natively, times=0)


def test_an_exception_after_some(natively):
    def fn(x, out):
        for i in range(len(x)):
            out.append(x[i])
            out.append(x[i + 1])
        return out

    both(fn, ramp(9), lambda: [1.0], natively=natively, times=0)


def test_an_exception_of_pythons_numbers(natively):
    def fn(n, out):
        for i in range(9):
            out.append(1.0 / (n - i))
        return out

    both(fn, give(20), list, natively=natively)
    both(fn, give(5), list, natively=natively, times=0)


def test_a_warning_after_some(natively):
    def fn(x):
        out = []
        for v in x:
            out.append(1.0 / v)
        return out

    both(fn, ramp(9), natively=natively, times=0)
    both(fn, lambda: np.arange(1.0, 9.0), natively=natively)


def test_what_is_not_finite_is_no_event(natively):
    def fn(x):
        out = []
        for v in x:
            out.append(v * 2)
        return out

    both(fn, lambda: np.array([1.0, np.nan, np.inf, -0.0]), natively=natively)


def test_inner_loops_append(natively, monkeypatch):
    def fn(x, n):
        out = []
        for i in range(n):
            for j in range(i):
                if x[j % len(x)] < 0:
                    continue
                out.append((i, x[j % len(x)]))
        return out

    both(fn, ramp(9), give(30), natively=natively)
    monkeypatch.setattr(list_buffers, "_GUESS", 1)  # there is too little room at first
    both(fn, ramp(9), give(80), natively=natively)
    both(sums, ramp(9), give(80), natively=natively)


def sums(x, n):
    out = [x[0]]
    x[0] += 1
    while n > 0:
        n -= 1
        for j in range(60):
            out.append(out[-1] + x[j % len(x)])
            x[j % len(x)] *= 0.5
    return out


def test_more_than_one_slice(natively):
    def fn(n):
        out, marks, s = [], [], 0.0
        for i in range(n):
            s = s * 0.5 + i
            out.append(s)
            if i % 1000 == 0:
                marks.append((i, s, i))
        return out, marks

    both(fn, give(20_000), natively=natively)
    both(fn, give(3_000), natively=natively)


def test_little_room_ahead(natively, monkeypatch):
    monkeypatch.setattr(list_buffers, "AHEAD", 64)

    def fn(n):
        out = []
        for i in range(n):
            out.append(i)
            out.append((i, 0.5))
        return out

    both(fn, give(1000), natively=natively)


# -- what is Python's ------------------------------------------------------------------------------
class Trace:
    """Keeps what it is told."""

    def __init__(self):
        self.items = []


class Loud(list):
    """A list that is more than one."""

    def append(self, item):
        super().append((item, "loud"))


LOG = []
NOT_NATIVE = {
    "an attribute": "trace.items.append(x[i])",
    "another class": "loud.append(x[i])",
    "a deque": "queue.append(x[i])",
    "a global": "LOG.append(x[i])",
    "a helper": "s = push(out, x[i])",
    "made in the loop": "new = []\n        new.append(x[i])\n        out = new",
    "read as a whole": "out.append(sum(out))",
    "an array of it": "out.append(np.array(out).size)",
    "its truth": "out.append(1 if out else 0)",
    "pop": "out.append(out.pop() if out else 1)",
    "a comprehension": "out.append([v for v in x])",
    "text": "out.append(str(i))",
    "itself": "out.append(out)",
    "a function": "out.append(push)",
    "several": "out.append(*[i])",
    "the result": "r = out.append(i)",
    "extend": "out.extend((i, i))",
    "in place": "out += [i]",
}


@pytest.mark.parametrize("statement", NOT_NATIVE.values(), ids=NOT_NATIVE)
def test_what_is_not_known_is_pythons(statement, natively):
    text = f"""def push(xs, v):
    xs.append(v)
    return v
def f(x, trace, loud, queue):
    out, s, r = [], 0.0, 0
    LOG.clear()
    for i in range(len(x)):
        {statement}
        s = s + x[i]
    return len(out), out[:0], s, r, LOG
"""
    both(
        function_from(text, np=np, LOG=LOG),
        *(ramp(9), Trace, Loud, deque),
        natively=natively,
        times=0,
    )


def test_lists_of_enclosing_functions(natively):
    def fn(x):
        out = []

        def total():
            return sum(out)

        for v in x:
            out.append(v)
        return total(), out

    both(fn, ramp(9), natively=natively)


def test_in_functions_that_are_called(natively):
    def positive(x):
        out = []
        for v in x:
            if v > 0:
                out.append(v)
        return out

    def fn(x):
        return np.array(positive(x)) * 2, positive(-x)

    both(fn, ramp(20), natively=natively, times=6)


def test_explain_tells_of_them():
    def fn(x):
        out = []
        for v in x:
            out.append(v + 1)
        return out

    decorated = runmat.jit(fn)
    decorated(np.arange(9.0))
    assert "natively, by 1 kernel" in str(decorated.explain(np.arange(9.0)))


# -- random programs -------------------------------------------------------------------------------
def compared(seed):
    """Compare three calls of a program; how many loops ran natively."""
    fn, make = function_from(program(seed), np=np), arguments(seed)
    decorated = runmat.jit(fn)
    for _ in range(3):
        expected = observe(fn, make(), {})
        compare(expected, observe(decorated, make(), {}), exact=True)


@pytest.mark.parametrize("first", range(0, 120, 8))
def test_random_programs(first):
    for seed in range(first, first + 8):
        compared(seed)


def test_random_programs_run_natively(natively):
    for seed in range(200, 240):
        compared(seed)
    assert natively() >= 60


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 50))
def test_many_random_programs(first):
    for seed in range(first, first + 50):
        compared(seed)
