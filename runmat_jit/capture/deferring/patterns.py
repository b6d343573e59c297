"""How calls are deferred, remembered by what it depends on: a memo that recordings share."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture.objects.classify import MethodCall
from runmat_jit.capture.objects.traced import ARRAY, GENERIC, PYTHON, TEXT, Form, Traced
from runmat_jit.capture.tape import Compute, Op, Ref
from runmat_jit.core.frozen import frozen
from runmat_jit.ops.spec import Op as Row

if TYPE_CHECKING:
    from runmat_jit.capture.objects.lines import Line

PATTERN_LIMIT = 10_000
_HASHABLE = frozenset(
    (np.ufunc, types.BuiltinFunctionType, types.FunctionType, MethodCall, type(np.sum))
)
_PARAMETERS = frozenset((int, bool, str, type(None), type))
"""Classes of arguments that say what is computed; equal ones of one class mean the same."""


@dataclass(slots=True, eq=False)
class Pattern:
    """What is computed, and the form of the result; the same object for the same facts."""

    meaning: Compute
    form: Form


@frozen
class KnownCall:
    """How a call is deferred whose arguments have known forms.

    ``operands`` says which arguments the row reads, None for all in order; ``into`` which one it
    writes, None for a new result. ``weak`` lists the operands whose number must fit the dtype that
    they are cast to. ``fn``, ``args`` and ``kwargs`` are the first such call, as its tape mentions
    it: others have the same constants, and traced values from other slots. ``is_single``: it is an
    operation on single numbers whose bits NumPy defines.
    """

    pattern: Pattern
    operands: tuple[int, ...] | None
    into: int | None
    weak: tuple[int, ...]
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    is_single: bool

    def op(self, slots: Sequence[int], out: int | None, line: Line | None) -> Op:
        """The entry of a call on the values in ``slots``, whose result goes to ``out``."""
        numbers = iter(slots)
        args = tuple([Ref(next(numbers)) if type(arg) is Ref else arg for arg in self.args])
        result = None if out is None else Ref(out)
        source = None if line is None else line.source
        return Op(self.fn, args, self.kwargs, result, source, self.pattern.meaning)


@dataclass(slots=True)
class Patterns:
    """The known calls of a session, and the patterns and forms in them, each once."""

    calls: dict[Any, KnownCall] = field(default_factory=dict)
    """How calls are deferred, by their keys."""
    _patterns: dict[Any, Pattern] = field(default_factory=dict)
    _forms: dict[Any, Form] = field(default_factory=dict)
    _numbers: dict[type[np.generic], Form] = field(default_factory=dict)

    def keep(self, key: Any, call: KnownCall) -> None:
        """Remember how a call is deferred."""
        if len(self.calls) >= PATTERN_LIMIT:
            self.calls.clear()
        self.calls[key] = call

    def pattern(self, meaning: Compute, form: Form) -> Pattern:
        """The pattern of a meaning and a result."""
        if len(self._patterns) >= PATTERN_LIMIT:
            self._patterns.clear()
        return self._patterns.setdefault((*identity_of(meaning), form), Pattern(meaning, form))

    def form(self, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], kind: str) -> Form:
        """The form of values with these facts: always the same one."""
        if len(self._forms) >= PATTERN_LIMIT:
            self._forms.clear()
        key = (dtype, shape, strides, kind)
        found = self._forms.get(key)
        if found is None:
            found = self._forms[key] = Form(dtype, shape, strides, kind)
        return found

    def form_of_number(self, kind: type[np.generic]) -> Form:
        """The form of NumPy scalars of a class."""
        found = self._numbers.get(kind)
        if found is None:
            found = self._numbers[kind] = self.form(np.dtype(kind), (), (), GENERIC)
        return found

    def form_of(self, value: Traced) -> Form | None:
        """The form of a traced value; None where patterns depend on more of it."""
        at = value._rm_geometry
        if at is None:
            held, kind = value._rm_held, value._rm_kind
            if kind in (TEXT, ARRAY):
                return None
            described = type(held) if kind == PYTHON else held.dtype
            found = self.form(described, (), (), kind)
        elif at.dtype is not at.storage.dtype:
            return None
        else:
            found = self.form(at.dtype, at.shape, at.strides, value._rm_kind)
        value._rm_form = found
        return found

    def key_of(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """What it depends on how a call is deferred; None where it depends on more."""
        if type(fn) not in _HASHABLE:
            return None
        parts: list[Any] = [fn]
        for arg in args:
            kind = type(arg)
            if kind is Traced:
                form = arg._rm_form or self.form_of(arg)
                if form is None:
                    return None
                parts.append(form)
            elif kind is float or kind in _PARAMETERS or is_extents(arg):
                parts.append((kind, arg or str(arg)))  # 0.0 is not -0.0
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
    """Whether a value is a tuple of plain ints, such as axes or a shape."""
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
