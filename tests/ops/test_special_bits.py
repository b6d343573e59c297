"""Rows that promise NumPy's bits keep them at every special value, NaN included.

Oracle: NumPy on the same operands, bit for bit. What a NaN looks like is the machine's choice, so
the promise, and this test, is of x86-64.
"""

import platform

import numpy as np
import pytest

from tests.ops.kernels import by_interpreter, by_machine, element_kernel
from tests.ops.loops import LOOPS
from tests.ops.operands import combinations

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="the machine makes other NaN"
)
RUNNERS = {"interpreted": by_interpreter, "native": by_machine}
OF_FLOATS = [
    loop
    for loop in LOOPS
    if loop.row.exactness == "bit-defined"
    and not loop.row.name.startswith("random")
    and any(dtype.kind == "f" for dtype in (*loop.dtypes, loop.result))
]
MOST = 4000


def special_values(dtype):
    """Zeros, subnormals, usual and huge numbers, infinities, both kinds of NaN; of both signs."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        return np.array([info.min, info.max, 0, 1, -1, 2, 7], dtype)
    info, unsigned = np.finfo(dtype), np.dtype(f"u{dtype.itemsize}")
    infinity = np.array(np.inf, dtype).view(unsigned)
    quiet = unsigned.type(1) << unsigned.type(info.nmant - 1)
    payloads = np.array([0, 0x12345, quiet >> 1], unsigned)
    nan = np.concatenate([payloads | quiet, payloads[1:]]) | infinity
    sizes = [0, info.smallest_subnormal, info.tiny / 2, info.tiny, 0.1, 1, 1.5, 3, info.max, np.inf]
    positive = np.concatenate(
        [np.array([*sizes, 2.0 ** (info.nmant + 1) + 2], dtype), nan.view(dtype)]
    )
    sign = unsigned.type(1) << unsigned.type(8 * dtype.itemsize - 1)
    return np.concatenate([positive, (positive.view(unsigned) | sign).view(dtype)])


def operands_of(loop):
    found = combinations([special_values(dtype) for dtype in loop.dtypes])
    if found[0].size <= MOST:
        return found
    chosen = np.random.default_rng(0).permutation(found[0].size)[:MOST]
    return tuple(side[chosen] for side in found)


def bits(values):
    return values.view(f"u{values.dtype.itemsize}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("run", RUNNERS.values(), ids=RUNNERS)
@pytest.mark.parametrize("loop", OF_FLOATS, ids=str)
def test_special_values_have_the_bits_of_numpy(loop, run):
    operands = operands_of(loop)
    with np.errstate(all="ignore"):
        expected = np.asarray(loop.row.numpy(*operands, **loop.params))
    result, _ = run(
        element_kernel(loop.row, loop.dtypes, loop.result, loop.params), operands, loop.result
    )
    differs = bits(result) != bits(expected)
    if loop.row.differs and loop.result.kind == "f":
        differs &= ~may_differ(loop, operands, expected)
    where = np.flatnonzero(differs)[:5]
    cases = [([hex(bits(o)[i]) for o in operands], hex(bits(result)[i])) for i in where]
    assert cases == []


DIVISIONS = [
    loop
    for loop in OF_FLOATS
    if loop.row.name in ("remainder", "floor_divide", "fmod") and loop.dtypes[0] == loop.result
]


@pytest.mark.parametrize("run", RUNNERS.values(), ids=RUNNERS)
@pytest.mark.parametrize("loop", DIVISIONS, ids=str)
def test_known_divisors_give_the_bits_of_numpy(loop, run):
    """A constant is no operand to a kernel; natively for a few, since each is a kernel."""
    a = special_values(loop.result)
    a = np.concatenate([a, np.random.default_rng(2).normal(0, 1e3, 50).astype(loop.result)])
    divisors = a[: special_values(loop.result).size]
    divisors = divisors[~np.isnan(divisors)]
    for divisor in divisors if run is by_interpreter else np.array([-0.1, 1.0], loop.result):
        b = np.full_like(a, divisor)
        with np.errstate(all="ignore"):
            expected = loop.row.numpy(a, b, **loop.params)
        literals = [(1, float(divisor))]
        kernel = element_kernel(loop.row, loop.dtypes, loop.result, loop.params, literals=literals)
        result, _ = run(kernel, (a, b), loop.result)
        differs = np.flatnonzero(bits(result) != bits(expected))
        assert [(divisor, a[i], result[i]) for i in differs] == []


def may_differ(loop, operands, expected):
    """Where the row's documentation says so."""
    if loop.row.name == "remainder":
        return np.isnan(operands[0]) & np.isnan(operands[1])
    if loop.row.name == "fma":
        return np.isnan(expected)
    assert loop.row.name in ("fmax", "fmin"), "what differs is said here too"
    return (operands[0] == 0) & (operands[1] == 0) & (expected == 0)


def test_what_differs_does_differ():
    """An exception that NumPy no longer makes would hide the next mistake."""
    (loop,) = (p for p in OF_FLOATS if p.row.name == "remainder" and p.result == np.float64)
    operands = operands_of(loop)
    with np.errstate(all="ignore"):
        expected = loop.row.numpy(*operands)
    result, _ = by_machine(
        element_kernel(loop.row, loop.dtypes, loop.result, {}), operands, loop.result
    )
    assert (bits(result) != bits(expected)).any()
    assert (np.isnan(result) == np.isnan(expected)).all()
