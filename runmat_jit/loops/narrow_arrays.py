"""Dtypes of operations on whole arrays of integers of few bits, which are computed in 64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.loops.arithmetic import dtypes_of, promoted
from runmat_jit.loops.values import INT64, Item, Kind, is_narrow_dtype
from runmat_jit.loops.whole_arrays import is_whole
from runmat_jit.ops.spec import Op

_WRAPPING: Final = (
    *(np.add, np.subtract, np.multiply, np.square, np.negative, np.positive, np.absolute),
    *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift),
    *(np.minimum, np.maximum),
)
"""Ufuncs whose results in 64 bits are those in fewer, but for the bits that these have not."""
_UNSIGNED: Final = (np.floor_divide, np.remainder)
"""The same of numbers that are not negative."""
_SAME: Final = ("max", "min")
"""Reductions to an element."""


def type_of(
    row: Op, operands: Sequence[Item], kinds: Sequence[Kind | None], computed: TensorType
) -> TensorType | None:
    """The type of a result that is ``computed`` of 64 bits; None: NumPy gives something else."""
    dtypes = [x.dtype for x in operands if is_whole(x)]
    dtypes += [kind.dtype for kind in kinds if kind is not None and not kind.python]
    if not any(map(is_narrow_dtype, dtypes)):
        return computed
    dtype = _numpys(row, operands, kinds, computed)
    if dtype is None:  # which equals float64
        return None
    if dtype == computed.dtype:
        return computed
    if computed.dtype != INT64:
        return None
    known = is_narrow_dtype(dtype) or (dtype == np.uint64 and not computed.shape)
    return replace(computed, dtype=dtype) if known else None


def _numpys(
    row: Op, operands: Sequence[Item], kinds: Sequence[Kind | None], computed: TensorType
) -> np.dtype | None:
    """The dtype that NumPy gives; None: it is not known here."""
    classes: list[Any] = [
        promoted(kind) if kind is not None else x.dtype  # type: ignore[union-attr]  # an array
        for x, kind in zip(operands, kinds, strict=True)
    ]
    if row.name in ("cast", "contiguous_copy"):
        return computed.dtype if row.name == "cast" else classes[0]
    if row.reduction is not None or row.name in ("mean", "var", "std"):
        if row.name == "sum":
            return np.dtype(np.int64 if classes[0].kind == "i" else np.uint64)
        return classes[0] if row.name in _SAME else computed.dtype
    if row.name == "where":
        return _last(np.maximum, classes[1:])
    if not isinstance(row.numpy, np.ufunc):
        return None
    found = _last(row.numpy, classes)
    if found is None or not is_narrow_dtype(found) or row.numpy in _WRAPPING:
        return found
    return found if row.numpy in _UNSIGNED and found.kind == "u" else None


def _last(fn: np.ufunc, classes: Sequence[Any]) -> np.dtype | None:
    found = dtypes_of(fn, tuple(classes))
    return None if found is None else found[-1]
