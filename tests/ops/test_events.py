"""The law of floating-point events over all rows. Oracle: what NumPy reports, value by value."""

import numpy as np
import pytest

from runmat_jit.ops.table import ROWS
from tests.ops.kernels import by_interpreter, element_kernel
from tests.ops.loops import LOOPS
from tests.ops.operands import specials

pytestmark = pytest.mark.sampled(3)

REPORTS = {
    "divide by zero": "divide",
    "overflow": "overflow",
    "underflow": "underflow",
    "invalid value": "invalid",
}
VECTOR = 17
"""Long enough for a vector and a rest: NumPy's loops may report more than their scalar code."""


def reported(function, *args, **kwargs):
    """The result and the events that NumPy reports for it."""
    seen = set()
    with np.errstate(all="call", call=lambda phrase, _: seen.add(REPORTS[phrase])):
        result = function(*args, **kwargs)
    return result, seen


@pytest.mark.parametrize("loop", LOOPS, ids=str)
def test_whatever_numpy_reports_is_declared_and_noticed(loop):
    row = loop.row
    operands = loop.special_operands()
    kernel = element_kernel(row, loop.dtypes, loop.result, loop.params)
    result, fired = by_interpreter(kernel, operands, loop.result)
    noticed = fired | ~np.isfinite(result)
    for operand, absorbs in zip(operands, row.absorbs, strict=True):
        if absorbs:
            noticed |= ~np.isfinite(operand)
    exact = noted_exactly(loop, operands, result, fired)
    known = {(): {frozenset()}}
    for index, silent in enumerate(~noticed):
        values = [np.full(VECTOR, operand[index]) for operand in operands]
        _, events = reported(row.numpy, *values, **loop.params)
        assert events <= row.events, f"{[v[0] for v in values]} gives {events}"
        events -= {"underflow"}
        if silent:
            assert not events, f"{[v[0] for v in values]} gives {events} unseen"
        if exact[index] is not None:
            same = known.setdefault(exact[index], {frozenset(events)})
            assert events in same, f"{[v[0] for v in values]} gives {events}, others {same}"


def noted_exactly(loop, operands, result, fired):
    """What the bits of an operation tell, for each element; None: NumPy is asked."""
    row = loop.row
    used = operands[:1] if loop.params.get("exponent") is not None else operands
    highest = np.zeros(result.shape, np.int64)
    hidden = np.zeros(result.shape, bool)
    for number, operand in enumerate(used):
        highest = np.maximum(highest, kind_of(operand))
        hidden |= (number in row.strict) & (kind_of(operand) == INFINITE)
    rises = kind_of(result) > highest
    divides = operands[row.divisor] == 0 if row.divisor is not None else np.zeros_like(rises)
    found = []
    for index, rise in enumerate(rises):
        told = [
            name
            for name, here in (("nan", np.isnan(result[index])), ("pole", divides[index]))
            if rise and here
        ]
        told += ["infinite"] if rise and not told else []
        told += ["pole" if divides[index] else "test"] if fired[index] else []
        asks = fired[index] and result.dtype.kind == "f"  # such tests have no bits
        found.append(None if hidden[index] or asks else tuple(told))
    return found


INFINITE, NAN = 1, 2


def kind_of(values):
    if values.dtype.kind != "f":
        return np.zeros(values.shape, np.int64)
    return np.where(np.isnan(values), NAN, np.where(np.isinf(values), INFINITE, 0))


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 88.72284), ("float64", 709.782712893384)])
def test_exponentials_overflow_where_numpys_do(dtype, limit):
    first = np.array(limit, dtype)
    steps = np.arange(-300, 300).astype(f"i{first.itemsize}")
    x = (first.view(steps.dtype) + steps).view(dtype)
    kernel = element_kernel(ROWS["exp"], (x.dtype,), x.dtype, {})
    result, _ = by_interpreter(kernel, (x,), x.dtype)
    with np.errstate(over="ignore"):
        expected = np.isinf(np.exp(x))
    assert 0 < expected.sum() < x.size
    assert (np.isinf(result) == expected).all()


@pytest.mark.parametrize("loop", LOOPS, ids=str)
def test_an_operand_that_is_not_absorbed_stays_visible(loop):
    operands = loop.special_operands()
    with np.errstate(all="ignore"):
        result = loop.row.numpy(*operands, **loop.params)
    for operand, absorbs in zip(operands, loop.row.absorbs, strict=True):
        if not absorbs:
            assert not np.isfinite(result[~np.isfinite(operand)]).any()


REDUCTIONS = [row.name for row in ROWS.values() if row.kind == "reduce" and row.name != "prod"]
"""Those of floats."""


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_a_reduction_reports_is_declared_and_noticed(name, dtype):
    row, values = ROWS[name], specials(dtype)
    expected = row.events | (ROWS["sum"].events if name == "mean" else set())
    for left in values:
        for right in values:
            operands = [np.array([left, right])]
            if row.arity == 2:
                with np.errstate(all="ignore"):
                    operands.append(operands[0].mean(keepdims=True))
            result, events = reported(row.numpy, *operands, axis=0, keepdims=False)
            assert events <= expected
            finite = np.isfinite([left, right]).all()
            if not row.absorbs[0] and not finite:
                assert not np.isfinite(result)
            if np.isfinite(result) and (finite or not row.absorbs[0]):
                assert events <= {"underflow"}
