"""Whether a call that succeeded once does so for all values of its operands."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from runmat_jit.capture.callables import INPLACE, OUT_OF_PLACE
from runmat_jit.capture.replay.repeated import is_repeated
from runmat_jit.capture.tape.call_forms import SETITEM, FlagOf, MethodCall, TextMethod, UfuncMethod

_SURE_FUNCTIONS: Final[frozenset[Any]] = frozenset(
    (
        *(SETITEM, np.copyto, np.fill_diagonal, np.cumsum, np.cumprod, np.sort, np.argsort),
        *(np.matmul, np.dot, np.vdot, np.inner, np.outer, np.tensordot, np.einsum, np.kron),
        *(np.median, np.ptp, np.diff, np.trapezoid, np.convolve, np.tile, np.array, np.copy),
        *(operator.matmul, operator.imatmul, np.trace, np.round, np.clip, np.where),
        *(np.shares_memory, np.may_share_memory),
    )
)
_COMPARISONS: Final[frozenset[Any]] = frozenset(
    getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "contains")
)
_SPLITTING: Final = frozenset(("split", "rsplit", "splitlines"))
_SURE_METHODS: Final = frozenset(
    (
        *("fill", "sort", "argsort", "astype", "copy", "conj", "conjugate", "cumsum", "cumprod"),
        *("dot", "flatten", "item", "tolist", "round", "trace", "clip"),
    )
)


def is_sure(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call that succeeded once does so for all values of its operands.

    It raises nothing, and its result has the same dtype, shape and strides. An index array may
    go out of range, a power of integers may be negative, a mask select another number.
    """
    if type(fn) is MethodCall:
        return fn.sure or fn.name in _SURE_METHODS
    if type(fn) is FlagOf:
        return True
    if type(fn) is TextMethod:
        return fn.name not in _SPLITTING
    if type(fn) is UfuncMethod:
        return fn.ufunc is not np.power and fn.name != "at"
    if fn is SETITEM:
        return holds_masks_only(args[1]) and not has_shape(args[2]) and is_alike(args[0], args[2])
    if fn in INPLACE or fn in OUT_OF_PLACE:
        return fn not in (operator.pow, operator.ipow)
    if isinstance(fn, np.ufunc):
        return fn not in (np.power, np.float_power)
    if fn is np.where:
        return len(args) > 1  # alone, a condition selects positions
    if is_repeated(fn):
        return True
    return fn in _SURE_FUNCTIONS or fn in _COMPARISONS or fn in (int, float, complex)


def holds_masks_only(key: Any) -> bool:
    """Whether a key holds truth values and plain positions, which stay in range."""
    parts = key if type(key) is tuple else (key,)
    return all(
        type(part) in (int, slice, type(None), type(Ellipsis))
        or getattr(part, "dtype", None) == np.dtype(bool)
        for part in parts
    )


def is_alike(target: Any, value: Any) -> bool:
    """Whether a value to be assigned is of the target's kind, or of a lesser one."""
    order = "biufc"
    kinds = {bool: "b", int: "i", float: "f", complex: "c"}
    dtype = getattr(value, "dtype", None)
    kind = kinds.get(value.__class__) if dtype is None else dtype.kind
    return kind is not None and order.find(kind) <= order.find(target.dtype.kind)


def has_shape(value: Any) -> bool:
    """Whether a value to be assigned has a shape that might not fit."""
    return bool(getattr(value, "shape", isinstance(value, (list, tuple))))
