"""Where only plain Python numbers will do: shapes, axes, keys."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.entries import CONSTANT
from runmat_jit.capture.tape.values import PYTHON

MISS = (False, None)
"""Result of an attempt that does not apply."""


def concrete_integer(value: Any) -> Any:
    """Traced integers in shapes and axes are looked at: the trace holds for them only."""
    if type(value) is Traced and value._rm_kind == PYTHON and type(value._rm_held) in (int, bool):
        return value._rm_tracer.look(value, "a shape or axis")
    if type(value) is Traced and value._rm_slot == CONSTANT:
        return value._rm_held
    if type(value) in (tuple, list):
        return type(value)(map(concrete_integer, value))
    return value


def concrete_key(key: Any) -> Any:
    """A key with traced Python integers looked at, also inside slices and tuples.

    Lengths that have formulas stay as they are: views and new arrays have formulas then.
    """
    kind = type(key)
    if kind is slice:
        start, stop, step = map(_as_number, (key.start, key.stop, key.step))
        return slice(concrete_key(start), concrete_key(stop), concrete_integer(step))
    if kind is tuple:
        return tuple(map(concrete_key, key))
    return key if kind is Traced and key._rm_extent is not None else concrete_integer(key)


def _as_number(bound: Any) -> Any:
    """A bound of a slice; an object that stands for a number is asked for it once, as by NumPy."""
    if bound is None or type(bound) is Traced or isinstance(bound, (int, np.integer)):
        return bound
    try:
        return operator.index(bound)
    except TypeError:
        return bound  # NumPy says so itself
