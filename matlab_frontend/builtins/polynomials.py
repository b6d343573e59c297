"""Polynomials by their coefficients, highest power first."""

from __future__ import annotations

import numpy as np

from matlab_frontend import matrices, operators
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Struct, Value, kind_of
from matlab_frontend.values.kinds import kind_of_dtype
from matlab_frontend.values.make import reverse, row, struct, wrap
from matlab_frontend.values.read import array_of, integer_of, known


@builtin("polyfit")
def polyfit(call: Call, x: Value, y: Value, degree: Value) -> Value | tuple[Value, ...]:
    """The polynomial that is nearest to points in least squares.

    Second, what ``polyval`` estimates errors by: the triangular factor, the degrees of freedom and
    the norm of what is left. Third, mean and deviation of the places, which are scaled by them.
    """
    places, heights = (known(call.engine, part).ravel(order="F").astype(float) for part in (x, y))
    if places.size != heights.size:
        message = "The first two inputs must have the same number of elements."
        raise MatlabError("MATLAB:polyfit:XYSizeMismatch", message)
    center, scale = 0.0, 1.0
    if call.outputs > 2:
        center, scale = float(places.mean()), float(places.std(ddof=1))
    count = integer_of(call.engine, degree) + 1
    powers = np.vander((places - center) / scale, count)
    q, r = np.linalg.qr(powers)
    if places.size < count:
        message = "Polynomial is not unique; degree >= number of data points."
        call.session.write_error(f"Warning: {message}\n")
    found = matrices.solve(r, q.T @ heights)
    if call.outputs < 2:
        return row(found)
    left = heights - powers @ found
    details = struct(
        {
            "R": wrap("double", reverse(r)),
            "df": float(max(0, places.size - count)),
            "normr": float(np.linalg.norm(left)),
        }
    )
    return row(found), details, wrap("double", np.array([[center, scale]]))


@builtin("polyval")
def polyval(
    call: Call,
    coefficients: Value,
    x: Value,
    details: Value | None = None,
    scale: Value | None = None,
) -> Value | tuple[Value, ...]:
    """The values of a polynomial; second, estimates of their errors by what ``polyfit`` told.

    ``scale``: mean and deviation of the places to which it was fitted.
    """
    p = known(call.engine, coefficients).ravel()
    data = call.engine.look(array_of(x).data)
    if scale is not None:
        center, width = known(call.engine, scale).ravel()
        data = (data - center) / width
    single = "single" in (kind_of(coefficients), kind_of(x))
    made = np.zeros(data.shape, np.result_type(p, data, np.float32 if single else float))
    for coefficient in p:
        made = made * data + coefficient
    values = operators.narrow(call.engine, "single" if single else "double", made)
    if call.outputs < 2:
        return values
    if details is None or not isinstance(details, Struct):
        message = "The structure that polyfit gives is needed for estimates of errors."
        raise MatlabError("MATLAB:polyval:RequiresS", message)
    of = details.data.item()
    r, freedom = known(call.engine, of["R"]), float(known(call.engine, of["df"]).item())
    powers = np.vander(np.asarray(data, float).ravel(), p.size)
    spread = np.sqrt(1 + np.sum(np.linalg.solve(r.T, powers.T) ** 2, axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = spread * float(known(call.engine, of["normr"]).item()) / np.sqrt(freedom)
    return values, wrap("double", spread.reshape(data.shape))


def _coefficients(call: Call, x: Value) -> np.ndarray:
    """The elements of a vector as floating-point numbers of its precision.

    Raises:
        MatlabError: it is no vector.

    """
    table = known(call.engine, x)
    if table.ndim != 2 or (table.size and 1 not in table.shape):
        raise MatlabError("MATLAB:polynomial:vector", "The coefficients must be a vector.")
    flat = table.ravel()
    return flat if flat.dtype.kind in "fc" else flat.astype(float)


def _vector(call: Call, coefficients: np.ndarray, like: np.ndarray) -> Value:
    """A polynomial of the precision of another."""
    single = like.dtype in (np.float32, np.complex64)
    data = np.atleast_1d(coefficients).reshape(-1, 1)
    if single:
        data = data.astype(np.complex64 if data.dtype.kind == "c" else np.float32)
    return operators.narrow(call.engine, "single" if single else "double", data)


@builtin("roots")
def roots(call: Call, coefficients: Value) -> Value:
    """The zeros of a polynomial, as a column."""
    p = _coefficients(call, coefficients)
    found = np.roots(p)
    made = _vector(call, found, p)
    return (
        made if isinstance(made, float) else matrices.transpose(call.engine, made, conjugate=False)
    )


@builtin("poly")
def poly(call: Call, x: Value) -> Value:
    """The polynomial with given roots, or the characteristic polynomial of a matrix."""
    table = known(call.engine, x)
    if table.ndim == 2 and table.shape[0] == table.shape[1] and table.size > 1:
        p = table if table.dtype.kind in "fc" else table.astype(float)
    else:
        p = _coefficients(call, x)
    return _vector(call, np.poly(p), p)


@builtin("polyder")
def polyder(call: Call, coefficients: Value, other: Value | None = None) -> Value:
    """The derivative of a polynomial, or of the product of two."""
    p = _coefficients(call, coefficients)
    if call.outputs > 1:
        raise MatlabError("MATLAB:polyder:quotient", "Derivatives of quotients are not supported.")
    if other is not None:
        p = np.convolve(p, _coefficients(call, other))
    return _vector(call, np.polyder(p) if p.size > 1 else np.zeros(1), p)


@builtin("polyint")
def polyint(call: Call, coefficients: Value, constant: Value = 0.0) -> Value:
    """The integral of a polynomial, a constant at 0."""
    p = _coefficients(call, coefficients)
    return _vector(call, np.polyint(p, k=known(call.engine, constant).item()), p)


@builtin("vander")
def vander(call: Call, x: Value) -> Value:
    """Powers of the elements of a vector, the highest first."""
    p = _coefficients(call, x)
    return wrap(kind_of_dtype(p.dtype), reverse(np.vander(p).astype(p.dtype)))
