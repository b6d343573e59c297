"""The GPU column of every elementwise row, on the adapter at hand.

Oracle: exact values by mpmath where the row says an error, the CPU's bits everywhere else. Both
with the arithmetic that the adapter's findings ask for by default, and where results are to be
reproducible. Where an adapter flushes subnormal numbers, they are left out.
"""

from functools import cache

import mpmath
import numpy as np
import pytest

from runmat_jit.ops.table import ROWS
from tests.backends.conformance.compare import equal
from tests.backends.wgpu.shaders import findings, run, runner
from tests.backends.wgpu.test_program import on_the_adapter as graph_on_the_adapter
from tests.graph.written import written
from tests.kernel.math.ulp import largest_error
from tests.lower.execute import compiled, execute, prepared
from tests.ops.kernels import arguments_of, by_machine, element_kernel
from tests.ops.loops import LOOPS
from tests.ops.test_expansions import EXACT, operands_of

pytestmark = [pytest.mark.usefixtures("adapter"), pytest.mark.sampled(8)]

EXACT = EXACT | {
    "add": mpmath.fadd,
    "subtract": mpmath.fsub,
    "multiply": mpmath.fmul,
    "square": lambda x: x * x,
    "fma": lambda x, y, z: x * y + z,
    "divide": mpmath.fdiv,
    "reciprocal": lambda x: 1 / x,
    "sqrt": mpmath.sqrt,
    "degrees": mpmath.degrees,
    "rad2deg": mpmath.degrees,
    "radians": mpmath.radians,
    "deg2rad": mpmath.radians,
}
EXPONENTS = (None, 0.5, 1.8)
FLOATS = [
    loop
    for loop in LOOPS
    if "f" in {dtype.kind for dtype in (loop.result, *loop.dtypes)}
    and loop.params.get("exponent") in EXPONENTS
]
ROUNDED = [lo for lo in FLOATS if lo.row.gpu_ulp and lo.result.kind == "f"]
JUMPING = [lo for lo in FLOATS if lo not in ROUNDED]
NORMALS = [lo for lo in ROUNDED if lo.row.name == "random_normal"]
BY_NAME = {str(loop): loop for loop in FLOATS}
CHECKED = 250
"""Results that are compared with exact ones."""


def computed(loop, *, reproducible):
    """Operands, results on the adapter, results of the CPU."""
    return computed_with(str(loop), findings().arithmetic(reproducible=reproducible))


@cache
def computed_with(name, arithmetic):
    """One run where both promises ask for equal arithmetic."""
    loop = BY_NAME[name]
    operands = operands_of(loop)
    kernel = element_kernel(loop.row, loop.dtypes, loop.result, loop.params)
    expected, _ = by_machine(kernel, operands, loop.result)
    return operands, on_the_adapter(kernel, operands, loop, arithmetic), expected


def on_the_adapter(kernel, operands, loop, arithmetic):
    arguments, out, _ = arguments_of(kernel, operands, loop.result)
    run(kernel, arguments, (0, out.size), using=runner(arithmetic))
    return out


def kept(*arrays, steps=0):
    """Elements at which no number is one that the adapter flushes, nor so near to those.

    ``steps``: powers of two by which what is computed on the way may be smaller.
    """
    found = np.ones(arrays[0].size, bool)
    for array in arrays:
        kind = {4: "f32", 8: "f64"}[array.itemsize] if array.dtype.kind == "f" else None
        if kind is not None and not findings().floats[kind].keeps_subnormals:
            found &= (array == 0) | ~(np.abs(array) < np.finfo(array.dtype).tiny * 2.0**steps)
    return found


@pytest.mark.parametrize("loop", JUMPING, ids=str)
def test_what_rounds_nothing_or_jumps_is_the_cpus(loop):
    operands, found, expected = computed(loop, reproducible=False)
    same = equal(found, expected) | ~kept(*operands, expected)
    assert same.all(), [operand[~same][:5] for operand in operands]


@pytest.mark.parametrize("loop", ROUNDED, ids=str)
def test_what_rounds_is_within_its_column(loop):
    operands, found, expected = computed(loop, reproducible=False)
    measured, where = measure(loop, operands, found, expected)
    assert measured <= loop.row.gpu_ulp[loop.result.name], where


def measure(loop, operands, found, expected):
    """The largest error against exact values; what is 0, infinite or NaN is the CPU's."""
    usual = np.isfinite(found) & np.isfinite(expected) & (found != 0) & (expected != 0)
    for operand in operands:
        usual &= np.isfinite(operand) & ((operand != 0) | ~np.signbit(operand))
    limits = np.finfo(found.dtype)
    near_the_ends = (np.abs(expected) > limits.max * (1 - 8 * limits.eps)) | (
        np.abs(expected) < 8 * limits.smallest_subnormal
    )
    near_the_ends &= np.isfinite(expected)
    subnormal = ~kept(*operands, expected, steps=4)
    special = ~usual & ~near_the_ends & ~subnormal
    assert equal(found, expected)[special].all(), [o[special][:5] for o in operands]
    usual &= ~near_the_ends & ~subnormal
    if loop in NORMALS:
        units = np.abs(found - expected)[usual] / np.spacing(np.abs(expected[usual]))
        return float(units.max()) + loop.row.ulp[loop.result.name], "against the CPU's"
    chosen = np.flatnonzero(usual)[:: max(1, int(usual.sum()) // CHECKED)]
    return largest_error(found[chosen], EXACT[loop.row.name], [o[chosen] for o in operands])


@pytest.mark.parametrize("loop", ROUNDED, ids=str)
def test_reproducible_results_are_the_cpus(loop):
    kinds = {"float32": "f32", "float64": "f64"}
    if findings().irreproducible(kinds[loop.result.name]) is not None:
        pytest.skip("kernels that round stay on the CPU")
    operands, found, expected = computed(loop, reproducible=True)
    same = equal(found, expected)
    assert same.all(), [operand[~same][:5] for operand in operands]


REDUCED = {(100_003,): (0,), (40, 1003): (1,), (1003, 40): (0,), (9, 1000): (0, 1)}
"""Shapes and the axes that are reduced; the longest takes two levels."""


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", REDUCED, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_a_reduction_is_within_the_bound_of_its_row(name, shape, kind):
    """Terms of both signs nearly cancel."""
    drawn = np.random.default_rng(6).standard_normal(shape)
    x, axis = drawn.astype(kind), REDUCED[shape]
    graph = written([f"{kind}[{', '.join(map(str, shape))}]"], f"{name}($0, {GIVEN.format(axis)})")
    found = reduced(graph, x, findings().arithmetic(reproducible=False))
    wide = x.astype(np.longdouble)
    exact, unit = getattr(wide, name)(axis=axis), np.finfo(kind).eps / 2
    bound = 2 * ROWS["sum"].reduction.bound * unit  # for each of two levels at most
    allowed = bound * getattr(np.abs(wide), name)(axis=axis)
    assert np.all(np.abs(found - exact) <= allowed)
    if findings().irreproducible({"float32": "f32", "float64": "f64"}[kind]) is None:
        same = reduced(graph, x, findings().arithmetic(reproducible=True))
        assert equal(same, execute(prepared(graph), [x], run=compiled)[0][0]).all()


GIVEN = "axis={}, dtype=None, keepdims=False"


def reduced(graph, x, arithmetic):
    return next(iter(graph_on_the_adapter(prepared(graph), [x], runner(arithmetic))[0].values()))


def test_every_row_that_rounds_has_its_column():
    """A row without one claims the CPU's bits; the tests above hold it to that."""
    named = {loop.row.name for loop in ROUNDED}
    assert named == set(EXACT) | {"random_normal"}
