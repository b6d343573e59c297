"""What a kernel of a loop is told of its operands, and the key of calls with equal forms."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.generators import is_numpys_generator
from runmat_jit.core.types import is_compiled_dtype, is_graph_dtype
from runmat_jit.loops.complex_numbers import COMPLEX
from runmat_jit.loops.drawing import DRAWINGS, NumpyDrawing, is_generator, stream_of
from runmat_jit.loops.extents import SINGLE
from runmat_jit.loops.source import Chain
from runmat_jit.loops.values import (
    FLOAT,
    INT,
    TRUTH,
    Kind,
    is_narrow,
    is_narrow_dtype,
    numpy_kind,
)

_SMALL, _MEDIUM = 1 << 24, 1 << 40
_PYTHONS: Final = {int: INT, float: FLOAT, bool: TRUTH}
LONG: Final = 1 << 13
"""Elements that one ``total`` of doubles takes: sums of longer rows are taken in cells."""
FEW: Final = 16
"""Items of a list from before a loop that the loop may read."""


@frozen
class ArrayForm:
    """What is known of an array among the operands.

    ``number``: the first operand that is the same array. ``unit``: the axis along which elements
    lie without gaps, the last one of several; -1: there is none.
    ``packed``: it lies in C's order without gaps, or has one axis at most.
    ``extents``: a number for each extent; equal extents have equal ones, and those of 1 the number
    :data:`.extents.SINGLE`. ``is_long``: some extent is larger than :data:`LONG`.
    """

    dtype: np.dtype
    ndim: int
    unit: int
    packed: bool
    number: int
    extents: tuple[int, ...]
    is_long: bool = False


@frozen
class NumberForm:
    """What is known of a number.

    ``high`` bounds an integer's magnitude; ``extent`` is the number of the extent that it equals.
    """

    kind: Kind
    high: int = 0
    narrow: bool = False
    extent: int | None = None


@frozen
class ListForm:
    """What is known of a list: ``number`` as of arrays.

    ``kind``: its items are numbers of this kind, and few; None: of others, or it is ``empty``.
    """

    number: int
    kind: Kind | None
    empty: bool


@frozen
class GeneratorForm:
    """A generator of random numbers, ours or NumPy's; ``number`` as of arrays."""

    number: int
    numpys: bool


@frozen
class ObjectForm:
    """Any other value; it is the same in all calls."""

    value: object


Form = ArrayForm | NumberForm | ListForm | GeneratorForm | ObjectForm
Forms = Mapping[Chain, Form]


class NotKnown:
    """Stands for what is no number and no array of numbers: loops that use it run as they stand."""


OPAQUE: Final = ObjectForm(NotKnown())
NONE: Final = ObjectForm(None)


def forms_of(values: Mapping[Chain, Any], *, facts: bool) -> dict[Chain, Form]:
    """What a kernel is told of operands; ``facts``: which extents and numbers are equal, too."""
    seen: dict[int, int] = {}
    extents: dict[int, int] | None = None
    if facts:
        extents = {1: SINGLE}
        for value in values.values():
            if type(value) is np.ndarray:
                for extent in value.shape:
                    extents.setdefault(extent, len(extents))
    return {c: form_of(v, n, seen, extents) for n, (c, v) in enumerate(values.items())}


def is_loop_dtype(dtype: np.dtype) -> bool:
    """Return True if loops know arrays and numbers of a dtype."""
    return is_graph_dtype(dtype) or is_narrow_dtype(dtype)


def form_of(
    value: Any, number: int, seen: dict[int, int], extents: Mapping[int, int] | None = None
) -> Form:
    """What a kernel is told of an operand.

    ``seen``: arrays by identity, and their numbers; ``extents``: those of all arrays, and theirs.
    """
    kind = type(value)
    if value is None:
        return NONE
    if kind is np.ndarray:
        is_known = is_loop_dtype(value.dtype) and value.dtype.isnative
        if not is_known or not value.flags.aligned or not value.ndim:
            return OPAQUE
        unit = unit_axis(value.strides, value.itemsize)
        packed = value.ndim < 2 or value.flags.c_contiguous
        first = seen.setdefault(id(value), number)
        numbers = apart(first, value.ndim)
        if extents is not None:
            numbers = tuple([extents[extent] for extent in value.shape])
        is_long = max(value.shape) > LONG
        return ArrayForm(value.dtype, value.ndim, unit, packed, first, numbers, is_long)
    python = _PYTHONS.get(kind)
    if python is INT:
        magnitude = abs(value)
        high = next((b for b in (_SMALL, _MEDIUM) if magnitude <= b), 1 << 63)
        known = None if extents is None or value < 2 else extents.get(value)
        return OPAQUE if magnitude >= 1 << 63 else NumberForm(python, high, extent=known)
    if kind is complex:
        return NumberForm(COMPLEX)
    if python is not None:
        return NumberForm(python, narrow=python is FLOAT and is_narrow(value))
    if isinstance(value, np.generic) and is_loop_dtype(value.dtype):
        return NumberForm(numpy_kind(value.dtype), narrow=value.dtype == np.float32)
    if kind is list:
        return ListForm(seen.setdefault(id(value), number), kind_of_items(value), not value)
    if is_generator(value):
        numpys = kind is NumpyDrawing or is_numpys_generator(value)
        return GeneratorForm(seen.setdefault(stream_of(value), number), numpys)
    return OPAQUE


def kind_of_items(items: Sequence[Any]) -> Kind | None:
    """The kind of which all items of a list are numbers; None: of none, or it has many."""
    if not items or len(items) > FEW:
        return None
    classes = set(map(type, items))
    cls: Any = classes.pop()
    if classes:
        return None
    python = _PYTHONS.get(cls)
    if python is not None:
        large = python is INT and max(map(abs, items)) >= 1 << 63
        return None if large else python
    dtype = items[0].dtype if issubclass(cls, np.generic) else None
    return numpy_kind(dtype) if dtype is not None and is_compiled_dtype(dtype) else None


def unit_axis(strides: Sequence[int], itemsize: int) -> int:
    """The axis along which elements lie without gaps, the last one of several; -1: none."""
    for axis in range(len(strides) - 1, -1, -1):
        if strides[axis] == itemsize:
            return axis
    return -1


def apart(number: int, ndim: int) -> tuple[int, ...]:
    """Numbers for the extents of an array of which nothing is known."""
    return tuple([-1 - 64 * number - axis for axis in range(ndim)])


def key_of(values: Sequence[Any], *, facts: bool) -> tuple[Any, ...]:
    """Equal for operands of equal forms (:func:`forms_of`)."""
    seen: dict[int, int] = {}
    extents: dict[int, int] = {1: SINGLE}
    parts: list[Any] = []
    for value in values:
        if type(value) is np.ndarray:
            dtype = value.dtype
            first = seen.setdefault(id(value), len(parts))
            strides = value.strides
            unit = unit_axis(strides, dtype.itemsize)
            parts.append(
                (dtype.char, dtype.isnative, len(strides), unit, first, value.flags.aligned)
            )
            parts.append(len(strides) < 2 or value.flags.c_contiguous)
            parts.append(max(value.shape, default=0) > LONG)
            if facts:
                for extent in value.shape:
                    extents.setdefault(extent, len(extents))
                parts.append(tuple([extents[extent] for extent in value.shape]))
        else:
            parts.append(type(value))
            if type(value) in DRAWINGS:
                parts.append(seen.setdefault(id(value), len(parts)))
            if type(value) is list:
                first = seen.setdefault(id(value), len(parts))
                parts.append((first, kind_of_items(value), not value))
    for value in values:
        kind = type(value)
        if kind is int:
            size = value if value >= 0 else -value
            group = 0 if size <= _SMALL else 1 if size <= _MEDIUM else 2 if size < 1 << 63 else 3
            parts.append((group, extents.get(value) if value > 1 else None))
        elif kind is float:
            parts.append(ctypes.c_float(value).value == value or math.isnan(value))
    return tuple(parts)
