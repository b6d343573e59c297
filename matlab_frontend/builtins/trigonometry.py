"""Functions of angles beyond the rows of the op table: degrees, secants, and their inverses."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from matlab_frontend.builtins.elementwise import FUNCTIONS, apply_function, floating
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import ARITHMETIC, arithmetic
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import wrap

_BY_NAME = {function.name: function for function in FUNCTIONS}


def _function(call: Call, name: str, x: Value) -> Value:
    return apply_function(call, _BY_NAME[name], x)


def _inverted(call: Call, x: Value) -> Value:
    return arithmetic(call.engine, ARITHMETIC["./"], 1.0, x)


def _reciprocal(name: str, of: str, doc: str) -> Builtin:
    """``sec`` is one over ``cos``."""

    def run(call: Call, x: Value) -> Value:
        floating(call.engine, name, x)
        return _inverted(call, _function(call, of, x))

    return Builtin(name, run, 1, 1, doc)


def _inverse_of_reciprocal(name: str, of: str, doc: str) -> Builtin:
    """``asec(x)`` is ``acos(1 / x)``."""

    def run(call: Call, x: Value) -> Value:
        floating(call.engine, name, x)
        return _function(call, of, _inverted(call, x))

    return Builtin(name, run, 1, 1, doc)


def _exact_sine(degrees: np.ndarray) -> np.ndarray:
    """Sines of degrees, exact at multiples of 30."""
    turns = np.remainder(degrees, 360.0)
    folded = np.where(turns > 180.0, turns - 180.0, turns)
    folded = np.where(folded > 90.0, 180.0 - folded, folded)
    made = np.where(folded <= 45.0, np.sin(np.deg2rad(folded)), np.cos(np.deg2rad(90.0 - folded)))
    made = np.where(folded == 30.0, 0.5, made)
    return np.where((turns > 180.0) & (made != 0), -made, made)


def _exact_cosine(degrees: np.ndarray) -> np.ndarray:
    return _exact_sine(np.remainder(degrees, 360.0) + 90.0)


def _exact_tangent(degrees: np.ndarray) -> np.ndarray:
    turns = np.remainder(degrees, 180.0)
    made = _exact_sine(degrees) / _exact_cosine(degrees)
    made = np.where(turns == 45.0, 1.0, np.where(turns == 135.0, -1.0, made))
    sign = np.where(np.remainder(degrees, 360.0) == 90.0, np.inf, -np.inf)
    return np.where(turns == 90.0, sign, made)


def _of_degrees(name: str, function: Callable[[np.ndarray], np.ndarray], doc: str) -> Builtin:
    def run(call: Call, x: Value) -> Value:
        array = floating(call.engine, name, x)
        if array.data.dtype.kind == "c":
            raise MatlabError(f"MATLAB:{name}:complex", "Degrees must be real.")
        made = call.engine.host(lambda d: function(d.astype(float)).astype(d.dtype), array.data)
        return wrap(array.kind, made)

    return Builtin(name, run, 1, 1, doc)


def _to_degrees(name: str, of: str, doc: str) -> Builtin:
    def run(call: Call, x: Value) -> Value:
        return arithmetic(call.engine, ARITHMETIC[".*"], _function(call, of, x), 180.0 / math.pi)

    return Builtin(name, run, 1, 1, doc)


@builtin("deg2rad")
def deg2rad(call: Call, x: Value) -> Value:
    """Radians from degrees."""
    array = floating(call.engine, "deg2rad", x)
    return wrap(array.kind, call.engine.apply("multiply", array.data, math.pi / 180))


@builtin("rad2deg")
def rad2deg(call: Call, x: Value) -> Value:
    """Degrees from radians."""
    array = floating(call.engine, "rad2deg", x)
    return wrap(array.kind, call.engine.apply("multiply", array.data, 180 / math.pi))


GENERATED = (
    _reciprocal("sec", "cos", "Secant of radians."),
    _reciprocal("csc", "sin", "Cosecant of radians."),
    _reciprocal("cot", "tan", "Cotangent of radians."),
    _reciprocal("sech", "cosh", "Hyperbolic secant."),
    _reciprocal("csch", "sinh", "Hyperbolic cosecant."),
    _reciprocal("coth", "tanh", "Hyperbolic cotangent."),
    _inverse_of_reciprocal("asec", "acos", "Inverse secant in radians."),
    _inverse_of_reciprocal("acsc", "asin", "Inverse cosecant in radians."),
    _inverse_of_reciprocal("acot", "atan", "Inverse cotangent in radians."),
    _inverse_of_reciprocal("asech", "acosh", "Inverse hyperbolic secant."),
    _inverse_of_reciprocal("acsch", "asinh", "Inverse hyperbolic cosecant."),
    _inverse_of_reciprocal("acoth", "atanh", "Inverse hyperbolic cotangent."),
    _of_degrees("sind", _exact_sine, "Sine of degrees."),
    _of_degrees("cosd", _exact_cosine, "Cosine of degrees."),
    _of_degrees("tand", _exact_tangent, "Tangent of degrees."),
    _to_degrees("asind", "asin", "Inverse sine in degrees."),
    _to_degrees("acosd", "acos", "Inverse cosine in degrees."),
    _to_degrees("atand", "atan", "Inverse tangent in degrees."),
)
