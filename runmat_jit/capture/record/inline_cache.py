"""Inline cache: how calls are deferred, by the abstract values of their arguments.

The recordings of a session share it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np

from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.call_forms import MethodCall
from runmat_jit.capture.tape.entries import AbstractValue, Compute, CoveredCall, Pattern
from runmat_jit.capture.tape.values import ARRAY, GENERIC, PYTHON, is_opaque_scalar
from runmat_jit.core.slotted import slotted
from runmat_jit.ops.spec import Op as Row

PATTERN_LIMIT = 10_000
_HASHABLE = frozenset(
    (np.ufunc, types.BuiltinFunctionType, types.FunctionType, MethodCall, type(np.sum))
)
_PARAMETERS = frozenset((int, bool, str, type(None), type))
"""Classes of arguments that say what is computed; equal ones of one class mean the same."""


@slotted
class InlineCache:
    """The covered calls of a session, and the patterns and abstract values in them, each once."""

    calls: dict[Any, CoveredCall] = field(default_factory=dict)
    """How calls are deferred, by their keys."""
    _patterns: dict[Any, Pattern] = field(default_factory=dict)
    _values: dict[Any, AbstractValue] = field(default_factory=dict)
    _numbers: dict[type[np.generic], AbstractValue] = field(default_factory=dict)

    def keep(self, key: Any, call: CoveredCall) -> None:
        """Remember how a call is deferred."""
        if len(self.calls) >= PATTERN_LIMIT:
            self.calls.clear()
        self.calls[key] = call

    def pattern(self, meaning: Compute, result: AbstractValue) -> Pattern:
        """The pattern of a meaning and a result."""
        if len(self._patterns) >= PATTERN_LIMIT:
            self._patterns.clear()
        return self._patterns.setdefault((*identity_of(meaning), result), Pattern(meaning, result))

    def abstract(
        self, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], kind: str
    ) -> AbstractValue:
        """The abstract value of values with these facts: always the same one."""
        if len(self._values) >= PATTERN_LIMIT:
            self._values.clear()
        key = (dtype, shape, strides, kind)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = AbstractValue(dtype, shape, strides, kind)
        return found

    def abstract_number(self, kind: type[np.generic]) -> AbstractValue:
        """The abstract value of NumPy scalars of a class."""
        found = self._numbers.get(kind)
        if found is None:
            found = self._numbers[kind] = self.abstract(np.dtype(kind), (), (), GENERIC)
        return found

    def abstract_of(self, value: Traced) -> AbstractValue | None:
        """The abstract value of a traced value; None where calls depend on more of it."""
        at = value._rm_geometry
        if at is None:
            held, kind = value._rm_held, value._rm_kind
            if kind == ARRAY or is_opaque_scalar(held):
                return None
            described = type(held) if kind == PYTHON else held.dtype
            found = self.abstract(described, (), (), kind)
        elif at.dtype is not at.storage.dtype:
            return None
        else:
            found = self.abstract(at.dtype, at.shape, at.strides, value._rm_kind)
        value._rm_abstract = found
        return found

    def key_of(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Cache key of a call: abstract values of its arguments; None where it depends on more."""
        if type(fn) not in _HASHABLE:
            return None
        parts: list[Any] = [fn]
        for arg in args:
            kind = type(arg)
            if kind is Traced:
                found = arg._rm_abstract or self.abstract_of(arg)
                if found is None:
                    return None
                parts.append(found)
            elif kind is float or kind in _PARAMETERS or is_extents(arg):
                parts.append((kind, arg or str(arg)))  # 0.0 is not -0.0
            elif isinstance(arg, np.generic):
                parts.append((kind, arg.dtype, arg.tobytes()))
            else:
                return None
        if kwargs:
            for name, value in kwargs.items():
                kind = type(value)
                if kind not in _PARAMETERS and not is_extents(value):
                    return None
                parts.append((name, kind, value))
        return tuple(parts)


def is_extents(value: Any) -> bool:
    """True if a value is a tuple of plain ints, such as axes or a shape."""
    return type(value) is tuple and all(type(part) is int for part in value)


def identity_of(meaning: Compute) -> tuple[Any, ...]:
    """Equal for two meanings exactly if they say the same, to the bit."""
    params = tuple([(name, exact(value)) for name, value in sorted(meaning.params.items())])
    row: Row = meaning.row  # rows of scalar arithmetic share a name, so the object tells
    return id(row), row.name, meaning.operand_dtypes, params, meaning.dtype, meaning.shape


def exact(value: Any) -> Any:
    """A key that tells 1 from 1.0 and from True, and 0.0 from -0.0."""
    if type(value) is tuple:
        return tuple, tuple(map(exact, value))
    return type(value), value.hex() if isinstance(value, float) else value
