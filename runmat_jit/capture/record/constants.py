"""Constants: calls of pure functions on values that do not vary, such as ``np.float32(1.8)``.

They are made once, while a call is recorded, and leave no entry. A NumPy scalar that is one is a
traced value without a slot, so that arithmetic with it is seen: what would warn is no constant, but
an operation that warns at every call.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.call_forms import AttributeCall, MethodCall
from runmat_jit.capture.tape.entries import CONSTANT
from runmat_jit.capture.tape.lines import call_at
from runmat_jit.capture.tape.values import GENERIC, is_number
from runmat_jit.core.errstate import trial

_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), type, np.dtype, enum.Enum)
_REDUCTIONS: Final = (
    *(np.prod, np.sum, np.max, np.min, np.mean, np.round, np.around, np.isscalar),
    *(np.all, np.any),
)
"""Functions that give a number for the numbers of a tuple."""
NO_CONSTANT: Final = object()


def constant(recording: Recording, value: np.number) -> Traced:
    """The traced value of a NumPy scalar that is part of the program."""
    recording.has_constants = True
    return Traced(recording, CONSTANT, GENERIC, held=value)


def real(value: Any) -> Any:
    """The real number, if a value is a constant."""
    return value._rm_held if type(value) is Traced and value._rm_slot == CONSTANT else value


def unwrap(value: Any) -> Any:
    """A call's arguments with real numbers for the constants in them."""
    kind = type(value)
    return kind(map(unwrap, value)) if kind is tuple or kind is list else real(value)


def unwrap_named(kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same of arguments given by name."""
    return {name: unwrap(value) for name, value in kwargs.items()}


def fold(recording: Recording, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call on constants that is one itself; else ``NO_CONSTANT``."""
    if not all(map(is_fixed, (*args, *kwargs.values()))) or not folds(fn):
        return NO_CONSTANT
    try:
        with trial():
            made = call_at(recording.here(), fn, args, kwargs)
    except Exception:  # noqa: BLE001  (the program makes the call, and raises or warns itself)
        return NO_CONSTANT
    if is_number(made) and not isinstance(made, np.bool_):
        return constant(recording, made)
    return made if isinstance(made, (*_PLAIN, np.bool_)) else NO_CONSTANT


def folds(fn: Any) -> bool:
    """True if a callable is pure, and makes numbers of numbers."""
    if isinstance(fn, type):
        return issubclass(fn, (np.number, int, float, complex))
    callee = callables.of(fn)
    if isinstance(fn, (np.ufunc, MethodCall, AttributeCall)):
        return callee.pure
    return callee.pure and (callee.follow == "scalar" or any(fn is each for each in _REDUCTIONS))


def is_fixed(value: Any) -> bool:
    """True if a value is an immutable one that no call changes."""
    if type(value) is tuple:
        return all(map(is_fixed, value))
    if type(value) is slice:  # of ``np.mgrid[0:3]``
        return all(map(is_fixed, (value.start, value.stop, value.step)))
    return type(value) is not Traced and isinstance(value, (*_PLAIN, np.number, np.bool_))
