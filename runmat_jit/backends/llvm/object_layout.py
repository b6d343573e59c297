"""Where CPython and NumPy keep what native code reads: sizes and data pointers of objects."""

from __future__ import annotations

import ctypes

import numpy as np

from runmat_jit.core.frozen import frozen

POINTER_BYTES = 8


@frozen
class ObjectLayout:
    """Offsets in bytes from the address of an object, ``id(object)``."""

    type: int
    tuple_size: int
    tuple_items: int
    array_data: int


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
    )


def _word(value: object, offset: int) -> int:
    return ctypes.c_uint64.from_address(id(value) + offset).value
