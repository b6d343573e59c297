"""Loops of many turns without work on arrays: the recording is left, and the rest needs no hooks.

Oracle: undecorated Python, for everything a caller sees. That first calls do not take long is
counted: in turns that are recorded.
"""

import re

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.record.balance import TURNS_LIMIT
from runmat_jit.capture.record.records import reasons_of
from tests.capture.behavior import compare, observe

TURNS = 4 * TURNS_LIMIT


def text(n):
    found = ""
    for i in range(n):
        found += chr(97 + i % 26)
    return found


def counted(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def parsed(lines):
    found = []
    for line in lines:
        a, b = line.split(",")
        found.append((int(a), float(b)))
    return found


def matched(tokens):
    pattern, found = re.compile(r"(\w+)=(\w+)"), {}
    for token in tokens:
        match = pattern.match(token)
        if match:
            found.setdefault(match.group(2), []).append(match.group(1))
    return {key: len(value) for key, value in found.items()}


def waited(n):
    seen, k = set(), 0
    while len(seen) < n:
        seen.add(k)
        k += 3
        if k < 0:
            break
    else:
        k = -k
    return k, len(seen)


class Counter:
    def __init__(self):
        self.x = 0

    def step(self):
        self.x += 1
        return self.x


def of_objects(n):
    counters, total = [Counter() for _ in range(3)], 0
    for i in range(n):
        total += counters[i % 3].step()
    return total


def broken(n):
    items = []
    for i in range(10 * n):
        if i % 3 == 0:
            continue
        items.append(str(i))
        if i > n:
            break
    else:
        items.append("never")
    for item in items:
        if item == "no":
            break
    else:
        items.append("else")
    return items


def nested(n):
    total, names = 0, []
    for i in range(n // 50):
        for j in range(100):
            if j > 50:
                break
            names.append(f"{i}.{j}")
            total += len(names[-1])
        else:
            total = -1
        k = 0
        while k < 5:
            k += 1
            names.pop()
    return total, len(names), k, i, j


def raising(n):
    found = {}
    for i in range(n + 5):
        found[str(i)] = i
        if len(found) > n:
            raise ValueError(found[str(n)])
    return found


def iterating(n):
    def numbers():
        try:
            for i in range(10 * n):
                yield i + 1
        finally:
            closed.append(n)

    closed, total = [], ""
    for number in numbers():
        total = str(number) + total[:5]
        if number > n:
            break
    return total, closed


def computing(n, x):
    names = []
    for i in range(n):
        names.append(str(i))
        if i % 1000 == 999:
            x = np.exp(x * -0.5) + len(names[-1])
    return x, len(names)


WORDS = ["a", "bb", "c"] * TURNS
CASES = [
    (text, (TURNS,)),
    (counted, (WORDS,)),
    (parsed, ([f"{i},{i / 4}" for i in range(TURNS)],)),
    (matched, ([f"k{i}=v{i % 7}" for i in range(TURNS)],)),
    (waited, (TURNS,)),
    (of_objects, (TURNS,)),
    (broken, (TURNS,)),
    (nested, (TURNS,)),
    (raising, (TURNS,)),
    (iterating, (TURNS,)),
    (computing, (TURNS, np.linspace(0, 1, 7))),
]


def was_left(decorated):
    (record,) = decorated._captured[1].records.values()
    return any(reason.id == "trace-too-long" for reason in reasons_of(record))


@pytest.mark.parametrize(("fn", "args"), CASES, ids=[fn.__name__ for fn, _ in CASES])
def test_a_long_loop_over_objects_is_left(fn, args):
    decorated = runmat.jit(fn)
    expected = observe(fn, args, {})
    compare(expected, observe(decorated, args, {}))
    assert was_left(decorated)
    for _ in range(2):
        compare(expected, observe(decorated, args, {}))


def recurrence(x, n):
    total, seen = 0.0, {}
    for i in range(n):
        total = total * 0.5 + x[i % 7] * 2.0
        seen[i % 3] = total
    return total, len(seen)


def in_a_nest(x, n):
    total, seen = 0.0, {}
    for i in range(n // 10):
        for k in range(10):
            total = total * 0.5 + x[(i + k) % 7] * 2.0
            seen[i % 3] = total
    return total, len(seen)


def at_its_end(x, n):
    total, seen = recurrence(x, 20)
    for i in [k * 2 for k in range(n)]:
        total = max(total, x[i % 7] - total)
        seen += 1
    return total, seen


def soon_over(x, n):
    total, seen = 0.0, {}
    for i in range(n):
        total = total * 0.5 + x[i % 7] * 2.0
        seen[i % 3] = total
        if i > 20:
            break
    return total, len(seen)


def few(x, n):
    return recurrence(x, n // 500)


def on_arrays(x, n):
    seen = []
    for i in range(n // 50):
        x = np.sqrt(x * x + 1.0) + x[i % 7]
        seen.append(x)
    return x, len(seen)


@pytest.mark.parametrize("fn", [recurrence, in_a_nest, at_its_end], ids=lambda fn: fn.__name__)
def test_a_recording_that_can_only_end_in_vain_ends_after_some_iterations(fn):
    decorated, args = runmat.jit(fn), (np.linspace(0, 1, 7), 5000)
    expected = observe(fn, args, {})
    compare(expected, observe(decorated, args, {}))
    (record,) = decorated._captured[1].records.values()
    assert any("iterations, each with little work" in r.detail for r in reasons_of(record))


@pytest.mark.parametrize("fn", [soon_over, few, on_arrays], ids=lambda fn: fn.__name__)
def test_a_recording_that_may_be_repeated_goes_on(fn):
    decorated, args = runmat.jit(fn), (np.linspace(0, 1, 7), 5000)
    expected = observe(fn, args, {})
    for _ in range(3):
        compare(expected, observe(decorated, args, {}))
    assert not was_left(decorated)


def test_the_bits_of_what_is_computed_after_that_are_those_of_later_calls():
    decorated, x = runmat.jit(computing), np.linspace(0, 1, 7)
    first, second = (decorated(TURNS, x)[0] for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_a_loop_that_works_on_arrays_is_recorded_to_its_end():
    def fn(x):
        for k in range(TURNS):
            x = x * 0.5 + k
        return x

    decorated = runmat.jit(fn)
    compare(observe(fn, (np.ones(3),), {}), observe(decorated, (np.ones(3),), {}))
    assert not was_left(decorated)


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("style", ["for", "while"])
def test_a_generator_that_waits_goes_on_where_it_was(style, before):
    """The recording is left in its turns or in those of the loop that it feeds."""

    def fn(x, n):
        def numbers(x):
            y, held, i = x * 2, {}, 0
            if style == "for":
                for i in range(n):
                    held[i % 3] = y
                    y = y + 1 if i % 500 == 499 else y
                    yield i
            else:
                while i < n:
                    held[i % 3] = y
                    i += 1
                    yield i
            yield held

        for _ in range(before):
            pass
        text, last = "", None
        for number in numbers(x):
            text, last = str(number)[:3] + text[:5], number
        return text, last

    decorated, args = runmat.jit(fn), (np.arange(3.0), TURNS)
    expected = observe(fn, args, {})
    for _ in range(2):
        compare(expected, observe(decorated, args, {}))
