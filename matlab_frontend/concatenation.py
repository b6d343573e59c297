"""``[a, b; c, d]``: which class comes out, and how parts are joined."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.rounding import saturate
from matlab_frontend.values.array import (
    Array,
    Cell,
    Data,
    Extension,
    Struct,
    Value,
    as_array,
    kind_of,
    shape_of,
)
from matlab_frontend.values.kinds import DTYPES, INTEGER_KINDS
from matlab_frontend.values.make import cell, empty, objects, wrap
from matlab_frontend.values.read import lines_of

_FUNCTIONS = {0: "vertcat", 1: "horzcat"}


def concatenate(engine: Engine, values: Sequence[Value], axis: int) -> Value:
    """Join values along an axis (0: rows below one another, 1: side by side).

    Raises:
        MatlabError: sizes or classes do not go together.

    """
    if len(values) == 1:
        return values[0]
    if not values:
        return empty()
    for value in values:
        if isinstance(value, Extension):
            join = partial(concatenate, engine, axis=axis)
            return value.join(engine, list(values), axis, join)
    if any(isinstance(value, Cell) for value in values):
        return Cell(_join(engine, [_as_cell(value) for value in values], axis))
    if any(isinstance(value, Struct) for value in values):
        return _structs(engine, values, axis)
    arrays = [as_array(value) for value in values]
    if any(array is None for array in arrays):
        raise MatlabError(
            "MATLAB:UndefinedFunction",
            f"Concatenation of values of class '{kind_of(values[0])}' is not supported.",
        )
    known = [array for array in arrays if array is not None]
    kinds = [array.kind for array in known]
    kind = kinds[0] if kinds.count(kinds[0]) == len(kinds) else concatenated_kind(kinds)
    parts = [convert(engine, array, kind) for array in known]
    if any(part.dtype.kind == "c" for part in parts):
        common = np.result_type(*(part.dtype for part in parts))
        parts = [engine.cast(part, common) for part in parts]
    return wrap(kind, _join(engine, parts, axis))


def concatenated_kind(kinds: Sequence[str]) -> str:
    """The class of an array joined from others: the first integer class wins."""
    for kind in kinds:
        if kind in INTEGER_KINDS and not {"string"} & set(kinds):
            return "char" if "char" in kinds else kind
    for kind in ("string", "char", "single", "double"):
        if kind in kinds:
            return kind
    return "logical"


def convert(engine: Engine, array: Array, kind: str) -> Data:
    """The data of an array as another class keeps them."""
    if array.kind == kind:
        return array.data
    if kind == "string":
        return objects(_texts(engine, array), shape_of(array) if array.kind != "char" else (1, 1))
    if kind in INTEGER_KINDS:
        return saturate(engine, array.data, DTYPES[kind])
    dtype = DTYPES[kind]
    if array.data.dtype.kind == "c":
        dtype = np.result_type(dtype, np.complex64)
    return engine.cast(array.data, dtype)


def _texts(engine: Engine, array: Array) -> list[str]:
    if array.kind == "char":
        return lines_of(array)
    return [f"{element:.5g}" for element in engine.look(array.data).ravel().tolist()]


def _join(engine: Engine, parts: list[Data], axis: int) -> Data:
    """Join data along MATLAB's axis; 0-by-0 parts add nothing."""
    rank = max(axis + 1, *(part.ndim for part in parts))
    filled = [part for part in parts if part.shape != (0, 0)]
    if not filled:
        return parts[0]
    if len(filled) == 1 and axis < 2:
        return filled[0]
    same = [
        part
        if part.ndim == rank
        else engine.reshape(part, (1,) * (rank - part.ndim) + tuple(part.shape))
        for part in filled
    ]
    at = rank - 1 - axis
    if not _fit(same, at):
        same = [part for part in same if 0 not in part.shape]  # other empty parts are let pass
    if not _fit(same, at):
        raise MatlabError(
            f"MATLAB:{_FUNCTIONS.get(axis, 'catenate')}:dimensionMismatch",
            "Dimensions of arrays being concatenated are not consistent.",
        )
    return engine.concatenate(same, at)


def _fit(parts: Sequence[Data], at: int) -> bool:
    """True if parts have the same extents but along one axis."""
    return len({tuple(n for k, n in enumerate(part.shape) if k != at) for part in parts}) <= 1


def _as_cell(value: Value) -> np.ndarray:
    if isinstance(value, Cell):
        return value.data
    if isinstance(value, Array) and 0 in value.data.shape and value.data.ndim == 2:
        return np.empty((0, 0), object)
    return cell([value], (1, 1)).data


def _structs(engine: Engine, values: Sequence[Value], axis: int) -> Value:
    structs = [value for value in values if isinstance(value, Struct)]
    fields = structs[0].fields
    for value in values:
        if isinstance(value, Struct) and set(value.fields) != set(fields):
            raise MatlabError(
                "MATLAB:catenate:structFieldBad",
                "Names of fields in structure arrays being concatenated do not match.",
            )
        if not isinstance(value, Struct) and shape_of(value) != (0, 0):
            raise MatlabError(
                "MATLAB:UndefinedFunction",
                f"Conversion to struct from {kind_of(value)} is not possible.",
            )
    return Struct(fields, _join(engine, [value.data for value in structs], axis))
