"""Spellings of rows of ``ops``: operators, functions and methods; and operators of scalars."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.capture.tape.call_forms import MethodCall, UfuncMethod
from runmat_jit.core.frozen import frozen
from runmat_jit.ops.spec import Op as Row
from runmat_jit.ops.table import ROWS, row_of, row_of_method

INPLACE: Final = {
    getattr(operator, name): getattr(operator, "i" + name.rstrip("_"))
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("and_", "or_", "xor", "lshift", "rshift"),
    )
}
OUT_OF_PLACE: Final = {inplace: fn for fn, inplace in INPLACE.items()}


OPERATOR_OF: Final[dict[Any, Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
}
"""Operators with which NumPy's scalars compute otherwise than its ufuncs: integers warn."""


def is_operator(fn: Any) -> bool:
    """True if a callable is a Python operator that makes a new value."""
    return isinstance(fn, types.BuiltinFunctionType) and (fn in INPLACE or fn is pow)


def inplace_of(fn: Any) -> Any:
    """``operator.iadd`` for ``operator.add``."""
    return INPLACE[fn]


def row_for(fn: Any) -> Row | None:
    """The row that a callable means, whatever its spelling."""
    if type(fn) is MethodCall:
        return row_of_method(fn.name)
    if type(fn) is UfuncMethod:
        return row_of(getattr(fn.ufunc, fn.name))
    try:
        return row_of(fn)
    except TypeError:  # unhashable callables are nobody's spelling
        return None


@frozen
class ScalarOperator:
    """An operator on NumPy scalars: arithmetic of its own, which names itself in warnings."""

    fn: Callable[..., Any]

    def __call__(self, *operands: Any, **params: Any) -> Any:
        return self.fn(*(np.asarray(operand)[()] for operand in operands), **params)


@functools.cache  # a memo: a row with another NumPy meaning
def scalar_row(name: str, fn: Callable[..., Any]) -> Row:
    """The row of an operator whose operands are all scalars."""
    row = ROWS[name]
    meaning = row.numpy if name == "pow" else fn  # the exponent may be a parameter
    return replace(row, numpy=ScalarOperator(meaning), ufunc=f"scalar {row.ufunc}")


@functools.cache  # likewise
def spelled_row(name: str, fn: Callable[..., Any]) -> Row:
    """The row of a method, or of a function that NumPy has written in Python: it warns there."""
    return replace(ROWS[name], numpy=_astype if fn is np.astype else fn)


def _astype(x: Any, dtype: str) -> Any:
    return np.astype(x, dtype)


@functools.cache  # likewise
def plain_power() -> Row:
    """The row of ``**`` where NumPy, for the base is no float, calls ``power`` in any case."""
    return replace(ROWS["pow"], numpy=ROWS["power"].numpy)
