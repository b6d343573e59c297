"""Spread, middle and relation of data."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.axes import Axes, gives_scalar, read_axes
from matlab_frontend.builtins.reductions import count_along, mean, total, trimmed
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.operators import ARITHMETIC, arithmetic
from matlab_frontend.values.array import Array, Value, count_of, shape_of
from matlab_frontend.values.kinds import DTYPES, FLOAT_KINDS
from matlab_frontend.values.make import empty, reverse, text, wrap
from matlab_frontend.values.read import array_of, is_text, known, number_of


def _variance(call: Call, x: Value, weight: Value | None, options: tuple[Value, ...]) -> Value:
    """Mean squared distance from the mean: over n - 1, or over n where the weight is 1."""
    engine = call.engine
    array = array_of(x)
    if weight is not None and is_text(weight):
        options, weight = (weight, *options), None
    axes = read_axes(engine, x, options)
    population = weight is not None and count_of(weight) == 1 and number_of(engine, weight) == 1
    if gives_scalar(x, axes):
        return float("nan")
    if array.kind not in FLOAT_KINDS:
        array = Array("double", engine.cast(array.data, DTYPES["double"]))
        x = array
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
    function = np.nanmedian if axes.omit_nan else np.median
    made = function(data, axis=axes.of(data.ndim), keepdims=True)
    kind = array.kind if array.kind in DTYPES and array.kind != "logical" else "double"
    return wrap(kind, trimmed(call.engine, np.asarray(made, DTYPES[kind])))


@builtin("mode")
def mode(call: Call, x: Value, dimension: Value | None = None) -> Value | tuple[Value, ...]:
    """The most frequent element along a dimension (the smallest of several), and its count."""
    array = array_of(x)
    if count_of(x) == 0:
        return float("nan"), 0.0
    axis = first_dimension(x) if dimension is None else dimension_of(call.engine, dimension)
    table = known(call.engine, x)
    lines = np.moveaxis(table, axis, -1)
    found = np.empty(lines.shape[:-1], table.dtype)
    counts = np.empty(lines.shape[:-1])
    for at in np.ndindex(found.shape):
        values, times = np.unique(lines[at], return_counts=True)
        found[at], counts[at] = values[np.argmax(times)], times.max()
    made = [np.expand_dims(part, axis) for part in (found, counts)]
    return wrap(array.kind, reverse(made[0])), wrap("double", reverse(made[1]))


@builtin("range")
def range_(call: Call, x: Value) -> Value:
    """The largest element less the smallest one."""
    high = call.interpreter.call_one(text("max"), x)
    low = call.interpreter.call_one(text("min"), x)
    return arithmetic(call.engine, ARITHMETIC["-"], high, low)


@builtin("cov")
def cov(call: Call, x: Value, y: Value | None = None) -> Value:
    """Covariances of columns, or of two vectors."""
    made = np.cov(_observations(call, x, y), rowvar=False)
    return wrap("double", reverse(np.atleast_2d(made)))


@builtin("corrcoef")
def corrcoef(call: Call, x: Value, y: Value | None = None) -> Value:
    """Correlations of columns, or of two vectors."""
    made = np.corrcoef(_observations(call, x, y), rowvar=False)
    return wrap("double", reverse(np.atleast_2d(made)))


def _observations(call: Call, x: Value, y: Value | None) -> np.ndarray:
    table = known(call.engine, x)
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
    axis_number = first_dimension(x) if dimension is None else dimension_of(engine, dimension)
    axis = data.ndim - 1 - axis_number
    for _ in range(int(number_of(engine, order))):
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
    heights = call.engine.look(array_of(values).data)
    along = first_dimension(values) if dimension is None else dimension_of(call.engine, dimension)
    axis = heights.ndim - 1 - along
    lines = np.moveaxis(heights, axis, -1)
    widths: np.ndarray | float = 1.0
    if y is not None and count_of(x) > 1:
        widths = np.diff(known(call.engine, x).ravel(order="F"))
    elif y is not None and count_of(x) == 1:
        widths = number_of(call.engine, x)
    areas = (lines[..., 1:] + lines[..., :-1]) / 2.0 * widths
    return np.moveaxis(areas, -1, axis), axis


@builtin("trapz")
def trapz(call: Call, x: Value, y: Value | None = None, dimension: Value | None = None) -> Value:
    """The integral of samples by the trapezoidal rule, along a dimension."""
    areas, axis = _trapezoids(call, x, y, dimension)
    return wrap("double", trimmed(call.engine, areas.sum(axis=axis, keepdims=True)))


@builtin("cumtrapz")
def cumtrapz(call: Call, x: Value, y: Value | None = None, dimension: Value | None = None) -> Value:
    """Running integrals of samples by the trapezoidal rule, along a dimension."""
    areas, axis = _trapezoids(call, x, y, dimension)
    before = [(int(k == axis), 0) for k in range(areas.ndim)]
    return wrap("double", np.pad(areas.cumsum(axis=axis), before))


@builtin("zscore")
def zscore(call: Call, x: Value) -> Value:
    """Elements less their mean, divided by their standard deviation; 0 where that is 0."""
    spread = std.one(call, x)
    zero = call.engine.apply("equal", array_of(spread).data, 0.0)
    safe = call.engine.apply("where", zero, 1.0, array_of(spread).data)
    center = arithmetic(call.engine, ARITHMETIC["-"], x, mean.one(call, x))
    return arithmetic(call.engine, ARITHMETIC["./"], center, wrap("double", safe))


@builtin("rescale")
def rescale(call: Call, x: Value, low: Value = 0.0, high: Value = 1.0) -> Value:
    """Elements moved and scaled into an interval."""
    data = call.engine.look(array_of(x).data).astype(float)
    least, most = data.min(), data.max()
    a, b = number_of(call.engine, low), number_of(call.engine, high)
    return wrap("double", a + (data - least) / (most - least) * (b - a))


@builtin("normalize")
def normalize(call: Call, x: Value) -> Value:
    """Elements less their mean, divided by their standard deviation."""
    center = arithmetic(call.engine, ARITHMETIC["-"], x, mean.one(call, x))
    return arithmetic(call.engine, ARITHMETIC["./"], center, std.one(call, x))


@builtin("bounds")
def bounds(call: Call, x: Value) -> tuple[Value, ...]:
    """The smallest and the largest element."""
    low = call.interpreter.call_one(text("min"), x)
    return low, call.interpreter.call_one(text("max"), x)
