"""``np.array`` of numbers and arrays in lists."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from runmat_jit.core.hardware import IN_REGISTERS
from runmat_jit.core.types import TensorType, is_graph_dtype
from runmat_jit.ops.readers import (
    Arguments,
    Keywords,
    NotCovered,
    arguments,
    dtype_of,
    operand,
    reader,
    require_defaults,
)
from runmat_jit.ops.spec import VARIADIC, Bound, Make, Op, Operand, Params, Result
from runmat_jit.ops.structure import constant_params

MOST_NUMBERS = 2 * IN_REGISTERS
"""In lists: each element of the array chooses among them."""
_DEFAULTS = {"copy": True, "order": "K", "subok": False, "ndmin": 0, "like": None}
_PLACE = np.dtype(np.int32)
_OF_NUMBERS: dict[type, np.dtype] = {k: np.dtype(k) for k in (bool, int, float, complex)}


@reader
def _read_array(args: Arguments, kwargs: Keywords) -> Bound:
    given = arguments(args, kwargs, ("object", "dtype", *_DEFAULTS))
    require_defaults(given, _DEFAULTS)
    shape, items = _items_of(given["object"])
    if len(items) > MOST_NUMBERS:
        raise NotCovered
    return Bound(items, {"shape": shape, "dtype": dtype_of(given.get("dtype"))})


def _items_of(lists: Any) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """The extents of nested lists, and what is in the innermost ones."""
    if type(lists) not in (list, tuple) or not lists:
        raise NotCovered
    if not any(type(each) in (list, tuple) for each in lists):
        return (len(lists),), tuple(map(operand, lists))
    parts = [_items_of(each) for each in lists]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        raise NotCovered
    return (len(lists), *shapes.pop()), tuple([item for _, items in parts for item in items])


def _array_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    own = tuple([o.dtype if isinstance(o, TensorType) else _OF_NUMBERS[o.type] for o in operands])
    shapes = {o.shape if isinstance(o, TensorType) else () for o in operands}
    dtype = np.result_type(*own)
    if params["dtype"] is not None:
        if not np.can_cast(dtype, str(params["dtype"]), "safe"):
            return None
        dtype = np.dtype(str(params["dtype"]))
    if len(shapes) > 1 or not all(map(is_graph_dtype, (*own, dtype))):
        return None
    return Result(TensorType(dtype, (*_shape(params), *shapes.pop())), own)


def _shape(params: Params) -> tuple[int, ...]:
    shape = params["shape"]
    assert isinstance(shape, tuple), "a reader gives a tuple"
    return shape


def _canonical(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
    found = _array_result(operands, params)
    assert found is not None, "the rule covers the call"
    return {"shape": _shape(params), "dtype": found.type.dtype.name}


def _array(*items: Any, shape: tuple[int, ...], dtype: str | None) -> Any:
    made = np.stack([np.asarray(item) for item in items])
    kind = made.dtype if dtype is None else np.dtype(dtype)
    return made.astype(kind, "C").reshape(shape + made.shape[1:])


def _decompose(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    """Numbers are chosen by their places; arrays are joined."""
    dtype, rest = kind.dtype, kind.shape[len(_shape(params)) :]
    items = [
        make("cast", (x,), {"dtype": dtype.name}, TensorType(dtype, x.type.shape))
        if x.type.dtype != dtype
        else x
        for x in args
    ]
    flat = TensorType(dtype, (len(items), *rest))
    joined = _joined(make, items, flat) if rest else _chosen(make, items, flat)
    return joined if kind == flat else make("reshape", (joined,), {"shape": kind.shape}, kind)


def _joined(make: Make, items: Sequence[Any], kind: TensorType) -> Any:
    shape = (1, *kind.shape[1:])
    layers = [make("reshape", (x,), {"shape": shape}, TensorType(kind.dtype, shape)) for x in items]
    return make("concatenate", tuple(layers), {"axis": 0}, kind)


def _chosen(make: Make, items: Sequence[Any], kind: TensorType) -> Any:
    places = TensorType(_PLACE, kind.shape)
    place = make("iota", (), {"start": 0, "step": 1}, places)
    found, *before = reversed(items)
    if not before:
        return make("broadcast_to", (found,), {"shape": kind.shape}, kind)
    for number, item in zip(reversed(range(len(before))), before, strict=True):
        at = make("constant", (), constant_params(number, _PLACE), TensorType(_PLACE, ()))
        here = make("equal", (place, at), {}, TensorType(np.dtype(bool), kind.shape))
        found = make("where", (here, item, found), {}, kind)
    return found


ROWS = (
    Op(
        name="array",
        doc="An array of what is in lists.",
        kind="move",
        arity=VARIADIC,
        numpy=_array,
        spellings=(np.array, np.asarray),
        bind=_read_array,
        result=_array_result,
        canonical=_canonical,
        decompose=_decompose,
        numbers_are_data=True,
        layout="C",
        flops=0,
        zero_d="array",
    ),
)
