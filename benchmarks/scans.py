"""Scans and positions against NumPy: ``python -m benchmarks.scans``, under a minute.

Running sums and extremes, ``argmax`` and ``argmin``, of an array and of what is computed. Results
are compared bit for bit first; rounds alternate, and NumPy's time is divided by ours in each.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.ratios import ratio_of_rounds

WARM_UPS = 4
SECONDS = 0.01  # of work in a round
Program = Callable[[np.ndarray], Any]
PROGRAMS: dict[str, Program] = {
    "cumsum(axis=0)": lambda x: np.cumsum(x, axis=0),
    "cumsum(axis=1)": lambda x: np.cumsum(x, axis=1),
    "cumsum(x * 2, axis=1)": lambda x: np.cumsum(x * 2, axis=1),
    "cumsum()": lambda x: x.ravel().cumsum(),
    "cumprod(axis=0)": lambda x: x.cumprod(axis=0),
    "maximum.accumulate(axis=0)": lambda x: np.maximum.accumulate(x, axis=0),
    "maximum.accumulate(axis=1)": lambda x: np.maximum.accumulate(x, axis=1),
    "argmax()": lambda x: x.argmax(),
    "argmax(axis=0)": lambda x: x.argmax(axis=0),
    "argmax(axis=1)": lambda x: x.argmax(axis=1),
    "abs(x).argmax()": lambda x: np.abs(x).argmax(),
    "(x * 2).argmin(axis=1)": lambda x: (x * 2).argmin(axis=1),
}
SHAPES = ((10, 10), (100, 100), (2000, 2000), (10, 1_000_000))


def seconds(function: Program, x: np.ndarray, calls: int) -> float:
    """Time of a call."""
    start = perf_counter()
    for _ in range(calls):
        function(x)
    return (perf_counter() - start) / calls


def measure(function: Program, x: np.ndarray, rounds: int) -> str:
    """Our time, and how many times longer NumPy takes."""
    compiled = runmat.jit(function)
    expected = np.asarray(function(x))
    for _ in range(WARM_UPS):
        found = np.asarray(compiled(x))
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes(), "the bits are not NumPy's"
    calls = max(1, round(SECONDS / seconds(compiled, x, 3)))
    times = [(seconds(function, x, calls), seconds(compiled, x, calls)) for _ in range(rounds)]
    ratio = ratio_of_rounds(*zip(*times, strict=True))
    return f"{min(ours for _, ours in times) * 1e3:10.4f} ms  {ratio!s}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the chosen programs at all sizes, in two dtypes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scans", description=__doc__)
    parser.add_argument("--only", help="programs whose names hold this")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--largest", type=int, default=10_000_000, help="elements at most")
    options = parser.parse_args(arguments)
    names = [name for name in PROGRAMS if options.only is None or options.only in name]
    for name, dtype, shape in itertools.product(names, ("float32", "float64"), SHAPES):
        if shape[0] * shape[1] <= options.largest:
            x = np.random.default_rng(1).uniform(-1, 1, shape).astype(dtype)
            shown = f"{name:28}{dtype:9}{'x'.join(map(str, shape)):12}"
            print(f"{shown}{measure(PROGRAMS[name], x, options.rounds)}")


if __name__ == "__main__":
    main()
