"""Builtins of real scalars, computed without arrays; None where the builtin itself must decide.

The values are those of the builtins: exact operations are Python's, all others NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from matlab_frontend.values.array import Value

_EXACT = 2.0**52
"""Doubles below have fractions, and are Python integers' equals when they have none."""


def _rounding(function: Callable[[float], int]) -> Callable[[float], Value | None]:
    def run(x: float) -> Value | None:
        if not -_EXACT < x < _EXACT:
            return None
        made = float(function(x))
        return made or math.copysign(0.0, x)

    return run


def _half_away(x: float) -> int:
    whole = math.trunc(x)
    if abs(x - whole) < 0.5:
        return whole
    return whole + 1 if x > 0 else whole - 1


def _numpy(function: np.ufunc) -> Callable[[float], Value | None]:
    return lambda x: float(function(x))


def _numpy_of_two(function: np.ufunc) -> Callable[[float, float], Value | None]:
    return lambda x, y: float(function(x, y))


def _positive(function: np.ufunc) -> Callable[[float], Value | None]:
    return lambda x: float(function(x)) if x > 0 else None


def _sqrt(x: float) -> Value | None:
    return math.sqrt(x) if x >= 0 else None


def _mod(x: float, y: float) -> Value | None:
    return x % y if y and -_EXACT < x < _EXACT and y.is_integer() else None


def _rem(x: float, y: float) -> Value | None:
    return math.fmod(x, y) if y and -_EXACT < x < _EXACT and y.is_integer() else None


def _max(x: float, y: float) -> Value | None:
    return x if x > y else y if y >= x else None


def _min(x: float, y: float) -> Value | None:
    return x if x < y else y if y <= x else None


def _sign(x: float) -> Value | None:
    return 1.0 if x > 0 else -1.0 if x < 0 else None


def _value(value: Value) -> Callable[[], Value | None]:
    return lambda: value


SCALARS: Mapping[tuple[str, int], Callable[..., Value | None]] = {
    ("abs", 1): abs,
    ("floor", 1): _rounding(math.floor),
    ("ceil", 1): _rounding(math.ceil),
    ("fix", 1): _rounding(math.trunc),
    ("round", 1): _rounding(_half_away),
    ("sqrt", 1): _sqrt,
    ("mod", 2): _mod,
    ("rem", 2): _rem,
    ("max", 2): _max,
    ("min", 2): _min,
    ("sign", 1): _sign,
    ("isnan", 1): math.isnan,
    ("isinf", 1): math.isinf,
    ("isfinite", 1): math.isfinite,
    ("atan", 1): _numpy(np.arctan),
    ("atan2", 2): _numpy_of_two(np.arctan2),
    ("hypot", 2): _numpy_of_two(np.hypot),
    ("log", 1): _positive(np.log),
    ("log10", 1): _positive(np.log10),
    **{(name, 1): _numpy(getattr(np, name)) for name in ("sin", "cos", "tan", "exp", "tanh")},
    ("pi", 0): _value(math.pi),
    ("eps", 0): _value(float(np.finfo(float).eps)),
    **{(name, 0): _value(math.inf) for name in ("Inf", "inf")},
    **{(name, 0): _value(math.nan) for name in ("NaN", "nan")},
    ("true", 0): _value(True),
    ("false", 0): _value(False),
    ("numel", 1): lambda _: 1.0,
    ("length", 1): lambda _: 1.0,
    ("isempty", 1): lambda _: False,
    ("double", 1): lambda x: x,
}
"""By name and number of arguments."""
