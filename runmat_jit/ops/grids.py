"""Rows that create arrays by places: spaced numbers, diagonals and triangles of ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.extent import Extent
from runmat_jit.core.types import TensorType, is_compiled_dtype
from runmat_jit.ops.readers import (
    Arguments,
    Bind,
    Keywords,
    NotCovered,
    arguments,
    dtype_of,
    flag,
    reader,
    require_defaults,
    whole,
)
from runmat_jit.ops.spec import Bound, Make, Op, Operand, Params, Result
from runmat_jit.ops.structure import constant_params

_ELSEWHERE = {"device": None, "like": None}
_OF_LINES = {"retstep": False, "axis": 0, "device": None}
_PLACE, _TRUTH, _DOUBLE = np.dtype(np.int32), np.dtype(bool), np.dtype(np.float64)
_FARTHEST = 1 << 30
"""Places are counted in 32 bits."""
_EXACT = 1 << 53
_SOME = 2
"""Numbers of which the last one is another than the first."""
_LEAST, _MOST = 1e-280, 1e300
"""Limits that are closer may have a step that is zero, or not normal; others may overflow."""


# -- spaced numbers --------------------------------------------------------------------------------
@reader
def _read_linspace(args: Arguments, kwargs: Keywords) -> Bound:
    names = ("start", "stop", "num", "endpoint", "retstep", "dtype", "axis", "device")
    given = arguments(args, kwargs, names, 2)
    require_defaults(given, _OF_LINES)
    start, stop, num = given["start"], given["stop"], given.get("num", 50)
    if any(type(number) not in (int, float, np.float64) for number in (start, stop)):
        raise NotCovered
    if any(type(number) is int and abs(number) > _EXACT for number in (start, stop)):
        raise NotCovered  # NumPy may make objects of them
    least: Any = 0 if type(num) is int else _SOME
    if not isinstance(num, int | Extent) or type(num) is bool or num < least:
        raise NotCovered
    endpoint, dtype = flag(given.get("endpoint", True)), dtype_of(given.get("dtype"))
    numbers: dict[str, Hashable] = {"start": float(start), "stop": float(stop), "num": num}
    return Bound((), numbers | {"endpoint": endpoint, "dtype": dtype})


def _linspace_result(_operands: tuple[Operand, ...], params: Params) -> Result | None:
    start, stop = _limits(params)
    dtype = _DOUBLE if params["dtype"] is None else np.dtype(str(params["dtype"]))
    if not _LEAST < abs(stop - start) < _MOST or dtype != _DOUBLE:
        return None
    if not start and math.copysign(1.0, start) < 0:  # counting from -0.0 gives 0.0
        return None
    return Result(TensorType(dtype, (params["num"],)), ())  # type: ignore[arg-type]  # an int


def _limits(params: Params) -> tuple[float, float]:
    start, stop = params["start"], params["stop"]
    assert isinstance(start, float) and isinstance(stop, float)  # noqa: PT018 -- one fact
    return start, stop


def _decompose_linspace(
    make: Make, _args: tuple[Any, ...], params: Params, kind: TensorType
) -> Any:
    """NumPy counts, multiplies by the step, and puts the last number into its place."""
    start, stop = _limits(params)
    (num,), number = kind.shape, TensorType(_DOUBLE, ())

    def constant(value: float) -> Any:
        return make("constant", (), constant_params(value, _DOUBLE), number)

    steps = num - 1 if params["endpoint"] else num
    if type(steps) is int:
        count, step = constant(steps), constant((stop - start) / max(steps, 1))
    else:
        count = make("count", (), {"number": steps}, number)
        step = make("divide", (constant(stop - start), count), {}, number)
    place = make("iota", (), {"start": 0.0, "step": 1.0}, kind)
    spaced = make("multiply", (place, step), {}, kind)
    spaced = make("add", (spaced, constant(start)), {}, kind)
    if not params["endpoint"] or num < _SOME:
        return spaced
    ends = make("equal", (place, count), {}, TensorType(_TRUTH, kind.shape))
    return make("where", (ends, constant(stop), spaced), {}, kind)


# -- ones by their places --------------------------------------------------------------------------
def _matrix_reader(*, square: bool) -> Bind:
    names = (
        ("n", "dtype", "like") if square else ("N", "M", "k", "dtype", "order", "device", "like")
    )

    @reader
    def read(args: Arguments, kwargs: Keywords) -> Bound:
        given = arguments(args, kwargs, names)
        require_defaults(given, _ELSEWHERE | {"order": "C"})
        rows = whole(given[names[0]])
        columns = rows if given.get("M") is None else whole(given["M"])
        dtype = dtype_of(given.get("dtype")) or _DOUBLE.name
        shape: Hashable = (rows, columns)
        return Bound((), {"shape": shape, "k": whole(given.get("k", 0)), "dtype": dtype})

    return read


def _matrix_result(_operands: tuple[Operand, ...], params: Params) -> Result | None:
    shape, k, dtype = params["shape"], params["k"], np.dtype(str(params["dtype"]))
    assert isinstance(shape, tuple), "a reader gives a tuple"
    if not isinstance(k, int) or abs(k) > _FARTHEST or not is_compiled_dtype(dtype):
        return None
    if any(extent < 0 or (type(extent) is int and extent > _FARTHEST) for extent in shape):
        return None
    return Result(TensorType(dtype, shape), ())


def _ones_where(comparison: str) -> Callable[..., Any]:
    """A decomposition: ones where a row's place compares so with a column's, less ``k``."""

    def decompose(make: Make, _args: tuple[Any, ...], params: Params, kind: TensorType) -> Any:
        count, k = kind.shape, params["k"]
        assert isinstance(k, int), "a reader gives a number"
        beside = TensorType(_PLACE, (count[0], 1))
        row = make("iota", (), {"start": 0, "step": 1}, TensorType(_PLACE, count[:1]))
        row = make("reshape", (row,), {"shape": beside.shape}, beside)
        column = make("iota", (), {"start": -k, "step": 1}, TensorType(_PLACE, count[1:]))
        found = make(comparison, (row, column), {}, TensorType(_TRUTH, count))
        return (
            found
            if kind.dtype == _TRUTH
            else make("cast", (found,), {"dtype": kind.dtype.name}, kind)
        )

    return decompose


def _row(name: str, numpy: Callable[..., Any], doc: str, comparison: str) -> Op:
    meaning = np.tri if numpy is np.tri else np.eye

    def ones(*, shape: tuple[int, int], k: int, dtype: str) -> Any:
        return meaning(*shape, k, dtype)

    return Op(
        name=name,
        doc=doc,
        kind="create",
        arity=0,
        numpy=ones,
        spellings=(numpy,),
        bind=_matrix_reader(square=numpy is np.identity),
        result=_matrix_result,
        decompose=_ones_where(comparison),
        layout="C",
        zero_d="array",
        flops=0,
    )


def _linspace(*, start: float, stop: float, num: int, endpoint: bool, dtype: str | None) -> Any:
    return np.linspace(start, stop, num, endpoint, dtype=dtype)


ROWS = (
    Op(
        name="linspace",
        doc="Numbers with one distance between two limits, in memory of its own.",
        kind="create",
        arity=0,
        numpy=_linspace,
        spellings=(np.linspace,),
        bind=_read_linspace,
        result=_linspace_result,
        canonical=lambda params, _operands: dict(params) | {"dtype": _DOUBLE.name},
        decompose=_decompose_linspace,
        layout="C",
        zero_d="array",
        flops=0,
    ),
    _row("eye", np.eye, "Ones on a diagonal, zeros elsewhere.", "equal"),
    _row("identity", np.identity, "Ones on the diagonal of a square, zeros elsewhere.", "equal"),
    _row("tri", np.tri, "Ones on and below a diagonal, zeros above.", "greater_equal"),
)
