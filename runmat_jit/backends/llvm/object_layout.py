"""Where CPython and NumPy keep what native code reads: sizes and data pointers of objects."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
from numpy._core import umath

from runmat_jit.core.frozen import frozen

POINTER_BYTES = 8

_name = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@frozen
class ObjectLayout:
    """Offsets in bytes from the address of an object, ``id(object)``."""

    type: int
    tuple_size: int
    tuple_items: int
    array_data: int
    array_rank: int
    array_shape: int
    array_strides: int
    array_descr: int
    array_flags: int
    scalar_value: int
    """Of NumPy's scalars of 4 and 8 bytes."""
    builtin_definition: int
    builtin_owner: int
    errstate_actions: int
    """Of what NumPy's state of floating-point errors points to, as the next two."""
    errstate_buffer: int
    errstate_function: int


@cache  # a memo of a question whose answer no process changes
def object_layout() -> ObjectLayout | None:
    """The layout in this interpreter; ``None`` where it is not what CPython and NumPy document.

    The sizes of the headers follow from the types' own basic sizes (free-threaded builds have a
    longer one); what is found there is then compared with real objects.
    """
    header = object.__basicsize__
    layout = ObjectLayout(
        type=header - POINTER_BYTES,
        tuple_size=header,
        tuple_items=tuple.__basicsize__,
        array_data=header,
        array_rank=header + POINTER_BYTES,
        array_shape=header + 2 * POINTER_BYTES,
        array_strides=header + 3 * POINTER_BYTES,
        array_descr=header + 5 * POINTER_BYTES,
        array_flags=header + 6 * POINTER_BYTES,
        scalar_value=header,
        builtin_definition=header,
        builtin_owner=header + POINTER_BYTES,
        errstate_actions=_ErrorState.actions.offset,
        errstate_buffer=_ErrorState.buffer.offset,
        errstate_function=_ErrorState.function.offset,
    )
    return layout if _holds(layout) else None


def _holds(layout: ObjectLayout) -> bool:
    if ctypes.sizeof(ctypes.c_void_p) != POINTER_BYTES:
        return False
    base = np.arange(24.0).reshape(4, 6)
    arrays = (base, base[1:, ::-2], np.empty(0), np.array(1, np.int8))
    return (
        _word(arrays, layout.type) == id(tuple)
        and _word(arrays, layout.tuple_size) == len(arrays)
        and all(
            _word(arrays, layout.tuple_items + POINTER_BYTES * index) == id(array)
            for index, array in enumerate(arrays)
        )
        and all(_word(array, layout.type) == id(np.ndarray) for array in arrays)
        and all(_word(array, layout.array_data) == array.ctypes.data for array in arrays)
        and all(_holds_of(array, layout) for array in arrays)
        and _word(np.int64(-3), layout.scalar_value) == 2**64 - 3
        and _half(np.float32(1.5), layout.scalar_value) == np.float32(1.5).view(np.uint32)
        and _word(np.float64(1.5), layout.scalar_value) == np.float64(1.5).view(np.uint64)
        and _holds_of_builtins(base, layout)
        and _holds_of_errstates()
    )


class _ErrorState(ctypes.Structure):
    """``npy_extobj`` of NumPy."""

    _fields_ = (
        ("actions", ctypes.c_int),
        ("buffer", ctypes.c_ssize_t),
        ("function", ctypes.c_void_p),
    )


def _holds_of_errstates() -> bool:
    """True if NumPy's states are what :class:`_ErrorState` says, by states that differ."""
    found = []
    for divide in ("ignore", "warn", "raise"):
        with np.errstate(divide=divide, call=print):
            capsule = umath._extobj_contextvar.get()
        if type(capsule).__name__ != "PyCapsule":
            return False
        inside = _ErrorState.from_address(_pointer(capsule, _name(capsule)))
        if inside.buffer != np.getbufsize() or inside.function != id(print):
            return False
        found.append(inside.actions)
    return [actions - found[0] for actions in found] == [0, 1, 2]


def _holds_of_builtins(array: np.ndarray, layout: ObjectLayout) -> bool:
    methods = array.sum, array.mean
    return all(_word(each, layout.builtin_owner) == id(array) for each in methods) and (
        definition_of(methods[0], layout) == definition_of(np.empty(0).sum, layout)
        and definition_of(methods[0], layout) != definition_of(methods[1], layout)
    )


def definition_of(builtin: object, layout: ObjectLayout) -> int:
    """Address of the definition of a built-in function or method, which all its objects share."""
    return _word(builtin, layout.builtin_definition)


def _holds_of(array: np.ndarray, layout: ObjectLayout) -> bool:
    numbers = {layout.array_shape: array.shape, layout.array_strides: array.strides}
    return (
        _half(array, layout.array_rank) == array.ndim
        and _word(array, layout.array_descr) == id(array.dtype)
        and _half(array, layout.array_flags) & 0xFFF == array.flags.num & 0xFFF
        and all(
            ctypes.c_int64.from_address(_word(array, offset) + POINTER_BYTES * axis).value == number
            for offset, wanted in numbers.items()
            for axis, number in enumerate(wanted)
        )
    )


def _half(value: object, offset: int) -> int:
    return ctypes.c_uint32.from_address(id(value) + offset).value


def _word(value: object, offset: int) -> int:
    return ctypes.c_uint64.from_address(id(value) + offset).value
