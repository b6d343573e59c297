"""Integrals over intervals, rectangles and boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matlab_frontend.builtins.options import words_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import HANDLES, Value
from matlab_frontend.values.read import number_of

_TOLERANCES = {"epsabs": 1e-10, "epsrel": 1e-6}


def _at(call: Call, function: Value, *places: float) -> float:
    return number_of(call.engine, call.interpreter.call_one(function, *map(float, places)))


def _limit(call: Call, value: Value) -> Any:
    """A number, or a function of the places outside."""
    if isinstance(value, HANDLES):
        return lambda *places: _at(call, value, *places)
    return number_of(call.engine, value)


def _check(name: str, options: Sequence[Value]) -> None:
    if len(options) % 2:
        raise MatlabError(f"MATLAB:{name}:options", "An option needs a value after its name.")
    words_of(name, options[::2], ("abstol", "reltol"))


@builtin("integral2")
def integral2(call: Call, function: Value, *rest: Value) -> Value:
    """The integral of f(x, y) from xmin to xmax and from ymin to ymax, which may depend on x."""
    return _nested(call, "integral2", function, rest, 2)


@builtin("integral3")
def integral3(call: Call, function: Value, *rest: Value) -> Value:
    """The integral of f(x, y, z) over a box whose inner limits may depend on x, and on x and y."""
    return _nested(call, "integral3", function, rest, 3)


@builtin("dblquad")
def dblquad(
    call: Call,
    function: Value,
    *rest: Value,
) -> Value:
    """The integral of f(x, y) over a rectangle; a tolerance changes nothing."""
    if len(rest) not in (4, 5):
        raise MatlabError("MATLAB:minrhs", "Arguments: a function, four limits, and a tolerance.")
    return _nested(call, "dblquad", function, rest[:4], 2)


def _nested(call: Call, name: str, function: Value, rest: Sequence[Value], count: int) -> Value:
    from scipy.integrate import nquad  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    if len(rest) < 2 * count:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    _check(name, rest[2 * count :])
    limits = [_limit(call, each) for each in rest[: 2 * count]]
    if callable(limits[0]) or callable(limits[1]):
        raise MatlabError(f"MATLAB:{name}:limits", "The outermost limits are numbers.")
    ranges = [_range(limits[2 * k], limits[2 * k + 1]) for k in range(count)]

    def at(*places: float) -> float:
        return _at(call, function, *places[::-1])

    options = [{**_TOLERANCES, "limit": 200}] * count
    return float(nquad(at, ranges[::-1], opts=options)[0])


def _range(low: Any, high: Any) -> Callable[..., tuple[float, float]]:
    """Limits as functions of the places outside, of which the outermost comes first."""

    def limits(*places: float) -> tuple[float, float]:
        outside = places[::-1]
        return (
            low(*outside) if callable(low) else low,
            high(*outside) if callable(high) else high,
        )

    return limits


def _single(name: str, doc: str, *, named: bool) -> Builtin:
    """An integral over an interval, with a tolerance or with named ones."""

    def function(call: Call, integrand: Value, low: Value, high: Value, *rest: Value) -> Value:
        from scipy.integrate import quad  # noqa: PLC0415  (likewise)

        if named:
            _check(name, rest)
        elif len(rest) > 1:
            raise MatlabError(
                f"MATLAB:{name}:arguments", "A tolerance alone may follow the limits."
            )
        ends = number_of(call.engine, low), number_of(call.engine, high)
        found = quad(lambda x: _at(call, integrand, x), *ends, limit=650, **_TOLERANCES)
        return float(found[0])

    return Builtin(name, function, 3, None, doc)


GENERATED = (
    _single("quad", "The integral of a function between two limits.", named=False),
    _single("quadl", "The integral of a function between two limits.", named=False),
    _single("quadgk", "The integral of a function between limits, also infinite ones.", named=True),
)
