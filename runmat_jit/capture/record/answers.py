"""Answers of traced values to questions about their class: those of a real value alike.

``isinstance``, ``hasattr``, ``type`` and NumPy's questions of the kind are asked of that value, so
that no table says what arrays and numbers have: Python and NumPy do.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.tape.values import ARRAY

TRACED: Final = frozenset((Traced, TracedMethod))
"""Classes of what stands for values of the program."""


def alike(value: Any) -> Any:
    """A real value of the same class, dtype and number of axes; what is not traced is itself."""
    kind = type(value)
    if kind is TracedMethod:
        return getattr(alike(value.__self__), value.__name__)
    return alike_traced(value) if kind is Traced else value


def alike_traced(value: Traced) -> Any:
    """The same for an array or a number."""
    at = value._rm_geometry
    if at is None:
        return value._rm_held
    if value._rm_kind == ARRAY:
        return np.empty((0,) * len(at.shape), at.dtype)
    return at.dtype.type()


def has_attribute(value: Traced, name: str) -> bool:
    """True if the class of a traced value has an attribute."""
    return any(name in vars(base) for base in value.__class__.__mro__)
