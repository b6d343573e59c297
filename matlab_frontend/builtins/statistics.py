"""Spread, middle and relation of data."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.axes import Axes, gives_scalar, read_axes
from matlab_frontend.builtins.reductions import count_along, mean, total, trimmed
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.concatenation import convert
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import ARITHMETIC, arithmetic, narrow
from matlab_frontend.values.array import Array, Cell, Value, count_of, kind_of, shape_of
from matlab_frontend.values.kinds import (
    DTYPES,
    FLOAT_KINDS,
    INTEGER_KINDS,
    NUMERIC_KINDS,
    kind_of_dtype,
)
from matlab_frontend.values.make import cell_row, empty, reverse, text, wrap
from matlab_frontend.values.read import array_of, integer_of, is_text, known, number_of, text_of


def _variance(call: Call, x: Value, weight: Value | None, options: tuple[Value, ...]) -> Value:
    """Mean squared distance from the mean: over n - 1, over n where the weight is 1, or weighted.

    Raises:
        MatlabError: weights are negative, or not as many as elements along the dimension.

    """
    engine = call.engine
    array = array_of(x)
    if weight is not None and is_text(weight):
        options, weight = (weight, *options), None
    axes = read_axes(engine, x, options)
    if gives_scalar(x, axes):
        return float("nan")
    if array.kind not in FLOAT_KINDS:
        array = Array("double", engine.cast(array.data, DTYPES["double"]))
        x = array
    if weight is not None and count_of(weight) > 1:
        return _weighted(call, array, known(engine, weight).ravel(order="F"), axes)
    number = 0.0 if weight is None or count_of(weight) == 0 else number_of(engine, weight)
    if number not in (0.0, 1.0):
        raise _bad_weights()
    population = number == 1.0
    along = axes.of(array.data.ndim)
    if array.data.dtype.kind == "f" and not axes.omit_nan and count_of(array) and along:
        ddof = int(not population and count_along(engine, array, axes) != 1)
        return wrap(array.kind, trimmed(engine, engine.reduce("var", array.data, along, ddof=ddof)))
    center = mean.one(call, x, *options)
    distance = arithmetic(engine, ARITHMETIC["-"], x, center)
    squares = _squares(call, array_of(distance))
    plain = Axes(axes.dimensions, "default", axes.omit_nan)
    summed = total(engine, "sum", squares, plain)
    count = count_along(engine, array, axes)
    if isinstance(count, float):
        divisor: Value = count if population or count == 0 else max(count - 1.0, 1.0)
    else:
        free = (
            count
            if population
            else engine.apply("maximum", engine.apply("subtract", count, 1.0), 1.0)
        )
        divisor = wrap("double", engine.cast(trimmed(engine, free), DTYPES["double"]))
    return arithmetic(engine, ARITHMETIC["./"], summed, divisor)


def _bad_weights() -> MatlabError:
    return MatlabError(
        "MATLAB:var:invalidWgts",
        "W must be a vector of nonnegative weights, or a scalar 0 or 1.",
    )


def _weighted(call: Call, array: Array, weights: np.ndarray, axes: Axes) -> Value:
    """The weighted mean squared distance from the weighted mean, along one dimension."""
    data = call.engine.look(array.data)
    along = axes.of(data.ndim)
    if len(along) != 1 or np.any(weights < 0) or not weights.any():
        raise _bad_weights()
    if weights.size != data.shape[along[0]]:
        raise MatlabError(
            "MATLAB:var:invalidSizeWgts",
            "The length of W must be the length of the dimension that var works along.",
        )
    shape = [1] * data.ndim
    shape[along[0]] = -1
    shares = np.broadcast_to(weights.astype(float).reshape(shape), data.shape)
    if axes.omit_nan:
        shares = np.where(np.isnan(data), 0.0, shares)
        data = np.where(np.isnan(data), 0.0, data)
    whole = shares.sum(axis=along, keepdims=True)
    center = (shares * data).sum(axis=along, keepdims=True) / whole
    made = (shares * np.abs(data - center) ** 2).sum(axis=along, keepdims=True) / whole
    return wrap(array.kind, trimmed(call.engine, made.astype(DTYPES[array.kind])))


def _squares(call: Call, array: Array) -> Array:
    data = array.data
    if data.dtype.kind == "c":
        return Array(array.kind, call.engine.host(lambda d: np.abs(d) ** 2, data))
    return Array(array.kind, call.engine.apply("multiply", data, data))


@builtin("var")
def var(call: Call, x: Value, weight: Value | None = None, *options: Value) -> Value:
    """Variance along a dimension."""
    return _variance(call, x, weight, options)


@builtin("std")
def std(call: Call, x: Value, weight: Value | None = None, *options: Value) -> Value:
    """Standard deviation along a dimension."""
    spread = _variance(call, x, weight, options)
    return call.interpreter.call_one(text("sqrt"), spread)


@builtin("median")
def median(call: Call, x: Value, *options: Value) -> Value:
    """The middle element along a dimension, or the mean of the two middle ones."""
    array = array_of(x)
    axes = read_axes(call.engine, x, options)
    if gives_scalar(x, axes):
        return float("nan")
    data = call.engine.look(array.data)
    if data.dtype.kind == "c":
        raise MatlabError("MATLAB:median:complex", "The median of complex numbers is not there.")
    function = np.nanmedian if axes.omit_nan else np.median
    middle = function(data, axis=axes.of(data.ndim), keepdims=True)
    kind = array.kind if array.kind in NUMERIC_KINDS else "double"
    made = Array("double", np.asarray(middle, float))
    return wrap(kind, trimmed(call.engine, convert(call.engine, made, kind)))


@builtin("mode")
def mode(call: Call, x: Value, dimension: Value | None = None) -> Value | tuple[Value, ...]:
    """The most frequent element along a dimension (the smallest of several), its count, all ties.

    All that are as frequent are a column in a cell for each most frequent one.
    """
    array = array_of(x)
    if shape_of(x) == (0, 0):
        return float("nan"), 0.0, cell_row([empty()])
    axis = first_dimension(x) if dimension is None else dimension_of(call.engine, dimension)
    table = known(call.engine, x)
    lines = np.moveaxis(table, axis, -1)
    found = np.empty(lines.shape[:-1], table.dtype)
    counts = np.empty(lines.shape[:-1])
    ties = np.empty(lines.shape[:-1], object)
    for at in np.ndindex(found.shape):
        values, times = np.unique(lines[at], return_counts=True)
        if not values.size:
            found[at], counts[at], ties[at] = np.nan, 0.0, empty()
            continue
        found[at], counts[at] = values[np.argmax(times)], times.max()
        ties[at] = wrap(array.kind, values[times == times.max()].reshape(1, -1))
    made = [reverse(np.expand_dims(part, axis)) for part in (found, counts, ties)]
    return wrap(array.kind, made[0]), wrap("double", made[1]), Cell(made[2])


@builtin("range")
def range_(call: Call, x: Value) -> Value:
    """The largest element less the smallest one."""
    high = call.interpreter.call_one(text("max"), x)
    low = call.interpreter.call_one(text("min"), x)
    return arithmetic(call.engine, ARITHMETIC["-"], high, low)


@builtin("cov")
def cov(call: Call, x: Value, y: Value | None = None, *options: Value) -> Value:
    """Covariances of columns, or of two vectors: over n - 1, or over n where the weight is 1."""
    rest = [] if y is None else [y, *options]
    if any(is_text(option) for option in rest):
        raise MatlabError("MATLAB:cov:options", "Options of cov are not supported.")
    weight = 0.0
    if rest and count_of(rest[-1]) == 1 and (len(rest) > 1 or count_of(x) != 1):
        weight = number_of(call.engine, rest.pop())
    if len(rest) > 1 or weight not in (0.0, 1.0):
        raise MatlabError("MATLAB:cov:notScalarFlag", "The last argument must be 0 or 1.")
    if count_of(x) == 0:
        columns = 1 if shape_of(x) == (0, 0) or rest else shape_of(x)[1]
        return wrap("double", np.full((columns, columns), np.nan))
    if rest and count_of(rest[0]) != count_of(x):
        raise MatlabError("MATLAB:cov:XYlengthMismatch", "X and Y must have as many elements.")
    table = _observations(call, x, rest[0] if rest else None)
    table = table.reshape(table.shape[0], -1)
    distance = table - table.mean(axis=0)
    divisor = table.shape[0] - (1 if weight == 0 and table.shape[0] > 1 else 0)
    made = distance.conj().T @ distance / divisor
    return narrow(call.engine, "single" if kind_of(x) == "single" else "double", reverse(made))


@builtin("corrcoef")
def corrcoef(call: Call, x: Value, y: Value | None = None) -> Value:
    """Correlations of columns, or of two vectors."""
    if shape_of(x) == (0, 0):
        return float("nan")
    made = np.corrcoef(_observations(call, x, y), rowvar=False)
    kind = "single" if kind_of(x) == "single" else "double"
    return narrow(call.engine, kind, reverse(np.atleast_2d(made)))


def _observations(call: Call, x: Value, y: Value | None) -> np.ndarray:
    table = known(call.engine, x)
    if table.ndim != 2:
        raise MatlabError("MATLAB:cov:InputDim", "Inputs must be 2-D.")
    if y is not None:
        other = known(call.engine, y)
        return np.column_stack((table.ravel(order="F"), other.ravel(order="F")))
    return table.ravel() if 1 in table.shape else table


@builtin("diff")
def diff(call: Call, x: Value, order: Value = 1.0, dimension: Value | None = None) -> Value:
    """Differences of neighbors along a dimension."""
    engine = call.engine
    array = array_of(x)
    if dimension is None and shape_of(x) in ((1, 1), (0, 0)):
        return empty()
    kind = array.kind if array.kind not in ("logical", "char") else "double"
    data = engine.cast(array.data, DTYPES[kind]) if kind != array.kind else array.data
    times = integer_of(engine, order)
    if times < 0:
        raise MatlabError("MATLAB:diff:differenceOrder", "The order must not be negative.")
    for _ in range(times):
        if dimension is None and data.size == 1:
            return empty()
        # Without a dimension: along the next one when the first is used up.
        shown = Array(kind, data)
        along = first_dimension(shown) if dimension is None else dimension_of(engine, dimension)
        axis = data.ndim - 1 - along
        if axis < 0:
            return wrap(kind, engine.full((0, *data.shape), 0, data.dtype))
        extent = data.shape[axis]
        key = [slice(0, n) for n in data.shape]
        key[axis] = slice(min(1, extent), extent)
        later = engine.take(data, tuple(key))
        key[axis] = slice(0, max(extent - 1, 0))
        made = arithmetic(
            engine, ARITHMETIC["-"], Array(kind, later), Array(kind, engine.take(data, tuple(key)))
        )
        data = array_of(made).data
    return wrap(kind, data)


def _trapezoids(
    call: Call, x: Value, y: Value | None, dimension: Value | None
) -> tuple[np.ndarray, int]:
    """The areas between samples, and the axis of the data that they lie along."""
    if y is not None and dimension is None and count_of(y) == 1 and count_of(x) != 1:
        y, dimension = None, y  # trapz(y, dimension)
    values = x if y is None else y
    array = array_of(values)
    if array.kind in INTEGER_KINDS:
        raise MatlabError("MATLAB:trapz:integers", "Samples must be of class double or single.")
    heights = call.engine.look(array.data)
    along = first_dimension(values) if dimension is None else dimension_of(call.engine, dimension)
    axis = heights.ndim - 1 - along
    lines = np.moveaxis(heights, axis, -1)
    widths: np.ndarray | float = 1.0
    if y is not None and count_of(x) > 1:
        widths = np.diff(known(call.engine, x).ravel(order="F"))
    elif y is not None and count_of(x) == 1:
        widths = number_of(call.engine, x)
    if heights.dtype.kind not in "fc":
        lines = lines.astype(float)
    areas = (lines[..., 1:] + lines[..., :-1]) / 2.0 * widths
    if heights.dtype == np.float32:
        areas = areas.astype(np.float32)
    return np.moveaxis(areas, -1, axis), axis


@builtin("trapz")
def trapz(call: Call, x: Value, y: Value | None = None, dimension: Value | None = None) -> Value:
    """The integral of samples by the trapezoidal rule, along a dimension."""
    if dimension is None and shape_of(x if y is None else y) == (0, 0):
        return 0.0
    areas, axis = _trapezoids(call, x, y, dimension)
    made = areas.sum(axis=axis, keepdims=True)
    return wrap(kind_of_dtype(made.dtype), trimmed(call.engine, made))


@builtin("cumtrapz")
def cumtrapz(call: Call, x: Value, y: Value | None = None, dimension: Value | None = None) -> Value:
    """Running integrals of samples by the trapezoidal rule, along a dimension."""
    areas, axis = _trapezoids(call, x, y, dimension)
    before = [(int(k == axis), 0) for k in range(areas.ndim)]
    made = np.pad(areas.cumsum(axis=axis), before)
    return wrap(kind_of_dtype(made.dtype), made)


@builtin("zscore")
def zscore(call: Call, x: Value) -> Value:
    """Elements less their mean, divided by their standard deviation; 0 where that is 0."""
    if kind_of(x) not in FLOAT_KINDS:
        x = wrap("double", call.engine.cast(array_of(x).data, DTYPES["double"]))
    spread = std.one(call, x)
    zero = call.engine.apply("equal", array_of(spread).data, 0.0)
    safe = call.engine.apply("where", zero, 1.0, array_of(spread).data)
    center = arithmetic(call.engine, ARITHMETIC["-"], x, mean.one(call, x))
    return arithmetic(call.engine, ARITHMETIC["./"], center, wrap("double", safe))


@builtin("rescale")
def rescale(call: Call, x: Value, *options: Value) -> Value:
    """Elements moved and scaled into an interval; equal elements all become its lower end."""
    engine = call.engine
    ends = list(options[:2]) if options and not is_text(options[0]) else [0.0, 1.0]
    words = options[2:] if options and not is_text(options[0]) else options
    if len(ends) != 2 or len(words) % 2:
        raise MatlabError("MATLAB:rescale:arguments", "An interval has two ends.")
    given = {text_of(words[k]).lower(): words[k + 1] for k in range(0, len(words), 2)}
    if set(given) - {"inputmin", "inputmax"}:
        raise MatlabError("MATLAB:rescale:InvalidOption", "Options: 'InputMin' and 'InputMax'.")
    array = array_of(x)
    kind = "single" if array.kind == "single" else "double"
    data = engine.look(array.data).astype(DTYPES[kind])
    if data.size == 0:
        return wrap(kind, data)
    a, b = (number_of(engine, end) for end in ends)
    if a > b:
        raise MatlabError("MATLAB:rescale:interval", "The lower end must not exceed the upper.")
    least = number_of(engine, given["inputmin"]) if "inputmin" in given else np.nanmin(data)
    most = number_of(engine, given["inputmax"]) if "inputmax" in given else np.nanmax(data)
    inside = np.clip(data, least, most)
    if least == most:
        return wrap(kind, np.where(np.isnan(data), np.nan, a).astype(DTYPES[kind]))
    return wrap(kind, (a + (inside - least) / (most - least) * (b - a)).astype(DTYPES[kind]))


@builtin("normalize")
def normalize(call: Call, x: Value) -> Value:
    """Elements less their mean, divided by their standard deviation."""
    if kind_of(x) not in FLOAT_KINDS:
        raise MatlabError("MATLAB:normalize:class", "Elements must be of class double or single.")
    center = arithmetic(call.engine, ARITHMETIC["-"], x, mean.one(call, x))
    return arithmetic(call.engine, ARITHMETIC["./"], center, std.one(call, x))


@builtin("bounds")
def bounds(call: Call, x: Value) -> tuple[Value, ...]:
    """The smallest and the largest element."""
    low = call.interpreter.call_one(text("min"), x)
    return low, call.interpreter.call_one(text("max"), x)
