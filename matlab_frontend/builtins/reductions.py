"""Sums, products, extremes, and their running forms."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np

from matlab_frontend import operators
from matlab_frontend.builtins.axes import Axes, gives_scalar, read_axes
from matlab_frontend.builtins.options import words_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.concatenation import concatenated_kind, convert
from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.rounding import saturate
from matlab_frontend.values.array import Array, Data, Value, count_of, shape_of
from matlab_frontend.values.kinds import DTYPES, FLOAT_KINDS, INTEGER_KINDS
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import array_of, is_text, text_of


def without_nan(engine: Engine, data: Data, filling: float) -> Data:
    """NaN replaced where a reduction leaves it out."""
    if data.dtype.kind != "f":
        return data
    return engine.apply("where", engine.apply("isnan", data), filling, data)


def sum_kind(array: Array, output: str) -> str:
    """The class of a sum: single stays single, all else becomes double unless ``native``."""
    if output == "native":
        return array.kind if array.kind in DTYPES else "double"
    return "single" if array.kind == "single" and output == "default" else "double"


def total(engine: Engine, row: str, array: Array, axes: Axes) -> Value:
    """A sum or product."""
    kind = sum_kind(array, axes.output)
    filling = 0.0 if row == "sum" else 1.0
    data = array.data
    if kind == "logical":
        return wrap("logical", engine.reduce("any", data, axes.of(data.ndim)))
    if kind in INTEGER_KINDS:
        summed = engine.reduce(row, engine.cast(data, DTYPES["double"]), axes.of(data.ndim))
        return wrap(kind, saturate(engine, summed, DTYPES[kind]))
    if data.dtype.kind != "c":
        data = engine.cast(data, DTYPES[kind])
    if axes.omit_nan:
        data = without_nan(engine, data, filling)
    if gives_scalar(array, axes):
        return wrap(kind, engine.full((1, 1), filling, DTYPES[kind]))
    if not axes.of(data.ndim):
        return wrap(kind, data)
    return operators.narrow(
        engine, kind, trimmed(engine, engine.reduce(row, data, axes.of(data.ndim)))
    )


def trimmed(engine: Engine, data: Data) -> Data:
    """Data without leading axes of extent 1 beyond the second."""
    shape = tuple(data.shape)
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    return data if shape == tuple(data.shape) else engine.reshape(data, shape)


@builtin("sum")
def sum_(call: Call, x: Value, *options: Value) -> Value:
    """Sums along a dimension, several dimensions, or of all elements."""
    array = array_of(x)
    return total(call.engine, "sum", array, read_axes(call.engine, x, options))


@builtin("prod")
def prod(call: Call, x: Value, *options: Value) -> Value:
    """Products along a dimension, several dimensions, or of all elements."""
    array = array_of(x)
    return total(call.engine, "prod", array, read_axes(call.engine, x, options))


def count_along(engine: Engine, array: Array, axes: Axes) -> float | Data:
    """Number of elements each result of a reduction has; NaN left out where asked for."""
    shape = shape_of(array)
    if axes.omit_nan and array.data.dtype.kind == "f":
        present = engine.apply("logical_not", engine.apply("isnan", array.data))
        numbers = engine.cast(present, array.data.dtype)
        return engine.reduce("sum", numbers, axes.of(array.data.ndim))
    count = 1
    for axis in axes.dimensions:
        count *= shape[axis] if axis < len(shape) else 1
    return float(count)


@builtin("mean")
def mean(call: Call, x: Value, *options: Value) -> Value:
    """Means along a dimension, several dimensions, or of all elements."""
    engine = call.engine
    array = array_of(x)
    axes = read_axes(engine, x, options)
    kind = sum_kind(array, axes.output)
    if gives_scalar(array, axes):
        return float("nan")
    if array.kind in FLOAT_KINDS and not axes.omit_nan and array.data.dtype.kind == "f":
        data = engine.cast(array.data, DTYPES[kind])
        if count_of(array) and axes.of(data.ndim):
            return wrap(kind, trimmed(engine, engine.reduce("mean", data, axes.of(data.ndim))))
    summed = total(engine, "sum", array, Axes(axes.dimensions, "default", axes.omit_nan))
    made = operators.arithmetic(
        engine,
        operators.ARITHMETIC["./"],
        summed,
        _number(engine, count_along(engine, array, axes)),
    )
    if axes.output == "native" and array.kind in INTEGER_KINDS:
        return wrap(array.kind, saturate(engine, array_of(made).data, DTYPES[array.kind]))
    return made


def _number(engine: Engine, count: float | Data) -> Value:
    return (
        count if isinstance(count, float) else wrap("double", engine.cast(count, DTYPES["double"]))
    )


def _quantifier(name: str, empty_result: float, doc: str) -> Builtin:
    def function(call: Call, x: Value, *options: Value) -> Value:
        engine = call.engine
        array = array_of(x)
        axes = read_axes(engine, x, options)
        if gives_scalar(array, axes):
            return bool(empty_result)
        truth = array.data
        if array.kind != "logical":
            truth = engine.apply("not_equal", array.data, 0)
            if array.data.dtype.kind == "f" and name == "any":
                number = engine.apply("logical_not", engine.apply("isnan", array.data))
                truth = engine.apply("logical_and", truth, number)
        if not axes.of(truth.ndim):
            return wrap("logical", truth)
        return wrap("logical", trimmed(engine, engine.reduce(name, truth, axes.of(truth.ndim))))

    return Builtin(name, function, 1, None, doc)


def _extreme(call: Call, name: str, arguments: Sequence[Value]) -> Value | tuple[Value, ...]:
    """``max`` and ``min``: of two arrays, or along dimensions with the positions."""
    texts = [argument for argument in arguments[1:] if is_text(argument) and count_of(argument)]
    plain = [arguments[0], *(a for a in arguments[1:] if not (is_text(a) and count_of(a)))]
    if len(plain) > 3 or (len(plain) == 3 and count_of(plain[1]) != 0):
        raise MatlabError("MATLAB:maxrhs", "Too many input arguments.")
    keep_nan = any(text_of(word).lower() in _INCLUDE for word in texts)
    if len(plain) == 2 and texts and count_of(plain[1]) != 0:
        words_of(name, texts, (*_INCLUDE, "omitnan", "omitmissing"))
    if len(plain) >= 2 and count_of(plain[1]) != 0:
        return _extreme_of_two(call.engine, name, plain[0], plain[1], keep_nan=keep_nan)
    if len(plain) == 2 and count_of(plain[0]) != 0 and not texts:
        return _extreme_of_two(call.engine, name, plain[0], plain[1], keep_nan=keep_nan)
    return _extreme_along(call, name, plain[0], [*plain[2:], *texts])


_INCLUDE = ("includenan", "includemissing")


def _extreme_of_two(engine: Engine, name: str, x: Value, y: Value, *, keep_nan: bool) -> Value:
    if type(x) is float and type(y) is float and not (isnan(x) or isnan(y)):
        return max(x, y) if name == "max" else min(x, y)
    operators.broadcast_shape(x, y)
    a, b = array_of(x), array_of(y)
    kind = concatenated_kind([a.kind, b.kind])
    kind = kind if kind in (*FLOAT_KINDS, *INTEGER_KINDS) else "double"
    left, right = (convert(engine, operand, kind) for operand in (a, b))
    leaves_out = kind in FLOAT_KINDS and not keep_nan
    return wrap(kind, engine.apply(f"f{name}" if leaves_out else f"{name}imum", left, right))


def _extreme_along(
    call: Call, name: str, x: Value, options: Sequence[Value]
) -> Value | tuple[Value, ...]:
    engine = call.engine
    array = array_of(x)
    kind = array.kind if array.kind in (*FLOAT_KINDS, *INTEGER_KINDS) else "double"
    data = array.data if array.kind == kind else engine.cast(array.data, DTYPES[kind])
    axes = read_axes(engine, x, options)
    along = axes.of(data.ndim)
    if count_of(x) == 0:
        shape = tuple(min(n, 1) if k in along else n for k, n in enumerate(data.shape))
        nothing = wrap(kind, engine.full(shape, 0, DTYPES[kind]))
        return nothing, nothing
    keep_nan = any(is_text(x) and text_of(x).lower() in _INCLUDE for x in options)
    if call.outputs > 1:
        return _extreme_with_positions(engine, name, kind, data, along, keep_nan=keep_nan)
    if not along:
        return wrap(kind, data)
    if data.dtype.kind == "c":
        return _extreme_with_positions(engine, name, kind, data, along, keep_nan=keep_nan)[0]
    row = f"f{name}" if data.dtype.kind == "f" and not keep_nan else f"{name}imum"
    return wrap(kind, trimmed(engine, engine.reduce(row, data, along)))


def _extreme_with_positions(
    engine: Engine, name: str, kind: str, data: Data, along: tuple[int, ...], *, keep_nan: bool
) -> tuple[Value, ...]:
    """The extreme and its first position, counted from 1; NaN counts only among NaN.

    ``keep_nan`` makes the first NaN the extreme.
    """
    values = engine.look(data)
    if len(along) != 1:
        values = values.reshape(1, -1)
        along = (1,)
    keys = np.abs(values) if values.dtype.kind == "c" else values
    if keys.dtype.kind == "f" and keep_nan:
        missing = np.isnan(keys)
        at = (np.argmax if name == "max" else np.argmin)(keys, axis=along[0], keepdims=True)
        first = np.argmax(missing, axis=along[0], keepdims=True)
        at = np.where(missing.any(axis=along[0], keepdims=True), first, at)
    elif keys.dtype.kind == "f":
        worst = -np.inf if name == "max" else np.inf
        missing = np.isnan(keys)
        keys = np.where(missing, worst, keys)
        # Infinities of the worst sign still come before NaN.
        first = np.argmax(~missing, axis=along[0], keepdims=True)
        at = (np.argmax if name == "max" else np.argmin)(keys, axis=along[0], keepdims=True)
        chosen = np.take_along_axis(missing, at, along[0])
        at = np.where(chosen, first, at)
    else:
        at = (np.argmax if name == "max" else np.argmin)(keys, axis=along[0], keepdims=True)
    found = np.take_along_axis(values, at, along[0])
    return wrap(kind, trimmed(engine, found)), wrap("double", trimmed(engine, at + 1.0))


@builtin("max")
def max_(call: Call, *arguments: Value) -> Value | tuple[Value, ...]:
    """The largest elements along a dimension, or of two arrays; NaN is left out."""
    if not arguments:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    return _extreme(call, "max", arguments)


@builtin("min")
def min_(call: Call, *arguments: Value) -> Value | tuple[Value, ...]:
    """The smallest elements along a dimension, or of two arrays; NaN is left out."""
    if not arguments:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    return _extreme(call, "min", arguments)


def _running(name: str, row: str, doc: str) -> Builtin:
    def function(call: Call, x: Value, *options: Value) -> Value | tuple[Value, ...]:
        engine = call.engine
        array = array_of(x)
        words = [text_of(option).lower() for option in options if is_text(option)]
        axes = read_axes(engine, x, [option for option in options if not is_text(option)])
        kind = array.kind if array.kind in (*FLOAT_KINDS, *INTEGER_KINDS) else "double"
        data = array.data
        if kind in INTEGER_KINDS:
            data = engine.cast(data, DTYPES["double"])
        elif data.dtype.kind != "c":
            data = engine.cast(data, DTYPES[kind])
        along = axes.of(data.ndim)
        data = _prepared(engine, name, data, along, words)
        made = engine.accumulate(row, data, along[0]) if along else data
        if call.outputs > 1 and name in ("cummax", "cummin"):
            places = _running_places(engine.look(data), engine.look(made), along)
            if "reverse" in words and along:
                places = data.shape[along[0]] + 1.0 - np.flip(places, along)
        if "reverse" in words and along:
            made = engine.host(lambda d: np.ascontiguousarray(np.flip(d, along)), made)
        if kind in INTEGER_KINDS:
            made = saturate(engine, made, DTYPES[kind])
        if call.outputs > 1 and name in ("cummax", "cummin"):
            return wrap(kind, made), wrap("double", np.ascontiguousarray(places))
        return wrap(kind, made)

    return Builtin(name, function, 1, None, doc)


def _prepared(
    engine: Engine, name: str, data: Data, along: tuple[int, ...], words: Sequence[str]
) -> Data:
    """Data as running results take them: in reverse, and without NaN, where that is asked for.

    Raises:
        MatlabError: an option is unknown.

    """
    for word in words:
        if word not in ("forward", "reverse", "omitnan", "includenan", "omitmissing"):
            raise MatlabError("MATLAB:unknownOption", f"Unknown option '{word}'.")
    if {"omitnan", "omitmissing"} & set(words) and name in ("cumsum", "cumprod"):
        data = without_nan(engine, data, 0.0 if name == "cumsum" else 1.0)
    if "reverse" in words and along:
        data = engine.host(lambda d: np.ascontiguousarray(np.flip(d, along)), data)
    return data


def _running_places(data: np.ndarray, made: np.ndarray, along: tuple[int, ...]) -> np.ndarray:
    """Where each running extreme stands first, counted from 1."""
    if not along:
        return np.ones(made.shape)
    axis = along[0]
    before = np.roll(made, 1, axis)
    changed = made != before
    first = [slice(None)] * made.ndim
    first[axis] = slice(0, 1)
    changed[tuple(first)] = True
    shape = [1] * made.ndim
    shape[axis] = -1
    count = np.arange(1.0, data.shape[axis] + 1).reshape(shape)
    return np.asarray(np.maximum.accumulate(np.where(changed, count, 0.0), axis=axis))


GENERATED = (
    _quantifier("any", 0.0, "True where some element along a dimension is nonzero."),
    _quantifier("all", 1.0, "True where no element along a dimension is zero."),
    _running("cumsum", "add", "Running sums along a dimension."),
    _running("cumprod", "multiply", "Running products along a dimension."),
    _running("cummax", "fmax", "Running maxima along a dimension."),
    _running("cummin", "fmin", "Running minima along a dimension."),
)
