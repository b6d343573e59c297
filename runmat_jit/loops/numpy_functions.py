"""NumPy's own C functions, for kernels to call: its bits, and its random numbers.

Those of matrix products are in :mod:`runmat_jit.core.inner_loops`. Those of random numbers are the
ones of its public header ``random/distributions.h``, in the module that NumPy's generators are in.
All of them work on memory alone, and need no lock of Python's.

A kernel gets their addresses as parameters: its code is kept for other processes.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Final

import numpy as np

from runmat_jit.core.inner_loops import inner_loop, product_loop
from runmat_jit.kernel.ir import Value
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import Unknown

FUNCTION: Final = "function_"
"""Begin of the names of parameters that are addresses of functions."""
_PRODUCT: Final = "matmul_"
LINEAR: Final = "linalg_"
"""Begin of the names of NumPy's functions of matrices, of doubles."""


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
    if name.startswith(LINEAR):
        ufunc = getattr(np.linalg._umath_linalg, name.removeprefix(LINEAR), None)
        return None if ufunc is None else inner_loop(ufunc, "d" * ufunc.nin + "->d")
    if name.startswith(_PRODUCT):
        return product_loop(name.removeprefix(_PRODUCT))
    file = getattr(sys.modules[np.random.Generator.__module__], "__file__", None)
    try:
        found = getattr(ctypes.CDLL(file), name)
    except (AttributeError, OSError, TypeError):
        return None
    return ctypes.cast(found, ctypes.c_void_p).value
