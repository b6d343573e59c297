"""Values as SciPy reads and writes them in MAT-files of version 5 and 7."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Cell, Struct, Value, as_array, kind_of
from matlab_frontend.values.kinds import kind_of_dtype
from matlab_frontend.values.make import objects, reverse, wrap
from matlab_frontend.values.read import decode


def read_mat(path: Path) -> dict[str, Value | None]:
    """The variables of a file; None stands for one of a class that has no value here.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no MAT-file.

    """
    import scipy.io  # noqa: PLC0415  (with the first file)

    def load(*, classes: bool) -> dict[str, Any]:
        with path.open("rb") as file:
            found: dict[str, Any] = scipy.io.loadmat(
                file, mat_dtype=classes, chars_as_strings=False
            )
        return {key: item for key, item in found.items() if not key.startswith("__")}

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        typed = load(classes=True)
    # SciPy gives either MATLAB's classes or complex numbers.
    is_complex = any(issubclass(item.category, np.exceptions.ComplexWarning) for item in caught)
    plain = load(classes=False) if is_complex else typed
    return {key: _readable(item, plain[key]) for key, item in typed.items()}


class UnknownClassError(Exception):
    """A value in a file has a class that has no value here."""


def _readable(item: Any, plain: Any) -> Value | None:
    try:
        return _value(item, plain)
    except UnknownClassError:
        return None


_OPAQUE = ("MatlabFunction", "MatlabOpaque", "MatlabObject")
"""What SciPy calls function handles and objects of classes."""


def _value(item: Any, plain: Any) -> Value:
    """A value from what SciPy read.

    Raises:
        UnknownClassError: there is no such class.

    """
    if hasattr(item, "toarray"):
        item, plain = item.toarray(), plain.toarray()
    if not isinstance(item, np.ndarray) or type(item).__name__ in _OPAQUE:
        raise UnknownClassError
    if item.dtype.names is not None:
        return _struct(item, plain)
    if item.dtype == object:
        pairs = zip(item.T.flat, plain.T.flat, strict=True)
        return Cell(objects([_value(*pair) for pair in pairs], item.shape))
    if item.dtype.kind == "U":
        codes = np.zeros(item.shape, np.uint16)
        for at, character in np.ndenumerate(item):
            codes[at] = ord(character or " ") if len(character) == 1 else ord(" ")
        return Array("char", reverse(codes))
    if np.iscomplexobj(plain) and not np.iscomplexobj(item):
        item = plain.astype(np.complex64 if item.dtype == np.float32 else np.complex128)
    return wrap(kind_of_dtype(item.dtype), reverse(np.atleast_2d(item)))


def _struct(item: np.ndarray, plain: np.ndarray) -> Struct:
    fields = tuple(item.dtype.names or ())
    elements = [
        {name: _value(one[name], other[name]) for name in fields}
        for one, other in zip(item.T.flat, plain.T.flat, strict=True)
    ]
    return Struct(fields, objects(elements, item.shape))


def write_mat(path: Path, values: Mapping[str, Any], *, compressed: bool) -> None:
    """Write what ``for_scipy`` made to a file.

    Raises:
        OSError: the file cannot be written.

    """
    import scipy.io  # noqa: PLC0415  (with the first file)

    with path.open("wb") as file:
        scipy.io.savemat(file, dict(values), do_compression=compressed, long_field_names=True)


def for_scipy(engine: Engine, value: Value) -> Any:
    """A value as SciPy writes it.

    Raises:
        MatlabError: a MAT-file of this version has no such class, or SciPy cannot write it.

    """
    if isinstance(value, Cell):
        made = np.empty(value.data.T.shape, object)
        for at, item in np.ndenumerate(value.data.T):
            made[at] = for_scipy(engine, item)
        return made
    if isinstance(value, Struct):
        made = np.empty(value.data.T.shape, [(name, object) for name in value.fields])
        for at, element in np.ndenumerate(value.data.T):
            for name in value.fields:
                made[name][at] = for_scipy(engine, element[name])
        return made
    array = as_array(value)
    if array is None or array.kind == "string":
        raise MatlabError(
            "MATLAB:save:unsupportedClass",
            f"values of class '{kind_of(value)}' cannot be written to a MAT-file here",
        )
    data = engine.look(array.data).T
    if array.kind == "char":
        rows = [decode(row) for row in data] if data.size else [""]
        return np.array(rows)
    return data
