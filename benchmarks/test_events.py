"""Cost of NaNs, infinities and floating-point events: programs on ordinary and special data.

NumPy warns of events at each call; of NaNs and infinities no more than of others. Results and
warnings are compared with NumPy's before anything is timed.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import runmat_jit as runmat

SIZE, WARM_UPS = 1 << 20, 6
Array = np.ndarray


@dataclass(frozen=True)
class Program:
    """A program's body, where its ordinary operands lie, and what replaces a share of them."""

    body: str
    interval: tuple[float, float]
    special: dict[str, tuple[float, float]]


LOOP = "for _ in range({}): x = x * 0.9 + 0.1\n    return x"
ONE_NAN, NANS, INFINITE = (np.nan, 0.0), (np.nan, 0.1), (np.inf, 0.1)
DATA = {"one NaN": ONE_NAN, "a tenth NaN": NANS}
PROGRAMS = {
    "x*2 + 1": Program("return x * 2 + 1", (-50, 50), DATA | {"a tenth infinite": INFINITE}),
    "where": Program("return np.where(x > 0, x * 2, x - 1)", (-50, 50), DATA),
    "x % 1": Program("return x % 1", (-50, 50), DATA),
    "standardize": Program("return (x - x.mean()) / x.std()", (-50, 50), DATA),
    "a loop of 20": Program(LOOP.format(20), (-50, 50), DATA),
    "120 operations": Program(LOOP.format(60), (-50, 50), DATA),
    "log(x)": Program("return np.log(x)", (0.1, 50), {"1 % zero": (0.0, 0.01)}),
    "exp(x)": Program("return np.exp(x)", (-5, 5), {"1 % overflow": (1e4, 0.01)}),
}
"""Special values, each with its share: 0 stands for one element."""


def program(body: str, name: str) -> Callable[[Array], Array]:
    """A function of its own: programs of equal lines would be one, for all kinds of data."""
    text = f"def f(x):\n    {body}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np, "__name__": name}
    exec(compile(text, name, "exec"), namespace)  # noqa: S102  (a body of PROGRAMS)
    function: Callable[[Array], Array] = namespace["f"]
    return function


def operands(case: Program, dtype: str, size: int, special: tuple[float, float] | None) -> Array:
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


OF_DATA = [
    (name, dtype, data)
    for name, program in PROGRAMS.items()
    for dtype in ("float32", "float64")
    for data in ("ordinary", *program.special)
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "dtype", "data"), OF_DATA)
def test_events(name, dtype, data, side, benchmark):
    case = PROGRAMS[name]
    function = program(case.body, f"<{name}, {dtype}, {data}>")
    compiled = runmat.jit(function)
    x = operands(case, dtype, SIZE, case.special.get(data))
    expected = warned(function, x)
    for _ in range(WARM_UPS):
        found = warned(compiled, x)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-6)
        assert found[1] == expected[1]
    before = runmat.telemetry.snapshot()["events_checked"]
    benchmark.group = f"{name} {dtype}"
    benchmark(compiled if side == "runmat" else function, x)
    benchmark.extra_info["looked at by NumPy"] = (
        runmat.telemetry.snapshot()["events_checked"] - before
    )
