"""Values of MAT-files of version 7.3, which are HDF5 files: read through h5py where it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from matlab_frontend.errors import MatlabError
from matlab_frontend.mat_values import UnknownClassError
from matlab_frontend.values.array import Array, Cell, Struct, Value
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import objects, struct, wrap

_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(start: bytes) -> bool:
    """True if a file begins as HDF5 files do, or as MATLAB's header of such files does."""
    return start.startswith(b"MATLAB 7.3 MAT-file") or _SIGNATURE in (start[:8], start[512:520])


def read_hdf5(path: Path) -> dict[str, Value | None]:
    """The variables of a file; None stands for one of a class that has no value here.

    Raises:
        MatlabError: h5py is not installed.

    """
    try:
        import h5py  # noqa: PLC0415  (optional)
    except ImportError as error:
        message = "Files of version 7.3 need the Python package h5py, which is not installed."
        raise MatlabError("MATLAB:load:needsH5py", message) from error
    with h5py.File(path, "r") as file:
        return {name: _readable(file, item) for name, item in file.items() if name[0] != "#"}


def _readable(file: Any, item: Any) -> Value | None:
    try:
        return _value(file, item)
    except UnknownClassError:
        return None


def _value(file: Any, item: Any) -> Value:
    kind = item.attrs.get("MATLAB_class", b"struct").decode()
    if hasattr(item, "keys"):
        if kind != "struct":
            raise UnknownClassError
        return _struct(file, item)
    shape = tuple(int(k) for k in item[()].ravel()) if "MATLAB_empty" in item.attrs else None
    if kind == "cell":
        return _cell(file, item, shape)
    if kind == "struct":
        return Struct((), objects([], shape or (0, 0)))
    if kind not in DTYPES or kind == "string":
        raise UnknownClassError
    data: Any = np.zeros(shape[::-1]) if shape is not None else item[()]
    if data.dtype.names:
        data = data["real"] + 1j * data["imag"]
        return wrap(kind, data.astype(np.complex64 if kind == "single" else np.complex128))
    made = np.ascontiguousarray(data).astype(DTYPES[kind])
    return Array("char", made) if kind == "char" else wrap(kind, made)


def _cell(file: Any, item: Any, shape: tuple[int, ...] | None) -> Cell:
    if shape is not None:
        return Cell(np.empty(shape[::-1], object))
    references = item[()]
    made = np.empty(references.shape, object)
    for at, reference in np.ndenumerate(references):
        made[at] = _value(file, file[reference])
    return Cell(made)


def _struct(file: Any, group: Any) -> Struct:
    """A struct, or a struct array, whose fields are arrays of references."""
    fields = tuple(group.keys())
    many = [item for item in group.values() if "MATLAB_class" not in item.attrs]
    if not many:
        return struct({name: _value(file, group[name]) for name in fields})
    data = np.empty(many[0].shape, object)
    for at in np.ndindex(data.shape):
        data[at] = {name: _value(file, file[group[name][at]]) for name in fields}
    return Struct(fields, data)
