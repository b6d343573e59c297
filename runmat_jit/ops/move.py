"""Rows that move elements. Views are found through NumPy itself; these are what graphs say."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.ops import sign
from runmat_jit.ops.promotion import is_graph, kind_of, promote
from runmat_jit.ops.readers import (
    Arguments,
    Bind,
    Keywords,
    NotCovered,
    arguments,
    destination,
    operand,
    reader,
    require_defaults,
    whole,
)
from runmat_jit.ops.spec import VARIADIC, Bound, Make, Op, Operand, Params, Result

Shape = tuple[int, ...]
Rule = Callable[[tuple[Operand, ...], Params], Result | None]


def positions(offset: int, shape: Shape, strides: Shape) -> np.ndarray:
    """For every element of a strided view, its position in flat memory."""
    where = np.full(shape, offset, np.intp)
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        along = [1] * len(shape)
        along[axis] = extent
        where += (stride * np.arange(extent)).reshape(along)
    return where


def _transpose(x: Any, axes: Shape) -> Any:
    return np.transpose(x, axes)


def _reshape(x: Any, shape: Shape) -> Any:
    return np.reshape(x, shape)


def _slice(x: Any, starts: Shape, steps: Shape, shape: Shape) -> Any:
    ranges = (
        start + step * np.arange(extent)
        for start, step, extent in zip(starts, steps, shape, strict=True)
    )
    return np.asarray(x)[np.ix_(*ranges)]


def _broadcast_to(x: Any, shape: Shape) -> Any:
    return np.broadcast_to(x, shape)


def _strided(base: Any, offset: int, shape: Shape, strides: Shape, order: Shape) -> Any:
    flat = np.asarray(base).transpose(order).reshape(-1)
    return flat[positions(offset, shape, strides)]


def _update(base: Any, value: Any, offset: int, shape: Shape, strides: Shape) -> Any:
    flat = np.array(base, order="C").reshape(-1)
    flat[positions(offset, shape, strides)] = value
    return flat.reshape(np.shape(base))


def _concatenate(*arrays: Any, axis: int) -> Any:
    return np.concatenate(arrays, axis)


def _stack(*arrays: Any, axis: int) -> Any:
    return np.stack(arrays, axis)


_JOIN_DEFAULTS = {"dtype": None, "casting": "same_kind"}


@reader
def _read_join(args: Arguments, kwargs: Keywords) -> Bound:
    given = arguments(args, kwargs, ("arrays", "axis", "out", *_JOIN_DEFAULTS))
    require_defaults(given, _JOIN_DEFAULTS)
    arrays = given["arrays"]
    if not isinstance(arrays, (list, tuple)) or not arrays:
        raise NotCovered
    params: dict[str, Hashable] = {"axis": whole(given.get("axis", 0))}
    return Bound(tuple(map(operand, arrays)), params, destination(given.get("out")))


def _joined_dtype(operands: tuple[Operand, ...]) -> np.dtype | None:
    if not all(isinstance(o, TensorType) for o in operands):
        return None
    return promote(tuple(map(kind_of, operands)), takes_complex=True)


def _axis(params: Params, ndim: int) -> int | None:
    axis = params["axis"]
    assert isinstance(axis, int), "a reader gives whole numbers"
    return axis % ndim if -ndim <= axis < ndim else None


def _concatenate_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    dtype = _joined_dtype(operands)
    shapes = [o.shape for o in operands if isinstance(o, TensorType)]
    if dtype is None:
        return None
    axis = _axis(params, len(shapes[0]))
    if axis is None or any(len(shape) != len(shapes[0]) for shape in shapes):
        return None
    if len({shape[:axis] + shape[axis + 1 :] for shape in shapes}) != 1:
        return None
    extent = sum(shape[axis] for shape in shapes)
    shape = (*shapes[0][:axis], extent, *shapes[0][axis + 1 :])
    return Result(TensorType(dtype, shape), (dtype,) * len(operands))


def _stack_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    dtype = _joined_dtype(operands)
    shapes = {o.shape for o in operands if isinstance(o, TensorType)}
    if dtype is None or len(shapes) != 1:
        return None
    (shape,) = shapes
    axis = _axis(params, len(shape) + 1)
    if axis is None:
        return None
    stacked = (*shape[:axis], len(operands), *shape[axis:])
    return Result(TensorType(dtype, stacked), (dtype,) * len(operands))


def _canonical_axis(added: int) -> Callable[[Params, tuple[Operand, ...]], dict[str, Hashable]]:
    def canonical(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
        first = operands[0]
        assert isinstance(first, TensorType), "the rule covers the call"
        return {"axis": _axis(params, first.ndim + added)}

    return canonical


def _decompose_stack(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    axis = params["axis"]
    assert isinstance(axis, int), "a reader gives whole numbers"
    shape = (*kind.shape[:axis], 1, *kind.shape[axis + 1 :])
    thin = TensorType(kind.dtype, shape)
    layers = tuple(make("reshape", (x,), {"shape": shape}, thin) for x in args)
    return make("concatenate", layers, {"axis": axis}, kind)


def _moved(shape_of: Callable[[TensorType, Params], Any]) -> Rule:
    """The rule of a row that keeps the dtype of its first operand."""

    def result(operands: tuple[Operand, ...], params: Params) -> Result | None:
        base = operands[0]
        if not isinstance(base, TensorType) or not is_graph(base.dtype):
            return None
        kind = TensorType(base.dtype, tuple(shape_of(base, params)))
        return Result(kind, (base.dtype,) * len(operands))

    return result


def _given_shape(_base: TensorType, params: Params) -> Any:
    return params["shape"]


def _transposed(base: TensorType, params: Params) -> Any:
    axes: Any = params["axes"]
    return (base.shape[axis] for axis in axes)


def _row(name: str, numpy: Callable[..., Any], doc: str, rule: Rule, arity: int = 1) -> Op:
    return Op(
        name=name,
        doc=doc,
        kind="move",
        arity=arity,
        numpy=numpy,
        result=rule,
        absorbs=(False,) * arity,
        flops=0,
        zero_d="array",
    )


def _join(name: str, numpy: Any, meaning: Any, doc: str, rule: Rule, **fields: Any) -> Op:
    bind: Bind = _read_join
    return Op(
        name=name,
        doc=doc,
        kind="move",
        arity=VARIADIC,
        numpy=meaning,
        spellings=(numpy,),
        bind=bind,
        result=rule,
        flops=0,
        zero_d="array",
        **fields,
    )


ROWS = (
    _row("transpose", _transpose, "Axes in another order.", _moved(_transposed)),
    _row("reshape", _reshape, "The elements in C order in another shape.", _moved(_given_shape)),
    _row("slice", _slice, "Every ``steps``-th element from ``starts`` on.", _moved(_given_shape)),
    _row("broadcast_to", _broadcast_to, "Repeated along new or unit axes.", _moved(_given_shape)),
    _row(
        "strided",
        _strided,
        "Elements at ``offset`` and ``strides`` of memory whose axes lie in ``order``.",
        _moved(_given_shape),
    ),
    _row(
        "update",
        _update,
        "The first operand with a strided view of its C order memory set to the second.",
        _moved(lambda base, _params: base.shape),
        arity=2,
    ),
    _join(
        "concatenate",
        np.concatenate,
        _concatenate,
        "Arrays joined along an axis.",
        _concatenate_result,
        sign=sign.least,
        top=sign.highest,
        canonical=_canonical_axis(0),
        matlab="cat",
    ),
    _join(
        "stack",
        np.stack,
        _stack,
        "Arrays joined along a new axis.",
        _stack_result,
        canonical=_canonical_axis(1),
        decompose=_decompose_stack,
    ),
)
