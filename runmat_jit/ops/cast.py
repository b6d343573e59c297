"""Rows that copy values, into another dtype or the same."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.ops import parts, sign
from runmat_jit.ops.elementwise import ABSORBS, identity, is_float, not_, smallest
from runmat_jit.ops.promotion import is_graph
from runmat_jit.ops.readers import (
    Arguments,
    Bind,
    Keywords,
    NotCovered,
    arguments,
    dtype_of,
    operand,
    order_of,
    reader,
    require_defaults,
)
from runmat_jit.ops.spec import Bound, Op, Operand, Params, Result

_VALUE_TYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "i1"}
_ASTYPE_DEFAULTS = {"order": "K", "casting": "unsafe", "subok": True, "copy": True, "device": None}


@reader
def _read_astype(args: Arguments, kwargs: Keywords) -> Bound:
    """A copy even where the dtype stays; ``copy=False`` may give the array itself."""
    given = arguments(args, kwargs, ("a", "dtype", *_ASTYPE_DEFAULTS), required=2)
    require_defaults(given, _ASTYPE_DEFAULTS)
    dtype = dtype_of(given["dtype"])
    if dtype is None:
        raise NotCovered
    return Bound((operand(given["a"]),), {"dtype": dtype})


def _cast_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    (x,), dtype = operands, np.dtype(str(params["dtype"]))
    if not isinstance(x, TensorType) or not is_graph(x.dtype) or not is_graph(dtype):
        return None
    if x.dtype.kind == "c" and dtype.kind != "c":  # NumPy says that it loses a part
        return None
    return Result(TensorType(dtype, x.shape), (x.dtype,))


def _expand_cast(k: Builder, x: Value, *, dtype: str) -> Value:
    return cast(k, x, _VALUE_TYPES[dtype])


def _lost(k: Builder, operands: tuple[Value, ...], result: Value) -> Value | None:
    """True if the integer type does not hold a float without its fraction."""
    (x,) = operands
    if not is_float(x) or result.type not in ("i32", "i64"):
        return None
    first = float(smallest(result.type))
    if x.type == "f64" and result.type == "i32":
        return not_(k, (x > first - 1.0) & (x < -first))
    return not_(k, (x >= first) & (x < -first))  # no fractions near the limits


def _copy_reader(default: str) -> Bind:
    @reader
    def read(args: Arguments, kwargs: Keywords) -> Bound:
        given = arguments(args, kwargs, ("a", "order"))
        params: dict[str, Hashable] = {"order": order_of(given.get("order", default))}
        return Bound((operand(given["a"]),), params)

    return read


def _copy_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    (x,) = operands
    if not isinstance(x, TensorType) or not is_graph(x.dtype):
        return None
    return Result(x, (x.dtype,))


def _copy(x: Any, order: str = "K") -> Any:
    return np.copy(x, order)  # type: ignore[call-overload]  # C or K by the reader


def _expand_copy(k: Builder, x: Value, *, order: str = "K") -> Value:
    del order  # where the elements lie is the plan's business
    return identity(k, x)


def _copy_row(name: str, default: str, doc: str, **fields: Any) -> Op:
    return Op(
        name=name,
        doc=doc,
        kind="elementwise",
        arity=1,
        numpy=_copy,
        bind=_copy_reader(default),
        result=_copy_result,
        expand=_expand_copy,
        absorbs=(False,),
        sign=sign.least,
        top=sign.highest,
        flops=0,
        **fields,
    )


def _cast(x: Any, dtype: str) -> Any:
    return x.astype(dtype)


ROWS = (
    Op(
        name="cast",
        doc="The values in another dtype, in new memory.",
        kind="elementwise",
        arity=1,
        numpy=_cast,
        spellings=(np.astype,),
        methods=("astype",),
        bind=_read_astype,
        result=_cast_result,
        expand=_expand_cast,
        parts=parts.cast,
        absorbs=(ABSORBS,),
        ufunc="cast",
        events=frozenset({"overflow", "underflow", "invalid"}),
        event_test=_lost,
        sign=sign.least,
        top=sign.highest,
        zero_d="same",
        matlab="cast",
    ),
    _copy_row("copy", "K", "The values in new memory.", spellings=(np.copy,), zero_d="array"),
    _copy_row(
        "contiguous_copy",
        "C",
        "The values in new C order memory.",
        methods=("copy",),
        zero_d="same",
    ),
)
