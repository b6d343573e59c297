"""NumPy's functions that are made of other ones are followed. Oracle: the undecorated functions.

They become kernels together with what is around them; views, copies, exceptions, warnings and their
lines are those of NumPy's own code, which runs as if it were the program's.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(8)

CALLS = [
    *(
        "np.roll(x, 1)",
        "np.roll(x, -3)",
        "np.roll(x, 1, axis=0)",
        "np.roll(x, (1, 2), axis=(0, -1))",
    ),
    *("np.roll(x, 10**6)", "np.roll(x, 1, axis=5)"),
    *("np.hstack([x, x * 2])", "np.vstack([x, x])", "np.column_stack([x, x + 1])"),
    *("np.dstack((x, x))", "np.hstack([x, 1])", "np.vstack([x, x[:1]])", "np.hstack([])"),
    *("np.append(x, x)", "np.append(x, x, axis=0)", "np.append(x, 1)"),
    *("np.outer(x, x)", "np.outer(x, [1, 2])", "np.outer(2, x)"),
    *(
        "np.gradient(x)",
        "np.gradient(x, 2)",
        "np.gradient(x, axis=0)",
        "np.gradient(x, edge_order=2)",
    ),
    *("np.tril(x)", "np.triu(x, 1)", "np.tril(x, -1)"),
    *("np.isclose(x, x + 1e-9)", "np.isclose(x, 1)", "np.isclose(x, x, equal_nan=True)"),
    *("np.isclose(x, x, atol=np.nan)", "np.allclose(x, x)", "np.allclose(x, x + 1)"),
    *("np.array_equal(x, x)", "np.array_equal(x, x + 1)", "np.array_equal(x, x, equal_nan=True)"),
    *("np.atleast_1d(x, 1)", "np.atleast_2d(x)", "np.atleast_2d(x, x)", "np.atleast_3d(x, x)"),
    *("np.asanyarray(x, dtype=x.dtype)", "np.asarray(x, x.dtype)", "np.asarray(x, dtype=float)"),
    *("np.array(x, copy=None)", "np.array(x, copy=False)", "np.array(x, copy=None, ndmin=2)"),
    *("np.array(x, copy=None, dtype=float)", "np.array(x, copy=False, dtype=float)"),
]
SHAPES = [(7,), (4, 3), (2, 3, 2), (1,), (0,), ()]
LAYOUTS = {"C": np.ascontiguousarray, "reversed": lambda x: x[::-1], "F": np.asfortranarray}


def data(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    made = (rng.integers(-8, 9, shape) * 0.5).astype(dtype)
    if made.dtype.kind == "f" and made.size > 2:
        made.flat[1] = np.nan
    return made


@pytest.mark.parametrize("dtype", ["d", "f", "q", "?", "D"])
@pytest.mark.parametrize("call", CALLS)
def test_calls_give_what_numpy_gives(call, dtype):
    fn = function_from(f"def f(x):\n    y = {call}\n    return y\n", np=np)
    decorated = runmat.jit(fn)
    for shape in SHAPES:
        for layout, arrange in LAYOUTS.items():
            if layout == "reversed" and not shape:
                continue
            for _ in range(2):
                given = arrange(data(shape, dtype))
                compare(observe(fn, (given,), {}), observe(decorated, (given,), {}))


@pytest.mark.parametrize("call", CALLS)
def test_results_may_be_used_and_changed(call):
    """Whether a result shows the operand's memory is seen by what is stored into it."""
    body = f"    y = {call}\n    z = y[0] if isinstance(y, (tuple, list)) else y\n"
    store = "    if getattr(z, 'size', 0) and isinstance(z, np.ndarray):\n        z[...] = 1\n"
    fn = function_from(f"def f(x):\n    x = x * 2\n{body}{store}    return x, y\n", np=np)
    decorated = runmat.jit(fn)
    for shape in SHAPES:
        for _ in range(3):
            given = data(shape, "d")
            compare(observe(fn, (given.copy(),), {}), observe(decorated, (given.copy(),), {}))


@pytest.mark.parametrize(
    "call",
    [
        *("np.roll(x, 1)", "np.roll(x, 2, axis=1)", "np.hstack([x, x * 2])", "np.vstack([x, x])"),
        *("np.column_stack([x, x])", "np.outer(x, x)", "np.gradient(x)[0]"),
        *("np.isclose(x, x + 1)", "np.append(x, x)"),
    ],
)
def test_they_need_no_call_of_numpys(call):
    fn = function_from(f"def f(x):\n    y = {call}\n    return y * 2 + 1\n", np=np)
    decorated, x = runmat.jit(fn), data((40, 30), "d")
    for _ in range(3):
        decorated(x)
    assert "NumPy computes" not in str(decorated.explain(x))
    assert "host" not in str(decorated.explain(x))


def test_lengths_that_were_never_seen_compile_nothing():
    fn = function_from("def f(x):\n    return np.roll(x, 1) + np.hstack([x[1:], x[:1]])\n", np=np)
    decorated = runmat.jit(fn)
    for length in range(50, 130):  # a gate is looked for after 2, 4, 8, ... of them
        decorated(data((length,), "d"))
    before = runmat.telemetry.snapshot()["kernels_compiled"]
    for length in (135, 140, 155, 199, 220, 333):
        x = data((length,), "d")
        np.testing.assert_array_equal(decorated(x), fn(x))
    assert runmat.telemetry.snapshot()["kernels_compiled"] == before
