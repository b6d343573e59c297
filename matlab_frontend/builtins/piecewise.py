"""Piecewise polynomials: splines, Hermite's interpolation, and their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Struct, Value
from matlab_frontend.values.make import struct, text, wrap
from matlab_frontend.values.read import array_of, known, struct_of, text_of

_FIELDS = ("form", "breaks", "coefs", "pieces", "order", "dim")


def _made(breaks: np.ndarray, coefficients: np.ndarray) -> Struct:
    """The value of polynomials, highest powers first, a row for each piece."""
    pieces, order = coefficients.shape
    return struct(
        {
            "form": text("pp"),
            "breaks": wrap("double", breaks.reshape(-1, 1)),
            "coefs": wrap("double", np.ascontiguousarray(coefficients.T)),
            "pieces": float(pieces),
            "order": float(order),
            "dim": 1.0,
        }
    )


def _read(call: Call, value: Value) -> tuple[np.ndarray, np.ndarray]:
    """Breaks and coefficients.

    Raises:
        MatlabError: it is no piecewise polynomial of numbers.

    """
    fields = struct_of(value)
    if fields.fields != _FIELDS or text_of(fields.data.item()["form"]) != "pp":
        raise MatlabError("MATLAB:ppval:notpp", "The input is no piecewise polynomial.")
    held = fields.data.item()
    return (
        known(call.engine, held["breaks"]).ravel().astype(float),
        known(call.engine, held["coefs"]).astype(float),
    )


@builtin("mkpp")
def mkpp(call: Call, breaks: Value, coefficients: Value) -> Value:
    """A piecewise polynomial of breaks and coefficients, the highest powers first."""
    places = known(call.engine, breaks).ravel().astype(float)
    table = known(call.engine, coefficients).astype(float)
    pieces = places.size - 1
    if pieces < 1 or table.size % pieces:
        raise MatlabError("MATLAB:mkpp:PiecesDimMismatch", "Coefficients must fit the breaks.")
    return _made(places, table.reshape((pieces, -1), order="F"))


@builtin("unmkpp")
def unmkpp(_: Call, pp: Value) -> tuple[Value, ...]:
    """Breaks, coefficients, pieces, order and dimension of a piecewise polynomial."""
    held = struct_of(pp)
    if held.fields != _FIELDS:
        raise MatlabError("MATLAB:unmkpp:notpp", "The input is no piecewise polynomial.")
    return tuple(held.data.item()[name] for name in _FIELDS[1:])


@builtin("ppval")
def ppval(call: Call, pp: Value, x: Value) -> Value:
    """Values of a piecewise polynomial."""
    breaks, table = _read(call, pp)
    return _values(call, breaks, table, x)


def _values(call: Call, breaks: np.ndarray, table: np.ndarray, x: Value) -> Value:
    data = call.engine.look(array_of(x).data)
    at = np.clip(np.searchsorted(breaks, data, side="right") - 1, 0, breaks.size - 2)
    local = data - breaks[at]
    made = np.zeros(data.shape)
    for power in range(table.shape[1]):
        made = made * local + table[at, power]
    return wrap("double", np.where(np.isnan(data), np.nan, made))


def _interpolated(
    call: Call,
    name: str,
    samples: tuple[Value, Value],
    query: Value | None,
    make: Callable[..., Any],
) -> Value:
    """A piecewise polynomial through samples, or its values."""
    places, heights = (known(call.engine, each).ravel().astype(float) for each in samples)
    order = np.argsort(places, kind="stable")
    ends = heights.size - places.size
    if places.size < 2 or ends not in (0, 2) or (ends and name == "pchip"):
        raise MatlabError(
            f"MATLAB:chckxy:{name}", "There must be two places at least, and a value for each."
        )
    if np.any(np.diff(places[order]) == 0):
        raise MatlabError("MATLAB:chckxy:RepeatedSites", "The places must be different.")
    slopes = (heights[0], heights[-1]) if ends else None
    inner = heights[1:-1] if ends else heights
    table = make(places[order], inner[order], slopes)
    if query is None:
        return _made(places[order], table)
    return _values(call, places[order], table, query)


@builtin("spline")
def spline(call: Call, x: Value, y: Value, query: Value | None = None) -> Value:
    """Cubic spline interpolation, or its polynomials; two more values are slopes at the ends."""
    return _interpolated(call, "spline", (x, y), query, _spline)


@builtin("pchip")
def pchip(call: Call, x: Value, y: Value, query: Value | None = None) -> Value:
    """Interpolation by cubics that keep the shape of the data, or their polynomials."""
    return _interpolated(call, "pchip", (x, y), query, _hermite)


def _spline(places: np.ndarray, heights: np.ndarray, slopes: Any) -> np.ndarray:
    from scipy.interpolate import CubicSpline  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    if slopes is None and places.size == 2:
        rise = (heights[1] - heights[0]) / (places[1] - places[0])
        return np.array([[0.0, 0.0, rise, heights[0]]])
    ends = "not-a-knot" if slopes is None else ((1, slopes[0]), (1, slopes[1]))
    return np.asarray(CubicSpline(places, heights, bc_type=ends).c.T)


def _hermite(places: np.ndarray, heights: np.ndarray, _: Any) -> np.ndarray:
    from scipy.interpolate import PchipInterpolator  # noqa: PLC0415  (likewise)

    return np.asarray(PchipInterpolator(places, heights).c.T)
