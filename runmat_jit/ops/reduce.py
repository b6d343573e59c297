"""Rows of reductions over axes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType, is_compiled_dtype, is_graph_dtype
from runmat_jit.ops import parts, sign
from runmat_jit.ops.readers import axis_of, dtype_of, flag, method_reader
from runmat_jit.ops.spec import Event, Make, Op, Operand, Params, Reduction, Result

_BOOL, _SINGLE, _DOUBLE = np.dtype(bool), np.dtype(np.float32), np.dtype(np.float64)
SINGLE_COUNTS = 1 << 24
"""Numbers up to which all whole ones have a value in single precision."""
EVENTS: frozenset[Event] = frozenset({"overflow", "underflow", "invalid"})
SUM_BOUND = 36.0

DtypeRule = Callable[[np.dtype, Params], np.dtype | None]
"""The dtype that a reduction of this dtype computes with and gives, or None."""


def reduced_axes(axis: Hashable, ndim: int) -> tuple[int, ...] | None:
    """The axes in ascending order, none negative; None where NumPy refuses or nothing is reduced.

    Args:
        axis: None (all), an int, or a tuple of ints.
        ndim: The array's number of axes.

    """
    if axis is None:
        return tuple(range(ndim)) or None
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(a, int) and -ndim <= a < ndim for a in axes):
        return None
    found = tuple(sorted({a % ndim for a in axes}))
    return found if found and len(found) == len(axes) else None


def reduced_shape(
    shape: tuple[int, ...], axes: tuple[int, ...], *, keepdims: bool
) -> tuple[int, ...]:
    """The shape that is left."""
    if keepdims:
        return tuple(1 if axis in axes else n for axis, n in enumerate(shape))
    return tuple(n for axis, n in enumerate(shape) if axis not in axes)


def reduction_rule(
    dtype_rule: DtypeRule, *, empty: bool, takes_complex: bool = False
) -> Callable[[tuple[Operand, ...], Params], Result | None]:
    def result(operands: tuple[Operand, ...], params: Params) -> Result | None:
        (x,) = operands
        known = is_graph_dtype if takes_complex else is_compiled_dtype
        if not isinstance(x, TensorType) or not known(x.dtype):
            return None
        axes = reduced_axes(params["axis"], x.ndim)
        dtype = dtype_rule(x.dtype, params)
        if dtype is not None and not known(dtype):
            return None
        if axes is None or dtype is None or not (empty or x.size):
            return None
        shape = reduced_shape(x.shape, axes, keepdims=bool(params["keepdims"]))
        return Result(TensorType(dtype, shape), (dtype,))

    return result


def canonical_reduction(
    result: Any,
) -> Callable[[Params, tuple[Operand, ...]], dict[str, Hashable]]:
    def canonical(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
        (x,) = operands
        covered = result(operands, params)
        assert isinstance(x, TensorType) and covered is not None, "the rule covers the call"  # noqa: PT018 -- one fact
        kept: dict[str, Hashable] = {
            "axis": reduced_axes(params["axis"], x.ndim),
            "keepdims": bool(params["keepdims"]),
        }
        return kept | ({"dtype": covered.type.dtype.name} if "dtype" in params else {})

    return canonical


def accumulator(ufunc: np.ufunc) -> DtypeRule:
    def rule(dtype: np.dtype, params: Params) -> np.dtype | None:
        wanted = params["dtype"]
        return _default_accumulator(ufunc, dtype) if wanted is None else _cast(dtype, wanted)

    return rule


def _exact(rule: DtypeRule) -> DtypeRule:
    """Of integers: between 0, infinity and NaN the order decides in which floats are multiplied."""

    def exact(dtype: np.dtype, params: Params) -> np.dtype | None:
        accumulator = rule(dtype, params)
        return None if accumulator is None or accumulator.kind in "fc" else accumulator

    return exact


@cache  # a memo of a pure question; its keys are ufuncs and dtypes
def _default_accumulator(ufunc: np.ufunc, dtype: np.dtype) -> np.dtype | None:
    accumulator = ufunc.reduce(np.zeros(1, dtype)).dtype
    return accumulator if is_graph_dtype(accumulator) else None


def _cast(dtype: np.dtype, wanted: Hashable) -> np.dtype | None:
    """The wanted accumulator, unless casting to it has events that NumPy reports as ``reduce``."""
    accumulator = np.dtype(str(wanted))
    if not is_graph_dtype(accumulator) or accumulator == _BOOL:
        return None
    harmless = dtype.kind not in "fc" or np.can_cast(dtype, accumulator, "safe")
    return accumulator if harmless else None


def own_dtype(dtype: np.dtype, _params: Params) -> np.dtype | None:
    return dtype


def _bool(_dtype: np.dtype, _params: Params) -> np.dtype | None:
    return _BOOL


def mean_dtype(dtype: np.dtype, params: Params) -> np.dtype | None:
    wanted = params["dtype"]
    if wanted is not None:
        accumulator = _cast(dtype, wanted)
        return accumulator if accumulator is not None and accumulator.kind in "fc" else None
    return dtype if dtype.kind in "fc" else _DOUBLE


def count_over(x: TensorType, axes: Hashable) -> int:
    """Number of elements a reduction over these canonical axes takes together."""
    count = 1
    for axis in axes:  # type: ignore[attr-defined]  # a canonical tuple of axes
        count *= x.shape[axis]
    return count


def divided(make: Make, total: Any, count: int) -> Any:
    """Divide a total of floats by a number of elements.

    NumPy divides in double precision. In single precision the quotient has the same bits if it
    holds both operands; adapters without float64 can compute such means, too.
    """
    kind = total.type
    if kind.dtype == _SINGLE and count <= SINGLE_COUNTS:
        divisor = make("count", (), {"number": count}, TensorType(_SINGLE, ()))
        return make("divide", (total, divisor), {}, kind)
    wide = TensorType(_DOUBLE, kind.shape)
    if kind.dtype != _DOUBLE:
        total = make("cast", (total,), {"dtype": "float64"}, wide)
    divisor = make("count", (), {"number": count}, TensorType(_DOUBLE, ()))
    quotient = make("divide", (total, divisor), {}, wide)
    if kind.dtype != _DOUBLE:
        quotient = make("cast", (quotient,), {"dtype": kind.dtype.name}, kind)
    return quotient


def _decompose_mean(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    """The sum in the result's dtype, divided."""
    (x,) = args
    return divided(make, make("sum", args, params, kind), count_over(x.type, params["axis"]))


PLAIN: dict[str, Callable[[Any], Hashable]] = {"axis": axis_of, "keepdims": flag}
TAKES_DTYPE = PLAIN | {"dtype": dtype_of}
_WITH_DTYPE = ("a", "axis", "dtype", "out", "keepdims")
_WITHOUT_DTYPE = ("a", "axis", "out", "keepdims")


def _row(
    name: str,
    doc: str,
    numpy: Any,
    dtype_rule: DtypeRule,
    *,
    takes_dtype: bool = False,
    empty: bool = True,
    spellings: tuple[Callable[..., Any], ...] = (),
    **fields: Any,
) -> Op:
    """A reduction's row; ``empty``: it has a value over no elements."""
    parse = TAKES_DTYPE if takes_dtype else PLAIN
    rule = reduction_rule(dtype_rule, empty=empty, takes_complex="parts" in fields)

    def meaning(x: Any, axis: Any, keepdims: bool | None, **dtype: Any) -> Any:  # noqa: FBT001 -- NumPy's
        return numpy(x, axis=axis, keepdims=bool(keepdims), **dtype)

    names = _WITH_DTYPE if takes_dtype else _WITHOUT_DTYPE
    return Op(
        name=name,
        doc=doc,
        kind="reduce",
        arity=1,
        numpy=meaning,
        spellings=(numpy, *spellings),
        methods=(name,),
        bind=method_reader(names, parse),
        result=rule,
        canonical=canonical_reduction(rule),
        **fields,
    )


EITHER = "zeros of two signs, and several NaN: any of them, in NumPy too"

ROWS = (
    _row(
        "sum",
        "Sum over axes; of bools and small integers in int64.",
        np.sum,
        accumulator(np.add),
        takes_dtype=True,
        exactness="ours",
        events=EVENTS,
        ufunc="reduce",
        reduction=Reduction("add", 0.0, SUM_BOUND),
        parts=parts.sum_,
        complex_exactness="ours",
        absorbs=(False,),
        sign=sign.least,
        top=sign.total,
        matlab="sum",
    ),
    _row(
        "prod",
        "Product over axes of bools and integers; of bools and small integers in int64.",
        np.prod,
        _exact(accumulator(np.multiply)),
        takes_dtype=True,
        reduction=Reduction("mul", 1.0),
        absorbs=(False,),
        sign=sign.least,
        matlab="prod",
    ),
    _row(
        "max",
        "Largest value over axes; NaN wins.",
        np.max,
        own_dtype,
        empty=False,
        spellings=(np.amax,),
        reduction=Reduction("max", None),
        differs=EITHER,
        absorbs=(True,),
        sign=sign.least,
        top=sign.highest,
        matlab="max",
    ),
    _row(
        "min",
        "Smallest value over axes; NaN wins.",
        np.min,
        own_dtype,
        empty=False,
        spellings=(np.amin,),
        reduction=Reduction("min", None),
        differs=EITHER,
        absorbs=(True,),
        sign=sign.least,
        top=sign.highest,
        matlab="min",
    ),
    _row(
        "any",
        "Whether a value over axes is true.",
        np.any,
        _bool,
        reduction=Reduction("or", False),
        absorbs=(True,),
        matlab="any",
    ),
    _row(
        "all",
        "Whether every value over axes is true.",
        np.all,
        _bool,
        reduction=Reduction("and", True),
        absorbs=(True,),
        matlab="all",
    ),
    _row(
        "mean",
        "Mean over axes; of integers and bools, in float64.",
        np.mean,
        mean_dtype,
        takes_dtype=True,
        empty=False,
        exactness="ours",
        events=EVENTS,
        ufunc="reduce",
        absorbs=(False,),
        decompose=_decompose_mean,
        parts=parts.mean,
        complex_exactness="ours",
        sign=sign.least,
        matlab="mean",
    ),
)
