"""The C functions in which NumPy's ufuncs loop over elements, and that of its matrix products.

They are found in the ufunc object: it holds a table of inner loops, one for each combination of
dtypes, in the layout of NumPy's public header ``ufuncobject.h``. They work on memory alone, and
need no lock of Python's.
"""

from __future__ import annotations

import ctypes
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


def inner_loop(ufunc: np.ufunc, types: str) -> int | None:
    """Address of the C function of a ufunc for these ``types`` (``dd->d``).

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
    address: int | None = found.functions[ufunc.types.index(types)]
    return address


def product_loop(char: str) -> int | None:
    """Address of that of matrix products of a dtype, by its character."""
    return inner_loop(np.matmul, f"{char * 2}->{char}")
