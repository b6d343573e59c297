"""NumPy's own C functions, for kernels to call: its bits, and its random numbers.

Those of matrix products are found in the ufunc object: it holds a table of inner loops, one for
each combination of dtypes, in the layout of NumPy's public header ``ufuncobject.h``. Those of
random numbers are the ones of its public header ``random/distributions.h``, in the module that
NumPy's generators are in. All of them work on memory alone, and need no lock of Python's.

A kernel gets their addresses as parameters: its code is kept for other processes.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Final

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import Unknown

FUNCTION: Final = "function_"
"""Begin of the names of parameters that are addresses of functions."""
_PRODUCT: Final = "matmul_"


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


def product_of(dtype: np.dtype) -> str:
    """The name of the inner loop of matrix products of a dtype."""
    return f"{_PRODUCT}{dtype.char}"


def function(e: Emitter, name: str) -> Value:
    """The address of a function, a parameter of the kernel.

    Raises:
        Unknown: there is no such function in this NumPy.

    """
    if address_of(name) is None:
        raise Unknown(f"{name}, for want of NumPy's function")
    return parameter(e, f"{FUNCTION}{name}")


def parameter(e: Emitter, name: str) -> Value:
    """A parameter that is an address."""
    if name not in e.addresses:
        e.addresses[name] = e.k.scalar(name, "i64")
    return e.addresses[name]


@cache  # a question about the process
def address_of(name: str) -> int | None:
    """The address of a function; None: there is none."""
    if name.startswith(_PRODUCT):
        char = name.removeprefix(_PRODUCT)
        return inner_loop(np.matmul, f"{char * 2}->{char}")
    file = getattr(sys.modules[np.random.Generator.__module__], "__file__", None)
    try:
        found = getattr(ctypes.CDLL(file), name)
    except (AttributeError, OSError, TypeError):
        return None
    return ctypes.cast(found, ctypes.c_void_p).value


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
