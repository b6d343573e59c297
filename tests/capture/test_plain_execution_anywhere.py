"""Recordings that are left in the middle of an expression, while values wait for others.

Oracle: undecorated Python, for all that a caller sees. Each program is left at each of the places
where a recording can be: at its calls, its loops, and its operations. Most programs end in code
that takes nothing but the text, the bytes or the numbers that it asks for.
"""

import functools
import itertools
import json
import re
import struct
from collections import namedtuple

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.record.hooks import Hooks
from runmat_jit.capture.record.tracer import Tracer
from tests.capture.behavior import compare, observe

PLACES = ((Hooks, "call"), (Hooks, "loop"), (Tracer, "call"), (Tracer, "getitem"))
"""Where recordings are left, if they are to be."""
Pair = namedtuple("Pair", "name value")


class Leaving:
    """Counts the places that a recording comes to, and leaves it at one of them."""

    def __init__(self, patch, at):
        self.at, self.count, self.left = at, 0, False
        for kind, name in PLACES:
            patch.setattr(kind, name, self.counted(getattr(kind, name)))

    def counted(self, plain):
        def place(self_, *args, **kwargs):
            tracer = getattr(self_, "tracer", self_)
            if self.count == self.at:
                tracer.run_away("a test leaves it here")
                self.left = self.left or bool(tracer.leaving)
            self.count += 1
            return plain(self_, *args, **kwargs)

        return place


# -- programs --------------------------------------------------------------------------------------
def mark(value):
    return f"<{value:.2f}>"


def join_of_comprehension(x):
    words = [f"{value:+.2f}" for value in x]
    return ", ".join(words)


def join_of_generator(x):
    text = ",".join(str(value) for value in np.rint(x * 9))
    return np.fromstring(text, sep=","), np.array(text.split(","))


def nested_comprehensions(x):
    rows = [[f"{a * b:.1f}" for a in x if a > -9] for b in x[:2]]
    return "\n".join(" ".join(row) for row in rows)


def dict_of_text(x):
    found = {f"{number}{value:.1f}": mark(value) for number, value in enumerate(x)}
    return json.dumps(found), ",".join(found)


def set_of_text(x):
    return "".join(sorted({f"{value:.0f}" for value in x})), {float(value) for value in x}


def displays(x):
    a, b = x[:2]
    found = [str(a), mark(b), {str(b): mark(a)}, {mark(a + b)}]
    pair = (str(a), mark(b))
    return json.dumps(found[:3]), "".join(found[3]), "/".join(pair)


def parallel_assignments(x):
    a, b = str(x[0]), mark(x[1])
    a, b = b, a.join(("-", mark(x[2])))
    c = d = str(x[3])
    return "".join(part for part in (a, b, c, d)), re.sub("[0-9]", "#", b)


def conditional_values(x):
    a = str(x[0]) if x[1] > -9 else mark(x[0])
    b = (str(x[1]) or mark(x[1])) and mark(x[2])
    return re.sub("[0-9]", "#", a + b), f"{a}{mark(x[3])}{b:>9}{x[0]!r:*^{len(a) + 9}}"


def bytes_of_arrays(x):
    parts = [row.tobytes() for row in (x, x * 2)]
    whole = b"".join(parts)
    return np.frombuffer(whole), struct.unpack("dd", whole[:16]), whole.hex()


def old_ways_of_text(x):
    lines = ["%s:%5.2f" % (mark(value), value) for value in x]
    form = "{:.2f} {}"
    more = [form.format(value, mark(value)) for value in x]
    return "\n".join(lines + more), "%s|%s" % (str(x[0]), mark(x[1]))


def tuples_that_are_iterated(x):
    found = []
    for word in (str(x[0]), str(x[1])):
        found.append("".join([word, mark(x[2])]))
    for name, word in zip("ab", (str(x[2]), str(x[3]))):
        found.append(re.sub("a", name, word) + mark(x[0]))
    for number, (word, value) in enumerate(((str(x[0]), x[1]), (str(x[2]), x[3]))):
        found.append(re.sub("0", str(number), word) + mark(value))
    return "".join(found), ["".join((w, mark(x[0]))) for w in (str(x[1]), str(x[2]))]


def made_here(x):
    for value in x:
        word = str(value)
        yield word
        yield mark(value) + word


def generators(x):
    found = []
    for word in made_here(x):
        found.append(re.sub("0", mark(x[0]), word))
    words = made_here(x)
    first = next(words)
    return "".join(found), first.join(words), ",".join(made_here(x[:2]))


def iterators(x):
    steps = [mark(b / a) for a, b in itertools.pairwise(np.abs(x) + 1)]
    sums = [mark(value) for value in itertools.accumulate(x * 2)]
    pairs = ["".join(p) for p in itertools.product([str(x[0]), str(x[1])], [mark(x[2])])]
    words = map(str, x)
    first = mark(x[0]) + next(words)
    return "".join(steps + sums + pairs), first.join(words), ",".join(filter(None, map(mark, x)))


def sorted_by_key(x):
    words = sorted([mark(value) for value in x], key=lambda word: (len(word), word))
    numbers = sorted(x, key=lambda value: -value)
    longest = max((str(value) for value in x), key=len)
    return (
        "".join(words),
        json.dumps([float(n) for n in numbers]),
        longest,
        "".join(reversed(words)),
    )


def formatted_prints(x):
    for number, value in enumerate(x):
        print(f"{number}: {value:.3f}", mark(value), [f"{v:.1f}" for v in x[:2]], sep=" | ")
    print(*[mark(value) for value in x], sep=", ")
    print("%d values, %s" % (len(x), ", ".join(map(mark, x))))
    return x * 2


class Table:
    def __init__(self):
        self.rows = []

    @property
    def text(self):
        return ";".join(row.name + row.value for row in self.rows)

    def __getitem__(self, number):
        return mark(number) + self.rows[0].name

    def add(self, name, value):
        self.rows.append(Pair(name, mark(value)))
        return self


def objects(x):
    table = Table()
    for value in x:
        table.add(str(value), value * 2)
    table.rows[0] = Pair(name=str(x[0]), value=mark(x[1]))
    return "".join([table.text, table[x[1]], str(table.add(mark(x[0]), x[1]).rows[-1].name)])


def closures(x):
    words = []

    def add(value):
        word = str(value)
        words.append((word, mark(value)))
        return word + words[-1][1]

    total = "".join(add(value) for value in x)
    total += add(x[0])
    return total, functools.reduce(lambda a, b: a + "".join(b), words, ""), dict(words)


def lists_that_grow(x):
    words = []
    for value in x:
        words += [str(value), mark(value)]
        words[len(words) - 1] = words[-1].join((mark(value), str(value)))
        words.extend(mark(v) for v in x[:2])
    return "".join(words)


def numbers(x):
    found = [float(value) for value in x] + [value.item() for value in x]
    counts = {int(value): round(float(value), 3) for value in x}
    return json.dumps([found, counts]), struct.pack("2d", float(x[0]), float(x[1] * 2)), found


PROGRAMS = [
    *(join_of_comprehension, join_of_generator, nested_comprehensions, dict_of_text, set_of_text),
    *(displays, parallel_assignments, conditional_values, bytes_of_arrays, old_ways_of_text),
    *(tuples_that_are_iterated, generators, iterators, sorted_by_key, formatted_prints, objects),
    *(closures, lists_that_grow, numbers),
]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs_left_in_the_middle_of_an_expression(fn):
    def observed(function):
        return observe(function, (np.array([1.25, -0.5, 3.0, 0.75]),), {})

    expected, at, left = observed(fn), 0, 0
    assert not expected.error
    while True:
        with pytest.MonkeyPatch.context() as patch:
            leaving = Leaving(patch, at)
            decorated = runmat.jit(fn)
            first = observed(decorated)
        assert not first.error, (at, first.error, first.error_lines)
        compare(expected, first, exact=True)
        left += leaving.left
        if leaving.count <= at:
            break
        at += 1
    compare(expected, observed(decorated), exact=True)
    assert left >= 3
