"""Functions of real scalars for code that Python runs: those of :mod:`.functions`, made for it.

Their values are the interpreter's, to the bit. Where only a builtin can tell, they raise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import numpy as np

from matlab_frontend.interpreter.native import functions
from runmat_jit.loops.demands import NotMetError

_EXACT: Final = 2.0**52
"""Doubles below have fractions, and are Python integers' equals when they have none."""


def leave() -> NoReturn:
    """Let the interpreter compute what runs.

    Raises:
        NotMetError: always.

    """
    raise NotMetError


def divide(x: float, y: float) -> float:
    return x / y if y else float(np.divide(x, y))


def power(x: float, y: float) -> float:
    if y == 2.0:
        return x * x
    if x > 0.0 or (x == 0.0 and y >= 0.0) or (x < 0.0 and y.is_integer()):
        return float(x**y)
    leave()


def modulo(x: float, y: float) -> float:
    if y and -_EXACT < x < _EXACT and y.is_integer():
        return x % y
    leave()


def remainder(x: float, y: float) -> float:
    if y and -_EXACT < x < _EXACT and y.is_integer():
        return math.fmod(x, y)
    leave()


def greater(x: float, y: float) -> float:
    if x > y:
        return x
    if y >= x:
        return y
    leave()


def smaller(x: float, y: float) -> float:
    if x < y:
        return x
    if y <= x:
        return y
    leave()


def arc_tangent_of_two(y: float, x: float) -> float:
    return float(np.arctan2(y, x))


def _rounding(function: Callable[[float], int]) -> Callable[[float], float]:
    def rounded(x: float) -> float:
        if -_EXACT < x < _EXACT:
            return float(function(x)) or math.copysign(0.0, x)
        leave()

    return rounded


def _half_away(x: float) -> int:
    cut = math.trunc(x)
    if abs(x - cut) < 0.5:
        return cut
    return cut + 1 if x > 0.0 else cut - 1


def is_true(x: float) -> bool:
    if x != x:  # noqa: PLR0124  (NaN)
        leave()
    return x != 0.0


PLAIN: Final[Mapping[Callable[..., Any], Callable[..., Any]]] = {
    functions.divide: divide,
    functions.power: power,
    functions.magnitude: abs,
    functions.floor: _rounding(math.floor),
    functions.ceil: _rounding(math.ceil),
    functions.fix: _rounding(math.trunc),
    functions.half_away: _rounding(_half_away),
    functions.modulo: modulo,
    functions.remainder: remainder,
    functions.greater: greater,
    functions.smaller: smaller,
    functions.arc_tangent_of_two: arc_tangent_of_two,
    functions.is_true: is_true,
}
"""For functions of loops those that Python runs sooner, or that round as the interpreter's do; all
others are as they stand there."""
