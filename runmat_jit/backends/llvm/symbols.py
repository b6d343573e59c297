"""Addresses of the C functions that native code of this backend calls."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable


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
