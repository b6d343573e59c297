"""NumPy's own inner loops, for kernels to call: matrix products with NumPy's bits.

A ufunc object holds a table of C functions, one for each combination of dtypes, in the layout of
NumPy's public header ``ufuncobject.h``. They work on memory alone, and need no lock of Python's.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

import numpy as np


class _Ufunc(ctypes.Structure):
    """The first fields of ``PyUFuncObject``."""

    _fields_ = (
        ("ob_refcnt", ctypes.c_ssize_t),
        ("ob_type", ctypes.c_void_p),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved1", ctypes.c_int),
        ("name", ctypes.c_char_p),
    )


_KNOWN: Final = "CPython" if hasattr(ctypes, "pythonapi") else ""


@cache  # a question about the process
def inner_loop(ufunc: np.ufunc, types: str) -> tuple[int, int] | None:
    """Addresses of the C function for these ``types`` (``dd->d``) and of what it is given last.

    None: the object is not laid out as expected.
    """
    if not _KNOWN or types not in ufunc.types:
        return None
    found = _Ufunc.from_address(id(ufunc))
    counts = (found.nin, found.nout, found.nargs, found.ntypes)
    if counts != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes):
        return None
    if found.name != ufunc.__name__.encode():
        return None
    place = ufunc.types.index(types)
    function = found.functions[place]
    data = found.data[place] if found.data else None
    return None if function is None else (function, data or 0)
