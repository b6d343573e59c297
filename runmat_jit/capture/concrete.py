"""Where only plain Python numbers will do: shapes, axes, keys."""

from __future__ import annotations

from typing import Any

from runmat_jit.capture.traced import PYTHON, Traced

MISS = (False, None)
"""What an attempt gives that does not apply."""


def concrete_integer(value: Any) -> Any:
    """Traced integers in shapes and axes are looked at: the trace holds for them only."""
    if type(value) is Traced and value._rm_kind == PYTHON and type(value._rm_held) in (int, bool):
        return value._rm_tracer.look(value, "a shape or axis")
    if type(value) in (tuple, list):
        return type(value)(map(concrete_integer, value))
    return value


def concrete_key(key: Any) -> Any:
    """A key with traced Python integers looked at, also inside slices and tuples.

    Lengths that have formulas stay as they are: views and new arrays have formulas then.
    """
    kind = type(key)
    if kind is slice:
        return slice(concrete_key(key.start), concrete_key(key.stop), concrete_integer(key.step))
    if kind is tuple:
        return tuple(map(concrete_key, key))
    return key if kind is Traced and key._rm_extent is not None else concrete_integer(key)
