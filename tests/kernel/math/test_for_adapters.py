"""Functions for shaders that need not give a CPU's bits.

Oracle: NumPy in float64. NumPy's float32 ``exp2`` stands for an adapter's, which may be twice as
far off: the limits here are lower than those of the rows' GPU columns.
"""

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.ir import Table
from runmat_jit.kernel.math import exponential, hyperbolic, power, trigonometric
from runmat_jit.kernel.math.tables import table
from runmat_jit.kernel.walk import every_instruction
from tests.kernel.math.expansions import special_floats

EXPONENT = float(np.float32(1.8))
# Function, oracle, largest error.
FUNCTIONS = {
    "sin": (trigonometric.sin, np.sin, 2.5),
    "cos": (trigonometric.cos, np.cos, 2.5),
    "exp": (exponential.exp, np.exp, 3.0),
    "tanh": (hyperbolic.tanh, np.tanh, 2.0),
    "pow": (lambda k, x: power.power_constant(k, x, 1.8), lambda x: x**EXPONENT, 3.0),
}


def kernel_of(expand, builtins=frozenset({"exp2"})):
    b = Builder(builtins)
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, expand(b, b.load(x, lanes.i)))
    return b.finish()


def computed(name, x):
    kernel = kernel_of(FUNCTIONS[name][0])
    tables = {p.name: table(p.name) for p in kernel.parameters if isinstance(p, Table)}
    out = np.zeros_like(x)
    with np.errstate(all="ignore"):
        interpret(kernel, {"x": x, "out": out, "n": x.size, **tables}, (0, x.size))
    return out


def operands(name):
    rng = np.random.default_rng(3)
    n = 20_000
    halves = np.pi / 2 * rng.integers(-40_000, 40_000, n)
    parts = {
        "sin": (rng.uniform(-30, 30, n), rng.uniform(-7e4, 7e4, n), halves),
        "cos": (rng.uniform(-30, 30, n), rng.uniform(-7e4, 7e4, n), halves),
        "exp": (rng.uniform(-87, 88.7, n), rng.normal(0, 1e-3, n)),
        "tanh": (rng.normal(0, 1, n), rng.uniform(-12, 12, n), rng.normal(0, 1e-6, n)),
        "pow": (np.exp(rng.uniform(-45, 45, n)), rng.uniform(0.9, 1.1, n)),
    }[name]
    return np.concatenate(parts).astype(np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_short_function_is_as_accurate_as_it_says(name):
    _, exact, most = FUNCTIONS[name]
    x = operands(name)
    got, expected = computed(name, x), exact(x.astype(np.float64))
    error = np.abs(got - expected) / np.spacing(np.abs(expected).astype(np.float32))
    worst = np.argmax(error)
    assert error[worst] <= most, x[worst]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_operands_give_what_numpy_gives(name):
    x = special_floats(np.float32)
    x = x[(x == 0) | ~(np.abs(x) < np.finfo(np.float32).tiny)]
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name][1](x.astype(np.float64)).astype(np.float32)
        got = computed(name, x)
        near = np.abs(got - expected) <= 4 * np.spacing(np.abs(expected))
    same = (got == expected) | (np.isnan(got) & np.isnan(expected)) | near
    zeros = (expected != 0) | (np.signbit(got) == np.signbit(expected))
    assert (same & zeros).all(), x[~(same & zeros)]


def test_adapters_functions_are_used_only_where_they_may_be():
    def ops(expand, builtins):
        return {i.op for i in every_instruction(kernel_of(expand, builtins).body)}

    for expand, _, _ in FUNCTIONS.values():
        assert not ops(expand, None) & {"builtin", "below", "beyond"}
        assert "builtin" not in ops(expand, frozenset())
    assert "builtin" in ops(exponential.exp, frozenset({"exp2"}))
