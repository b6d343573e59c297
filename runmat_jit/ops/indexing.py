"""Rows of indexing with arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.ops import parts
from runmat_jit.ops.elementwise import ABSORBS
from runmat_jit.ops.promotion import broadcast, is_compiled, is_graph, kind_of
from runmat_jit.ops.spec import Op, Operand, Params, Result, Weak

_BOOL = np.dtype(bool)
_CASTS = {bool: "bifc", int: "ifc", float: "fc", complex: "c"}
"""Kinds of dtypes that hold a Python number of a class as what it is."""


def _putmask(base: Any, mask: Any, value: Any) -> Any:
    return np.where(mask, value, base)


def _putmask_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    """Covered where no cast of the value changes it: NumPy casts those alone that it stores."""
    base, mask, value = operands
    if not isinstance(base, TensorType) or not isinstance(mask, TensorType):
        return None
    if not is_graph(base.dtype) or mask.dtype != _BOOL or not keeps_value(value, base.dtype):
        return None
    if broadcast(operands) != base.shape:
        return None
    return Result(TensorType(base.dtype, base.shape), (base.dtype, _BOOL, base.dtype))


def keeps_value(value: Operand, dtype: np.dtype) -> bool:
    """True if every value of this kind is stored in ``dtype`` as what it is, but for rounding."""
    if isinstance(value, Weak):
        return dtype.kind in _CASTS.get(value.type, "")
    return bool(is_graph(kind_of(value)) and np.can_cast(value.dtype, dtype, "safe"))


def _select(k: Builder, base: Value, mask: Value, value: Value) -> Value:
    return k.select(mask, value, base)


def _take(x: Any, index: Any, axis: int) -> Any:
    trailing = x.ndim - axis - 1
    return np.take(x, index.reshape(index.shape[: index.ndim - trailing]), axis)


def _take_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """The index has unit axes at its end for those of the first operand behind the axis."""
    x, index = operands
    axis = params["axis"]
    if not isinstance(x, TensorType) or not isinstance(index, TensorType):
        return None
    if not is_graph(x.dtype) or not is_compiled(index.dtype) or index.dtype.kind != "i":
        return None
    if not isinstance(axis, int) or not 0 <= axis < x.ndim or 0 in x.shape:
        return None
    trailing = x.ndim - axis - 1
    chosen = index.ndim - trailing
    if chosen < 0 or index.shape[chosen:] != (1,) * trailing:
        return None
    shape = (*x.shape[:axis], *index.shape[:chosen], *x.shape[axis + 1 :])
    return Result(TensorType(x.dtype, shape), (x.dtype, index.dtype))


ROWS = (
    Op(
        name="take",
        doc="Elements of the first operand along an axis, at the positions that the second has.",
        kind="gather",
        arity=2,
        numpy=_take,
        result=_take_result,
        layout="C",
        absorbs=(ABSORBS,) * 2,
        zero_d="array",
    ),
    Op(
        name="putmask",
        doc="The first operand with the third where the second, a mask, is true.",
        kind="elementwise",
        arity=3,
        numpy=_putmask,
        result=_putmask_result,
        expand=_select,
        parts=parts.put,
        absorbs=(ABSORBS,) * 3,
        zero_d="array",
    ),
)
