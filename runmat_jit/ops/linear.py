"""The rows of functions that compute products of matrices: ``np.inner``, ``np.cov`` and others.

What they are made of is seen by fusion: products, to which NumPy gives BLAS, and sums of products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType, broadcast_shapes
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.product import Product
from runmat_jit.ops.promotion import is_compiled
from runmat_jit.ops.readers import (
    Arguments,
    Keywords,
    NotCovered,
    arguments,
    flag,
    operand,
    reader,
    require_defaults,
    ufunc_reader,
    whole,
)
from runmat_jit.ops.reduce import EVENTS, divided
from runmat_jit.ops.spec import Bound, Make, Op, Operand, Params, Result
from runmat_jit.ops.structure import constant_params

Shape = tuple[int, ...]
Decompose = Callable[[Make, tuple[Any, ...], Params, TensorType], Any]
_DOUBLE = np.dtype(np.float64)


# -- products of two operands ----------------------------------------------------------------------
@reader
def _read_two(args: Arguments, kwargs: Keywords) -> Bound:
    if len(args) != 2 or kwargs:
        raise NotCovered
    return Bound(tuple(map(operand, args)))


_read_ufunc = ufunc_reader(2)


def _read_vectors(args: Arguments, kwargs: Keywords) -> Bound | None:
    """With the axis of the vectors, the last one."""
    rest = {name: each for name, each in kwargs.items() if name != "axis"}
    return _read_ufunc(args, rest) if kwargs.get("axis", -1) == -1 else None


def _rule(shape_of: Callable[[Shape, Shape], Shape | None]) -> Any:
    """Of numbers that are no truth values; NumPy knows what to do with extents that differ."""

    def rule(operands: tuple[Operand, ...], _params: Params) -> Result | None:
        types = [each for each in operands if isinstance(each, TensorType)]
        if len(types) < 2 or not all(each.ndim for each in types):
            return None
        dtype = np.result_type(*(each.dtype for each in types))
        shape = shape_of(types[0].shape, types[1].shape)
        if shape is None or dtype.kind == "b" or not is_compiled(dtype):
            return None
        return Result(TensorType(dtype, shape), (dtype, dtype))

    return rule


def _inner(a: Shape, b: Shape) -> Shape | None:
    """Of two vectors it is one number, which a call of BLAS gives at once."""
    fits = max(len(a), len(b)) == 2 and a[-1] == b[-1]
    return (*a[:-1], *b[:-1]) if fits else None


def _matvec(a: Shape, x: Shape) -> Shape | None:
    return a[:-1] if len(a) > 1 and len(x) == 1 and a[-1] == x[0] else None


def _vecmat(x: Shape, a: Shape) -> Shape | None:
    return (*a[:-2], a[-1]) if len(a) > 1 and len(x) == 1 and a[-2] == x[0] else None


def _vecdot(a: Shape, b: Shape) -> Shape | None:
    return broadcast_shapes(a[:-1], b[:-1]) if a[-1] == b[-1] else None


def _vdot(a: Shape, b: Shape) -> Shape | None:
    return () if math.prod(a) == math.prod(b) else None


def product(make: Make, function: Any, a: Any, b: Any, kind: TensorType) -> Any:
    """The product of two values by a function of NumPy's."""
    call = HostCall(Product(function), f"{function.__name__}()")
    return make("product", (a, b), {"call": call}, kind)


def transposed(make: Make, x: Any) -> Any:
    """A matrix with its axes swapped; a vector as it is."""
    if len(x.type.shape) < 2:
        return x
    return make("transpose", (x,), {"axes": (1, 0)}, TensorType(x.type.dtype, x.type.shape[::-1]))


def _decompose_inner(make: Make, args: tuple[Any, ...], _params: Params, kind: TensorType) -> Any:
    a, b = args
    return product(make, np.dot, a, transposed(make, b), kind)


def _decompose_product(make: Make, args: tuple[Any, ...], _params: Params, kind: TensorType) -> Any:
    a, b = args
    return product(make, np.matmul, a, b, kind)


def _decompose_vdot(make: Make, args: tuple[Any, ...], _params: Params, kind: TensorType) -> Any:
    shape = (math.prod(args[0].type.shape),)
    flat = TensorType(kind.dtype, shape)
    a, b = (make("reshape", (arg,), {"shape": shape}, flat) for arg in args)
    return summed_products(make, a, b, kind)


def _decompose_vecdot(make: Make, args: tuple[Any, ...], _params: Params, kind: TensorType) -> Any:
    """Sums of products, or a product of a matrix."""
    a, b = args
    if kind.dtype.kind == "f" and len(a.type.shape) > 1 and len(b.type.shape) == 1:
        return product(make, np.matmul, a, b, kind)
    return summed_products(make, a, b, kind)


def summed_products(make: Make, a: Any, b: Any, kind: TensorType) -> Any:
    """Sums of the products of elements over the last axis."""
    spread = TensorType(kind.dtype, (*kind.shape, a.type.shape[-1]))
    over: dict[str, Hashable] = {"axis": (len(kind.shape),), "keepdims": False}
    over["dtype"] = kind.dtype.name
    return make("sum", (make("multiply", (a, b), {}, spread),), over, kind)


def _row(
    function: Any,
    doc: str,
    shape_of: Callable[[Shape, Shape], Shape | None],
    decompose: Decompose,
    **fields: Any,
) -> Op:
    common: dict[str, Any] = {"spellings": (function,), "bind": _read_two}
    return Op(
        name=function.__name__,
        doc=doc,
        kind="move",
        arity=2,
        numpy=function,
        result=_rule(shape_of),
        layout="C",
        is_plain=True,
        decompose=decompose,
        events=EVENTS,
        ufunc="host call",
        flops=2.0,
        **(common | fields),
    )


# -- covariances -----------------------------------------------------------------------------------
_WEIGHTS = {"y": None, "fweights": None, "aweights": None, "dtype": None}


@reader
def _read_covariance(args: Arguments, kwargs: Keywords) -> Bound:
    names = ("m", "y", "rowvar", "bias", "ddof", "fweights", "aweights", "dtype")
    given = arguments(args, kwargs, names)
    require_defaults({name: each for name, each in given.items() if name in _WEIGHTS}, _WEIGHTS)
    ddof = given.get("ddof")
    divisor = int(not flag(given.get("bias", False))) if ddof is None else whole(ddof)
    params: dict[str, Hashable] = {"rowvar": flag(given.get("rowvar", True)), "ddof": divisor}
    return Bound((operand(given["m"]),), params)


def _covariance_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    """Of two or more variables with degrees of freedom; where there are none, NumPy warns."""
    (x,), ddof = operands, params["ddof"]
    assert isinstance(ddof, int), "a reader gives a whole number"
    if not isinstance(x, TensorType) or x.ndim != 2 or not is_compiled(x.dtype):
        return None
    variables, count = x.shape if params["rowvar"] else x.shape[::-1]
    if variables < 2 or count <= ddof:
        return None
    return Result(TensorType(_DOUBLE, (variables, variables)), (_DOUBLE,))


def _decompose_covariance(
    make: Make, args: tuple[Any, ...], params: Params, kind: TensorType
) -> Any:
    (x,), along, ddof = args, int(bool(params["rowvar"])), params["ddof"]
    assert isinstance(ddof, int), "as in the rule"
    count = x.type.shape[along]
    over: dict[str, Hashable] = {"axis": (along,), "keepdims": True, "dtype": "float64"}
    shape = tuple(1 if axis == along else n for axis, n in enumerate(x.type.shape))
    total = make("sum", (x,), over, TensorType(_DOUBLE, shape))
    z = make("subtract", (x, divided(make, total, count)), {}, x.type)
    left, right = (z, transposed(make, z)) if along else (transposed(make, z), z)
    factor = constant_params(1 / (count - ddof), _DOUBLE)
    weight = make("constant", (), factor, TensorType(_DOUBLE, ()))
    return make("multiply", (product(make, np.matmul, left, right, kind), weight), {}, kind)


def _covariance(x: Any, rowvar: bool, ddof: int) -> Any:  # noqa: FBT001  (NumPy's)
    return np.cov(x, rowvar=rowvar, ddof=ddof)


ROWS = (
    _row(
        np.inner,
        "Sums of products over the last axes of matrices, or of a matrix and a vector.",
        _inner,
        _decompose_inner,
    ),
    _row(
        np.vdot,
        "Sum of products of all elements of two arrays.",
        _vdot,
        _decompose_vdot,
        exactness="ours",
    ),
    _row(
        np.matvec,
        "Products of matrices and a vector.",
        _matvec,
        _decompose_product,
        bind=_read_ufunc,
    ),
    _row(
        np.vecmat,
        "Products of a vector and matrices.",
        _vecmat,
        _decompose_product,
        bind=_read_ufunc,
    ),
    _row(
        np.vecdot,
        "Sums of products of vectors along the last axes.",
        _vecdot,
        _decompose_vecdot,
        spellings=(np.vecdot, np.linalg.vecdot),
        bind=_read_vectors,
        exactness="ours",
    ),
    Op(
        name="cov",
        doc="Covariances of the rows or the columns of a matrix.",
        kind="move",
        arity=1,
        numpy=_covariance,
        spellings=(np.cov,),
        bind=_read_covariance,
        result=_covariance_result,
        layout="C",
        is_plain=True,
        decompose=_decompose_covariance,
        exactness="ours",
        events=EVENTS,
        ufunc="host call",
        flops=2.0,
    ),
)
