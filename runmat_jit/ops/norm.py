"""The rows of norms and of traces: ``np.linalg.norm`` over axes, ``np.trace`` of a matrix."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.ops import sign
from runmat_jit.ops.promotion import is_compiled
from runmat_jit.ops.readers import (
    Arguments,
    Keywords,
    NotCovered,
    arguments,
    axis_of,
    flag,
    operand,
    reader,
    require_defaults,
)
from runmat_jit.ops.reduce import EVENTS, accumulator, reduced_axes, reduced_shape
from runmat_jit.ops.spec import Bound, Make, Op, Operand, Params, Result

_DOUBLE = np.dtype(np.float64)
_ORDERS = {None: "2", 2: "2", 1: "1", math.inf: "max", -math.inf: "min", "fro": "fro"}
"""What is summed: squares, magnitudes; or the extreme of magnitudes."""


# -- norms -----------------------------------------------------------------------------------------
@reader
def _read_norm(args: Arguments, kwargs: Keywords) -> Bound:
    given = arguments(args, kwargs, ("x", "ord", "axis", "keepdims"))
    order = given.get("ord")
    if type(order) not in (type(None), int, float, str) or order not in _ORDERS:
        raise NotCovered
    params: dict[str, Hashable] = {
        "ord": order,
        "axis": axis_of(given.get("axis")),
        "keepdims": flag(given.get("keepdims", False)),
    }
    return Bound((operand(given["x"]),), params)


def _norm_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """Norms of vectors along an axis, and the root of all squares."""
    (x,) = operands
    if not isinstance(x, TensorType) or not is_compiled(x.dtype) or not x.ndim:
        return None
    axes, order = reduced_axes(params["axis"], x.ndim), params["ord"]
    if axes is None:
        return None
    of_all = params["axis"] is None
    wanted = _ORDERS[order]  # type: ignore[index]  # one of the keys, as the reader says
    of_matrix = len(axes) == 2 and wanted == "fro"
    vector = len(axes) == 1 and wanted != "fro" and (not of_all or x.ndim == 1)
    if not (vector or of_matrix or (order is None and (of_all or len(axes) == 2))):
        return None
    if not x.size and (wanted in ("max", "min") or not of_all):
        return None
    dtype = x.dtype if x.dtype.kind == "f" else _DOUBLE
    shape = reduced_shape(x.shape, axes, keepdims=bool(params["keepdims"]))
    return Result(TensorType(dtype, shape), (dtype,))


def _canonical_norm(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
    """Of all elements NumPy makes a vector, whose overflow it reports by another name."""
    (x,) = operands
    assert isinstance(x, TensorType), "the rule covers the call"
    axes = None if params["axis"] is None else reduced_axes(params["axis"], x.ndim)
    return {"ord": params["ord"], "axis": axes, "keepdims": bool(params["keepdims"])}


def _decompose_norm(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    (x,), wanted = args, _ORDERS[params["ord"]]  # type: ignore[index]  # as above
    axes = reduced_axes(params["axis"], len(x.type.shape))
    over: dict[str, Hashable] = {"axis": axes, "keepdims": params["keepdims"]}
    if wanted in ("max", "min"):
        return make(wanted, (make("absolute", (x,), {}, x.type),), over, kind)
    over["dtype"] = kind.dtype.name
    if wanted == "1":
        return make("sum", (make("absolute", (x,), {}, x.type),), over, kind)
    return make("sqrt", (make("sum", (make("square", (x,), {}, x.type),), over, kind),), {}, kind)


def _norm(x: Any, axis: Any, keepdims: bool, ord: Any = None) -> Any:  # noqa: A002, FBT001  (NumPy's)
    """NumPy's function."""
    return np.linalg.norm(x, ord, axis, keepdims)


# -- traces ----------------------------------------------------------------------------------------
@reader
def _read_trace(args: Arguments, kwargs: Keywords) -> Bound:
    defaults = {"offset": 0, "axis1": 0, "axis2": 1, "dtype": None, "out": None}
    given = arguments(args, kwargs, ("a", *defaults))
    require_defaults(given, defaults)
    return Bound((operand(given["a"]),))


_summed = accumulator(np.add)


def _trace_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    (x,) = operands
    if not isinstance(x, TensorType) or not is_compiled(x.dtype) or x.ndim != 2:
        return None
    dtype = _summed(x.dtype, {"dtype": None})
    return None if dtype is None else Result(TensorType(dtype, ()), (x.dtype,))


def _decompose_trace(make: Make, args: tuple[Any, ...], _params: Params, kind: TensorType) -> Any:
    """The sum of the diagonal."""
    (x,) = args
    (rows, columns), dtype = x.type.shape, x.type.dtype
    shape, strides = (min(rows, columns),), (columns + 1,)
    where: dict[str, Hashable] = {"offset": 0, "shape": shape, "strides": strides, "order": (0, 1)}
    diagonal = make("strided", (x,), where, TensorType(dtype, shape))
    if dtype != kind.dtype:
        cast = TensorType(kind.dtype, shape)
        diagonal = make("cast", (diagonal,), {"dtype": kind.dtype.name}, cast)
    over: dict[str, Hashable] = {"axis": (0,), "keepdims": False, "dtype": kind.dtype.name}
    return make("sum", (diagonal,), over, kind)


ROWS = (
    Op(
        name="norm",
        doc="Norm of vectors along an axis, or the root of the sum of all squares.",
        kind="reduce",
        arity=1,
        numpy=_norm,
        spellings=(np.linalg.norm,),
        bind=_read_norm,
        result=_norm_result,
        canonical=_canonical_norm,
        decompose=_decompose_norm,
        exactness="ours",
        events=EVENTS,
        ufunc="reduce",
        absorbs=(False,),
        sign=sign.clear,
    ),
    Op(
        name="trace",
        doc="Sum of the diagonal of a matrix.",
        kind="move",
        arity=1,
        numpy=np.trace,
        spellings=(np.trace,),
        methods=("trace",),
        bind=_read_trace,
        result=_trace_result,
        is_plain=True,
        decompose=_decompose_trace,
        exactness="ours",
        events=EVENTS,
        ufunc="reduce",
        absorbs=(False,),
    ),
)
