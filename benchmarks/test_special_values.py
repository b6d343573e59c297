"""Cost of special values: ordinary and special operands of an operation are one group.

Results are compared with NumPy's before anything is timed. Floating-point events are ignored at
first: what a report costs is measured by the programs at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.runtime.session import Session, use_session

SIZE = 100_000
Array = np.ndarray
Interval = tuple[float, float]
DTYPES = ("float32", "float64")

KINDS: dict[str, dict[str, Interval]] = {
    "zero": dict.fromkeys(DTYPES, (0.0, 0.0)),
    "negative": dict.fromkeys(DTYPES, (-1.0, -3.0)),
    "NaN": dict.fromkeys(DTYPES, (np.nan, np.nan)),
    "infinite": dict.fromkeys(DTYPES, (np.inf, np.inf)),
    "subnormal": {"float32": (1e-44, 1e-38), "float64": (5e-322, 2e-308)},
    "small": dict.fromkeys(DTYPES, (1e-37, 1e-10)),
    "huge": dict.fromkeys(DTYPES, (1e7, 1e30)),
}
"""Magnitudes between which logarithms are drawn evenly."""
VANISHING = dict.fromkeys(DTYPES, (-750.0, -5000.0))
TO_SUBNORMAL = {"float32": (-88.0, -103.0), "float64": (-709.0, -744.0)}


@dataclass(frozen=True)
class Case:
    """A function, where its ordinary operands lie, and kinds of operands for it alone."""

    function: Callable[[Array], Array]
    interval: Interval
    kinds: dict[str, dict[str, Interval]] = field(default_factory=dict)
    exact: bool = False


def logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


CASES = {
    "exp(x)": Case(np.exp, (-5, 5), {"to 0": VANISHING, "to subnormal": TO_SUBNORMAL}),
    "exp(-x*x)": Case(lambda x: np.exp(-x * x), (-3, 3)),
    "1/(1+exp(-x))": Case(logistic, (-5, 5)),
    "tanh(x)": Case(np.tanh, (-5, 5)),
    "log(x)": Case(np.log, (0.1, 50)),
    "sin(x)": Case(np.sin, (-50, 50)),
    "cos(x)": Case(np.cos, (-50, 50)),
    "tan(x)": Case(np.tan, (-50, 50)),
    "exp2(x)": Case(np.exp2, (-5, 5)),
    "expm1(x)": Case(np.expm1, (-5, 5)),
    "log1p(x)": Case(np.log1p, (-0.9, 50)),
    "log2(x)": Case(np.log2, (0.1, 50)),
    "log10(x)": Case(np.log10, (0.1, 50)),
    "sinh(x)": Case(np.sinh, (-5, 5)),
    "cosh(x)": Case(np.cosh, (-5, 5)),
    "arcsinh(x)": Case(np.arcsinh, (-5, 5)),
    "arccosh(x)": Case(np.arccosh, (1, 50)),
    "arctanh(x)": Case(np.arctanh, (-1, 1)),
    "logaddexp(x, 3)": Case(lambda x: np.logaddexp(x, 3), (-5, 5)),
    "logaddexp2(x, 3)": Case(lambda x: np.logaddexp2(x, 3), (-5, 5)),
    "sinc(x)": Case(np.sinc, (-5, 5)),
    "arctan(x)": Case(np.arctan, (-5, 5)),
    "arctan2(x, 3)": Case(lambda x: np.arctan2(x, 3), (-5, 5)),
    "arcsin(x)": Case(np.arcsin, (-1, 1)),
    "arccos(x)": Case(np.arccos, (-1, 1)),
    "cbrt(x)": Case(np.cbrt, (0.1, 50)),
    "hypot(x, 3)": Case(lambda x: np.hypot(x, 3), (-5, 5)),
    "float_power(x, 1.8)": Case(lambda x: np.float_power(x, 1.8), (0.1, 9)),
    "x**(x*.3)": Case(lambda x: x ** (x * 0.3), (0.1, 9)),
    "x**1.8": Case(lambda x: x**1.8, (0.1, 9)),
    "max(x, 0)**1.8": Case(lambda x: np.maximum(x, 0) ** 1.8, (0.1, 9)),
    "x**-7": Case(lambda x: x**-7.0, (0.1, 9)),
    "sqrt(x)": Case(np.sqrt, (0.1, 50), exact=True),
    "x % 1": Case(lambda x: x % 1, (-50, 50), exact=True),
    "x // .1": Case(lambda x: x // 0.1, (-50, 50), exact=True),
    "3 % x": Case(lambda x: 3 % x, (0.1, 50), exact=True),
    "fmod(x, 1)": Case(lambda x: np.fmod(x, 1), (-50, 50), exact=True),
}


def operands(interval: Interval, special: Interval | None, dtype: str, size: int) -> Array:
    """Ordinary numbers, a tenth of them replaced."""
    rng = np.random.default_rng(1)
    x = rng.uniform(*interval, size)
    if special is not None:
        low, high = special
        drawn = np.full(size, low)
        if low != high and np.isfinite(low):
            drawn = np.copysign(np.exp(rng.uniform(*np.log(np.abs(special)), size)), low)
        x = np.where(rng.random(size) < 0.1, drawn, x)
    return x.astype(dtype)


def check(case: Case, got: Array, expected: Array) -> None:
    """Compare with NumPy: exactly, or to what roundings of both sides leave."""
    if case.exact:
        np.testing.assert_array_equal(got, expected)
        return
    info = np.finfo(expected.dtype)
    np.testing.assert_allclose(got, expected, rtol=16 * info.eps, atol=2 * info.smallest_subnormal)


def inputs_of(case: Case, dtype: str, size: int = SIZE) -> dict[str, Array]:
    """Return ordinary operands, and those with each kind of special ones."""
    kinds = KINDS | case.kinds
    found = {"ordinary": operands(case.interval, None, dtype, size)}
    return found | {
        kind: operands(case.interval, kinds[kind][dtype], dtype, size) for kind in kinds
    }


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = use_session(Session())
    runmat.config(num_threads=1)
    yield
    use_session(before)


OF_KINDS = [
    (name, dtype, kind)
    for name, case in CASES.items()
    for dtype in DTYPES
    for kind in ("ordinary", *KINDS, *case.kinds)
]


@pytest.mark.parametrize(("name", "dtype", "kind"), OF_KINDS)
def test_operations(name, dtype, kind, side, benchmark):
    case = CASES[name]
    compiled = runmat.jit(case.function)
    with np.errstate(all="ignore"):
        x = inputs_of(case, dtype)[kind]
        check(case, compiled(x), case.function(x))
        benchmark.group = f"{name} {dtype}"
        benchmark(compiled if side == "runmat" else case.function, x)
