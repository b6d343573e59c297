"""What builtins ask of the values they are given."""

from __future__ import annotations

import math

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import (
    Array,
    Cell,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)


def known(engine: Engine, value: Value) -> np.ndarray:
    """The elements of an array with the axes in MATLAB's order.

    Raises:
        MatlabError: the value is a cell, a struct or an object.

    """
    if isinstance(value, float):
        return np.full((1, 1), value)
    return engine.look(array_of(value).data).T


def array_of(value: Value) -> Array:
    """The value as an array.

    Raises:
        MatlabError: the value is a cell, a struct or an object.

    """
    array = as_array(value)
    if array is None:
        raise MatlabError(
            "MATLAB:UndefinedFunction",
            f"Undefined function for input arguments of type '{kind_of(value)}'.",
        )
    return array


def cell_of(value: Value) -> Cell:
    """The value as a cell array.

    Raises:
        MatlabError: it is of another class.

    """
    if not isinstance(value, Cell):
        raise wrong_class("cell", value)
    return value


def struct_of(value: Value) -> Struct:
    """The value as a struct array.

    Raises:
        MatlabError: it is of another class.

    """
    if not isinstance(value, Struct):
        raise wrong_class("struct", value)
    return value


def wrong_class(wanted: str, value: Value) -> MatlabError:
    """The error of an argument of another class."""
    return MatlabError(
        "MATLAB:invalidType", f"Expected a value of class {wanted}, not {kind_of(value)}."
    )


def is_text(value: Value) -> bool:
    """A row of characters or a string scalar."""
    if not isinstance(value, Array):
        return False
    if value.kind == "string":
        return count_of(value) == 1
    shape = shape_of(value)
    return value.kind == "char" and len(shape) == 2 and (shape[0] == 1 or shape == (0, 0))


def text_of(value: Value, what: str = "Argument") -> str:
    """The characters of a row of characters or of a string scalar.

    Raises:
        MatlabError: the value is no text.

    """
    if not isinstance(value, Array) or value.kind not in ("char", "string"):
        raise MatlabError("MATLAB:invalidType", f"{what} must be a character vector or string.")
    if value.kind == "string":
        return str(value.data.flat[0])
    if value.data.ndim != 2 or value.data.shape[1] > 1:
        raise MatlabError("MATLAB:invalidType", f"{what} must be one row of characters.")
    return decode(np.asarray(value.data).ravel())


def decode(codes: np.ndarray) -> str:
    """The text of UTF-16 code units."""
    return codes.astype(np.uint16).tobytes().decode("utf-16-le", "surrogatepass")


def lines_of(value: Value) -> list[str]:
    """Texts of a character matrix (a row each), a string array or a cell array of texts."""
    if isinstance(value, Cell):
        return [text_of(item) for item in value.data.flat]
    array = array_of(value)
    if array.kind == "string":
        return [str(item) for item in array.data.flat]
    if array.kind != "char":
        return [text_of(value)]
    rows = np.asarray(array.data).T
    if rows.size == 0:
        return [""] * rows.shape[0]
    return [decode(row) for row in rows.reshape(rows.shape[0], -1)]


def number_of(engine: Engine, value: Value, what: str = "Argument") -> float:
    """The one real number that a scalar holds.

    Raises:
        MatlabError: the value is no numeric scalar.

    """
    if isinstance(value, (float, bool)):
        return float(value)
    array = as_array(value)
    if array is None or array.kind == "string" or count_of(array) != 1:
        raise MatlabError("MATLAB:expectedScalar", f"{what} must be a scalar.")
    return float(engine.look(array.data).item().real)


def integer_of(engine: Engine, value: Value, what: str = "Argument") -> int:
    """The integer that a scalar holds.

    Raises:
        MatlabError: the value is no scalar or has a fraction.

    """
    number = number_of(engine, value, what)
    if not math.isfinite(number) or number != int(number):
        raise MatlabError("MATLAB:expectedInteger", f"{what} must be an integer.")
    return int(number)


def is_true(engine: Engine, value: Value) -> bool:
    """What ``if`` asks: all elements are nonzero, and there is one at least.

    Raises:
        MatlabError: the value has no truth, or is NaN.

    """
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            raise MatlabError("MATLAB:nologicalnan", "NaN values cannot be converted to logicals.")
        return value != 0.0
    array = as_array(value)
    if array is None or array.kind == "string":
        raise MatlabError(
            "MATLAB:invalidConversion",
            f"Conversion to logical from {kind_of(value)} is not possible.",
        )
    data = engine.look(array.data)
    if data.dtype.kind in "fc" and np.isnan(data).any():
        raise MatlabError("MATLAB:nologicalnan", "NaN values cannot be converted to logicals.")
    return bool(data.size and data.all())
