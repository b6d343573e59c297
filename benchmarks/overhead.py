"""What calls cost beyond their work: ``python -m benchmarks.overhead [--quick]``.

Every contest compares results first. Then two ways to make the same calls alternate in rounds of
one process, and the median of the rounds' ratios is printed with its interval, or the difference a
call where the work is the same on both sides.
"""

from __future__ import annotations

import argparse
import gc
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.ratios import ratio_of_rounds

Run = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Contest:
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


def lengths(elements: int, count: int) -> Contest:
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

    return Contest(f"{count} lengths of about {elements} elements", at_each, at_one, count, check)


def branches() -> Contest:
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

    return Contest("four outcomes, against none", ours, other, len(arrays), check)


class Sink:
    """Takes text, as a file does."""

    def write(self, text: str) -> None:
        self.text = text


def fallback(elements: int, calls: int) -> Contest:
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

    return Contest(f"needs Python, {elements} elements sorted", ours, other, calls, check)


def keeps(x, sink):
    sink.text = x


class Keeper:
    """Has the same method twice."""

    def plain(self, x):
        self.text = x

    decorated = runmat.jit(plain)


def stepped_aside(name: str, calls: int, ours: Run, other: Run) -> Contest:
    """Calls that do next to nothing, of which no kernel is made, against the function itself."""

    def check() -> None:
        for _ in range(20):
            ours()

    def repeated(call: Run) -> Run:
        def run() -> None:
            for _ in range(calls):
                call()

        return run

    return Contest(f"stepped aside, {name}", repeated(ours), repeated(other), calls, check)


def asides(calls: int) -> list[Contest]:
    """What is left of the decorator where it is of no use."""
    ours, x, sink, keeper = runmat.jit(keeps), np.ones(4), Sink(), Keeper()
    return [
        stepped_aside("by position", calls, lambda: ours(x, sink), lambda: keeps(x, sink)),
        stepped_aside("by name", calls, lambda: ours(x, sink=sink), lambda: keeps(x, sink=sink)),
        stepped_aside("a method", calls, lambda: keeper.decorated(x), lambda: keeper.plain(x)),
    ]


def recording() -> Contest:
    """The first call of 200 operations, kernels known, against NumPy."""
    decorated, x = runmat.jit(many_operations), np.ones(16)

    def ours() -> None:
        decorated.clear_cache()
        decorated(x)

    def check() -> None:
        np.testing.assert_array_equal(decorated(x), many_operations(x))

    return Contest("recording 200 operations", ours, lambda: many_operations(x), 200, check)


def small_call() -> Contest:
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

    return Contest("three operations on 16 elements", ours, other, 500, check)


def seconds(run: Run) -> float:
    gc.disable()
    start = perf_counter()
    run()
    taken = perf_counter() - start
    gc.enable()
    return taken


def measure(contest: Contest, rounds: int) -> str:
    """One line: the ratio of rounds, and what a call costs more, in microseconds."""
    contest.check()
    contest.ours()
    times: dict[str, list[float]] = {"ours": [], "other": []}
    for _ in range(rounds):
        times["ours"].append(seconds(contest.ours))
        times["other"].append(seconds(contest.other))
    more = [a - b for a, b in zip(times["ours"], times["other"], strict=True)]
    ratio = ratio_of_rounds(times["ours"], times["other"])
    one = median(times["other"]) / contest.calls * 1e6
    extra = median(more) / contest.calls * 1e6
    return f"{contest.name:42} {ratio!s:22} {extra:+9.2f} us a call on {one:9.2f} us"


def contests(*, quick: bool) -> Sequence[Contest]:
    sizes = (1000,) if quick else (1000, 10_000, 100_000, 1_000_000)
    count = 30 if quick else 1000
    return (
        *(lengths(size, count if size < 1_000_000 else count // 10) for size in sizes),
        branches(),
        fallback(1000, 200),
        *asides(200 if quick else 20_000),
        *(() if quick else (fallback(100_000, 5),)),
        recording(),
        small_call(),
    )


def main(arguments: Sequence[str] | None = None) -> list[Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: a test, not a figure")
    quick = parser.parse_args(arguments).quick
    log = logging.getLogger("runmat_jit")
    level = log.level
    log.setLevel(logging.ERROR)  # functions that step aside say so
    found = [measure(contest, 3 if quick else 9) for contest in contests(quick=quick)]
    log.setLevel(level)
    print("\n".join(found))
    return found


if __name__ == "__main__":
    main()
