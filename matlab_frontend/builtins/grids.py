"""Numbers on grids: their slopes, and values between their points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, count_of, kind_of, shape_of
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import is_text, known, number_of


def _floats(call: Call, name: str, x: Value) -> np.ndarray:
    if kind_of(x) not in ("double", "single"):
        raise MatlabError(f"MATLAB:{name}:class", "The data must be floating-point numbers.")
    return known(call.engine, x)


def _spacings(
    call: Call, name: str, shape: tuple[int, ...], given: Sequence[Value]
) -> list[np.ndarray]:
    """Places along each direction, of which the first runs along rows.

    Raises:
        MatlabError: there are too many, or they have other lengths.

    """
    rank = len(shape)
    if len(given) not in (0, 1, rank):
        raise MatlabError(
            f"MATLAB:{name}:InvalidInputs", "There is one spacing, or one a direction."
        )
    steps = list(given) or [1.0]
    steps = steps * rank if len(steps) == 1 else steps
    made = []
    for axis, step in zip((1, 0, *range(2, rank)) if rank > 1 else (0,), steps, strict=True):
        places = known(call.engine, step).ravel().astype(float)
        if places.size == 1:
            places = places * np.arange(shape[axis])
        if places.size != shape[axis]:
            raise MatlabError(f"MATLAB:{name}:InvalidGridSpacing", "Places must fit the data.")
        made.append(places)
    return made


def _line_or_table(table: np.ndarray) -> np.ndarray:
    return table.ravel() if table.ndim == 2 and 1 in table.shape else table


@builtin("gradient")
def gradient(call: Call, x: Value, *spacings: Value) -> tuple[Value, ...]:
    """Slopes along rows, columns and so on: central within, one-sided at the ends."""
    table = _floats(call, "gradient", x)
    data = _line_or_table(table)
    places = _spacings(call, "gradient", data.shape, spacings)
    if call.outputs > data.ndim:
        raise MatlabError("MATLAB:maxlhs", "Too many output arguments.")
    axes = (1, 0, *range(2, data.ndim)) if data.ndim > 1 else (0,)
    made = [_slopes(data, axis, at) for axis, at in zip(axes, places, strict=True)]
    shaped = [np.ascontiguousarray(each.reshape(table.shape).T) for each in made]
    return tuple(wrap(kind_of(x), each.astype(table.dtype)) for each in shaped)


def _slopes(data: np.ndarray, axis: int, places: np.ndarray) -> np.ndarray:
    lines = np.moveaxis(data, axis, -1)
    made = np.zeros_like(lines)
    if places.size > 1:
        made[..., 1:-1] = (lines[..., 2:] - lines[..., :-2]) / (places[2:] - places[:-2])
        made[..., 0] = (lines[..., 1] - lines[..., 0]) / (places[1] - places[0])
        made[..., -1] = (lines[..., -1] - lines[..., -2]) / (places[-1] - places[-2])
    return np.moveaxis(made, -1, axis)


@builtin("del2")
def del2(call: Call, x: Value, *spacings: Value) -> Value:
    """Laplace's operator over twice the number of directions, extrapolated at the ends."""
    table = _floats(call, "del2", x)
    data = _line_or_table(table)
    places = _spacings(call, "del2", data.shape, spacings)
    if any(
        np.ptp(np.diff(at)) > 1e-12 * np.abs(at).max(initial=0.0) for at in places if at.size > 2
    ):
        raise MatlabError("MATLAB:del2:spacing", "Places must be at equal distances.")
    axes = (1, 0, *range(2, data.ndim)) if data.ndim > 1 else (0,)
    total = np.zeros_like(data)
    for axis, at in zip(axes, places, strict=True):
        total = total + _curvature(data, axis, at)
    made = (total / (4 if data.ndim == 1 else 2 * data.ndim)).reshape(table.shape)
    return wrap(kind_of(x), np.ascontiguousarray(made.T))


def _curvature(data: np.ndarray, axis: int, places: np.ndarray) -> np.ndarray:
    lines = np.moveaxis(data, axis, -1)
    made = np.zeros_like(lines)
    if places.size > 2:
        step = places[1] - places[0]
        inner = (lines[..., 2:] - 2 * lines[..., 1:-1] + lines[..., :-2]) / step**2
        made[..., 1:-1] = inner
        near, far = (0, min(1, inner.shape[-1] - 1)), (-1, max(-2, -inner.shape[-1]))
        made[..., 0] = 2 * inner[..., near[0]] - inner[..., near[1]]
        made[..., -1] = 2 * inner[..., far[0]] - inner[..., far[1]]
    return np.moveaxis(made, -1, axis)


@builtin("interp2")
def interp2(call: Call, *arguments: Value) -> Value:
    """Values between the points of a grid: ``interp2(X, Y, V, Xq, Yq, method, outside)``.

    Methods are ``linear`` and ``nearest``; outside of the grid values are NaN if nothing is given.
    """
    given = list(arguments)
    words = [k for k, each in enumerate(given) if is_text(each)]
    method, outside = "linear", np.nan
    if words:
        tail = given[words[0] :]
        given = given[: words[0]]
        method = word_of("interp2", tail[0], ("linear", "nearest"))
        if len(tail) > 2:
            raise MatlabError("MATLAB:maxrhs", "Too many input arguments.")
        outside = number_of(call.engine, tail[1]) if len(tail) == 2 else np.nan
    if len(given) not in (3, 5):
        raise MatlabError(
            "MATLAB:interp2:nargin", "Arguments: X, Y, V, Xq, Yq, or V, Xq, Yq, and a method."
        )
    values = _floats(call, "interp2", given[-3])
    rows, columns = values.shape
    xs, ys = np.arange(1.0, columns + 1), np.arange(1.0, rows + 1)
    if len(given) == 5:
        xs, ys = _axis_of(call, given[0], 1, columns), _axis_of(call, given[1], 0, rows)
    across, down = (known(call.engine, each).astype(float) for each in given[-2:])
    if across.shape != down.shape:
        if across.ndim != 2 or 1 not in across.shape or 1 not in down.shape:
            raise MatlabError("MATLAB:interp2:XqYqSize", "Query points must have one size.")
        across, down = np.meshgrid(across.ravel(), down.ravel())
    made = _between(values, (xs, ys), (across, down), method)
    inside = (across >= xs[0]) & (across <= xs[-1]) & (down >= ys[0]) & (down <= ys[-1])
    return wrap("double", np.ascontiguousarray(np.where(inside, made, outside).T))


def _axis_of(call: Call, value: Value, axis: int, extent: int) -> np.ndarray:
    """The places of a grid along an axis, given as a vector or a matrix.

    Raises:
        MatlabError: they do not fit the values, or do not ascend.

    """
    table = known(call.engine, value).astype(float)
    line = table.ravel() if 1 in shape_of(value) else (table[0] if axis else table[:, 0])
    if line.size != extent or count_of(value) < extent:
        raise MatlabError("MATLAB:interp2:size", "The points of the grid must fit the values.")
    if np.any(np.diff(line) <= 0):
        raise MatlabError(
            "MATLAB:griddedInterpolant:NonMonotonicCompVecsErrId", "Places must ascend."
        )
    return np.asarray(line)


def _between(
    values: np.ndarray,
    axes: tuple[np.ndarray, np.ndarray],
    places: tuple[np.ndarray, np.ndarray],
    method: str,
) -> np.ndarray:
    """Values at places, which lie in cells of the grid."""
    cells, shares = [], []
    for axis, place in zip(axes, places, strict=True):
        cell = np.clip(np.searchsorted(axis, place, side="right") - 1, 0, max(axis.size - 2, 0))
        after = np.minimum(cell + 1, axis.size - 1)
        width = np.where(after > cell, axis[after] - axis[cell], 1.0)
        share = (np.nan_to_num(place) - axis[cell]) / width
        cells.append((cell, after))
        shares.append(np.floor(share + 0.5) if method == "nearest" else share)
    (left, right), (top, bottom) = cells
    s, t = shares
    upper = values[top, left] * (1 - s) + values[top, right] * s
    lower = values[bottom, left] * (1 - s) + values[bottom, right] * s
    return np.asarray(upper * (1 - t) + lower * t)
