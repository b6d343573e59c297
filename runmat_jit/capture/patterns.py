"""How calls are deferred, remembered by what it depends on: a memo that recordings share."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from runmat_jit.capture.classify import MethodCall
from runmat_jit.capture.tape import Compute
from runmat_jit.capture.traced import Traced

PATTERN_LIMIT = 10_000
_HASHABLE = (np.ufunc, types.BuiltinFunctionType, types.FunctionType, MethodCall)


@dataclass(frozen=True, slots=True)
class Pattern:
    """How a call is deferred whose operands have these types and layouts.

    ``operands`` says which arguments the row reads, None where that is not fixed; ``strides``
    (bytes) and ``kind`` are the result's.
    """

    meaning: Compute
    operands: tuple[int, ...] | None
    strides: tuple[int, ...]
    kind: str


@dataclass(slots=True)
class Patterns:
    """The patterns of a session."""

    _known: dict[Any, Pattern] = field(default_factory=dict)

    def find(self, key: Any) -> Pattern | None:
        """The pattern of a call, by its key."""
        return self._known.get(key)

    def keep(self, key: Any, pattern: Pattern) -> None:
        """Remember how a call is deferred."""
        if len(self._known) >= PATTERN_LIMIT:
            self._known.clear()
        self._known[key] = pattern


def key_of_call(fn: Any, args: tuple[Any, ...]) -> Any:
    """What a pattern depends on; None where it depends on more."""
    if not isinstance(fn, _HASHABLE):
        return None
    parts: list[Any] = [fn]
    for arg in args:
        kind = type(arg)
        if kind is Traced:
            at = arg._rm_geometry
            if at is None or at.dtype is not at.storage.dtype:
                return None
            parts.append((at.dtype, at.shape, at.strides, arg._rm_kind))
        elif kind is int or kind is float or kind is bool:
            parts.append((kind, arg))
        else:
            return None
    return tuple(parts)
