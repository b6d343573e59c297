"""Rows that compare, choose, or ask what kind of number a value is."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import extrema, predicates
from runmat_jit.ops import parts, sign
from runmat_jit.ops.elementwise import ABSORBS, elementwise, is_float, not_
from runmat_jit.ops.promotion import any_tensor, broadcast, kind_of, promote
from runmat_jit.ops.readers import (
    Arguments,
    Keywords,
    NotCovered,
    arguments,
    destination,
    operand,
    reader,
)
from runmat_jit.ops.spec import VARIADIC, Bound, Make, Op, Operand, Params, Result, Weak

_BOTH = (ABSORBS, ABSORBS)
_BOOL = np.dtype(bool)


def _less(k: Builder, x: Value, y: Value) -> Value:
    return not_(k, x) & y if x.type == "i1" else x < y


def _less_equal(k: Builder, x: Value, y: Value) -> Value:
    return not_(k, x) | y if x.type == "i1" else x <= y


def _maximum(k: Builder, x: Value, y: Value) -> Value:
    """One comparison is enough beside a number: NaN fails it, and the other operand is chosen."""
    if is_float(x) and _is_number(y):
        return k.select(x <= y, y, x)
    if is_float(x) and _is_number(x):
        return k.select(x > y, x, y)
    return extrema.maximum(k, x, y)


def _minimum(k: Builder, x: Value, y: Value) -> Value:
    """Like ``_maximum``."""
    if is_float(x) and _is_number(y):
        return k.select(x >= y, y, x)
    if is_float(x) and _is_number(x):
        return k.select(x < y, x, y)
    return extrema.minimum(k, x, y)


def _fmax(k: Builder, x: Value, y: Value) -> Value:
    """Like ``_maximum``: the number is chosen."""
    if is_float(x) and _is_number(y):
        return k.select(x > y, x, y)
    if is_float(x) and _is_number(x):
        return k.select(y >= x, y, x)
    return extrema.fmax(k, x, y)


def _fmin(k: Builder, x: Value, y: Value) -> Value:
    """Like ``_fmax``."""
    if is_float(x) and _is_number(y):
        return k.select(x < y, x, y)
    if is_float(x) and _is_number(x):
        return k.select(y <= x, y, x)
    return extrema.fmin(k, x, y)


def _is_number(value: Value) -> bool:
    return value.literal is not None and not math.isnan(value.literal)


_TWO_ZEROS = "zeros of two signs: the second, in NumPy either"


@reader
def _read_where(args: Arguments, kwargs: Keywords) -> Bound:
    if len(args) != 3 or kwargs:
        raise NotCovered
    return Bound(tuple(map(operand, args)))


def _where_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    condition, x, y = operands
    shape = broadcast(operands)
    dtype = promote((kind_of(x), kind_of(y)), takes_complex=True)
    if shape is None or dtype is None or not any_tensor(operands):
        return None
    if promote((kind_of(condition),)) is None:
        return None
    return Result(TensorType(dtype, shape), (_BOOL, dtype, dtype))


_LIMITS = ("min", "max")


@reader
def _read_clip(args: Arguments, kwargs: Keywords) -> Bound:
    """``np.clip`` takes two limits by position, or under their old names, and never one."""
    renamed = {"a_min": "min", "a_max": "max"}
    if len(args) == 2 or len(renamed.keys() & kwargs.keys()) == 1:
        raise NotCovered
    kwargs = {renamed.get(name, name): value for name, value in kwargs.items()}
    return _limited(args, kwargs)


@reader
def _read_clip_method(args: Arguments, kwargs: Keywords) -> Bound:
    return _limited(args, kwargs)


def _limited(args: Arguments, kwargs: Keywords) -> Bound:
    given = arguments(args, kwargs, ("a", *_LIMITS, "out"))
    present = tuple(name for name in _LIMITS if given.get(name) is not None)
    if not present:
        raise NotCovered
    operands = (operand(given["a"]), *(operand(given[name]) for name in present))
    return Bound(operands, {"limits": present}, destination(given.get("out")))


def _clip_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    if isinstance(operands[0], Weak):  # NumPy makes an array of it first
        return None
    dtype = promote(tuple(map(kind_of, operands)))
    shape = broadcast(operands)
    if dtype is None or shape is None or not any_tensor(operands):
        return None
    return Result(TensorType(dtype, shape), (dtype,) * len(operands))


_ONE_LIMIT: dict[Any, np.ufunc] = {("min",): np.maximum, ("max",): np.minimum}


def _clip(*operands: Any, limits: tuple[str, ...]) -> Any:
    return np.clip(operands[0], **dict(zip(limits, operands[1:], strict=True)))


def _decompose_clip(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    """A zero keeps its sign between two limits that are numbers; else that of the limit counts."""
    if params["limits"] == _LIMITS:
        value, low, high = args
        shape = broadcast((value.type, low.type))
        assert shape is not None, "a clip that the rule covers broadcasts"
        raised_type = TensorType(kind.dtype, shape)
        if all(_is_one_number(limit.type, kind) for limit in (low, high)):
            return make("minimum", (high, make("maximum", (low, value), {}, raised_type)), {}, kind)
        return make("minimum", (make("maximum", (value, low), {}, raised_type), high), {}, kind)
    name = _ONE_LIMIT[params["limits"]].__name__
    return make(name, args, {}, kind)


def _is_one_number(limit: TensorType, result: TensorType) -> bool:
    """True if NumPy takes a limit for one number, and not for an array of them."""
    return not limit.shape or (limit.size == 1 and result.size > 1)


def _comparison(
    ufunc: np.ufunc,
    doc: str,
    expand: Callable[..., Value],
    spelling: Any,
    matlab: str,
    **fields: Any,
) -> Op:
    return elementwise(ufunc, doc, expand, _BOTH, spellings=(spelling,), matlab=matlab, **fields)


ROWS = (
    _comparison(
        np.equal,
        "Whether x == y.",
        lambda k, x, y: k.eq(x, y),
        operator.eq,
        "eq",
        parts=parts.equal,
    ),
    _comparison(
        np.not_equal,
        "Whether x != y.",
        lambda k, x, y: k.ne(x, y),
        operator.ne,
        "ne",
        parts=parts.not_equal,
    ),
    _comparison(np.less, "Whether x < y.", _less, operator.lt, "lt"),
    _comparison(np.less_equal, "Whether x <= y.", _less_equal, operator.le, "le"),
    _comparison(
        np.greater,
        "Whether x > y.",
        lambda k, x, y: _less(k, y, x),
        operator.gt,
        "gt",
    ),
    _comparison(
        np.greater_equal,
        "Whether x >= y.",
        lambda k, x, y: _less_equal(k, y, x),
        operator.ge,
        "ge",
    ),
    elementwise(
        np.maximum,
        "The larger of two; NaN wins.",
        _maximum,
        _BOTH,
        positional_out=False,
        sign=sign.larger,
        top=sign.highest,
    ),
    elementwise(
        np.minimum,
        "The smaller of two; NaN wins.",
        _minimum,
        _BOTH,
        positional_out=False,
        sign=sign.least,
        top=sign.smaller,
    ),
    elementwise(
        np.fmax,
        "The larger of two, a number before NaN.",
        _fmax,
        _BOTH,
        differs=_TWO_ZEROS,
        sign=sign.larger,
        top=sign.highest,
    ),
    elementwise(
        np.fmin,
        "The smaller of two, a number before NaN.",
        _fmin,
        _BOTH,
        differs=_TWO_ZEROS,
        sign=sign.least,
        top=sign.smaller_number,
    ),
    Op(
        name="clip",
        doc="Values limited from below, from above, or both.",
        kind="elementwise",
        arity=VARIADIC,
        numpy=_clip,
        spellings=(np.clip,),
        methods=("clip",),
        bind=_read_clip,
        bind_method=_read_clip_method,
        result=_clip_result,
        decompose=_decompose_clip,
        allocates="ufunc",
        flops=2,
    ),
    Op(
        name="where",
        doc="The second operand where the first is true, else the third.",
        kind="elementwise",
        arity=3,
        numpy=np.where,
        allocates="iterator",
        spellings=(np.where,),
        bind=_read_where,
        result=_where_result,
        expand=lambda k, c, x, y: k.select(c, x, y),
        parts=parts.where,
        sign=sign.least_of_choices,
        top=sign.highest_of_choices,
        absorbs=(ABSORBS,) * 3,
        zero_d="array",
    ),
    elementwise(
        np.isnan,
        "Whether a value is NaN.",
        predicates.isnan,
        (ABSORBS,),
        matlab="isnan",
        parts=parts.isnan,
    ),
    elementwise(
        np.isinf,
        "Whether a value is infinite.",
        predicates.isinf,
        (ABSORBS,),
        matlab="isinf",
        parts=parts.isinf,
    ),
    elementwise(
        np.isfinite,
        "Whether a value is neither NaN nor infinite.",
        predicates.isfinite,
        (ABSORBS,),
        matlab="isfinite",
        parts=parts.isfinite,
    ),
    elementwise(np.signbit, "Whether the sign bit is set.", predicates.signbit, (ABSORBS,)),
)
