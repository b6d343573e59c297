"""Reductions over some axes in loops. Oracle: the undecorated functions, with warnings.

Sums of floats are added in another order; all others are compared to the bit.
"""

import itertools

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(48)

AXES = {
    2: ("0", "1", "-1", "(1,)"),
    3: ("0", "1", "2", "(0, 1)", "(1, 2)", "(0, 2)", "-2", "(2, 0)"),
    4: ("0", "3", "(1, 2)", "(0, 3)", "(1, 2, 3)", "(0, 1, 2)", "1"),
}
SHAPES = {
    2: ((5, 9), (1, 4), (4, 1), (3, 0), (0, 3), (17, 33)),
    3: ((3, 4, 5), (2, 1, 9), (4, 3, 1), (0, 2, 3), (2, 3, 0), (9, 2, 40)),
    4: ((2, 3, 4, 5), (2, 1, 3, 2), (2, 0, 3, 4)),
}
NAMES = ("sum", "mean", "max", "min", "any", "all", "prod")
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
}


def loop(call):
    """Return the function that reduces new arrays in each iteration."""
    return function_from(
        "def f(a, n):\n    t = 0.0\n    for i in range(n):\n"
        f"        b = a + i\n        y = {call}\n        t = t + y.max() * 0.5\n    return y, t\n",
        np=np,
    )


def compared(fn, name, dtype, shapes, layouts=LAYOUTS):
    """Compare calls on arrays of these shapes; NaN and infinities are among their elements."""
    decorated = runmat.jit(fn)
    exact = name not in ("sum", "mean", "prod") or dtype == "l"
    for shape, (kind, lay) in itertools.product(shapes, layouts.items()):
        special = (None, np.nan, np.inf) if kind == "C" and dtype != "l" else (None,)
        for value in (*special, None):
            x = np.random.default_rng(len(shape)).integers(-4, 5, shape).astype(dtype)
            if value is not None and x.size:
                x.flat[x.size // 2] = value
            expected = observe(fn, (lay(x), 3), {})
            compare(expected, observe(decorated, (lay(x), 3), {}), exact=exact)


@pytest.mark.parametrize("dtype", ["d", "f", "l"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rank", AXES)
def test_over_some_axes(rank, name, dtype):
    for axis in AXES[rank]:
        compared(loop(f"b.{name}(axis={axis})"), name, dtype, SHAPES[rank])


@pytest.mark.parametrize("name", ["sum", "mean", "max"])
def test_axes_are_kept(name):
    for rank, axes in AXES.items():
        for axis in axes:
            call = f"b - b.{name}(axis={axis}, keepdims=True)"
            compared(loop(call), "sum", "d", SHAPES[rank], {"C": LAYOUTS["C"]})


NATIVE = (
    "b.sum(axis=(1, 2))",
    "b.max(axis=0)",
    "np.mean(b, axis=1)",
    "b - b.max(-1, keepdims=True)",
)


@pytest.mark.parametrize("call", NATIVE)
def test_they_run_natively(natively, call):
    decorated = runmat.jit(loop(call))
    for _ in range(3):
        decorated(np.ones((3, 4, 5)), 6)
    assert natively() == 3
