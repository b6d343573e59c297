"""Arithmetic of 64-bit integers, which doubles do not hold: exact fractions, element by element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

_EXACT: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}


_SMALL: Mapping[str, int] = {"add": 2**61, "subtract": 2**61, "multiply": 2**31}
"""Whole numbers below which 64 bits hold what a row gives."""


def compute(row: str, dtype: np.dtype, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A row of two arrays, at least one of them of a 64-bit class, as that class."""
    limits = np.iinfo(dtype)
    if row in _SMALL and all(_is_small(operand, _SMALL[row]) for operand in (a, b)):
        exact = getattr(np, row)(a.astype(np.int64), b.astype(np.int64))
        return np.asarray(np.maximum(exact, max(limits.min, -(2**63))), dtype)
    pairs = np.broadcast(a.astype(object), b.astype(object))
    made = [_element(row, x, y, limits) for x, y in pairs]
    return np.array(made, dtype).reshape(pairs.shape)


def _is_small(operand: np.ndarray, bound: int) -> bool:
    whole = operand.dtype.kind in "iub" or bool(np.all(operand == np.trunc(operand)))
    return whole and bool(np.all((operand < bound) & (operand > -bound)))


def _element(row: str, x: float, y: float, limits: np.iinfo) -> int:
    """One result of 64-bit arithmetic, rounded half away from zero and saturated."""
    if row == "power":
        made = _power(x, y)
    elif math.isfinite(x) and math.isfinite(y) and not (row == "divide" and y == 0):
        made = _EXACT[row](Fraction(x), Fraction(y))
    else:
        made = _limit(row, x, y)
    if isinstance(made, float):
        return 0 if math.isnan(made) else limits.max if made > 0 else limits.min
    whole = math.floor(abs(made) + Fraction(1, 2))
    return min(max(whole if made >= 0 else -whole, limits.min), limits.max)


def _power(x: float, y: float) -> Fraction | float:
    """A power, exact where both are whole; one that no class holds is infinite."""
    if math.isfinite(x) and math.isfinite(y) and x == int(x) and y == int(y) and y >= 0:
        base, exponent = int(x), int(y)
        if abs(base) > 1 and exponent > 64:
            return math.inf if base > 0 or exponent % 2 == 0 else -math.inf
        return Fraction(base) ** exponent
    return _limit("power", x, y)


def _limit(row: str, x: float, y: float) -> Fraction | float:
    """What doubles give: of infinities, NaN, divisions by zero and roots."""
    with np.errstate(all="ignore"):
        made = float(getattr(np, row)(np.float64(x), np.float64(y)))
    return Fraction(made) if math.isfinite(made) else made
