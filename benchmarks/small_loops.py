"""Short loops that are called again and again: ``python -m benchmarks.small_loops``, a minute.

What a call costs is what is measured: functions of numbers and small arrays, warm, against plain
Python and against Numba's serial loop where it is installed. Results are compared first; then the
calls of all three alternate in rounds of one process, and the best round of each counts. The second
table has arrays whose length is another one in each call.
"""

from __future__ import annotations

import argparse
import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks import element_loops
from benchmarks.element_loops import by_numba, known_to_numba, require_equal
from benchmarks.machine import describe_machine
from benchmarks.report import print_machine

Array = np.ndarray
WARM, ROUNDS, CALLS = 300, 30, 20


# -- programs --------------------------------------------------------------------------------------
def escape(re: float, im: float, most: int) -> int:
    x = y = 0.0
    count = most
    for k in range(most):
        if x * x + y * y > 4.0:
            count = k
            break
        x, y = x * x - y * y + re, 2 * x * y + im
    return count


def is_prime(n: int) -> bool:
    prime = n > 1
    i = 2
    while i * i <= n:
        if n % i == 0:
            prime = False
            break
        i += 1
    return prime


def square_root(a: float) -> float:
    x = a
    for _ in range(40):
        x = 0.5 * (x + a / x)
    return x


def doubled(x: Array) -> Array:
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out


def length(x: Array) -> float:
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    return math.sqrt(s)


def histogram(x: Array, bins: int) -> Array:
    found = np.zeros(bins, dtype=np.int64)
    for i in range(x.shape[0]):
        found[int(x[i] * bins)] += 1
    return found


def horner(coefficients: Array, x: float) -> float:
    s = 0.0
    for c in coefficients:
        s = s * x + c
    return s


def crossings(x: Array) -> int:
    count = 0
    for a, b in zip(x, x[1:]):  # noqa: B905, RUF007  (Numba knows no other)
        if (a < 0.5) != (b < 0.5):
            count += 1
    return count


def conjugate_gradient(a: Array, b: Array) -> Array:
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rho = r @ r
    for _ in range(len(b)):
        if rho < 1e-12:
            break
        q = a @ p
        alpha = rho / (p @ q)
        x = x + alpha * p
        r = r - alpha * q
        rho, old = r @ r, rho
        p = r + rho / old * p
    return x


def two(stack: Array) -> tuple[Array, ...]:
    """The arrays of a stack, by themselves."""
    return tuple(each.copy() for each in stack)


@dataclass(frozen=True)
class Case:
    """A program, and what makes its arguments for a length of its arrays."""

    fn: Callable[..., Any]
    make: Callable[[np.random.Generator, int], tuple[Any, ...]]
    size: int = 100


CASES = (
    Case(escape, lambda _, n: (-0.1, 0.1, n)),
    Case(is_prime, lambda _, n: (10_007 + 2 * n,)),
    Case(square_root, lambda _, n: (7.0 + n,)),
    Case(element_loops.collatz, lambda _, n: (n // 10 + 2,)),
    Case(doubled, lambda rng, n: (rng.random(n),)),
    Case(length, lambda rng, n: (rng.random(n),)),
    Case(histogram, lambda rng, n: (rng.random(n), 10)),
    Case(horner, lambda rng, n: (rng.random(n), 0.5)),
    Case(crossings, lambda rng, n: (rng.random(n),)),
    Case(element_loops.smoothing, lambda rng, n: (rng.random(n), 0.3)),
    Case(element_loops.bubble_sort, lambda rng, n: (rng.random(n),), 30),
    Case(element_loops.edit_distance, lambda rng, n: two(rng.integers(0, 4, (2, n))), 20),
    Case(element_loops.product_by_hand, lambda rng, n: two(rng.random((2, n, n))), 8),
    Case(
        element_loops.cholesky,
        lambda rng, n: (element_loops.definite(rng, n),),
        8,
    ),
    Case(conjugate_gradient, lambda rng, n: (element_loops.definite(rng, n), rng.random(n)), 8),
)


def timed(fn: Callable[..., Any], inputs: Sequence[tuple[Any, ...]]) -> float:
    """Microseconds of a call."""
    start = perf_counter()
    for args in inputs:
        fn(*args)
    return 1e6 * (perf_counter() - start) / len(inputs)


def measure(case: Case, *, varying: bool) -> tuple[float, ...]:
    """Microseconds of a call: decorated, plain, Numba's (NaN without it)."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(4, 2 * case.size, CALLS) if varying else [case.size] * CALLS
    inputs = [case.make(rng, int(size)) for size in sizes]
    ways = [runmat.jit(case.fn), case.fn]
    compiled = by_numba(case.fn)
    if compiled is not None and known_to_numba(compiled, copy.deepcopy(inputs[0])):
        ways.append(compiled)
    expected = [case.fn(*copy.deepcopy(args)) for args in inputs]
    for way in ways[::2]:  # plain Python is the oracle
        for args, right in zip(inputs, expected, strict=True):
            require_equal(way(*copy.deepcopy(args)), right, case.fn.__name__)
        for _ in range(WARM // CALLS):
            timed(way, copy.deepcopy(inputs))
    best = [math.inf] * 3
    for _ in range(ROUNDS):
        for place, way in enumerate(ways):
            best[place] = min(best[place], timed(way, copy.deepcopy(inputs)))
    return tuple(each if math.isfinite(each) else math.nan for each in best)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_loops", description=__doc__)
    parser.add_argument("--only", help="names of programs, as doubled,horner")
    only = parser.parse_args(arguments).only
    cases = [case for case in CASES if only is None or case.fn.__name__ in only.split(",")]
    print_machine(describe_machine())
    for varying in (False, True):
        print(f"\n{'lengths that vary' if varying else 'one length'}: microseconds of a call")
        heads = f"{'ours':>8}{'Python':>10}{'Numba':>8}{'Python/ours':>13}{'Numba/ours':>12}"
        print(f"{'program':22}{heads}")
        ratios: list[list[float]] = [[], []]
        for case in cases:
            ours, plain, numba = measure(case, varying=varying)
            ratios[0].append(plain / ours)
            ratios[1].append(numba / ours)
            print(
                f"{case.fn.__name__:22}{ours:8.2f}{plain:10.2f}{numba:8.2f}"
                f"{plain / ours:13.1f}{numba / ours:12.2f}"
            )
        known = [[ratio for ratio in each if math.isfinite(ratio)] for each in ratios]
        means = [math.exp(sum(map(math.log, each)) / max(1, len(each))) for each in known]
        print(f"{'geometric mean':48}{means[0]:13.1f}{means[1]:12.2f}; worst {min(ratios[0]):.2f}")


if __name__ == "__main__":
    main()
