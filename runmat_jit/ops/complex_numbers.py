"""Rows of complex numbers, and those that lead from them to their parts and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType, is_complex, is_graph_dtype, part_dtype
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import evaluate
from runmat_jit.kernel.ir import Pair, Value
from runmat_jit.kernel.math import predicates
from runmat_jit.ops import parts
from runmat_jit.ops.elementwise import ABSORBS, PASSES, elementwise, identity
from runmat_jit.ops.promotion import broadcast
from runmat_jit.ops.readers import (
    Arguments,
    Keywords,
    arguments,
    method_reader,
    operand,
    reader,
    require_defaults,
)
from runmat_jit.ops.spec import Bound, Op, Operand, Params, Result


def _part_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    (x,) = operands
    if not isinstance(x, TensorType) or not is_complex(x.dtype) or not is_graph_dtype(x.dtype):
        return None
    return Result(TensorType(part_dtype(x.dtype), x.shape), (x.dtype,))


def _conjugated_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    (x,) = operands
    if not isinstance(x, TensorType) or not is_complex(x.dtype) or not x.shape:
        return None
    return Result(x, (x.dtype,))


def _joined_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    re, im = operands
    shape = broadcast(operands)
    if not (isinstance(re, TensorType) and isinstance(im, TensorType)) or shape is None:
        return None
    if re.dtype != im.dtype or re.dtype.kind != "f":
        return None
    return Result(TensorType(np.result_type(re.dtype, np.complex64), shape), (re.dtype,) * 2)


def _fused_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    shape, dtypes = broadcast(operands), {getattr(each, "dtype", None) for each in operands}
    (dtype,) = dtypes if len(dtypes) == 1 else (None,)
    if shape is None or dtype is None or dtype.kind != "f":
        return None
    return Result(TensorType(dtype, shape), (dtype,) * 3)


def _compared_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    dtypes, shape = {getattr(each, "dtype", None) for each in operands}, broadcast(operands)
    (dtype,) = dtypes if len(dtypes) == 1 else (None,)
    if shape is None or dtype is None or dtype.kind != "f":
        return None
    return Result(TensorType(np.dtype(bool), shape), (dtype, dtype))


def _is_unordered(k: Builder, operands: tuple[Value, ...], _result: Value) -> Value:
    x, y = operands
    return predicates.isnan(k, x) | predicates.isnan(k, y)


def _angle_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    found = _part_result(operands, params)
    return None if found is None or not found.type.shape else found


@reader
def _read_angle(args: Arguments, kwargs: Keywords) -> Bound:
    given = arguments(args, kwargs, ("z", "deg"))
    require_defaults(given, {"deg": False})
    return Bound((operand(given["z"]),))


def _by_parts(*_: Any) -> Any:
    raise AssertionError("rows of complex numbers alone are computed by their parts")


def _real(x: Any) -> Any:
    return np.array(np.real(x))[()]


def _imag(x: Any) -> Any:
    return np.array(np.imag(x))[()]


def _joined(re: Any, im: Any) -> Any:
    """Not ``re + 1j * im``, which loses zeros' signs and infinities."""
    made = np.empty(np.broadcast_shapes(np.shape(re), np.shape(im)), np.result_type(re, "c8"))
    made.real, made.imag = re, im
    return made[()]


def _fused(x: Any, y: Any, z: Any) -> Any:
    x, y, z = (np.array(each, order="C") for each in np.broadcast_arrays(x, y, z))
    kind = "f64" if x.dtype == np.float64 else "f32"
    with np.errstate(all="ignore"):
        return np.asarray(evaluate("fma", (x, y, z), kind)).reshape(x.shape).astype(x.dtype)[()]


def _row(
    name: str,
    doc: str,
    numpy: Callable[..., Any],
    rule: Callable[[tuple[Operand, ...], Params], Result | None],
    *,
    absorbs: tuple[bool, ...],
    **fields: Any,
) -> Op:
    """A row of graphs, which no callable of NumPy's means."""
    return Op(
        name=name,
        doc=doc,
        kind="elementwise",
        arity=len(absorbs),
        numpy=numpy,
        result=rule,
        absorbs=absorbs,
        zero_d="array",
        **fields,
    )


ROWS = (
    _row(
        "real",
        "Real parts.",
        _real,
        _part_result,
        expand=lambda _k, x: x.re,
        absorbs=(ABSORBS,),
        flops=0,
    ),
    _row(
        "imag",
        "Imaginary parts.",
        _imag,
        _part_result,
        expand=lambda _k, x: x.im,
        absorbs=(ABSORBS,),
        flops=0,
    ),
    _row(
        "complex_of",
        "Complex numbers of real and imaginary parts.",
        _joined,
        _joined_result,
        expand=lambda _k, re, im: Pair(re, im),
        absorbs=(ABSORBS, ABSORBS),
        flops=0,
    ),
    _row(
        "fma",
        "The product of two numbers plus a third one, rounded once.",
        _fused,
        _fused_result,
        expand=lambda k, x, y, z: k.fma(x, y, z),
        absorbs=(PASSES,) * 3,
        events=frozenset({"overflow", "underflow", "invalid"}),
        ufunc="multiply",
        differs="NaN: one of another sign or payload",
        gpu_ulp={"float32": 0.5, "float64": 0.5},
    ),
    _row(
        "at_least",
        "Whether x >= y, where NumPy reports comparisons of NaN: in divisions.",
        np.greater_equal,
        _compared_result,
        expand=lambda _k, x, y: x >= y,
        absorbs=(ABSORBS, ABSORBS),
        events=frozenset({"invalid"}),
        event_test=_is_unordered,
        ufunc="divide",
    ),
    _row(
        "conj",
        "The complex conjugate, of arrays of complex numbers: those of real ones are their own.",
        np.conjugate,
        _conjugated_result,
        decompose=_by_parts,
        absorbs=(PASSES,),
        methods=("conj", "conjugate"),
        bind=method_reader(("a",), {}),
        parts=parts.conjugate,
        flops=0,
    ),
    _row(
        "angle",
        "The angle of complex numbers, in radians, as ``arctan2`` gives it.",
        np.angle,
        _angle_result,
        decompose=_by_parts,
        absorbs=(ABSORBS,),
        spellings=(np.angle,),
        bind=_read_angle,
        parts=parts.angle,
        complex_exactness="ours",
        flops=40,
    ),
    elementwise(
        np.conjugate,
        "The complex conjugate; a real number itself, in new memory.",
        identity,
        (PASSES,),
        parts=parts.conjugate,
        matlab="conj",
        flops=0,
    ),
)
