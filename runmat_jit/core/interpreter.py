"""Interpreters and NumPy versions that decorated functions are compiled on; plain Python elsewhere.

Capture reads CPython's bytecode and frames, and native code reads the headers of its objects: of a
version that no test has run on, nobody knows what they look like.
"""

from __future__ import annotations

import ctypes
import re
import sys
from typing import Final

import numpy as np

PYTHONS: Final = ((3, 11), (3, 15))
"""First and last version of CPython that the tests run on."""
NUMPYS: Final = ((2, 3), (2, 5))
"""First and last version of NumPy that the tests run on."""


def unsupported_interpreter() -> str | None:
    """Return why decorated functions are plain Python in this process; None where they are not."""
    if sys.implementation.name != "cpython":
        return f"this is {sys.implementation.name}: frames and objects are known of CPython"
    python, numpy = sys.version_info[:2], numpy_version(np.__version__)
    if not PYTHONS[0] <= python <= PYTHONS[1]:
        return (
            f"Python {shown(python)} is not known: {shown(PYTHONS[0])} to {shown(PYTHONS[1])} are"
        )
    if not NUMPYS[0] <= numpy <= NUMPYS[1]:
        return f"NumPy {shown(numpy)} is not known: {shown(NUMPYS[0])} to {shown(NUMPYS[1])} are"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "Python runs without its global lock: that is not supported yet"
    if interpreter_number():
        return "a subinterpreter runs: native code and its memory belong to the main one"
    return None


def numpy_version(text: str) -> tuple[int, int]:
    """Return major and minor number of a version such as ``2.5.0rc1``."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def shown(version: tuple[int, int]) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))


def interpreter_number() -> int:
    """Return the number of the interpreter that runs: 0 for the main one of a process."""
    current, number = (
        ctypes.pythonapi["PyInterpreterState_Get"],
        ctypes.pythonapi["PyInterpreterState_GetID"],
    )
    current.restype, number.restype = ctypes.c_void_p, ctypes.c_int64
    current.argtypes, number.argtypes = [], [ctypes.c_void_p]
    return int(number(current()))
