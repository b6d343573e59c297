"""Subscripts: what they may be, and which positions they mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Data, Shape, Value, as_array, kind_of, shape_of
from matlab_frontend.values.kinds import INTEGER_KINDS
from runmat_jit.core.frozen import frozen


@frozen
class Everything:
    """``:`` as a subscript."""


EVERYTHING = Everything()


@frozen
class Span:
    """``first:step:last`` of whole numbers, ascending, counted from 1, ``last`` included."""

    first: int
    last: int
    step: int = 1

    @property
    def count(self) -> int:
        """Number of scalars that it has."""
        return max((self.last - self.first) // self.step + 1, 0)


Subscript: TypeAlias = Value | Everything | Span


@frozen
class Positions:
    """A subscript read for an axis: what to take (from 0), how many, and the highest, from 1."""

    key: slice | np.ndarray
    count: int
    highest: int
    shape: Shape | None
    """Size of the subscript; None for ``:``."""


def positions(engine: Engine, subscript: Subscript, extent: int, at: str = "") -> Positions:
    """Read a subscript for an axis of ``extent`` elements.

    Args:
        engine: Computes the subscript's values.
        subscript: Numbers from 1, truth values, or everything.
        extent: Elements along the axis.
        at: ``in position 2 `` for messages.

    Raises:
        MatlabError: a number is not a positive integer.

    """
    if type(subscript) is float:
        index = int(subscript) if math.isfinite(subscript) else 0
        if index < 1 or index != subscript:
            raise _not_an_index(at)
        return Positions(slice(index - 1, index), 1, index, (1, 1))
    if isinstance(subscript, Everything):
        return Positions(slice(0, extent), extent, extent, None)
    if isinstance(subscript, Span):
        if subscript.last < subscript.first:
            return Positions(slice(0, 0), 0, 0, (1, 0))
        if subscript.first < 1:
            raise _not_an_index(at)
        count = subscript.count
        highest = subscript.first + (count - 1) * subscript.step
        key = slice(subscript.first - 1, highest, subscript.step)
        return Positions(key, count, highest, (1, count))
    array = as_array(subscript)
    if array is None:
        raise MatlabError(
            "MATLAB:badsubscript",
            f"Unable to use a value of type '{kind_of(subscript)}' as an index.",
        )
    if array.kind == "logical":
        return _mask(engine, array)
    if array.kind == "char" and array.data.size == 1 and array.data.item() == ord(":"):
        return Positions(slice(0, extent), extent, extent, None)
    return _numbers(engine, array, at)


def element_position(data: np.ndarray, subscripts: Sequence[Subscript]) -> tuple[int, ...] | None:
    """Where plain numbers point to, one for a matrix or one an axis; None where
    :func:`positions` must decide.
    """
    if len(subscripts) == 1:
        (first,) = subscripts
        if type(first) is not float or not 1.0 <= first <= data.size or data.ndim != 2:
            return None
        return divmod(int(first) - 1, data.shape[1]) if first.is_integer() else None
    if len(subscripts) != data.ndim:
        return None
    if data.ndim == 2:
        row, column = subscripts
        if type(row) is not float or type(column) is not float:
            return None
        columns, rows = data.shape
        if not (1.0 <= row <= rows and 1.0 <= column <= columns):
            return None
        i, j = int(row), int(column)
        return (j - 1, i - 1) if i == row and j == column else None
    place = []
    for subscript, extent in zip(reversed(subscripts), data.shape, strict=True):
        if type(subscript) is not float or not 1.0 <= subscript <= extent:
            return None
        if not subscript.is_integer():
            return None
        place.append(int(subscript) - 1)
    return tuple(place)


def block_of(data: np.ndarray, subscripts: Sequence[Subscript]) -> tuple[slice, ...] | None:
    """The slices of a matrix that numbers, ranges and ``:`` mean, one subscript an axis or one
    for a row or column; None where :func:`positions` must decide.
    """
    if data.ndim != 2:
        return None
    columns, rows = data.shape
    if len(subscripts) == 2:
        down, along = _slice(subscripts[0], rows), _slice(subscripts[1], columns)
        return None if down is None or along is None else (along, down)
    if len(subscripts) != 1 or not isinstance(subscripts[0], Span) or 1 not in data.shape:
        return None
    part = _slice(subscripts[0], data.size)
    if part is None or data.size == 1:
        return None
    return (part, _ALL) if rows == 1 else (_ALL, part)


_ALL = slice(None)


def _slice(subscript: Subscript, extent: int) -> slice | None:
    """The positions of one axis, if there are some and they lie inside."""
    if type(subscript) is float:
        if not 1.0 <= subscript <= extent or not subscript.is_integer():
            return None
        return slice(int(subscript) - 1, int(subscript))
    if isinstance(subscript, Everything):
        return _ALL
    if isinstance(subscript, Span) and 1 <= subscript.first <= subscript.last <= extent:
        return slice(subscript.first - 1, subscript.last, subscript.step)
    return None


def settled(engine: Engine, array: Array, subscripts: Sequence[Subscript]) -> Data:
    """The data of an array, in memory from now on if a program goes through its parts."""
    data = array.data
    if type(data) is np.ndarray or len(subscripts) > data.ndim:
        return data
    count = 1
    for subscript, extent in zip(subscripts, fold(data.shape[::-1], len(subscripts)), strict=True):
        if isinstance(subscript, Everything):
            count *= extent
        elif isinstance(subscript, Span):
            count *= subscript.count
        elif type(subscript) is not float:  # lists of positions are applied to what is known
            count = 1
            break
    known = engine.settle(data, count)
    object.__setattr__(array, "data", known)  # the same elements, held otherwise
    return known


def fold(shape: Shape, count: int) -> Shape:
    """The size as ``count`` subscripts see it: the last one runs over all further axes."""
    if count >= len(shape):
        return shape + (1,) * (count - len(shape))
    return (*shape[: count - 1], math.prod(shape[count - 1 :]))


def size_text(shape: Sequence[int], sign: str = "-by-") -> str:
    """``2-by-3``."""
    return sign.join(map(str, shape))


def _numbers(engine: Engine, array: Array, at: str) -> Positions:
    values = engine.look(array.data)
    if array.kind not in INTEGER_KINDS:
        if values.dtype.kind == "c":
            raise MatlabError("MATLAB:badsubscript", "Subscript indices must be real.")
        whole = values.astype(np.int64)
        bad = whole != values
        if bad.any():
            raise _not_an_index(at)
        values = whole
    flat = values.reshape(-1).astype(np.int64, copy=False)
    if flat.size == 0:
        return Positions(slice(0, 0), 0, 0, shape_of(array))
    if flat.min() < 1:
        raise _not_an_index(at)
    return Positions(flat - 1, flat.size, int(flat.max()), shape_of(array))


def _mask(engine: Engine, array: Array) -> Positions:
    mask = engine.look(array.data)
    chosen = np.flatnonzero(mask.reshape(-1))
    shape = shape_of(array)
    row = len(shape) == 2 and shape[0] == 1
    found = (1, chosen.size) if row else (chosen.size, 1)
    return Positions(chosen, chosen.size, int(chosen[-1]) + 1 if chosen.size else 0, found)


def _not_an_index(at: str) -> MatlabError:
    where = f"Index {at}is invalid. " if at else ""
    return MatlabError(
        "MATLAB:badsubscript",
        f"{where}Array indices must be positive integers or logical values.",
    )
