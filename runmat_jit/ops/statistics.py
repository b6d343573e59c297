"""Rows of reductions that are made of others."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.ops import sign
from runmat_jit.ops.readers import (
    Arguments,
    Bind,
    Keywords,
    NotCovered,
    arguments,
    axis_of,
    destination,
    flag,
    method_reader,
    operand,
    reader,
    whole,
)
from runmat_jit.ops.reduce import (
    EITHER,
    EVENTS,
    PLAIN,
    SUM_BOUND,
    TAKES_DTYPE,
    accumulator,
    canonical_reduction,
    count_over,
    divided,
    mean_dtype,
    own_dtype,
    reduced_shape,
    reduction_rule,
)
from runmat_jit.ops.spec import Bound, Event, Make, Op, Operand, Params, Reduction, Result
from runmat_jit.ops.structure import constant_params

_BOOL, _INDEX = np.dtype(bool), np.dtype(np.int64)
_SPREAD: frozenset[Event] = frozenset({"overflow", "invalid"})


def _nothing(value: Any) -> Hashable:
    """Only the default, which says nothing."""
    if value is not None:
        raise NotCovered
    return None


# -- variance and standard deviation --------------------------------------------------------------
def _variance_reader(*further: str) -> Bind:
    @reader
    def read(args: Arguments, kwargs: Keywords) -> Bound:
        given = arguments(args, kwargs, (*_VARIANCE, *further))
        if len(args) > len(_VARIANCE) or given.keys() >= {"ddof", "correction"}:
            raise NotCovered
        _nothing(given.get("dtype"))
        params: dict[str, Hashable] = {
            "axis": axis_of(given.get("axis")),
            "ddof": whole(given.get("ddof", given.get("correction", 0))),
            "keepdims": flag(given.get("keepdims", False)),
        }
        return Bound((operand(given["a"]),), params, destination(given.get("out")))

    return read


_VARIANCE = ("a", "axis", "dtype", "out", "ddof", "keepdims")


def _float(dtype: np.dtype, _params: Params) -> np.dtype | None:
    """The dtype of a mean: floats as they are, all others in float64."""
    return mean_dtype(dtype, {"dtype": None})


_averaged = reduction_rule(_float, empty=False)


def _variance_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """NumPy warns where there are no degrees of freedom."""
    found, ddof = _averaged(operands, params), params["ddof"]
    if found is None:
        return None
    (x,) = operands
    axes = canonical_reduction(_averaged)(params, operands)["axis"]
    assert isinstance(x, TensorType), "the rule covers the call"
    assert isinstance(ddof, int), "a reader gives a whole number"
    return found if count_over(x, axes) > ddof else None


def _canonical_variance(params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
    return canonical_reduction(_averaged)(params, operands) | {"ddof": params["ddof"]}


def _decompose_variance(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    """The mean of squares of what is left after the mean."""
    (x,), axes, ddof = args, params["axis"], params["ddof"]
    assert isinstance(axes, tuple), "canonical"
    assert isinstance(ddof, int), "canonical"
    count = count_over(x.type, axes)
    kept = TensorType(kind.dtype, reduced_shape(x.type.shape, axes, keepdims=True))
    total = make("sum", args, _over(axes, kind.dtype, keepdims=True), kept)
    mean = divided(make, total, count)
    over = _over(axes, kind.dtype, keepdims=bool(params["keepdims"]))
    return divided(make, make("squared_deviations", (x, mean), over, kind), count - ddof)


def _over(axes: Hashable, dtype: np.dtype, *, keepdims: bool) -> dict[str, Hashable]:
    return {"axis": axes, "keepdims": keepdims, "dtype": dtype.name}


def _decompose_deviation(
    make: Make, args: tuple[Any, ...], params: Params, kind: TensorType
) -> Any:
    return make("sqrt", (_decompose_variance(make, args, params, kind),), {}, kind)


def _squared_deviations(
    x: Any,
    mean: Any,
    axis: Any,
    keepdims: bool,  # noqa: FBT001 -- NumPy's
    dtype: Any = None,
) -> Any:
    return np.sum(np.square(x - mean), axis=axis, keepdims=keepdims, dtype=dtype)


def _variance(numpy: Any, doc: str, decompose: Callable[..., Any], matlab: str | None = None) -> Op:
    def meaning(x: Any, axis: Any, keepdims: bool, ddof: int = 0) -> Any:  # noqa: FBT001 -- NumPy's
        return numpy(x, axis=axis, ddof=ddof, keepdims=keepdims)

    return Op(
        name=numpy.__name__,
        doc=doc,
        kind="reduce",
        arity=1,
        numpy=meaning,
        spellings=(numpy,),
        methods=(numpy.__name__,),
        bind=_variance_reader("correction"),
        bind_method=_variance_reader(),
        result=_variance_result,
        canonical=_canonical_variance,
        decompose=decompose,
        exactness="ours",
        events=EVENTS,
        ufunc="reduce",
        absorbs=(False,),
        sign=sign.clear,
        matlab=matlab,
    )


# -- others ---------------------------------------------------------------------------------------
def _decompose_average(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    (x,) = args
    over = dict(params) | {"dtype": kind.dtype.name}
    return divided(make, make("sum", args, over, kind), count_over(x.type, params["axis"]))


def _decompose_range(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    """With its axes, because a difference of integers without any is another thing in NumPy."""
    (x,), axes = args, params["axis"]
    assert isinstance(axes, tuple), "canonical"
    kept = TensorType(kind.dtype, reduced_shape(x.type.shape, axes, keepdims=True))
    over = {"axis": axes, "keepdims": True}
    ends = tuple(make(name, args, over, kept) for name in ("max", "min"))
    spread = make("subtract", ends, {}, kept)
    return spread if kept == kind else make("reshape", (spread,), {"shape": kind.shape}, kind)


def _numeric(dtype: np.dtype, _params: Params) -> np.dtype | None:
    return None if dtype == _BOOL else dtype


_counted = reduction_rule(own_dtype, empty=True)


def _count_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """NumPy gives a number of Python for all elements, unless axes are kept."""
    found = _counted(operands, params)
    if found is None or (params["axis"] is None and not params["keepdims"]):
        return None
    return Result(TensorType(_INDEX, found.type.shape), found.operand_dtypes)


def _decompose_count(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    (x,) = args
    truth = TensorType(_BOOL, x.type.shape)
    if x.type.dtype != _BOOL:
        zero = make("constant", (), constant_params(0, x.type.dtype), TensorType(x.type.dtype, ()))
        x = make("not_equal", (x, zero), {}, truth)
    ones = make("cast", (x,), {"dtype": _INDEX.name}, TensorType(_INDEX, truth.shape))
    return make("sum", (ones,), dict(params) | {"dtype": _INDEX.name}, kind)


def _decompose_nansum(make: Make, args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
    (x,) = args
    if kind.dtype.kind == "f":
        tests = make("isnan", (x,), {}, TensorType(_BOOL, x.type.shape))
        zero = make("constant", (), constant_params(0, kind.dtype), TensorType(kind.dtype, ()))
        x = make("where", (tests, zero, x), {}, x.type)
    return make("sum", (x,), params, kind)


def _row(
    numpy: Any,
    doc: str,
    bind: Bind,
    result: Callable[[tuple[Operand, ...], Params], Result | None],
    decompose: Callable[..., Any],
    **fields: Any,
) -> Op:
    def meaning(x: Any, axis: Any, keepdims: bool | None, **dtype: Any) -> Any:  # noqa: FBT001 -- NumPy's
        return numpy(x, axis=axis, keepdims=bool(keepdims), **dtype)

    return Op(
        name=numpy.__name__,
        doc=doc,
        kind="reduce",
        arity=1,
        numpy=meaning,
        spellings=(numpy,),
        bind=bind,
        result=result,
        decompose=decompose,
        **fields,
    )


_spread = reduction_rule(_numeric, empty=False)
_summed = reduction_rule(accumulator(np.add), empty=True)


def _read_average(args: Arguments, kwargs: Keywords) -> Bound | None:
    bound = None if len(args) > 4 else _AVERAGE(args, kwargs)
    if bound is not None:
        del bound.params["weights"], bound.params["returned"]
    return bound


def _read_count(args: Arguments, kwargs: Keywords) -> Bound | None:
    unknown = len(args) > 2 or kwargs.get("keepdims") is np._NoValue
    return None if unknown else _COUNT(args, kwargs)


def _no(value: Any) -> Hashable:
    if flag(value):
        raise NotCovered
    return False


_AVERAGE = method_reader(
    ("a", "axis", "weights", "returned", "keepdims"),
    {**PLAIN, "weights": _nothing, "returned": _no},
)
_COUNT = method_reader(("a", "axis", "keepdims"), PLAIN)

ROWS = (
    _variance(np.var, "Variance over axes, of deviations from the mean.", _decompose_variance),
    _variance(np.std, "Standard deviation over axes.", _decompose_deviation),
    Op(
        name="squared_deviations",
        doc="Sum over axes of the squares of what is left after the mean over these axes.",
        kind="reduce",
        arity=2,
        numpy=_squared_deviations,
        reduction=Reduction("add", None, SUM_BOUND, is_moment=True),
        exactness="ours",
        events=EVENTS,
        ufunc="reduce",
        absorbs=(False, False),
        sign=sign.clear,
    ),
    _row(
        np.average,
        "Mean over axes, without weights.",
        _read_average,
        _averaged,
        _decompose_average,
        canonical=canonical_reduction(_averaged),
        exactness="ours",
        events=EVENTS,
        ufunc="reduce",
        absorbs=(False,),
        sign=sign.least,
    ),
    _row(
        np.nansum,
        "Sum over axes, NaN as zero.",
        method_reader(("a", "axis", "dtype", "out", "keepdims"), TAKES_DTYPE),
        _summed,
        _decompose_nansum,
        canonical=canonical_reduction(_summed),
        exactness="ours",
        events=EVENTS,
        ufunc="reduce",
        absorbs=(True,),
        sign=sign.least,
    ),
    _row(
        np.ptp,
        "Largest less smallest value over axes; NaN wins.",
        method_reader(("a", "axis", "out", "keepdims"), PLAIN),
        _spread,
        _decompose_range,
        canonical=canonical_reduction(_spread),
        events=_SPREAD,
        ufunc="subtract",
        absorbs=(False,),
        differs=EITHER,
    ),
    _row(
        np.count_nonzero,
        "How many values over axes are not zero, as an array.",
        _read_count,
        _count_result,
        _decompose_count,
        canonical=canonical_reduction(_count_result),
        absorbs=(True,),
    ),
)
