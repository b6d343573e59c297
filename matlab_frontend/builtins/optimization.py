"""Zeros, minima and integrals of functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from matlab_frontend.builtins.options import words_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Struct, Value, count_of
from matlab_frontend.values.make import empty, struct, wrap
from matlab_frontend.values.read import array_of, known, number_of, struct_of, text_of


@builtin("fzero")
def fzero(
    call: Call, function: Value, start: Value, options: Value | None = None
) -> tuple[Value, ...]:
    """A zero of a function near a point or in an interval with a change of sign.

    The zero is as precise as numbers allow, whatever tolerance the options give; the outputs are
    the zero, the function there, and 1.
    """
    from scipy.optimize import brentq  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    def at(x: float) -> float:
        return number_of(call.engine, call.interpreter.call_one(function, float(x)))

    if count_of(start) == 2:
        a, b = (float(x) for x in known(call.engine, start).ravel())
    else:
        a, b = _bracket(at, number_of(call.engine, start))
    if at(a) * at(b) > 0:
        raise MatlabError(
            "MATLAB:fzero:ValuesAtEndPtsSameSign",
            "Function values at the interval endpoints must differ in sign.",
        )
    _setting(call, options, "TolX", 0.0)
    found = float(brentq(at, a, b, xtol=2.0**-52, rtol=4 * np.finfo(float).eps))
    return found, at(found), 1.0


def _bracket(at: Callable[[float], float], start: float) -> tuple[float, float]:
    """Ever wider intervals around a point until the function changes its sign."""
    step = abs(start) / 50 if start else 1 / 50
    for _ in range(200):
        a, b = start - step, start + step
        if at(a) * at(start) <= 0:
            return a, start
        if at(b) * at(start) <= 0:
            return start, b
        step *= 2**0.5
    return start, start


@builtin("fminsearch")
def fminsearch(
    call: Call, function: Value, start: Value, options: Value | None = None
) -> tuple[Value, ...]:
    """A minimum of a function by the simplex method of Nelder and Mead; the function there."""
    from scipy.optimize import minimize  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    shape = array_of(start).data.shape

    def at(x: np.ndarray) -> float:
        value = wrap("double", x.reshape(shape).copy())
        return number_of(call.engine, call.interpreter.call_one(function, value))

    found = minimize(
        at,
        call.engine.look(array_of(start).data).ravel(),
        method="Nelder-Mead",
        options={
            "xatol": _setting(call, options, "TolX", 1e-4),
            "fatol": _setting(call, options, "TolFun", 1e-4),
            "maxiter": int(_setting(call, options, "MaxIter", 200 * math.prod(shape))),
            "maxfev": int(_setting(call, options, "MaxFunEvals", 200 * math.prod(shape))),
        },
    )
    return wrap("double", found.x.reshape(shape)), float(found.fun), float(found.success)


@builtin("fsolve")
def fsolve(
    call: Call, function: Value, start: Value, options: Value | None = None
) -> tuple[Value, ...]:
    """A zero of a function of several numbers near a point; the function there, and 1 if found."""
    from scipy.optimize import root  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    shape = array_of(start).data.shape
    sizes: list[tuple[int, ...]] = []

    def at(x: np.ndarray) -> np.ndarray:
        value = wrap("double", x.reshape(shape).copy())
        made = call.engine.look(array_of(call.interpreter.call_one(function, value)).data)
        sizes[:] = [made.shape]
        return np.asarray(made, float).ravel()

    begin = np.asarray(call.engine.look(array_of(start).data), float).ravel()
    tolerance = _setting(call, options, "TolFun", 1e-6)
    square = at(begin).size == begin.size
    method = {"method": "hybr", "tol": min(tolerance, 1e-10)} if square else {"method": "lm"}
    found = root(at, begin, **method)
    values = at(found.x)
    flag = 1.0 if float(values @ values) <= np.sqrt(tolerance) * tolerance else -2.0
    return wrap("double", found.x.reshape(shape)), wrap("double", values.reshape(sizes[0])), flag


@builtin("fminbnd")
def fminbnd(
    call: Call, function: Value, low: Value, high: Value, options: Value | None = None
) -> tuple[Value, ...]:
    """A minimum of a function of one number between two limits; the function there."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    def at(x: float) -> float:
        return number_of(call.engine, call.interpreter.call_one(function, float(x)))

    found = minimize_scalar(
        at,
        bounds=(number_of(call.engine, low), number_of(call.engine, high)),
        method="bounded",
        options={"xatol": _setting(call, options, "TolX", 1e-4)},
    )
    return float(found.x), float(found.fun), float(found.success)


def _setting(call: Call, options: Value | None, name: str, default: float) -> float:
    """A number among options; a default one where it is not given or []."""
    if options is None or count_of(options) == 0:
        return default
    value = struct_of(options).data.item().get(name)
    return default if value is None or count_of(value) == 0 else number_of(call.engine, value)


_PARAMETERS = {
    name.lower(): name
    for name in (
        *("Algorithm", "Display", "FunValCheck", "Jacobian", "MaxFunEvals", "MaxIter"),
        *("OutputFcn", "PlotFcns", "TolCon", "TolFun", "TolX"),
    )
}


@builtin("optimset")
def optimset(_: Call, *arguments: Value) -> Value:
    """Options of searches by name; a struct of options before them is kept."""
    rest = list(arguments)
    held: dict[str, Value] = {}
    while rest and isinstance(rest[0], Struct):
        held.update(struct_of(rest.pop(0)).data.item())
    if len(rest) % 2:
        raise MatlabError("MATLAB:optimset:InvalidArgs", "Options are given by name and value.")
    held.update({_parameter(rest[k]): rest[k + 1] for k in range(0, len(rest), 2)})
    return struct(held)


def _parameter(name: Value) -> str:
    """The name of an option, as MATLAB writes it."""
    found = _PARAMETERS.get(text_of(name).lower())
    if found is None:
        message = f"Unrecognized parameter name '{text_of(name)}'."
        raise MatlabError("MATLAB:optimset:InvalidParamName", message)
    return found


@builtin("optimget")
def optimget(_: Call, options: Value, name: Value, default: Value | None = None) -> Value:
    """An option, or a default value where it is not given."""
    held: Value = struct_of(options).data.item().get(_parameter(name), empty())
    return default if default is not None and count_of(held) == 0 else held


@builtin("integral")
def integral(call: Call, function: Value, low: Value, high: Value, *options: Value) -> Value:
    """The integral of a function of arrays between two limits."""
    from scipy.integrate import quad  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    if len(options) % 2:
        raise MatlabError("MATLAB:integral:options", "An option needs a value after its name.")
    words_of("integral", options[::2], ("abstol", "reltol"))

    def at(x: float) -> float:
        return number_of(call.engine, call.interpreter.call_one(function, float(x)))

    limits = (number_of(call.engine, low), number_of(call.engine, high))
    return float(quad(at, *limits, epsabs=1e-10, epsrel=1e-6, limit=650)[0])
