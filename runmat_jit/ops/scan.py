"""Rows of scans: each element is made of all before it along an axis."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.ops.promotion import is_compiled
from runmat_jit.ops.readers import (
    Arguments,
    Bind,
    Keywords,
    arguments,
    destination,
    dtype_of,
    operand,
    reader,
    whole,
)
from runmat_jit.ops.reduce import DtypeRule, accumulator, own_dtype
from runmat_jit.ops.spec import Bound, Event, Make, Op, Operand, Params, Result

_SUM_EVENTS: frozenset[Event] = frozenset({"overflow", "invalid"})
_PRODUCT_EVENTS: frozenset[Event] = _SUM_EVENTS | {"underflow"}


# -- the rows that kernels compute ----------------------------------------------------------------
def _axis(params: Params) -> int | None:
    axis = params["axis"]
    assert axis is None or isinstance(axis, int), "a reader gives an int or None"
    return axis


def _computed_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    (x,), axis = operands, _axis(params)
    if not isinstance(x, TensorType) or axis is None or not 0 <= axis < x.ndim:
        return None
    return Result(x, (x.dtype,))


def _computed(name: str, doc: str, numpy: np.ufunc, combine: str, **fields: Any) -> Op:
    def meaning(x: Any, axis: int) -> Any:
        return numpy.accumulate(x, axis=axis, dtype=np.asarray(x).dtype)

    return Op(
        name=name,
        doc=doc,
        kind="scan",
        arity=1,
        numpy=meaning,
        result=_computed_result,
        scan=combine,
        zero_d="array",
        **fields,
    )


# -- the rows that programs call ------------------------------------------------------------------
def _reader(names: tuple[str, ...], default: int | None) -> Bind:
    """``np.cumsum`` flattens where it gets no axis, a ufunc's ``accumulate`` takes the first."""

    @reader
    def read(args: Arguments, kwargs: Keywords) -> Bound:
        given = arguments(args, kwargs, names)
        axis = given.get("axis", default)
        params: dict[str, Hashable] = {
            "axis": None if axis is None and default is None else whole(axis),
            "dtype": dtype_of(given.get("dtype")),
        }
        return Bound((operand(given[names[0]]),), params, destination(given.get("out")))

    return read


def _result(dtype_rule: DtypeRule) -> Callable[[tuple[Operand, ...], Params], Result | None]:
    def result(operands: tuple[Operand, ...], params: Params) -> Result | None:
        (x,), axis = operands, _axis(params)
        if not isinstance(x, TensorType) or not is_compiled(x.dtype) or not x.ndim:
            return None
        dtype = dtype_rule(x.dtype, params)
        if dtype is None or not is_compiled(dtype) or not -x.ndim <= (axis or 0) < x.ndim:
            return None
        shape = (x.size,) if axis is None else x.shape
        return Result(TensorType(dtype, shape), (dtype,))

    return result


def _canonical(result: Any) -> Callable[[Params, tuple[Operand, ...]], dict[str, Hashable]]:
    def canonical(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
        (x,), axis, covered = operands, _axis(params), result(operands, params)
        assert isinstance(x, TensorType), "the rule covers the call"
        if axis is not None:
            axis %= x.ndim
        return {"axis": 0 if x.ndim == 1 else axis, "dtype": covered.type.dtype.name}

    return canonical


def _decompose(computed: str) -> Callable[[Make, tuple[Any, ...], Params, TensorType], Any]:
    def decompose(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
        (x,), axis = args, _axis(params)
        if axis is None:
            x, axis = make("reshape", (x,), {"shape": kind.shape}, kind), 0
        return make(computed, (x,), {"axis": axis}, kind)

    return decompose


def _own_dtype(dtype: np.dtype, params: Params) -> np.dtype | None:
    """The extremes of what is cast first are left to NumPy."""
    return own_dtype(dtype, params) if params["dtype"] in (None, dtype.name) else None


def _called(
    name: str, doc: str, numpy: Any, bind: Bind, rule: DtypeRule, *, computed: str, **fields: Any
) -> Op:
    result = _result(rule)

    def meaning(x: Any, axis: int | None, dtype: Any) -> Any:
        return numpy(x, axis=axis, dtype=dtype)

    return Op(
        name=name,
        doc=doc,
        kind="scan",
        arity=1,
        numpy=meaning,
        spellings=(numpy,),
        bind=bind,
        result=result,
        canonical=_canonical(result),
        decompose=_decompose(computed),
        zero_d="array",
        **fields,
    )


_FUNCTION = _reader(("a", "axis", "dtype", "out"), None)
_METHOD_OF_UFUNC = _reader(("array", "axis", "dtype", "out"), 0)
_SUM: dict[str, Any] = {"events": _SUM_EVENTS, "ufunc": "accumulate", "absorbs": (False,)}
_PRODUCT: dict[str, Any] = _SUM | {"events": _PRODUCT_EVENTS}
_EXTREME: dict[str, Any] = {"absorbs": (True,)}

ROWS = (
    _computed("running_sum", "Sum of the elements so far along an axis.", np.add, "add", **_SUM),
    _computed(
        "running_product",
        "Product of the elements so far along an axis.",
        np.multiply,
        "mul",
        **_PRODUCT,
    ),
    _computed(
        "running_maximum",
        "Largest of the elements so far along an axis; NaN wins.",
        np.maximum,
        "max",
        **_EXTREME,
    ),
    _computed(
        "running_minimum",
        "Smallest of the elements so far along an axis; NaN wins.",
        np.minimum,
        "min",
        **_EXTREME,
    ),
    _called(
        "cumsum",
        "Running sum along an axis, or of all elements; of bools and small integers in int64.",
        np.cumsum,
        _FUNCTION,
        accumulator(np.add),
        computed="running_sum",
        methods=("cumsum",),
        **_SUM,
    ),
    _called(
        "cumprod",
        "Running product along an axis, or of all elements; of small integers in int64.",
        np.cumprod,
        _FUNCTION,
        accumulator(np.multiply),
        computed="running_product",
        methods=("cumprod",),
        **_PRODUCT,
    ),
    _called(
        "add_accumulate",
        "Running sum along an axis, the first unless told.",
        np.add.accumulate,
        _METHOD_OF_UFUNC,
        accumulator(np.add),
        computed="running_sum",
        **_SUM,
    ),
    _called(
        "multiply_accumulate",
        "Running product along an axis, the first unless told.",
        np.multiply.accumulate,
        _METHOD_OF_UFUNC,
        accumulator(np.multiply),
        computed="running_product",
        **_PRODUCT,
    ),
    _called(
        "maximum_accumulate",
        "Running maximum along an axis, the first unless told; NaN wins.",
        np.maximum.accumulate,
        _METHOD_OF_UFUNC,
        _own_dtype,
        computed="running_maximum",
        **_EXTREME,
    ),
    _called(
        "minimum_accumulate",
        "Running minimum along an axis, the first unless told; NaN wins.",
        np.minimum.accumulate,
        _METHOD_OF_UFUNC,
        _own_dtype,
        computed="running_minimum",
        **_EXTREME,
    ),
)
