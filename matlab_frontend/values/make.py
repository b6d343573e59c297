"""Values from Python's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from matlab_frontend.values.array import Array, Cell, Data, Shape, Struct, Value
from matlab_frontend.values.kinds import kind_of_dtype


def wrap(kind: str, data: Data) -> Value:
    """The value of an engine's array; known double and logical scalars become Python's."""
    if type(data) is np.ndarray and data.size == 1 and data.ndim <= 2:
        if data.dtype == np.float64 and kind == "double":
            return float(data.item())
        if kind == "logical":
            return bool(data.item())
    return Array(kind, data)


def from_numpy(array: np.ndarray) -> Value:
    """The value of a NumPy array in its usual order of axes; vectors become rows."""
    array = np.atleast_2d(array)
    return wrap(kind_of_dtype(array.dtype), reverse(array))


def reverse(array: np.ndarray) -> np.ndarray:
    """The data of an array whose axes are in MATLAB's order."""
    return np.ascontiguousarray(array.T)


def text(characters: str) -> Array:
    """A row of characters; no characters make a 0-by-0 array, as ``''`` is."""
    codes = np.frombuffer(characters.encode("utf-16-le"), np.uint16)
    return Array("char", codes.reshape(codes.size, 1 if codes.size else 0))


def text_rows(lines: Sequence[str]) -> Array:
    """A matrix of characters, one line a row, filled with blanks at the right."""
    width = max(map(len, lines), default=0)
    codes = [list(line.ljust(width).encode("utf-16-le")) for line in lines]
    table = np.array(codes, np.uint8).view(np.uint16) if width else np.zeros((len(lines), 0))
    return Array("char", reverse(table.astype(np.uint16)))


def string(characters: str) -> Array:
    """A string scalar."""
    return Array("string", objects([characters], (1, 1)))


def strings(texts: Sequence[str], shape: Shape) -> Array:
    """A string array, elements column by column."""
    return Array("string", objects(texts, shape))


def row(numbers: Iterable[complex]) -> Value:
    """A row of doubles, or of complex ones."""
    data = _doubles(numbers)
    return wrap("double", data.reshape(data.size, 1))


def column(numbers: Iterable[complex]) -> Value:
    """A column of doubles, or of complex ones."""
    data = _doubles(numbers)
    return wrap("double", data.reshape(1, data.size))


def _doubles(numbers: Iterable[complex]) -> np.ndarray:
    data = np.array(list(numbers))
    return data if data.dtype == np.complex128 else data.astype(float)


def empty(rows: int = 0, columns: int = 0) -> Array:
    """An array of doubles without elements."""
    return Array("double", np.zeros((columns, rows)))


def objects(values: Iterable[object], shape: Shape) -> np.ndarray:
    """Python objects as data, column by column."""
    values = list(values)
    data = np.empty(len(values), object)
    for at, value in enumerate(values):
        data[at] = value
    return data.reshape(shape[::-1])


def cell(values: Iterable[Value], shape: Shape) -> Cell:
    """A cell array, elements column by column."""
    return Cell(objects(values, shape))


def cell_row(values: Sequence[Value]) -> Cell:
    """A row of cells."""
    return cell(values, (1, len(values)))


def struct(fields: Mapping[str, Value]) -> Struct:
    """A struct scalar."""
    return Struct(tuple(fields), objects([dict(fields)], (1, 1)))
