"""Polynomials by their coefficients, highest power first."""

from __future__ import annotations

import numpy as np

from matlab_frontend import operators
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.values.array import Value, kind_of
from matlab_frontend.values.make import reverse, row, wrap
from matlab_frontend.values.read import array_of, integer_of, known


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


@builtin("vander")
def vander(call: Call, x: Value) -> Value:
    """Powers of the elements of a vector, the highest first."""
    return wrap("double", reverse(np.vander(known(call.engine, x).ravel())))
