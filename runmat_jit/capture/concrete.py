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
    """A key with traced Python integers looked at, also inside slices and tuples."""
    kind = type(key)
    if kind is slice:
        return slice(*map(concrete_integer, (key.start, key.stop, key.step)))
    if kind is tuple:
        return tuple(map(concrete_key, key))
    return concrete_integer(key)
