"""Values that do not change while a loop runs: functions, and tuples of numbers."""

from __future__ import annotations

import types
from typing import Any, Final

import numpy as np

_FUNCTIONS: Final = (
    *(types.BuiltinFunctionType, types.FunctionType, type, np.ufunc),
    *(type(np.sum), np.dtype),
)
_MOST: Final = 16
"""Items of such a tuple, or of one in it."""


def is_table(value: Any, depth: int = 2) -> bool:
    """Return True for a tuple of a few numbers, or of tuples of them: loops know it by value."""
    if type(value) is not tuple or len(value) > _MOST or not depth:
        return False
    return all(type(each) in (bool, int, float) or is_table(each, depth - 1) for each in value)


def is_fixed(value: Any) -> bool:
    """Return True for a function, a class, a dtype, and a tuple that loops know by value."""
    return isinstance(value, _FUNCTIONS) or is_table(value)
