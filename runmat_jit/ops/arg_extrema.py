"""Rows of the positions of extreme values."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.ops.readers import (
    Arguments,
    Axis,
    Keywords,
    NotCovered,
    axis_of,
    flag,
    method_reader,
)
from runmat_jit.ops.reduce import canonical_reduction, own_dtype, reduced_axes, reduction_rule
from runmat_jit.ops.spec import Bound, Op, Operand, Params, Reduction, Result

_INDEX = np.dtype(np.int64)
_extreme = reduction_rule(own_dtype, empty=False)


def _one_axis(value: Any) -> Axis:
    """``axis=`` as an int or None: the elements of several axes have no one position."""
    axis = axis_of(value)
    if isinstance(axis, tuple):
        raise NotCovered
    return axis


_SIGNATURE = method_reader(("a", "axis", "out", "keepdims"), {"axis": _one_axis, "keepdims": flag})


def _read(args: Arguments, kwargs: Keywords) -> Bound | None:
    return None if len(args) > 3 else _SIGNATURE(args, kwargs)


def _result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """Of one axis or all: only then do the elements have an order."""
    (x,), found = operands, _extreme(operands, params)
    if found is None:
        return None
    assert isinstance(x, TensorType), "the rule covers the call"
    if len(reduced_axes(params["axis"], x.ndim) or ()) not in (1, x.ndim):
        return None
    return Result(TensorType(_INDEX, found.type.shape), found.operand_dtypes)


def _row(numpy: Any, doc: str, combine: str) -> Op:
    def meaning(x: Any, axis: Hashable, keepdims: bool | None) -> Any:  # noqa: FBT001 -- NumPy's
        if isinstance(axis, tuple):
            axis = axis[0] if len(axis) < np.ndim(x) else None
        return numpy(x, axis=axis, keepdims=bool(keepdims))

    return Op(
        name=numpy.__name__,
        doc=doc,
        kind="reduce",
        arity=1,
        numpy=meaning,
        spellings=(numpy,),
        methods=(numpy.__name__,),
        bind=_read,
        result=_result,
        canonical=canonical_reduction(_extreme),
        reduction=Reduction(combine, None, is_position=True),
        layout="C",
        absorbs=(True,),
    )


ROWS = (
    _row(np.argmax, "Position of the first largest value along an axis; NaN wins.", "max"),
    _row(np.argmin, "Position of the first smallest value along an axis; NaN wins.", "min"),
)
