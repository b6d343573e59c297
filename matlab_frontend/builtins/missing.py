"""Elements that are missing: NaN among numbers, empty texts among cells and strings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Cell, Value, count_of, kind_of
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import array_of, is_text, known, number_of

_METHODS = ("constant", "previous", "next", "nearest", "linear")


def _flags(call: Call, x: Value) -> np.ndarray:
    """Elements that are missing, with the axes in MATLAB's order."""
    if isinstance(x, Cell):
        flags = [is_text(item) and not count_of(item) for item in x.data.flat]
        return np.array(flags, bool).reshape(x.data.shape).T
    array = array_of(x)
    if array.kind == "string":
        return np.zeros(array.data.shape, bool).T
    table = known(call.engine, x)
    if array.kind == "char":
        return np.asarray(table == ord(" "))
    return np.isnan(table) if table.dtype.kind in "fc" else np.zeros(table.shape, bool)


@builtin("ismissing")
def ismissing(call: Call, x: Value) -> Value:
    """Elements that are NaN, blanks, or empty texts in cells."""
    return wrap("logical", np.ascontiguousarray(_flags(call, x).T))


@builtin("rmmissing")
def rmmissing(call: Call, x: Value, dimension: Value = 1.0) -> tuple[Value, ...]:
    """A vector without missing elements, or a matrix without rows (or columns) that have some."""
    flags = _flags(call, x)
    if flags.ndim != 2:
        raise MatlabError("MATLAB:rmmissing:FirstInputInvalid", "Data must be vectors or matrices.")
    if (flags.shape[0] == 1 and flags.shape[1] != 1) or flags.shape[1] == 1:
        axis = int(flags.shape[0] == 1)
    else:
        axis = dimension_of(call.engine, dimension)
        if axis > 1:
            raise MatlabError("MATLAB:rmmissing:DimensionInvalid", "The dimension is 1 or 2.")
    gone = flags.any(axis=1 - axis)
    data = x.data if isinstance(x, Cell) else call.engine.look(array_of(x).data)
    kept = np.ascontiguousarray(np.compress(~gone, data, axis=1 - axis))
    made = Cell(kept) if isinstance(x, Cell) else wrap(kind_of(x), kept)
    told = gone.reshape((1, -1) if axis == 0 else (-1, 1))
    return made, wrap("logical", told)


@builtin("fillmissing")
def fillmissing(call: Call, x: Value, method: Value, *rest: Value) -> tuple[Value, ...]:
    """Numbers with others in the place of NaN: a constant, neighbors, or a line between them."""
    word = word_of("fillmissing", method, _METHODS)
    left: Sequence[Value] = rest
    array = array_of(x)
    if array.kind not in ("double", "single"):
        raise MatlabError("MATLAB:fillmissing:class", "Data must be floating-point numbers.")
    constant = np.nan
    if word == "constant":
        if not rest:
            raise MatlabError("MATLAB:fillmissing:ConstantMissing", "A constant must be given.")
        constant, left = number_of(call.engine, rest[0]), rest[1:]
    if len(left) > 1 or (left and is_text(left[0])):
        raise MatlabError("MATLAB:fillmissing:options", "Options are not supported here.")
    along = dimension_of(call.engine, left[0]) if left else first_dimension(x)
    table = known(call.engine, x)
    flags = _flags(call, x)
    if word == "constant":
        made = np.where(flags, constant, table)
    else:
        made = np.apply_along_axis(lambda line: _filled(line, word), along, table)
    filled = flags & ~np.isnan(made)
    made = np.ascontiguousarray(made.astype(table.dtype).T)
    return wrap(array.kind, made), wrap("logical", np.ascontiguousarray(filled.T))


def _filled(line: np.ndarray, word: str) -> np.ndarray:
    at = np.arange(line.size)
    there = at[~np.isnan(line)]
    if not there.size:
        return line
    last = np.searchsorted(there, at, side="right") - 1
    first = np.searchsorted(there, at, side="left")
    before = np.where(last >= 0, line[there[last]], np.nan)
    after = np.where(first < there.size, line[there[np.minimum(first, there.size - 1)]], np.nan)
    if word == "previous":
        return before
    if word == "next":
        return after
    if word == "linear":
        return _on_lines(at, there, line)
    back = at - there[np.maximum(last, 0)]
    ahead = there[np.minimum(first, there.size - 1)] - at
    is_after = np.isnan(before) | (~np.isnan(after) & (ahead <= back))
    return np.where(is_after, after, before)


def _on_lines(at: np.ndarray, there: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Lines between neighbors, which go on beyond the ends."""
    if there.size == 1:
        return line
    piece = np.clip(np.searchsorted(there, at, side="right") - 1, 0, there.size - 2)
    begin, end = there[piece], there[piece + 1]
    slope = (line[end] - line[begin]) / (end - begin)
    return np.where(np.isnan(line), line[begin] + slope * (at - begin), line)
