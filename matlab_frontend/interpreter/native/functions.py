"""Functions of real scalars as loops that run natively compute them.

Each is plain Python of floats and truth values that a kernel is made of. Their values are those of
the builtins; where only a builtin can tell, a demand is not met, and the loop is interpreted.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from runmat_jit.loops.demands import demand, natural, position, whole


def divide(x: float, y: float) -> float:
    return float(np.divide(x, y))


def square(x: float) -> float:
    return x * x


def power(x: float, y: float) -> float:
    return x**y


def magnitude(x: float) -> float:
    return abs(x)


def floor(x: float) -> float:
    return float(np.floor(x))


def ceil(x: float) -> float:
    return float(np.ceil(x))


def fix(x: float) -> float:
    return float(np.trunc(x))


def half_away(x: float) -> float:
    cut = float(np.trunc(x))
    away = cut + float(np.copysign(1.0, x))
    return float(np.copysign(away if abs(x - cut) >= 0.5 else cut, x))


def root(x: float) -> float:
    return math.sqrt(x)


def modulo(x: float, y: float) -> float:
    return demand(y != 0.0 and abs(x) < 4503599627370496.0 and y == np.floor(y), x % y)


def remainder(x: float, y: float) -> float:
    return demand(y != 0.0 and abs(x) < 4503599627370496.0 and y == np.floor(y), math.fmod(x, y))


def modulo_of_whole(x: int, y: int) -> float:
    # A whole number has no sign where it is zero; the remainder has the divisor's.
    return float(np.copysign(float(x % demand(y != 0, y)), float(y)))


def greater(x: float, y: float) -> float:
    return x if x > y else demand(y >= x, y)


def smaller(x: float, y: float) -> float:
    return x if x < y else demand(y <= x, y)


def sign(x: float) -> float:
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else demand(x == x, x))  # noqa: PLR0124  (NaN)


def is_nan(x: float) -> bool:
    return bool(x != x)  # noqa: PLR0124  (NaN)


def is_infinite(x: float) -> bool:
    return math.isinf(x)


def is_finite(x: float) -> bool:
    return math.isfinite(x)


def sine(x: float) -> float:
    return float(np.sin(x))


def cosine(x: float) -> float:
    return float(np.cos(x))


def tangent(x: float) -> float:
    return float(np.tan(x))


def arc_tangent(x: float) -> float:
    return float(np.arctan(x))


def arc_tangent_of_two(y: float, x: float) -> float:
    return math.atan2(y, x)


def hyperbolic_tangent(x: float) -> float:
    return float(np.tanh(x))


def exponential(x: float) -> float:
    return float(np.exp(x))


def logarithm(x: float) -> float:
    return float(np.log(demand(x > 0.0, x)))


def common_logarithm(x: float) -> float:
    return float(np.log10(demand(x > 0.0, x)))


def bits_in_both(x: float, y: float) -> float:
    return float(natural(whole(x)) & natural(whole(y)))


def bits_in_one(x: float, y: float) -> float:
    return float(natural(whole(x)) | natural(whole(y)))


def bits_that_differ(x: float, y: float) -> float:
    return float(natural(whole(x)) ^ natural(whole(y)))


def shifted(x: float, by: float) -> float:
    moved = float(natural(whole(x))) * 2.0 ** demand(abs(by) <= 64.0, whole(by))
    return demand(moved < 4503599627370496.0, float(np.floor(moved)))


def is_true(x: float) -> bool:
    return demand(x == x, bool(x != 0.0))  # noqa: PLR0124  (NaN)


def saturated(x: float, low: float, high: float) -> float:
    """The nearest whole number from ``low`` to ``high``, halves away from zero; NaN is 0."""
    cut = float(np.trunc(x))
    away = cut + float(np.copysign(1.0, x))
    nearest = away if abs(x - cut) >= 0.5 else cut
    bound = low if nearest < low else high
    within = nearest if low <= nearest and nearest <= high else bound  # noqa: PLR1716  (one by one)
    return within + 0.0 if x == x else 0.0  # noqa: PLR0124  (NaN)


def greatest(x: np.ndarray) -> float:
    """The first of the greatest elements of a vector: of zeros, too."""
    found = float(np.amax(x))
    if found == 0.0:
        return float(x[np.argmax(x)])
    return demand(found == found, found)  # noqa: PLR0124  (NaN)


def least(x: np.ndarray) -> float:
    """The first of the least elements of a vector: of zeros, too."""
    found = float(np.amin(x))
    if found == 0.0:
        return float(x[np.argmin(x)])
    return demand(found == found, found)  # noqa: PLR0124  (NaN)


def greatest_of_all(x: np.ndarray) -> float:
    """The greatest element of a matrix: none of NaN, and no zero where some are of either sign."""
    found = float(np.amax(np.amax(x, 1)))
    if found == 0.0:
        return demand(not np.any((x == 0.0) & (np.copysign(1.0, x) < 0.0)), found)
    return demand(found == found, found)  # noqa: PLR0124  (NaN)


def greatest_along(x: np.ndarray, axis: int) -> np.ndarray:
    """The same of each column or row of a matrix: along an axis of the array."""
    found = np.amax(x, axis)
    total = np.sum(found)
    if np.any(found == 0.0):
        total = demand(not np.any((x == 0.0) & (np.copysign(1.0, x) < 0.0)), total)
    return found if demand(total == total, True) else found  # noqa: PLR0124, RUF034  (NaN)


def least_of_all(x: np.ndarray) -> float:
    """The least element of a matrix: none of NaN, and no zero where some are of either sign."""
    found = float(np.amin(np.amin(x, 1)))
    if found == 0.0:
        return demand(not np.any((x == 0.0) & (np.copysign(1.0, x) < 0.0)), found)
    return demand(found == found, found)  # noqa: PLR0124  (NaN)


def least_along(x: np.ndarray, axis: int) -> np.ndarray:
    """The same of each column or row of a matrix: along an axis of the array."""
    found = np.amin(x, axis)
    total = np.sum(found)
    if np.any(found == 0.0):
        total = demand(not np.any((x == 0.0) & (np.copysign(1.0, x) < 0.0)), total)
    return found if demand(total == total, True) else found  # noqa: PLR0124, RUF034  (NaN)


def root_of_squares(x: float) -> float:
    """The root of a sum of squares, of which none has become too small or too large."""
    return math.sqrt(demand(x > 1e-280 and x < 1e300, x))


def to_single(x: float) -> float:
    """The nearest number of the class ``single``."""
    return float(np.float32(x))


def number_of(x: float, low: float, high: float) -> float:
    """A double that is a number of a class of integers."""
    return demand(low <= x and x <= high and x == np.floor(x), x)  # noqa: PLR1716  (one by one)


def quotient(x: float, y: float) -> float:
    return float(np.trunc(x / demand(y != 0.0, y)))


def shifted_within(x: float, by: float, limit: float) -> float:
    """``bitshift`` of a whole number below ``limit``, a power of 2: what goes beyond is lost."""
    moved = float(np.floor(x * 2.0 ** demand(abs(by) <= 64.0 and x >= 0.0, whole(by))))
    beyond = float(np.floor(moved / limit)) * limit
    return demand(moved < 4503599627370496.0, moved - beyond)


def up_to(high: int, low: int, limit: int) -> float:
    """``(bits * limit >> 64) + 1``, of 64 bits in two halves."""
    within = demand(0 < limit < 2147483648, limit)
    return float((high * within + (low * within >> 32) >> 32) + 1)


class Known(NamedTuple):
    """A builtin: the function that computes it, and whether its value is a truth value."""

    function: Callable[..., Any]
    logical: bool = False


FUNCTIONS: Final[Mapping[tuple[str, int], Known]] = {
    ("abs", 1): Known(magnitude),
    ("floor", 1): Known(floor),
    ("ceil", 1): Known(ceil),
    ("fix", 1): Known(fix),
    ("round", 1): Known(half_away),
    ("sqrt", 1): Known(root),
    ("mod", 2): Known(modulo),
    ("rem", 2): Known(remainder),
    ("max", 2): Known(greater),
    ("min", 2): Known(smaller),
    ("sign", 1): Known(sign),
    ("isnan", 1): Known(is_nan, logical=True),
    ("isinf", 1): Known(is_infinite, logical=True),
    ("isfinite", 1): Known(is_finite, logical=True),
    ("sin", 1): Known(sine),
    ("cos", 1): Known(cosine),
    ("tan", 1): Known(tangent),
    ("atan", 1): Known(arc_tangent),
    ("atan2", 2): Known(arc_tangent_of_two),
    ("tanh", 1): Known(hyperbolic_tangent),
    ("exp", 1): Known(exponential),
    ("log", 1): Known(logarithm),
    ("log10", 1): Known(common_logarithm),
    ("bitand", 2): Known(bits_in_both),
    ("bitor", 2): Known(bits_in_one),
    ("bitxor", 2): Known(bits_that_differ),
    ("bitshift", 2): Known(shifted),
    ("logical", 1): Known(is_true, logical=True),
}
"""By name and number of arguments."""
DRAWS: Final[Mapping[str, str]] = {"rand": "uniform", "randn": "normal"}
"""Builtins that draw a random number, and their names among the draws of a session."""
CONSTANTS: Final[Mapping[str, float | bool]] = {
    "pi": math.pi,
    "eps": float(np.finfo(float).eps),
    **dict.fromkeys(("Inf", "inf"), math.inf),
    **dict.fromkeys(("NaN", "nan"), math.nan),
    "true": True,
    "false": False,
}
"""Builtins without arguments."""
BASIC: Final[Mapping[str, Any]] = {
    "bool": bool,
    "float": float,
    "len": len,
    "range": range,
    "natural": natural,
    "position": position,
    "whole": whole,
    "demand": demand,
}
"""What translated loops may name beside functions."""
