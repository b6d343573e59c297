"""Finding and ordering elements, and equality of whole values."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.linear_algebra import matrix
from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import (
    HANDLES,
    Cell,
    Struct,
    Value,
    as_array,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import cell, reverse, text, wrap
from matlab_frontend.values.read import array_of, integer_of, is_text, known, lines_of, text_of


@builtin("find")
def find(
    call: Call, x: Value, count: Value = np.inf, side: Value | None = None
) -> Value | tuple[Value, ...]:
    """Positions of elements that are not zero; with two outputs, rows and columns."""
    data = call.engine.look(array_of(x).data)
    at = np.flatnonzero(data)
    if side is not None:
        word_of("find", side, ("first", "last"))
    if count != np.inf:
        n = integer_of(call.engine, count)
        if n < 1:
            raise MatlabError("MATLAB:find:count", "How many to find must be a positive integer.")
        at = at[-n:] if side is not None and text_of(side) == "last" else at[:n]
    shape = shape_of(x)
    row = len(shape) == 2 and shape[0] == 1 and shape[1] != 1
    layout = (at.size, 1) if row else (1, at.size)
    if shape == (0, 0) or (shape == (1, 1) and at.size == 0):
        layout = (0, 0)
    if call.outputs < 2:
        return wrap("double", (at + 1.0).reshape(layout))
    rows = at % max(shape[0], 1) + 1.0
    columns = at // max(shape[0], 1) + 1.0
    made = [wrap("double", part.reshape(layout)) for part in (rows, columns)]
    found = wrap(array_of(x).kind, data.reshape(-1)[at].reshape(layout))
    return (made[0], made[1], found)


@builtin("nonzeros")
def nonzeros(call: Call, x: Value) -> Value:
    """The elements that are not zero, as a column."""
    array = array_of(x)
    data = call.engine.look(array.data)
    return wrap(array.kind, data[data != 0].reshape(1, -1))


def sort_order(keys: np.ndarray, axis: int, *, descending: bool) -> np.ndarray:
    """Positions in order along an axis; equal elements keep theirs, NaN come last (or first)."""
    if not descending:
        return _ascending(keys, axis)
    # Reversed twice: once to sort upwards, once so that equal elements keep their order.
    order = np.flip(_ascending(np.flip(keys, axis), axis), axis)
    return np.asarray(keys.shape[axis] - 1 - order)


def _ascending(keys: np.ndarray, axis: int) -> np.ndarray:
    if keys.dtype.kind == "c":
        return np.asarray(np.lexsort((np.angle(keys), np.abs(keys)), axis=axis))
    return np.argsort(keys, axis=axis, kind="stable")


@builtin("sort")
def sort(call: Call, x: Value, *options: Value) -> Value | tuple[Value, ...]:
    """Elements in order along a dimension, and where they were."""
    words = [text_of(option).lower() for option in options if is_text(option)]
    if set(words) - {"ascend", "descend"} or len(words) > 1:
        raise MatlabError("MATLAB:sort:options", "The options of sort are 'ascend' and 'descend'.")
    descending = "descend" in words
    numbers = [option for option in options if not is_text(option)]
    if isinstance(x, Cell) or kind_of(x) == "string":
        return _sort_texts(call, x, descending=descending)
    array = array_of(x)
    data = call.engine.look(array.data)
    dimension = dimension_of(call.engine, numbers[0]) if numbers else first_dimension(x)
    if dimension >= data.ndim:
        return x, wrap("double", np.ones(data.shape))
    axis = data.ndim - 1 - dimension
    order = sort_order(data, axis, descending=descending)
    made = wrap(array.kind, np.take_along_axis(data, order, axis))
    return (made, wrap("double", order + 1.0)) if call.outputs > 1 else made


def _sort_texts(call: Call, x: Value, *, descending: bool) -> Value | tuple[Value, ...]:
    lines = lines_of(x)
    order = sorted(range(len(lines)), key=lambda k: lines[k], reverse=descending)
    if isinstance(x, Cell):
        made: Value = cell([text(lines[k]) for k in order], shape_of(x))
    else:
        data = array_of(x).data
        made = wrap("string", data.reshape(-1)[order].reshape(data.shape))
    if call.outputs < 2:
        return made
    shape = shape_of(x)[::-1]
    return made, wrap("double", (np.array(order) + 1.0).reshape(shape))


@builtin("sortrows")
def sortrows(
    call: Call, x: Value, columns: Value | None = None, *directions: Value
) -> Value | tuple[Value, ...]:
    """Rows in order of their columns; a negative column sorts downwards.

    Directions are ``'ascend'`` or ``'descend'``, one for all columns or a cell with one for each.
    """
    if columns is not None and (isinstance(columns, Cell) or is_text(columns)):
        directions = columns, *directions
        columns = None
    data = x.data if isinstance(x, Cell) else array_of(x).data
    words = isinstance(x, Cell) or kind_of(x) == "string"
    table = np.asarray(data).T if words else matrix(call, x)
    wanted = (
        np.arange(1, table.shape[1] + 1)
        if columns is None
        else known(call.engine, columns).ravel().astype(int)
    )
    downwards = _downwards(wanted, directions)
    order = np.arange(table.shape[0])
    for column, down in reversed(list(zip(wanted, downwards, strict=True))):
        keys = table[order, abs(column) - 1]
        if words:
            lines = [key if isinstance(key, str) else text_of(key) for key in keys]
            keys = np.unique(lines, return_inverse=True)[1] if lines else np.zeros(0)
        order = order[sort_order(keys, 0, descending=down)]
    if isinstance(x, Cell):
        made: Value = Cell(np.asarray(data)[:, order])
    else:
        made = wrap(array_of(x).kind, reverse(table[order]))
    return (made, wrap("double", (order + 1.0).reshape(1, -1))) if call.outputs > 1 else made


def _downwards(columns: np.ndarray, directions: tuple[Value, ...]) -> list[bool]:
    """True if the order of each column is reversed."""
    words = [word for given in directions for word in lines_of(given)]
    known_words = {"ascend", "descend"}
    if {word.lower() for word in words} - known_words or len(words) not in (0, 1, len(columns)):
        message = "Directions are 'ascend' and 'descend', one for all columns or one for each."
        raise MatlabError("MATLAB:sortrows:InvalidDirection", message)
    if not words:
        return [bool(column < 0) for column in columns]
    words *= len(columns) if len(words) == 1 else 1
    return [word.lower() == "descend" for word in words]


@builtin("issorted")
def issorted(call: Call, x: Value) -> Value:
    """True if the elements of a vector are in order."""
    data = known(call.engine, x).ravel()
    return bool(np.all(data[:-1] <= data[1:]))


@builtin("isequal")
def isequal(call: Call, first: Value, *others: Value) -> Value:
    """True if values have the same size and elements; classes may differ."""
    return all(same(call, first, other, equal_nan=False) for other in others)


@builtin("isequaln")
def isequaln(call: Call, first: Value, *others: Value) -> Value:
    """Like ``isequal``, but NaN equals NaN."""
    return all(same(call, first, other, equal_nan=True) for other in others)


def same(call: Call, a: Value, b: Value, *, equal_nan: bool) -> bool:
    """True if two values are equal as ``isequal`` sees it."""
    if isinstance(a, HANDLES) or isinstance(b, HANDLES):
        return a == b
    if shape_of(a) != shape_of(b):
        return is_text(a) and is_text(b) and text_of(a) == text_of(b)
    if isinstance(a, Cell) and isinstance(b, Cell):
        pairs = zip(a.data.flat, b.data.flat, strict=True)
        return all(same(call, x, y, equal_nan=equal_nan) for x, y in pairs)
    if isinstance(a, Struct) and isinstance(b, Struct):
        if set(a.fields) != set(b.fields):
            return False
        return all(
            same(call, x[name], y[name], equal_nan=equal_nan)
            for x, y in zip(a.data.flat, b.data.flat, strict=True)
            for name in a.fields
        )
    x, y = as_array(a), as_array(b)
    if x is None or y is None:
        return a is b
    left, right = (call.engine.look(array.data) for array in (x, y))
    if "string" in (x.kind, y.kind):
        return kind_of(a) == kind_of(b) and bool(np.all(left == right))
    equal = left == right
    if equal_nan and left.dtype.kind in "fc" and right.dtype.kind in "fc":
        equal = equal | (np.isnan(left) & np.isnan(right))
    return bool(np.all(equal))
