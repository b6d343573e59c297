"""True if one container and nobody else holds a value, so that the value may change in place.

Values are shared freely: a second variable, a cell, a captured value or a recording holds the same
object. CPython counts the holders. A value is looked at as ``held = container[key]`` and nothing
else, so that a value that only its container holds has the two references counted here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from matlab_frontend.values.array import Array, Cell, Struct

if TYPE_CHECKING:
    from matlab_frontend.engine import Engine

references: Callable[[object], int] = sys.getrefcount


def _references_of_one_holder() -> int:
    """The count of an object that a container holds, seen through one local name."""
    container = {"key": object()}
    held = container["key"]
    return references(held)


ALONE = _references_of_one_holder()


def is_alone(engine: Engine, value: Array | Cell | Struct, count: int) -> bool:
    """True if a value with ``count`` references, and its memory, belong to one container.

    A NumPy view holds the array that owns the memory, so that the owner's holders are counted too;
    memory that may be on a device has other owners.
    """
    if count > ALONE:
        return False
    data = value.data
    if references(data) > ALONE:
        return False
    if type(data) is not np.ndarray:
        return engine.owns_memory(data)
    base = data.base
    if base is None:
        return True
    return type(base) is np.ndarray and base.base is None and references(base) <= ALONE
