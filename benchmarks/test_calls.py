"""Overhead of calls: the decorated and the other version of each case are one group.

Results are compared before anything is timed. Oracle: the undecorated functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import runmat_jit as runmat
from benchmarks import unreplayed
from benchmarks.unreplayed import KINDS, RAISING, outcome, plain, same

Run = Callable[[], object]
WARM = 24
"""Calls of a function that cannot be replayed before it is measured."""


@dataclass(frozen=True, slots=True)
class Case:
    """Two ways to make ``calls`` calls; ``check`` raises where their results differ."""

    name: str
    ours: Run
    other: Run
    calls: int
    check: Run


def chain(x):
    y0 = np.sin(x) * np.exp(-x / 10)
    y1 = y0 * np.cos(x / 4) + 0.25 * y0**2
    return np.tanh(y1) + 0.1 * y1


def rooted(x):
    return np.sqrt(np.square(x + 1))


def branching(x):
    total = x.sum()
    if total > 100:
        return x * 2
    if total > 0:
        return x + 1
    return x - 1 if total > -100 else x * 3


def straight(x):
    x.sum()
    return x * 2


def needs_python(x, sink):
    sink.write(str(x[0]))
    return np.sort(x)


def many_operations(x):
    for _ in range(200):
        x = x + 1
    return x


def lengths(elements: int, count: int) -> Case:
    """As many calls at as many lengths against the same number at one length."""
    decorated = runmat.jit(chain)
    arrays = [np.linspace(0, 12, elements + n, dtype=np.float32) for n in range(count)]

    def at_each() -> None:
        decorated.clear_cache()
        for x in arrays:
            decorated(x)

    def at_one() -> None:
        decorated(arrays[0])
        for _ in arrays:
            decorated(arrays[0])

    def check() -> None:
        for x in arrays[:: max(1, count // 10)]:
            np.testing.assert_allclose(decorated(x), chain(x), rtol=2e-6, atol=1e-6)

    return Case(f"{count} lengths of about {elements} elements", at_each, at_one, count, check)


def branches() -> Case:
    """Calls that take four ways in turn against calls with nothing to decide."""
    decorated, plain = runmat.jit(branching), runmat.jit(straight)
    arrays = [np.full(16, value) for value in (10.0, 1.0, -1.0, -10.0)] * 50

    def check() -> None:
        for _ in range(3):
            for x in arrays[:4]:
                np.testing.assert_array_equal(decorated(x), branching(x))
                plain(x)

    def ours() -> None:
        for x in arrays:
            decorated(x)

    def other() -> None:
        for x in arrays:
            plain(x)

    return Case("four outcomes, against none", ours, other, len(arrays), check)


class Sink:
    """Takes text, as a file does."""

    def write(self, text: str) -> None:
        self.text = text


def fallback(elements: int, calls: int) -> Case:
    """A function that must run in Python, which has stepped aside, against the function itself."""
    decorated, sink = runmat.jit(needs_python), Sink()
    x = np.random.default_rng(0).random(elements)

    def check() -> None:
        for _ in range(20):
            np.testing.assert_array_equal(decorated(x, sink), needs_python(x, sink))

    def ours() -> None:
        for _ in range(calls):
            decorated(x, sink)

    def other() -> None:
        for _ in range(calls):
            needs_python(x, sink)

    return Case(f"needs Python, {elements} elements sorted", ours, other, calls, check)


def keeps(x, sink):
    sink.text = x


class Keeper:
    """Has the same method twice."""

    def plain(self, x):
        self.text = x

    decorated = runmat.jit(plain)


def stepped_aside(name: str, calls: int, ours: Run, other: Run) -> Case:
    """Calls that do next to nothing, of which no kernel is made, against the function itself."""

    def check() -> None:
        for _ in range(20):
            ours()

    def repeated(call: Run) -> Run:
        def run() -> None:
            for _ in range(calls):
                call()

        return run

    return Case(f"stepped aside, {name}", repeated(ours), repeated(other), calls, check)


ASIDES = ("by position", "by name", "a method")


def aside(way: str, calls: int) -> Case:
    """What is left of the decorator where it is of no use."""
    ours, x, sink, keeper = runmat.jit(keeps), np.ones(4), Sink(), Keeper()
    sides: dict[str, tuple[Run, Run]] = {
        "by position": (lambda: ours(x, sink), lambda: keeps(x, sink)),
        "by name": (lambda: ours(x, sink=sink), lambda: keeps(x, sink=sink)),
        "a method": (lambda: keeper.decorated(x), lambda: keeper.plain(x)),
    }
    return stepped_aside(way, calls, *sides[way])


def recording() -> Case:
    """The first call of 200 operations, kernels known, against NumPy."""
    decorated, x = runmat.jit(many_operations), np.ones(16)

    def ours() -> None:
        decorated.clear_cache()
        decorated(x)

    def check() -> None:
        np.testing.assert_array_equal(decorated(x), many_operations(x))

    return Case("recording 200 operations", ours, lambda: many_operations(x), 200, check)


def small_call() -> Case:
    """A call on 16 elements whose work is next to nothing."""
    decorated, x = runmat.jit(rooted), np.ones(16)

    def ours() -> None:
        for _ in range(500):
            decorated(x)

    def other() -> None:
        for _ in range(500):
            rooted(x)

    def check() -> None:
        np.testing.assert_array_equal(decorated(x), rooted(x))

    return Case("three operations on 16 elements", ours, other, 500, check)


CASES: dict[str, Callable[[], Case]] = {
    **{f"lengths_{size}": partial(lengths, size, 300) for size in (1000, 10_000, 100_000)},
    "branches": branches,
    "needs_python": partial(fallback, 1000, 200),
    "needs_python_large": partial(fallback, 100_000, 5),
    **{f"stepped_aside_{way}": partial(aside, way, 20_000) for way in ASIDES},
    "recording": recording,
    "small_call": small_call,
}


@pytest.mark.parametrize("name", CASES, ids=str)
def test_calls(name, side, benchmark):
    case = CASES[name]()
    case.check()
    benchmark.group = case.name
    benchmark.extra_info.update(calls=case.calls)
    benchmark(case.ours if side == "runmat" else case.other)


@pytest.mark.parametrize("size", [100, 10_000])
@pytest.mark.parametrize("fn", [*KINDS, *RAISING], ids=lambda fn: fn.__name__)
def test_calls_that_cannot_be_replayed(fn, size, side, benchmark):
    """Results, stores, callees or exceptions need Python at each call."""
    x, decorated, found = np.linspace(1, 2, size), runmat.jit(fn), []
    for each in (fn, decorated):
        unreplayed.begin()
        found.append([plain(outcome(each, x)) for _ in range(WARM)])
    assert same(*found)
    benchmark.group = f"{fn.__name__} [{size}]"
    benchmark(outcome, decorated if side == "runmat" else fn, x)
