"""Elements at positions that an array of integers tells: ``x[index]``, ``np.take(x, index, axis)``.

Python decides whether all positions are in range: if they are not, NumPy takes the elements, and
raises. What follows holds for positions in range.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from runmat_jit.capture.record import views
from runmat_jit.capture.record.masked_stores import geometry, is_array
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.geometry import is_contiguous
from runmat_jit.capture.tape.values import NOTHING
from runmat_jit.core.extent import plain
from runmat_jit.ops.spec import Bound

_ALL = slice(None)


# -- x[index] --------------------------------------------------------------------------------------
def item(recording: Recording, array: Traced, key: Any) -> Traced | None:
    """``array[index]`` or ``array[:, index]``; None where NumPy, or a view, is to give it."""
    if type(key) is tuple:
        if len(key) != 2 or type(key[0]) is not slice or key[0] != _ALL:
            return None
        return columns(recording, array, key[1])
    if not is_index(key) or not is_array(array) or not lies_plainly(array, key):
        return None
    return take(recording, array, key, 0)


def columns(recording: Recording, array: Traced, index: Any) -> Traced | None:
    """``array[:, index]``, which NumPy lays out as the rows that it takes of the transpose."""
    if not is_index(index) or not is_array(array) or not lies_plainly(array, index):
        return None
    if len(geometry(array).shape) != 2 or len(geometry(index).shape) != 1:
        return None
    rows = take(recording, array.T, index, 0)
    return None if rows is None else rows.T


def lies_plainly(array: Traced, index: Traced) -> bool:
    """True if NumPy's own result lies in C order, as ``np.take`` gives it."""
    at = geometry(array)
    return is_c_contiguous(index) and (len(at.shape) == 1 or is_c_contiguous(array))


def is_c_contiguous(array: Traced) -> bool:
    """True if an array lies in C order without gaps."""
    at = geometry(array)
    return is_contiguous(at.shape, tuple([s // at.dtype.itemsize for s in at.strides]))


# -- np.take(x, index, axis) -----------------------------------------------------------------------
def of_call(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any, int] | None:
    """Array, index and axis of ``np.take`` or the method; None for other forms of the call."""
    if len(args) == 3 and not kwargs:
        array, index, axis = args
    elif len(args) == 2 and tuple(kwargs) in ((), ("axis",)):
        array, index, axis = *args, kwargs.get("axis")
    else:
        return None
    if not (is_array(array) and is_index(index)):
        return None
    rank = len(geometry(array).shape)
    if axis is None:
        return (array, index, 0) if rank == 1 else None
    return (array, index, axis % rank) if type(axis) is int and -rank <= axis < rank else None


# -- both ------------------------------------------------------------------------------------------
def is_index(value: Any) -> bool:
    """True if a value is a traced array of integers."""
    return is_array(value) and geometry(value).dtype.kind == "i" and bool(geometry(value).shape)


def take(recording: Recording, array: Traced, index: Traced, axis: int) -> Traced | None:
    """The elements, deferred; None where NumPy is to take them, or to say why it does not."""
    if recording.passive or recording.immediate or recording.boundary is not None:
        return None
    shape = tuple(map(plain, geometry(array).shape))
    if axis >= len(shape) or 0 in shape or views.unstable(array) or views.unstable(index):
        return None
    if 0 not in map(plain, geometry(index).shape) and not are_in_range(
        recording, index, shape[axis]
    ):
        return None
    if recording.passive:
        return None
    found: Traced = recording.call(taken, (array, index, axis), NOTHING)
    return found


def are_in_range(recording: Recording, index: Traced, extent: int) -> Any:
    """True if all positions are, a truth of which there is a branch of the trace."""
    least = recording.call(call_forms.method_of("min"), (index,), NOTHING)
    most = recording.call(call_forms.method_of("max"), (index,), NOTHING)
    above = recording.call(operator.ge, (least, -extent), NOTHING)
    below = recording.call(operator.lt, (most, extent), NOTHING)
    return recording.call(operator.and_, (above, below), NOTHING)


def taken(array: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    """Elements at positions that are in range."""
    return np.take(array, index, axis)


def bind(recording: Recording, args: tuple[Any, ...]) -> Bound | None:
    """A call of :func:`taken` as its row reads it."""
    array, index, axis = args
    behind = len(geometry(array).shape) - axis - 1
    if behind:
        key = (Ellipsis, *(None,) * behind)
        done, index = views.attempt(recording, call_forms.GETITEM, (index, key), NOTHING)
        if not done:
            return None
    return Bound((array, index), {"axis": axis})
