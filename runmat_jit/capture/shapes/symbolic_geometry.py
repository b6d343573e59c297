"""Geometry of views and results by arithmetic, for extents that remember their formulas.

NumPy says what a view is by making it, in plain numbers. For an array of extents the same view is
computed here; where that cannot be done, or gives other numbers, the view has NumPy's numbers and
the recording holds for this shape alone.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.storage import Geometry, memory_order
from runmat_jit.core.extent import Extent, plain
from runmat_jit.core.types import TensorType, c_strides

Axis = tuple[int, int]
"""Extent and stride (bytes) of an axis."""


def is_symbolic(at: Geometry) -> bool:
    """True if any extent or stride is a formula."""
    return any(isinstance(number, Extent) for number in (*at.shape, *at.strides))


def view_of(
    parent: Geometry, made: Geometry, fn: Any, rest: Sequence[Any], kwargs: Mapping[str, Any]
) -> Geometry:
    """The geometry ``made`` that a call gave for a view of ``parent``, in formulas."""
    if not is_symbolic(parent):
        return made
    found: Geometry | None
    if made.dtype != parent.dtype:
        part = made.offset - plain(parent.offset)
        found = replace(parent, offset=parent.offset + part, dtype=made.dtype, slot=None)
    elif fn is call_forms.GETITEM:
        found = indexed(parent, rest[0])
    elif getattr(fn, "__name__", "") in ("reshape", "ravel") and not kwargs:
        found = reshaped(parent, rest)
    else:
        found = rearranged(parent, fn, rest, kwargs)
    if found is None or numbers_of(found) != numbers_of(made):
        settle(parent)
        return made
    return found


def settle(at: Geometry | None) -> None:
    """From here on the recording holds for these extents and strides alone."""
    if at is not None:
        for number in (*at.shape, *at.strides):
            operator.index(number)


def numbers_of(at: Geometry) -> tuple[Any, ...]:
    """Plain offset, shape and strides; strides of axes without a second element do not count."""
    axes = [(plain(n), plain(s)) for n, s in zip(at.shape, at.strides, strict=True)]
    return plain(at.offset), [(n, s if n > 1 else 0) for n, s in axes], at.dtype


def result_strides(
    strides: tuple[int, ...], kind: TensorType, arrays: Sequence[Geometry]
) -> tuple[int, ...]:
    """NumPy's strides of a new array, for extents that remember their formulas.

    It orders the axes as those of its operands lie in memory: that they do is a condition.
    """
    if not any(isinstance(extent, Extent) for extent in kind.shape):
        return strides
    for at in arrays:
        memory_order(at.shape, at.strides)
    order = memory_order(tuple(map(plain, kind.shape)), strides)
    made = tuple([step * kind.dtype.itemsize for step in c_strides(kind.shape, order)])
    if tuple(map(plain, made)) == strides:
        return made
    for extent in kind.shape:
        operator.index(extent)  # these strides are those of this shape alone
    return strides


def indexed(parent: Geometry, key: Any) -> Geometry | None:
    """Geometry of a basic index: integers, slices, new axes and an ellipsis."""
    parts = key if type(key) is tuple else (key,)
    axes = list(zip(parent.shape, parent.strides, strict=True))
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if Ellipsis not in parts:
        parts = (*parts, Ellipsis)
    offset, kept = parent.offset, []
    for part in parts:
        if part is None:
            kept.append((1, 0))
        elif part is Ellipsis:
            free = len(axes) - taken
            kept += axes[:free]
            del axes[:free]
        else:
            (extent, stride), taken = axes.pop(0), taken - 1
            if isinstance(part, slice):
                first, count, step = walked(part, extent)
                kept.append((count, stride * step))
            else:
                number = _whole(part)
                first = number + extent if number < 0 else number
                if not 0 <= first < extent:
                    return None
            offset = offset + first * stride
    return _with(parent, offset, kept)


def walked(part: slice, extent: int) -> tuple[int, int, int]:
    """First index, number of elements and step of a slice of an axis."""
    step = 1 if part.step is None else operator.index(part.step)
    lowest, highest = (0, extent) if step > 0 else (-1, extent - 1)

    def place(index: Any, default: int) -> int:
        if index is None:
            return default
        number = _whole(index)
        if number < 0:
            return max(number + extent, lowest)
        return min(number, highest)

    first = place(part.start, lowest if step > 0 else highest)
    last = place(part.stop, highest if step > 0 else lowest)
    distance = last - first if step > 0 else first - last
    count = (distance + abs(step) - 1) // abs(step) if distance > 0 else 0
    return first, count, step


def _whole(number: Any) -> int:
    """A position of a key; one that is a formula stays one."""
    return number if isinstance(number, Extent) else operator.index(number)  # type: ignore[return-value]  # as extent()


def reshaped(parent: Geometry, rest: Sequence[Any]) -> Geometry | None:
    """Geometry of ``reshape`` and ``ravel`` on contiguous memory."""
    wanted = rest[0] if len(rest) == 1 and isinstance(rest[0], tuple | list) else rest or (-1,)
    size = parent.dtype.itemsize
    strides = [step * size for step in c_strides(parent.shape)]
    if any(a != b for a, b in zip(parent.strides, strides, strict=True)):
        return None
    if not all(isinstance(extent, Extent) or type(extent) is int for extent in wanted):
        return None
    shape = [None if extent == -1 else extent for extent in wanted]
    total, known = math.prod(parent.shape), math.prod(n for n in shape if n is not None)
    missing = total // known if None in shape and known > 0 else 1
    if known * missing != total:
        return None
    made = tuple([missing if extent is None else extent for extent in shape])
    steps = [step * size for step in c_strides(made)]
    return _with(parent, parent.offset, list(zip(made, steps, strict=True)))


def rearranged(
    parent: Geometry, fn: Any, rest: Sequence[Any], kwargs: Mapping[str, Any]
) -> Geometry | None:
    """Geometry of a call that permutes, adds or drops axes, asked on axes that tell their name.

    Axis k of the array that is asked has extent 2 + k (1 where the true extent is 1); None where
    the call does something else to them.
    """
    extents = tuple(1 if n == 1 else 2 + axis for axis, n in enumerate(parent.shape))
    asked = np.empty(extents, np.bool_)
    try:
        made = fn(asked, *rest, **kwargs)
    except (TypeError, ValueError):
        return None
    if not isinstance(made, np.ndarray) or _address(made) != _address(asked):
        return None
    names = {(n, s): axis for axis, (n, s) in enumerate(zip(extents, asked.strides, strict=True))}
    kept: list[Axis] = []
    for extent, stride in zip(made.shape, made.strides, strict=True):
        axis = names.pop((extent, stride), None)
        if axis is None and extent != 1:
            return None
        kept.append((1, 0) if axis is None else (parent.shape[axis], parent.strides[axis]))
    if any(extents[axis] != 1 for axis in names.values()):
        return None
    return _with(parent, parent.offset, kept)


def _address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _with(parent: Geometry, offset: int, axes: Sequence[Axis]) -> Geometry:
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    return replace(parent, offset=offset, shape=shape, strides=strides, slot=None)
