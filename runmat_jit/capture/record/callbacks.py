"""NumPy's functions that call what they are given: written out, so that it is followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record.host_calls import run_effect, run_host
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.values import ARRAY, is_traceable

if TYPE_CHECKING:
    from runmat_jit.capture.record.hooks import Hooks

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]

ALONG: Final[frozenset[Any]] = frozenset((np.apply_along_axis, np.apply_over_axes))
FUNCTIONS: Final[frozenset[Any]] = ALONG | {np.fromfunction, np.piecewise}


def call(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A call of one of these functions."""
    if fn in ALONG and args and is_numpys(args[0]):
        seen = tuple(map(hooks.shadowed, args))
        return run_host(hooks.tracer, fn, seen, kwargs, writes=False)
    if fn is np.fromfunction and len(args) == 2 and "like" not in kwargs:
        return fromfunction(hooks, *args, **kwargs)
    if fn is np.piecewise and len(args) > 2 and is_simple_piecewise(*args[:3]):
        return piecewise(hooks, *args, **kwargs)
    return run_effect(hooks.tracer, fn, args, kwargs, "what it calls is not followed")


def is_numpys(function: Any) -> bool:
    """Whether what is called is a pure function of NumPy's own."""
    try:
        return callables.is_pure(function)
    except TypeError:
        return False


def fromfunction(
    hooks: Hooks, function: Any, shape: Any, /, *, dtype: Any = float, **named: Any
) -> Any:
    """The function of the indices of an array, all at once."""
    return hooks.call(function, *hooks.call(np.indices, shape, dtype=dtype), **named)


def is_simple_piecewise(x: Any, conditions: Any, functions: Any) -> bool:
    """Whether it is an array of one or more axes, and a list of conditions that are arrays."""
    return (
        type(x) is Traced
        and x._rm_kind == ARRAY
        and x.ndim > 0
        and type(conditions) in (list, tuple)
        and all(is_condition(each, x) for each in conditions)
        and type(functions) in (list, tuple)
        and len(functions) - len(conditions) in (0, 1)
        and bool(conditions)
    )


def is_condition(value: Any, x: Any) -> bool:
    """Whether a value is an array of truth values, one for each element."""
    known = type(value) is Traced or (type(value) is np.ndarray and is_traceable(value))
    return known and value.shape == x.shape and value.dtype == np.dtype(bool)


def piecewise(
    hooks: Hooks, x: Any, conditions: Any, functions: Any, /, *more: Any, **named: Any
) -> Any:
    """Each function of the elements where its condition holds; a last one elsewhere."""
    conditions = list(conditions)
    if len(functions) > len(conditions):
        conditions.append(~hooks.call(np.any, conditions, axis=0))
    made = hooks.call(np.zeros_like, x)
    for condition, function in zip(conditions, functions, strict=True):
        if not isinstance(function, Callable):  # type: ignore[arg-type]  # a class to isinstance
            made[condition] = function
            continue
        selected = x[condition]
        if selected.size > 0:
            made[condition] = hooks.call(function, selected, *more, **named)
    return made
