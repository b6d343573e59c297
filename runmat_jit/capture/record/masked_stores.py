"""Stores of one number where a mask of the array's shape is true, which need no list of elements.

``x[mask] = 0`` writes a number into the elements that the mask chooses. ``x[mask] += 1`` is made of
operations on the whole array: where the mask is false they compute with ones, of which NumPy
reports no event, and nothing is stored.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.capture.record import views
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.source.hook_base import Place
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.storage import Geometry
from runmat_jit.capture.tape.values import ARRAY, NOTHING
from runmat_jit.core.types import is_graph_dtype
from runmat_jit.ops.promotion import fits, loop_dtypes
from runmat_jit.ops.spec import Bound

OPERATORS: Final[Mapping[str, tuple[Callable[..., Any], np.ufunc]]] = {
    "add": (operator.add, np.add),
    "sub": (operator.sub, np.subtract),
    "mul": (operator.mul, np.multiply),
    "truediv": (operator.truediv, np.true_divide),
}
"""Operations that report no event of ones."""


# -- x[mask] = number ------------------------------------------------------------------------------
def bind(recording: Recording, target: Any, mask: Any, value: Any) -> Bound | None:
    """``target[mask] = value`` as its row reads it; None where it is another assignment."""
    if not (is_array(target) and is_mask(mask)) or views.unstable(target):
        return None
    leading = len(mask._rm_geometry.shape)
    if not leading or mask._rm_geometry.shape != target._rm_geometry.shape[:leading]:
        return None
    number = number_for(recording, target, value)
    if number is None or mixes(recording, target, mask):
        return None
    missing = len(target._rm_geometry.shape) - leading
    if missing:
        key = (Ellipsis, *(None,) * missing)
        done, mask = views.attempt(recording, call_forms.GETITEM, (mask, key), NOTHING)
        if not done:
            return None
    return Bound((target, mask, number))


def is_array(value: Any) -> bool:
    """True if a value is a traced array of a dtype that kernels know."""
    if type(value) is not Traced or value._rm_kind != ARRAY or value._rm_geometry is None:
        return False
    return is_graph_dtype(value._rm_geometry.dtype)


def is_mask(value: Any) -> bool:
    """True if a value is a traced array of truth values."""
    return is_array(value) and value._rm_geometry.dtype == np.bool_


def mixes(recording: Recording, target: Traced, mask: Traced) -> bool:
    """True if a store may change what is read of the mask afterwards: NumPy makes no copy of it."""
    return not lie_alike(target, mask) and shares(recording, target, mask)


def lie_alike(one: Traced, other: Traced) -> bool:
    """True if two arrays show the same elements of one memory, in the same places."""
    at, there = geometry(one), geometry(other)
    same = at.storage is there.storage and at.offset == there.offset and at.dtype == there.dtype
    return same and at.shape == there.shape and at.strides == there.strides


def shares(recording: Recording, one: Traced, other: Traced) -> bool:
    """True if two arrays may have memory in common."""
    if geometry(one).storage is geometry(other).storage:
        return True
    shown = views.shape_array(recording, one), views.shape_array(recording, other)
    return np.may_share_memory(*shown)


def geometry(array: Traced) -> Geometry:
    """Where the elements of an array lie."""
    at = array._rm_geometry
    assert at is not None, "arrays have a geometry"
    return at


def number_for(recording: Recording, target: Traced, value: Any) -> Any:
    """A value as a number for elements of the target; None where it is none that fits.

    Numbers of the program are cast here. The row's rule refuses traced ones that a cast may change.
    """
    dtype = geometry(target).dtype
    if type(value) is Traced:
        at, is_array = value._rm_geometry, value._rm_kind == ARRAY
        is_one = at is None or not at.shape
        return value if is_one and not (is_array and shares(recording, target, value)) else None
    if isinstance(value, np.generic):
        return value
    kinds = {bool: "bif", int: "if", float: "f"}.get(type(value), "")
    if dtype.kind not in kinds or not fits(value, dtype):
        return None
    return np.asarray(value).astype(dtype)[()]


def of_call(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Target, mask and value of ``np.putmask`` or ``np.copyto``, where it may be such a store."""
    if fn is np.putmask and len(args) == 3 and not kwargs:
        found = args
    elif fn is np.copyto and len(args) == 2 and tuple(kwargs) == ("where",):
        found = (args[0], kwargs["where"], args[1])
    else:
        return None
    target, mask, _ = found
    if not (is_array(target) and is_mask(mask)):
        return None
    return found if target._rm_geometry.shape == mask._rm_geometry.shape else None


# -- x[mask] op= number ----------------------------------------------------------------------------
def store(target: np.ndarray, mask: np.ndarray, values: np.ndarray) -> None:
    """Store of values where a mask is true; all three are alike."""
    np.putmask(target, mask, values)


def bind_arrays(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound | None:
    """A call of :func:`store` as its row reads it."""
    alike = len(args) == 3 and not kwargs and all(map(is_array, args))
    return Bound(args) if alike else None


class MaskedPlace(Place):
    """``x[mask]`` of an augmented assignment whose right-hand side is a number."""

    __slots__ = ("_recording",)

    def __init__(self, recording: Recording, *args: Any) -> None:
        super().__init__(*args)
        self._recording = recording

    def load_late(self) -> Place:
        """Leave the elements where they are, until it is known what becomes of them."""
        if not is_updatable(self._recording, self._obj, self._key):
            return self.load()
        return self

    def update(self, op: str, rhs: Any) -> None:
        if self._old is None:
            recording = self._recording
            if not recording.passive and update(recording, op, self._obj, self._key, rhs):
                return
            self.load()
        super().update(op, rhs)


def is_updatable(recording: Recording, target: Any, mask: Any) -> bool:
    """True if ``target[mask]`` can be read, and written as a whole."""
    if recording.passive or recording.immediate or not (is_array(target) and is_mask(mask)):
        return False
    at, chosen = target._rm_geometry, mask._rm_geometry
    if views.unstable(target) or at.dtype.kind not in "if" or at.shape != chosen.shape:
        return False
    is_own = target._rm_tracer is recording and mask._rm_tracer is recording
    return (
        is_own
        and bool(at.shape)
        and recording.writable(target)
        and not mixes(recording, target, mask)
    )


def update(recording: Recording, op: str, target: Traced, mask: Traced, number: Any) -> bool:
    """``target[mask] op= number``: whether it was done.

    Each element has the value that NumPy computes of a copy of the chosen ones.
    """
    known = OPERATORS.get(op)
    dtype = geometry(target).dtype
    if known is None or not is_operand(number, dtype, known[1]):
        return False
    one = dtype.type(1)
    chosen = recording.call(np.where, (mask, target, one), NOTHING)
    operand = recording.call(np.where, (mask, number, one), NOTHING)
    value = recording.call(known[0], (chosen, operand), NOTHING)
    recording.call(store, (target, mask, value), NOTHING)
    return True


def is_operand(number: Any, dtype: np.dtype, ufunc: np.ufunc) -> bool:
    """True if a number takes part in a ufunc of arrays of ``dtype`` as a number of that dtype."""
    held = number
    if type(number) is Traced:
        at = number._rm_geometry
        if at is not None:
            return not at.shape and loop_dtypes(ufunc, (dtype, at.dtype)) == (dtype,) * 3
        held = number._rm_held
    if isinstance(held, np.generic):
        return loop_dtypes(ufunc, (dtype, held.dtype)) == (dtype,) * 3
    if type(held) not in (int, float) or loop_dtypes(ufunc, (dtype, type(held))) != (dtype,) * 3:
        return False
    return fits(held, dtype)
