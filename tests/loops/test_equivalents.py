"""Functions that loops know by others. Oracle: undecorated Python, to the bit but for sums."""

import builtins
import math

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops.equivalents import EQUIVALENTS, EXTREMES
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(12)

CALLS = {
    np.diff: "np.diff(x)[0] + np.diff(a)[0, 1] + np.diff(x[i:i + 3])[-1]",
    np.ptp: "np.ptp(x[i:]) + np.ptp(a)",
    np.count_nonzero: "np.count_nonzero(x > x[i]) + np.count_nonzero(a)",
    np.searchsorted: "np.searchsorted(t, x[i]) + np.searchsorted(t, t[i])",
    np.interp: "np.interp(x[i], t, y) + np.interp(t[i], t, y)",
    np.isclose: "np.isclose(x[i], y[i]) + np.isclose(x, x + 1e-9)[0]",
    np.allclose: "np.allclose(x, y) + np.allclose(x, x * (1 + 1e-7), 1e-6)",
    np.array_equal: "np.array_equal(x, y) + np.array_equal(x, x.copy()) + np.array_equal(x, x[1:])",
    np.flatnonzero: "np.flatnonzero(x > x[i]).sum() + len(np.flatnonzero(x))",
    np.nansum: "np.nansum(x) + np.nansum(a)",
    np.gradient: "np.gradient(x)[i] + np.gradient(x)[-1]",
    np.trapezoid: "np.trapezoid(y, t)",
    np.polyval: "np.polyval(y[:4], x[i]) + np.polyval(x[:3], y)[2]",
    np.triu: "np.triu(a)[1, 0] + np.triu(a, 1)[i % 3, i % 3] + np.triu(a, -1)[1, 0]",
    np.tril: "np.tril(a)[0, 1] + np.tril(a, 1)[0, 1] + np.tril(a, i - 2)[1, 1]",
    np.take: "np.take(x, k)[1] + np.take(x, i)",
    np.vdot: "np.vdot(x, y)",
    builtins.sum: "sum(x) + sum(k) + sum(a)[1]",
    builtins.pow: "pow(x[i], 2) + pow(i, 3)",
    builtins.divmod: "divmod(i, 3)[1] + divmod(x[i], y[i])[0]",
    builtins.max: "max(x) + max(k)",
    builtins.min: "min(x) - min(k)",
    math.gcd: "math.gcd(12, i * 4) + math.gcd(k[0], -6)",
    math.factorial: "math.factorial(i) + math.factorial(k[0])",
    math.degrees: "math.degrees(x[i]) + math.degrees(i)",
    math.radians: "math.radians(x[i])",
    math.isclose: "math.isclose(x[i], y[i]) + math.isclose(x[i], x[i] * (1 + 1e-10))",
}
ROWS = {
    "rounded": "np.round(x, 2)[i] + np.round(x[i], 3) + round(x[i], 1) + x.round(1)[0]",
    "to integers": "round(x[i]) + round(0.5 * x[i]) + round(i * 0.5)",
    "accumulated": "np.cumprod(x)[i] + np.add.accumulate(x)[i] + x.cumprod()[1] + np.cumsum(k)[1]",
    "extremes so far": "np.maximum.accumulate(x)[i] + np.minimum.accumulate(y)[i]",
    "multiplied": "np.prod(x[:7]) + y[:3].prod()",
    "clipped": "np.clip(x[i], -1, 0.5) + np.clip(i, 1, 3) + np.clip(x[i], y[i], t[-1])",
    "an item": "x.item(i) + x.item(-1) + x[i].item()",
    "astype": "x[i].astype(np.float32) + x.astype(t.dtype)[1] + k[0].astype(x.dtype)",
}
"""Calls that have signatures of their own."""
OTHERS = [
    *("round(x[i], i)", "np.round(x, -1)[0]", "round(i)", "np.round(k, 1)[0]", "x.item(40)"),
    *("a.item(1, 1)", "np.prod(a)", "np.cumsum(a)[1]", "np.subtract.accumulate(x)[1]"),
    *("np.add.accumulate(a)[1, 1]", "np.prod(x[:0])", "round(1e300 * x[i] * 1e300)"),
    *(
        "np.diff(x, 2)[0]",
        "np.diff(a, axis=0)[0, 1]",
        "np.ptp(a, axis=0)[0]",
        "np.interp(x, t, y)[0]",
    ),
    *("np.searchsorted(t, x)[0]", "np.searchsorted(t, x[i], 'right')", "np.take(a, k)[0]"),
    *("np.vdot(a, a)", "np.gradient(a)[0][0, 0]", "np.trapezoid(a, t[:4])[0]", "np.triu(x)[0, 1]"),
    *(
        "np.array_equal(a, a[:1])",
        "np.array_equal(a, x)",
        "sum((0.5, i))",
        "sum([x[0], i])",
        "max(a[0])",
    ),
    *(
        "math.gcd(2.0, i)",
        "math.factorial(21 + i)",
        "math.factorial(-1)",
        "pow(i, 2, 3)",
        "max(x[:0])",
    ),
    *(
        "math.isclose(x[i], y[i], abs_tol=1.0)",
        "np.polyval(y[:0], x[i])",
        "sum(x, 1.0)",
        "sum(x[:0])",
    ),
    *("np.isclose(x[i], y[i], equal_nan=True)", "divmod(i, 0)[0]", "np.flatnonzero(a)[0]"),
]


def loop(expression):
    """The function that adds an expression some times."""
    head = "def f(x, y, t, a, k):\n    s = 0.0\n    for i in range(6):\n"
    body = f"        s = s * 0.5 + {expression}\n    return s\n"
    return function_from(head + body, np=np, math=math)


def data(kind, seed):
    """Two arrays, a sorted one, a matrix and integers; seeds 1 and 2: with odd numbers."""
    rng = np.random.default_rng(seed)
    x, y = ((rng.standard_normal(17) * 8).astype(kind) for _ in range(2))
    t, a = np.sort(x), (rng.standard_normal((4, 5)) * 8).astype(kind)
    if seed == 1 and x.dtype.kind == "f":
        x[[2, 5]], y[3], t[-2:], a[1, 1] = (np.nan, -0.0), np.inf, np.nan, -np.inf
    if seed == 2:
        y = x // 2
        x, t = x[::-1], t // 4
    return x, y, t, a, rng.integers(1, 6, 4)


def test_each_has_a_call():
    assert CALLS.keys() == {*EQUIVALENTS, *EXTREMES}


@pytest.mark.parametrize("kind", ["d", "f", "l", "i"])
@pytest.mark.parametrize("expression", [*CALLS.values(), *ROWS.values(), *OTHERS])
def test_they_are_pythons_and_numpys(expression, kind):
    fn = loop(expression)
    decorated = runmat.jit(fn)
    for seed in (0, 1, 2, 3):
        compare(observe(fn, data(kind, seed), {}), observe(decorated, data(kind, seed), {}))


@pytest.mark.parametrize("expression", [*CALLS.values(), *ROWS.values()])
def test_they_run_natively(natively, expression):
    decorated = runmat.jit(loop(expression))
    for _ in range(3):
        decorated(*data("d", 0))
    assert natively() >= 3
