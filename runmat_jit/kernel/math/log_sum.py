"""Logarithms of sums of exponentials.

As NumPy defines them: the larger operand, and what the other one adds to it. Where both terms
nearly cancel, their errors remain: what is small is the error in units of the larger term.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import LOG2_E
from runmat_jit.kernel.math.double_word import Pair, two_sum
from runmat_jit.kernel.math.exponential import exp2_of_difference, exp_of_difference
from runmat_jit.kernel.math.formats import not_
from runmat_jit.kernel.math.logarithm import log1p_of_fraction, log2_1p_of_fraction

# Below, the square of the argument is less than a quarter of its last place.
_TINY = {"f32": 2.0**-25, "f64": 2.0**-54}

# From here on, powers are 0.
_VANISHING = -2000.0

Power = Callable[[Builder, Value, Value], Pair]
Logarithm = Callable[[Builder, Value, Value], Value]
Slope = tuple[float, ...] | None


def logaddexp(k: Builder, x: Value, y: Value) -> Value:
    """``log(e**x + e**y)``."""
    return _log_sum(k, (x, y), exp_of_difference, log1p_of_fraction, None)


def logaddexp2(k: Builder, x: Value, y: Value) -> Value:
    """``log2(2**x + 2**y)``."""
    return _log_sum(k, (x, y), exp2_of_difference, log2_1p_of_fraction, LOG2_E[x.type])


def _log_sum(k: Builder, operands: Pair, power: Power, logarithm: Logarithm, slope: Slope) -> Value:
    """``M + log(1 + t)`` with the larger operand ``M``, and ``t`` of twice the digits.

    ``slope`` is that of the logarithm at 1, in two parts; None: it is 1.
    """
    x, y = operands
    first = x > y
    larger, smaller = k.select(first, x, y), k.select(first, y, x)
    difference, lost = two_sum(smaller, -larger)
    lost = k.select(difference > _VANISHING, lost, 0.0)
    difference = k.select(k.eq(x, y), 0.0, difference)  # of infinities NaN
    t, low = power(k, difference, lost)
    tiny = t < _TINY[x.type]
    added = logarithm(k, k.select(tiny, 0.0, t), k.select(tiny, 0.0, low))
    if slope is not None:
        high, rest = slope
        t = k.fma(t, high, k.fma(low, high, t * rest))
    return larger + k.select(tiny, t, added)


def log_sum_reports(k: Builder, operands: tuple[Value, ...], _result: Value) -> Value:
    """True if NumPy reports an event: it subtracts finite operands, and compares a NaN."""
    x, y = operands
    unusual = not_(k, k.prim("abs", x - y) < math.inf)
    infinite = k.eq(k.prim("abs", x), math.inf) | k.eq(k.prim("abs", y), math.inf)
    return unusual & (k.prim("isnan", x) | k.prim("isnan", y) | not_(k, infinite))
