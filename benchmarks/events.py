"""What NaNs and floating-point events cost: ``python -m benchmarks.events``, about a minute.

Each program on ordinary data, and on the same with some elements replaced: by NaNs or infinities,
of which NumPy warns no more than of others, or by numbers of which it warns at each call. How many
times longer a call takes, in rounds that alternate; the default error state, all threads. Results
and warnings are compared with NumPy's first.
"""

from __future__ import annotations

import argparse
import itertools
import linecache
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.ratios import ratio_of_rounds
from runmat_jit import telemetry

WARM_UPS = 6
SECONDS = 0.02  # of work in a round
Array = np.ndarray


@dataclass(frozen=True)
class Case:
    """A program's body, where its ordinary operands lie, and what replaces a share of them."""

    body: str
    interval: tuple[float, float]
    special: dict[str, tuple[float, float]]


LOOP = "for _ in range({}): x = x * 0.9 + 0.1\n    return x"
ONE_NAN, NANS, INFINITE = (np.nan, 0.0), (np.nan, 0.1), (np.inf, 0.1)
DATA = {"one NaN": ONE_NAN, "a tenth NaN": NANS}
CASES = {
    "x*2 + 1": Case("return x * 2 + 1", (-50, 50), DATA | {"a tenth infinite": INFINITE}),
    "where": Case("return np.where(x > 0, x * 2, x - 1)", (-50, 50), DATA),
    "x % 1": Case("return x % 1", (-50, 50), DATA),
    "standardize": Case("return (x - x.mean()) / x.std()", (-50, 50), DATA),
    "a loop of 20": Case(LOOP.format(20), (-50, 50), DATA),
    "120 operations": Case(LOOP.format(60), (-50, 50), DATA),
    "log(x)": Case("return np.log(x)", (0.1, 50), {"1 % zero": (0.0, 0.01)}),
    "exp(x)": Case("return np.exp(x)", (-5, 5), {"1 % overflow": (1e4, 0.01)}),
}
"""Special values, each with its share: 0 stands for one element."""


def program(body: str, name: str) -> Callable[[Array], Array]:
    """A function of its own: programs of equal lines would be one, for all kinds of data."""
    text = f"def f(x):\n    {body}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np, "__name__": name}
    exec(compile(text, name, "exec"), namespace)  # noqa: S102  (a body of CASES)
    function: Callable[[Array], Array] = namespace["f"]
    return function


def operands(case: Case, dtype: str, size: int, special: tuple[float, float] | None) -> Array:
    """Ordinary numbers, some of them replaced."""
    rng = np.random.default_rng(1)
    x = rng.uniform(*case.interval, size)
    if special is not None:
        value, share = special
        x[rng.random(size) < share] = value
        x[size // 2] = value
    return x.astype(dtype)


def warned(function: Callable[[Array], Array], x: Array) -> tuple[Array, list[str]]:
    """The result, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(x)
    return result, [str(each.message) for each in caught]


def seconds(function: Callable[[Array], Array], x: Array, calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        function(x)
    return (perf_counter() - start) / calls


def measure(case: Case, kind: str, x: Array, special: Array, rounds: int) -> str:
    """The ratio of the times, and how many runs were looked at by NumPy meanwhile."""
    functions = [program(case.body, f"<{kind}, {data}, {x.dtype}>") for data in "ab"]
    plain, other = map(runmat.jit, functions)
    for values, compiled, function in zip((x, special), (plain, other), functions, strict=True):
        expected = warned(function, values)
        for _ in range(WARM_UPS):
            found = warned(compiled, values)
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-6)
            assert found[1] == expected[1], (found[1], expected[1])
    before = telemetry.snapshot()["events_checked"]
    calls = max(1, round(SECONDS / seconds(plain, x, 3)))
    times = [(seconds(other, special, calls), seconds(plain, x, calls)) for _ in range(rounds)]
    after = telemetry.snapshot()["events_checked"]
    ratio = ratio_of_rounds(*zip(*times, strict=True))
    checked = int(str(after)) - int(str(before))
    return f"{min(t for _, t in times) * 1e3:9.3f} ms {ratio!s:22} {checked:4} by NumPy"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--size", type=int, default=1 << 20)
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, dtype in itertools.product(chosen.cases, ("float32", "float64")):
        case = CASES[name]
        x = operands(case, dtype, chosen.size, None)
        for kind, replaced in case.special.items():
            special = operands(case, dtype, chosen.size, replaced)
            print(f"{name:15}{dtype:8} {kind:17}{measure(case, kind, x, special, chosen.rounds)}")


if __name__ == "__main__":
    main()
