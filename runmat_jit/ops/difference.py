"""The row of differences of neighbors."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.ops.promotion import is_compiled
from runmat_jit.ops.readers import Arguments, Keywords, arguments, operand, reader, whole
from runmat_jit.ops.spec import Bound, Event, Make, Op, Operand, Params, Result

_EVENTS: frozenset[Event] = frozenset({"overflow", "underflow", "invalid"})
_MOST = 3
"""So many subtractions at most are made of one call."""


@reader
def _read(args: Arguments, kwargs: Keywords) -> Bound:
    given = arguments(args, kwargs, ("a", "n", "axis"))
    params: dict[str, Hashable] = {
        "n": whole(given.get("n", 1)),
        "axis": whole(given.get("axis", -1)),
    }
    return Bound((operand(given["a"]),), params)


def _whole(params: Params) -> tuple[int, int]:
    n, axis = params["n"], params["axis"]
    assert isinstance(n, int), "a reader gives whole numbers"
    assert isinstance(axis, int), "likewise"
    return n, axis


def _result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """Each element of the operand enters the result: what computes it has its events seen."""
    (x,), (n, axis) = operands, _whole(params)
    if not isinstance(x, TensorType) or not is_compiled(x.dtype):
        return None
    if not 1 <= n <= _MOST or not -x.ndim <= axis < x.ndim or x.shape[axis] <= n:
        return None
    return Result(TensorType(x.dtype, _shortened(x.shape, axis % x.ndim, n)), (x.dtype,))


def _shortened(shape: tuple[int, ...], axis: int, count: int) -> tuple[int, ...]:
    return (*shape[:axis], shape[axis] - count, *shape[axis + 1 :])


def _canonical(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
    (x,), (n, axis) = operands, _whole(params)
    assert isinstance(x, TensorType), "the rule covers the call"
    return {"n": n, "axis": axis % x.ndim}


def _decompose(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    """NumPy asks of truth values whether they differ."""
    (x,), (n, axis) = args, _whole(params)
    name = "not_equal" if kind.dtype == np.dtype(bool) else "subtract"
    for _ in range(n):
        made = TensorType(kind.dtype, _shortened(x.type.shape, axis, 1))
        following, before = (_from(make, x, axis, start, made) for start in (1, 0))
        x = make(name, (following, before), {}, made)
    return x


def _from(make: Make, x: Any, axis: int, start: int, kind: TensorType) -> Any:
    """All but the first element along an axis, or all but the last."""
    starts = tuple(start if each == axis else 0 for each in range(kind.ndim))
    params = {"starts": starts, "steps": (1,) * kind.ndim, "shape": kind.shape}
    return make("slice", (x,), params, kind)


ROWS = (
    Op(
        name="diff",
        doc="Differences of neighbors along an axis; of bools, whether they differ.",
        kind="move",
        arity=1,
        numpy=np.diff,
        spellings=(np.diff,),
        bind=_read,
        result=_result,
        canonical=_canonical,
        decompose=_decompose,
        events=_EVENTS,
        ufunc="subtract",
        absorbs=(False,),
        zero_d="array",
    ),
)
