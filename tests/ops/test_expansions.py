"""Kernel code of every row, interpreted and native.

Oracle: NumPy to the bit for bit-defined rows; for our own expansions mpmath within the row's
documented error, and NumPy for values that are 0, infinite or NaN.
"""

from functools import partial

import mpmath
import numpy as np
import pytest

from runmat_jit.ops.table import ROWS
from tests.accuracy.functions import EXACT, SUMS, largest_term
from tests.ops.kernels import by_interpreter, by_machine, element_kernel
from tests.ops.loops import LOOPS
from tests.ops.operands import same_bits, specials

pytestmark = pytest.mark.sampled(6)

RUNNERS = {"interpreted": by_interpreter, "native": by_machine}
OURS = [p for p in LOOPS if p.row.exactness == "ours" and p.result.kind == "f"]
FLOAT_LOOPS = [p for p in OURS if p.row.name != "random_normal"]  # exact values: test_random.py
BIT_LOOPS = [p for p in LOOPS if p not in OURS]
DIGITS = 200
"""Bits of exact values; mpmath itself takes as many more as reduce an angle."""


def operands_of(loop):
    """Special values in all combinations, then random ones."""
    rng = np.random.default_rng(len(str(loop)))
    sides = []
    for dtype, special in zip(loop.dtypes, loop.special_operands(40), strict=True):
        drawn = rng.uniform(*loop.row.domain, 200)
        if dtype.kind == "f":
            drawn = drawn.astype(dtype)
        elif len(special) and special.max() <= 1:
            drawn = rng.integers(0, 2, 200).astype(dtype)
        else:
            drawn = rng.integers(-100, 100, 200).astype(dtype)
        sides.append(np.concatenate([special, drawn]))
    exponent = loop.params.get("exponent")
    if exponent is not None:
        sides[1] = np.full_like(sides[0], max(exponent, 0) if sides[0].dtype.kind == "i" else 0)
        sides[1] = np.full(sides[0].shape, exponent).astype(sides[0].dtype)
    return sides


def by_numpy(loop, operands):
    with np.errstate(all="ignore"):
        return loop.row.numpy(*operands, **loop.params)


@pytest.mark.parametrize("run", RUNNERS.values(), ids=RUNNERS)
@pytest.mark.parametrize("loop", BIT_LOOPS, ids=str)
def test_a_bit_defined_row_has_the_bits_of_numpy(loop, run):
    operands = operands_of(loop)
    kernel = element_kernel(loop.row, loop.dtypes, loop.result, loop.params)
    result, _ = run(kernel, operands, loop.result)
    assert_same(result, by_numpy(loop, operands), operands)


def assert_same(result, expected, operands):
    if same_bits(result, expected):
        return
    for index, values in enumerate(zip(*operands, strict=True)):
        pair = result[index], expected[index]
        assert same_bits(result[index : index + 1], expected[index : index + 1]), (values, pair)


@pytest.mark.parametrize("loop", FLOAT_LOOPS, ids=str)
def test_an_own_expansion_is_within_its_documented_error(loop):
    operands = operands_of(loop)
    kernel = element_kernel(loop.row, loop.dtypes, loop.result, loop.params)
    result, _ = by_machine(kernel, operands, loop.result)
    interpreted, _ = by_interpreter(kernel, operands, loop.result)
    assert_same(result, interpreted, operands)
    expected = by_numpy(loop, operands)
    at_the_edge = near_the_ends(expected) | near_the_ends(result)
    usual = ~at_the_edge
    for values in (*operands, expected, result):
        usual &= np.isfinite(values)
    usual &= (expected != 0) & (result != 0)
    for values in operands:
        # mpmath has no negative zero
        usual &= (values != 0) | ~np.signbit(values) | (loop.row.name in SUMS)
    unusual = ~usual & ~at_the_edge
    special = [operand[unusual] for operand in operands]
    assert_same(result[unusual], expected[unusual], special)
    chosen = np.flatnonzero(usual)[:: max(1, usual.sum() // 300)]
    with mpmath.workprec(DIGITS):
        for index in chosen:
            values = [operand[index] for operand in operands]
            assert ulps(loop, values, result[index]) <= loop.row.ulp[loop.result.name], values


def near_the_ends(values):
    """Within a few units of the largest and of the smallest number: rounding decides."""
    info = np.finfo(values.dtype)
    size = np.abs(values)
    return (size > info.max * (1 - 8 * info.eps)) & np.isfinite(values) | (
        (size > 0) & (size < 4 * info.smallest_subnormal)
    )


def ulps(loop, values, result):
    exact = EXACT[loop.row.name](*(mpmath.mpf(float(value)) for value in values))
    unit = largest_term(exact, max(values)) if loop.row.name in SUMS else exact
    spacing = np.spacing(np.abs(loop.result.type(float(unit))))
    return float(abs(mpmath.mpf(float(result)) - exact) / mpmath.mpf(float(spacing)))


LITERALS = ("maximum", "minimum", "floor_divide", "remainder", "left_shift", "power")


@pytest.mark.parametrize("name", LITERALS)
@pytest.mark.parametrize("side", [0, 1])
def test_a_literal_operand_gives_the_same_bits_as_the_same_value_in_memory(name, side):
    named = (p for p in LOOPS if p.row.name == name and p.params.get("exponent") is None)
    for loop in named:
        if name == "power" and loop.result.kind == "i":
            continue  # another test
        make = partial(element_kernel, loop.row, loop.dtypes, loop.result, loop.params)
        literals, other = specials(loop.dtypes[side])[:16], specials(loop.dtypes[1 - side])
        repeated, tiled = np.repeat(literals, other.size), np.tile(other, literals.size)
        operands = (repeated, tiled) if side == 0 else (tiled, repeated)
        expected, _ = by_interpreter(make(), operands, loop.result)
        for literal, wanted in zip(literals, np.split(expected, literals.size), strict=True):
            constant = np.full(other.shape, literal, loop.dtypes[side])
            operands = (constant, other) if side == 0 else (other, constant)
            special = make(literals={side: literal.item()})
            result, _ = by_interpreter(special, operands, loop.result)
            assert_same(result, wanted, operands)


@pytest.mark.parametrize("name", ["power", "pow"])
def test_a_known_integer_exponent_gives_the_bits_of_numpy(name):
    row = ROWS[name]
    for dtype in map(np.dtype, ("int32", "int64")):
        base = specials(dtype)
        for exponent in (0, 1, 2, 3, 7, 10, 63, 64, 100):
            params = {"exponent": exponent, "single": True}
            kernel = element_kernel(row, (dtype, dtype), dtype, params)
            result, _ = by_interpreter(kernel, (base, np.full_like(base, exponent)), dtype)
            assert same_bits(result, row.numpy(base, None, **params)), (exponent, dtype)


def test_one_exponent_for_all_takes_the_square_root_as_numpy_does():
    x = np.array([-0.0, -np.inf, -1.0, 4.0])
    params = {"exponent": None, "single": True}
    double = x.dtype
    kernel = element_kernel(ROWS["power"], (double, double), double, params)
    result, _ = by_interpreter(kernel, (x, np.full(4, 0.5)), double)
    with np.errstate(invalid="ignore"):
        assert same_bits(result, np.power(x, np.array(0.5)))
