"""Subscripts: what they may be, and which positions they mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Shape, Value, as_array, kind_of, shape_of
from matlab_frontend.values.kinds import INTEGER_KINDS


@dataclass(frozen=True, slots=True)
class Everything:
    """``:`` as a subscript."""


@dataclass(frozen=True, slots=True)
class Span:
    """``first:last`` of whole numbers as a subscript: counted from 1, ``last`` included."""

    first: int
    last: int


Subscript: TypeAlias = Value | Everything | Span


@dataclass(frozen=True, slots=True)
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
        count = subscript.last - subscript.first + 1
        key = slice(subscript.first - 1, subscript.last)
        return Positions(key, count, subscript.last, (1, count))
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


def element_position(data: np.ndarray, subscripts: Sequence[Subscript]) -> tuple[int, int] | None:
    """Where one or two plain numbers point to in a matrix; None where :func:`positions` decides."""
    columns, rows = data.shape
    first = subscripts[0]
    if type(first) is not float or len(subscripts) > 2:
        return None
    if len(subscripts) == 1:
        if not 1.0 <= first <= rows * columns or not first.is_integer():
            return None
        at = int(first) - 1
        return at // rows, at % rows
    second = subscripts[1]
    if type(second) is not float or not (1.0 <= first <= rows and 1.0 <= second <= columns):
        return None
    if not (first.is_integer() and second.is_integer()):
        return None
    return int(second) - 1, int(first) - 1


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
