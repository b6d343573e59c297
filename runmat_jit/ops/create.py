"""Rows that create arrays. All decompose into constants, counters and broadcasts."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.extent import Extent
from runmat_jit.core.types import TensorType
from runmat_jit.ops import sign
from runmat_jit.ops.promotion import fits, is_compiled, is_graph, kind_of, promote, shape_of
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
from runmat_jit.ops.readers import shape_of as read_shape
from runmat_jit.ops.spec import Bound, Make, Op, Operand, Params, Result
from runmat_jit.ops.structure import constant_params

_EXACT = 1 << 53
_PLAIN = {"order": "C", "device": None, "like": None}
_PLAIN_LIKE = {"subok": True, "shape": None, "device": None}


def _create_reader(*, filled: bool) -> Bind:
    names = ("shape", *(("fill_value",) if filled else ()), "dtype", "order", "device", "like")

    @reader
    def read(args: Arguments, kwargs: Keywords) -> Bound:
        given = arguments(args, kwargs, names, required=1 + filled)
        require_defaults(given, _PLAIN)
        params: dict[str, Hashable] = {
            "shape": read_shape(given["shape"]),
            "dtype": dtype_of(given.get("dtype")),
        }
        return Bound((operand(given["fill_value"]),) if filled else (), params)

    return read


def _like_reader(*, filled: bool) -> Bind:
    names = ("a", *(("fill_value",) if filled else ()), "dtype", "order", *_PLAIN_LIKE)

    @reader
    def read(args: Arguments, kwargs: Keywords) -> Bound:
        given = arguments(args, kwargs, names, required=1 + filled)
        require_defaults(given, _PLAIN_LIKE)
        params: dict[str, Hashable] = {
            "dtype": dtype_of(given.get("dtype")),
            "order": order_of(given.get("order", "K")),
        }
        return Bound(tuple(operand(given[name]) for name in names[: 1 + filled]), params)

    return read


def _result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """An array of a shape; without a dtype, of the fill value's kind, or float64."""
    if any(shape_of(fill) for fill in operands):
        return None
    kinds = tuple(kind_of(fill) for fill in operands) or (np.dtype(float),)
    wanted = params["dtype"]
    dtype = promote(kinds, takes_complex=True) if wanted is None else np.dtype(str(wanted))
    shape = params["shape"]
    if dtype is None or not is_graph(dtype) or not isinstance(shape, tuple):
        return None
    if not all(_keeps(fill, dtype) for fill in operands):
        return None
    return Result(TensorType(dtype, shape), (dtype,) * len(operands))


def _keeps(fill: Operand, dtype: np.dtype) -> bool:
    """True if a cast reports no events: NumPy would, at a line of its own."""
    is_float = isinstance(fill, TensorType) and fill.dtype.kind in "fc"
    return not is_float or np.can_cast(kind_of(fill), dtype, "safe")


def _like_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    pattern, *fills = operands
    if not isinstance(pattern, TensorType) or any(shape_of(fill) for fill in fills):
        return None
    dtype = pattern.dtype if params["dtype"] is None else np.dtype(str(params["dtype"]))
    if not all(map(is_graph, (dtype, *map(kind_of, operands)))):
        return None
    if not all(_keeps(fill, dtype) for fill in fills):
        return None
    return Result(TensorType(dtype, pattern.shape), (pattern.dtype, *(dtype,) * len(fills)))


def _canonical(result: Callable[..., Result | None]) -> Callable[..., dict[str, Hashable]]:
    def canonical(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
        covered = result(operands, params)
        assert covered is not None, "the rule covers the call"
        return dict(params) | {"dtype": covered.type.dtype.name}

    return canonical


def _filled_with(number: int | None, position: int = 0) -> Callable[..., Any]:
    """A decomposition: one value everywhere, a number or the operand at ``position``."""

    def decompose(make: Make, args: tuple[Any, ...], _params: Params, kind: TensorType) -> Any:
        if number is None:
            value = args[position]
        else:
            params = constant_params(number, kind.dtype)
            value = make("constant", (), params, TensorType(kind.dtype, ()))
        return make("broadcast_to", (value,), {"shape": kind.shape}, kind) if kind.shape else value

    return decompose


@reader
def _read_arange(args: Arguments, kwargs: Keywords) -> Bound:
    given = arguments(args, kwargs, ("start", "stop", "step", "dtype", "device", "like"), 0)
    require_defaults(given, _PLAIN)
    start, stop, step = (given.get(name) for name in ("start", "stop", "step"))
    if stop is None:
        start, stop = 0, start
    elif start is None and "start" in given:
        raise NotCovered  # NumPy counts from nothing where it is not there, not where it is None
    step = 1 if step is None else step
    start = 0 if start is None else start
    counted = isinstance(stop, Extent) and (type(start), step) == (int, 1)
    if any(type(number) not in (int, float) for number in (start, step)):
        raise NotCovered
    if type(stop) not in (int, float) and not counted:
        raise NotCovered
    dtype = dtype_of(given.get("dtype"))
    return Bound((), {"start": start, "stop": stop, "step": step, "dtype": dtype})


def _arange_result(_operands: tuple[Operand, ...], params: Params) -> Result | None:
    start, stop, step = (params[name] for name in ("start", "stop", "step"))
    assert all(isinstance(number, (int, float, Extent)) for number in (start, stop, step))
    numbers: tuple[Any, ...] = (start, stop, step)
    whole = all(isinstance(number, (int, Extent)) for number in numbers)
    default = "int64" if whole else "float64"
    dtype = np.dtype(default if params["dtype"] is None else str(params["dtype"]))
    safe = all(abs(number) < _EXACT for number in numbers) and step != 0
    if not is_compiled(dtype) or dtype.kind == "b" or not safe:
        return None
    if dtype.kind == "i" and not whole:
        return None
    distance = numbers[1] - numbers[0]
    extent = max(0, distance if numbers[2] == 1 and whole else math.ceil(distance / numbers[2]))
    last = numbers[0] + numbers[2] * extent
    if not (fits(last, dtype) and fits(numbers[0], dtype) and fits(numbers[2], dtype)):
        return None
    if np.signbit(numbers[0]) and dtype.type(numbers[0]) == 0:  # counting from -0.0 gives 0.0
        return None
    return Result(TensorType(dtype, (extent,)), ())


def _decompose_arange(make: Make, _args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    """NumPy fills from the first two values, each rounded to the dtype."""
    start, step = params["start"], params["step"]
    assert isinstance(start, (int, float)) and isinstance(step, (int, float))  # noqa: PT018 -- one fact
    first = kind.dtype.type(start)
    distance = kind.dtype.type(start + step) - first
    counted: dict[str, Hashable] = {"start": first.item(), "step": distance.item()}
    return make("iota", (), counted, kind)


def _row(name: str, numpy: Callable[..., Any], doc: str, number: int | None, **fields: Any) -> Op:
    filled = number is None
    return Op(
        name=name,
        doc=doc,
        kind="create",
        arity=int(filled),
        numpy=_full if filled else numpy,
        spellings=(numpy,),
        bind=_create_reader(filled=filled),
        result=_result,
        canonical=_canonical(_result),
        decompose=_filled_with(number),
        layout="C",
        zero_d="array",
        sign=sign.least if filled else sign.clear,
        flops=0,
        **fields,
    )


def _like_row(name: str, numpy: Callable[..., Any], doc: str, number: int | None) -> Op:
    filled = number is None
    return Op(
        name=name,
        doc=doc,
        kind="create",
        arity=1 + filled,
        numpy=numpy,
        spellings=(numpy,),
        bind=_like_reader(filled=filled),
        result=_like_result,
        canonical=_canonical(_like_result),
        decompose=_filled_with(number, position=1),
        is_pattern=True,
        zero_d="array",
        flops=0,
    )


def _full(fill_value: Any, shape: Any, dtype: Any) -> Any:
    return np.full(shape, fill_value, dtype)


ROWS = (
    _row("zeros", np.zeros, "An array of zeros.", 0, matlab="zeros"),
    _row("ones", np.ones, "An array of ones.", 1, matlab="ones"),
    _row("empty", np.empty, "An array of any values: zeros.", 0),
    _row("full", np.full, "An array of one value.", None),
    _like_row("zeros_like", np.zeros_like, "Zeros in the shape and dtype of an array.", 0),
    _like_row("ones_like", np.ones_like, "Ones in the shape and dtype of an array.", 1),
    _like_row("empty_like", np.empty_like, "Any values in the shape of an array: zeros.", 0),
    _like_row("full_like", np.full_like, "One value in the shape and dtype of an array.", None),
    Op(
        name="arange",
        doc="Evenly spaced numbers of an interval.",
        kind="create",
        arity=0,
        numpy=np.arange,
        spellings=(np.arange,),
        bind=_read_arange,
        result=_arange_result,
        canonical=_canonical(_arange_result),
        sign=sign.count,
        decompose=_decompose_arange,
        layout="C",
        zero_d="array",
        matlab="colon",
    ),
)
