"""The variables that a program left, as NumPy and Python values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Cell, Extension, Struct, Value
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import cell_row, from_numpy, objects, string, struct, text, wrap
from matlab_frontend.values.read import decode


class Workspace(Mapping[str, Any]):
    """Variables by name, converted when they are asked for.

    Numeric arrays become NumPy arrays of the same size (column-major, two axes at least), scalars
    NumPy scalars; rows of characters and strings become ``str``; cell arrays of one row or column
    become lists, others object arrays; structs become dictionaries. Function handles and maps stay
    as they are.
    """

    def __init__(self, engine: Engine, variables: Mapping[str, Value]) -> None:
        self._engine = engine
        self._variables = variables

    def __getitem__(self, name: str) -> Any:
        return to_python(self._engine, self._variables[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return f"Workspace({', '.join(sorted(self._variables))})"


def to_python(engine: Engine, value: Value) -> Any:
    """A value as NumPy's or Python's."""
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, Array):
        return _array(engine, value)
    if isinstance(value, Cell):
        items = [to_python(engine, item) for item in value.data.flat]
        if value.data.ndim == 2 and 1 in value.data.shape:
            return items
        return objects(items, value.data.shape[::-1]).T
    if isinstance(value, Struct):
        elements = [
            {name: to_python(engine, item) for name, item in element.items()}
            for element in value.data.flat
        ]
        return elements[0] if len(elements) == 1 else elements
    return value.to_python() if isinstance(value, Extension) else value


def detached(value: Any) -> Any:
    """A NumPy or Python value that shares no memory with the one that is given."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, Mapping):
        return {name: detached(item) for name, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(detached, value))
    return value


def _array(engine: Engine, value: Array) -> Any:
    if value.kind == "string":
        return value.data.item() if value.data.size == 1 else value.data.T
    data = engine.look(value.data)
    if value.kind == "char":
        rows = data.T
        if data.size == 0 or rows.shape[0] == 1:
            return decode(data.ravel())
        return np.array([decode(row) for row in rows])
    return data.reshape(())[()] if data.size == 1 and data.ndim == 2 else data.T


def from_python(value: Any) -> Value:
    """A NumPy or Python value as a program sees it.

    Raises:
        MatlabError: there is no MATLAB value for it.

    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, float)) and not isinstance(value, np.generic):
        return float(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return struct({str(name): from_python(item) for name, item in value.items()})
    if isinstance(value, (list, tuple)) and not all(
        isinstance(item, (int, float, complex)) for item in value
    ):
        return cell_row([from_python(item) for item in value])
    array = np.asarray(value)
    if array.dtype.kind == "U":
        return string(str(array)) if array.ndim == 0 else cell_row(list(map(text, array.tolist())))
    if array.dtype.kind in "iu" and not isinstance(value, (np.ndarray, np.generic)):
        array = array.astype(np.float64)
    if array.dtype not in (*DTYPES.values(), np.complex64, np.complex128) or array.dtype == object:
        if array.dtype.kind != "f":
            raise MatlabError("MATLAB:invalidType", f"{array.dtype} arrays have no MATLAB class.")
        array = array.astype(np.float64)
    return (
        from_numpy(array)
        if array.size
        else wrap("double", np.zeros(np.atleast_2d(array).shape[::-1]))
    )
