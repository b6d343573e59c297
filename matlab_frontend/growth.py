"""Arrays that grow at their end: made with room to spare, so that growth copies rarely.

An array with room is a view of the first corner of a larger one that nobody else holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from matlab_frontend.errors import MatlabError
from matlab_frontend.subscripts import EVERYTHING, Subscript
from matlab_frontend.values.array import Shape


def grow(data: np.ndarray, shape: tuple[int, ...], *, alone: bool) -> np.ndarray:
    """A larger array with ``data`` in its first corner and zeros (or None) elsewhere.

    Where nobody else holds ``data`` it may be extended in the memory behind it. An array that
    grows by a part of its extent is likely to grow again, and gets room.
    """
    old = (1,) * (len(shape) - data.ndim) + data.shape
    if len(old) > data.ndim:
        data = data.reshape(old)
    whole = _room_behind(data, shape) if alone and data.base is not None else None
    if whole is None:
        extents = tuple(
            [n + n // 2 if m < n <= m + m // 2 else n for m, n in zip(old, shape, strict=True)]
        )
        whole = np.empty(extents, object) if data.dtype == object else np.zeros(extents, data.dtype)
        made = whole if extents == shape else whole[_corner(shape)]
        made[_corner(old)] = data
        return made
    made = whole[_corner(shape)]
    if made.size == data.size + 1:
        made[-1, -1] = filling(data.dtype)
        return made
    for axis, extent in enumerate(old):
        if extent < shape[axis]:
            made[(slice(None),) * axis + (slice(extent, None),)] = filling(data.dtype)
    return made


def appended(data: np.ndarray, value: Any) -> np.ndarray | None:
    """A vector with an element after its last, in the memory behind it; None where none is."""
    base = data.base
    if base is None or type(base) is not np.ndarray:
        return None
    columns, rows = data.shape
    shape = (columns + 1, 1) if rows == 1 else (1, rows + 1)
    whole = _room_behind(data, shape) if 1 in (columns, rows) else None
    if whole is None:
        return None
    made = whole[: shape[0], : shape[1]]
    made[-1, -1] = value
    return made


def filling(dtype: np.dtype) -> Any:
    """What new elements hold until they are assigned."""
    return None if dtype.kind == "O" else 0


def shape_reaching(data: np.ndarray, subscripts: Sequence[Subscript]) -> tuple[int, ...] | None:
    """The shape of a matrix that grew to hold an element at plain numbers, or a row or column.

    None where it need not grow, or where the general way must decide.
    """
    if data.ndim != 2:
        return None
    if len(subscripts) == 1:
        (last,) = subscripts
        if type(last) is not float or not last.is_integer() or last <= data.size:
            return None
        return grown_vector(data.shape[::-1], int(last))[::-1]
    if len(subscripts) != 2:
        return None
    extents = []
    for subscript, extent in zip(subscripts, reversed(data.shape), strict=True):
        if type(subscript) is float and subscript >= 1 and subscript.is_integer():
            extents.append(max(int(subscript), extent))
        elif subscript is EVERYTHING and extent > 0:
            extents.append(extent)
        else:
            return None
    rows, columns = extents
    return None if (columns, rows) == data.shape else (columns, rows)


def grown_vector(shape: Shape, size: int) -> Shape:
    """The size of a vector with so many elements in the direction of another.

    Raises:
        MatlabError: the other is no vector.

    """
    if math.prod(shape) == 0 and shape[0] != 1 and shape[1] != 1:
        return (1, size)
    if len(shape) == 2 and shape[0] == 1:
        return (1, size)
    if len(shape) == 2 and shape[1] == 1:
        return (size, 1)
    raise MatlabError("MATLAB:badsubscript", "Attempt to grow array along ambiguous dimension.")


_FIRST = (slice(1), slice(1))


def _corner(shape: tuple[int, ...]) -> tuple[slice, ...]:
    if len(shape) == 2:
        return slice(shape[0]), slice(shape[1])
    return tuple([slice(extent) for extent in shape])


def _room_behind(data: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    """The memory that begins with ``data``, if there is enough for a shape."""
    base = data.base
    if type(base) is not np.ndarray or base.dtype != data.dtype or base.ndim != data.ndim:
        return None
    if base.strides != data.strides:
        return None
    first_element = _FIRST if base.ndim == 2 else (slice(1),) * base.ndim
    if not np.may_share_memory(base[first_element], data[first_element]):  # those were deleted
        if base.size not in base.shape or not base.flags.c_contiguous:
            return None
        offset = data.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        first = offset // base.itemsize
        base = base[first:] if base.shape[1] == 1 else base[:, first:]
    for extent, wanted in zip(base.shape, shape, strict=True):
        if extent < wanted:
            return None
    return base
