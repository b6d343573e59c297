"""Addresses of the C functions that native code of this backend calls."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module


def process_symbols(names: Iterable[str]) -> dict[str, int]:
    """Addresses of functions of CPython's C API and of the C library, by name.

    Raises:
        AttributeError: Neither has a function of that name.

    """
    return {name: _address(name) for name in names}


def _address(name: str) -> int:
    for library in (ctypes.pythonapi, *_c_libraries()):
        function = getattr(library, name, None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise AttributeError(f"this process has no C function named {name}")


def _c_libraries() -> tuple[ctypes.CDLL, ...]:
    if sys.platform == "win32":
        return (ctypes.CDLL("ucrtbase"), ctypes.WinDLL("kernel32"))
    return (ctypes.CDLL(None),)


def numpy_functions(numbers: Mapping[str, int]) -> dict[str, int]:
    """Addresses of functions of NumPy's C API, given their numbers in its table."""
    pointer = ctypes.pythonapi["PyCapsule_GetPointer"]
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    # NumPy's documented way to its C functions; its stubs do not know the module.
    table = pointer(import_module("numpy._core._multiarray_umath")._ARRAY_API, None)
    functions = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))
    return {name: functions[number] or 0 for name, number in numbers.items()}
