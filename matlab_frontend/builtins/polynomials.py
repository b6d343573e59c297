"""Polynomials by their coefficients, highest power first; roots and minima of functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matlab_frontend import operators
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, count_of, kind_of
from matlab_frontend.values.make import reverse, row, wrap
from matlab_frontend.values.read import array_of, integer_of, known, number_of


@builtin("polyfit")
def polyfit(call: Call, x: Value, y: Value, degree: Value) -> Value:
    """The polynomial that is nearest to points in least squares."""
    places, heights = (known(call.engine, part).ravel(order="F").astype(float) for part in (x, y))
    powers = np.vander(places, integer_of(call.engine, degree) + 1)
    q, r = np.linalg.qr(powers)
    return row(np.linalg.solve(r, q.T @ heights))


@builtin("polyval")
def polyval(call: Call, coefficients: Value, x: Value) -> Value:
    """The values of a polynomial."""
    p = known(call.engine, coefficients).ravel()
    data = call.engine.look(array_of(x).data)
    single = "single" in (kind_of(coefficients), kind_of(x))
    made = np.zeros(data.shape, np.result_type(p, data, np.float32 if single else float))
    for coefficient in p:
        made = made * data + coefficient
    return operators.narrow(call.engine, "single" if single else "double", made)


@builtin("roots")
def roots(call: Call, coefficients: Value) -> Value:
    """The zeros of a polynomial, as a column."""
    found = np.roots(known(call.engine, coefficients).ravel())
    return operators.narrow(call.engine, "double", found.astype(complex).reshape(1, -1))


@builtin("poly")
def poly(call: Call, x: Value) -> Value:
    """The polynomial with given roots, or the characteristic polynomial of a matrix."""
    table = known(call.engine, x)
    square = table.ndim == 2 and table.shape[0] == table.shape[1] and table.size > 1
    found = np.poly(table if square else table.ravel())
    return operators.narrow(call.engine, "double", np.atleast_1d(found).reshape(-1, 1))


@builtin("polyder")
def polyder(call: Call, coefficients: Value) -> Value:
    """The derivative of a polynomial."""
    return row(np.atleast_1d(np.polyder(known(call.engine, coefficients).ravel())))


@builtin("polyint")
def polyint(call: Call, coefficients: Value) -> Value:
    """The integral of a polynomial, 0 at 0."""
    return row(np.polyint(known(call.engine, coefficients).ravel()))


@builtin("fzero")
def fzero(call: Call, function: Value, start: Value) -> Value:
    """A zero of a function near a point or in an interval with a change of sign."""
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
    return float(brentq(at, a, b, xtol=2.0**-52, rtol=4 * np.finfo(float).eps))


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
def fminsearch(call: Call, function: Value, start: Value, *options: Value) -> tuple[Value, ...]:
    """A minimum of a function by the simplex method of Nelder and Mead."""
    from scipy.optimize import minimize  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    del options
    shape = array_of(start).data.shape

    def at(x: np.ndarray) -> float:
        value = wrap("double", x.reshape(shape).copy())
        return number_of(call.engine, call.interpreter.call_one(function, value))

    found = minimize(
        at,
        call.engine.look(array_of(start).data).ravel(),
        method="Nelder-Mead",
        options={"xatol": 1e-4, "fatol": 1e-4},
    )
    return wrap("double", found.x.reshape(shape)), float(found.fun)


@builtin("integral")
def integral(call: Call, function: Value, low: Value, high: Value, *options: Value) -> Value:
    """The integral of a function of arrays between two limits."""
    from scipy.integrate import quad  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    del options

    def at(x: float) -> float:
        return number_of(call.engine, call.interpreter.call_one(function, float(x)))

    limits = (number_of(call.engine, low), number_of(call.engine, high))
    return float(quad(at, *limits, epsabs=1e-10, epsrel=1e-6, limit=650)[0])


@builtin("vander")
def vander(call: Call, x: Value) -> Value:
    """Powers of the elements of a vector, the highest first."""
    return wrap("double", reverse(np.vander(known(call.engine, x).ravel())))
