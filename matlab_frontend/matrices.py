"""Operators that take arrays as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import (
    ARITHMETIC,
    arithmetic,
    narrow,
    result_kind,
    undefined_operator,
)
from matlab_frontend.values.array import (
    Array,
    Cell,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.kinds import INTEGER_KINDS, kind_of_dtype
from matlab_frontend.values.make import reverse, wrap


def multiply(engine: Engine, left: Value, right: Value) -> Value:
    """``a * b``: a matrix product, or elementwise where one of them is a scalar.

    Raises:
        MatlabError: sizes or classes do not go together.

    """
    if _is_scalar(left) or _is_scalar(right):
        return arithmetic(engine, ARITHMETIC[".*"], left, right)
    a, b = _matrices(engine, "*", left, right)
    if shape_of(a)[1] != shape_of(b)[0]:
        raise MatlabError(
            "MATLAB:innerdim",
            "Incorrect dimensions for matrix multiplication. Check that the number of columns in "
            "the first matrix matches the number of rows in the second matrix. To operate on each "
            "element of the matrix individually, use TIMES (.*) for elementwise multiplication.",
        )
    # The data are transposed, so that the product of the data has its factors swapped.
    return _result(engine, engine.matmul(b.data, a.data))


def divide(engine: Engine, left: Value, right: Value) -> Value:
    """``a / b``: the solution x of ``x * b = a``."""
    if _is_scalar(right):
        return arithmetic(engine, ARITHMETIC["./"], left, right)
    a, b = _matrices(engine, "/", left, right)
    if shape_of(a)[1] != shape_of(b)[1]:
        raise MatlabError("MATLAB:dimagree", "Matrix dimensions must agree.")
    return _result(engine, engine.host(solve, b.data, a.data))


def left_divide(engine: Engine, left: Value, right: Value) -> Value:
    r"""``a \ b``: the solution x of ``a * x = b``; least squares where a is not square."""
    if _is_scalar(left):
        return arithmetic(engine, ARITHMETIC["./"], right, left)
    a, b = _matrices(engine, "\\", left, right)
    if shape_of(a)[0] != shape_of(b)[0]:
        raise MatlabError("MATLAB:dimagree", "Matrix dimensions must agree.")
    return _result(engine, engine.host(lambda x, y: reverse(solve(x.T, y.T)), a.data, b.data))


def power(engine: Engine, left: Value, right: Value) -> Value:
    """``a ^ b``: repeated products of a square matrix.

    Raises:
        MatlabError: the base is not square, or both are matrices.

    """
    if _is_scalar(left) and _is_scalar(right):
        return arithmetic(engine, ARITHMETIC[".^"], left, right)
    a, b = _operand("^", left), _operand("^", right)
    shape = shape_of(b if _is_scalar(left) else a)
    if len(shape) != 2 or shape[0] != shape[1] or not (_is_scalar(left) or _is_scalar(right)):
        raise MatlabError(
            "MATLAB:square",
            "Incorrect dimensions for raising a matrix to a power. Check that the matrix is square "
            "and the power is a scalar. To operate on each element of the matrix individually, use "
            "POWER (.^) for elementwise power.",
        )
    if _is_scalar(left):
        return _result(engine, engine.host(_exponential, b.data, a.data))
    exponent = engine.look(b.data).item()
    if float(exponent).is_integer():
        return _result(engine, engine.host(_whole_power, a.data, int(exponent)))
    return _result(engine, engine.host(_fractional_power, a.data, exponent))


def _whole_power(table: np.ndarray, exponent: int) -> np.ndarray:
    """Repeated products, of logical values as of the numbers 0 and 1."""
    numbers = table.astype(float) if table.dtype == bool else table
    return np.linalg.matrix_power(numbers, exponent)


def transpose(engine: Engine, value: Value, *, conjugate: bool) -> Value:
    """``a'`` (conjugated) and ``a.'``.

    Raises:
        MatlabError: the value has pages.

    """
    if type(value) in (float, bool):
        return value
    if len(shape_of(value)) > 2:
        raise MatlabError("MATLAB:transposeND", "TRANSPOSE does not support N-D arrays.")
    if isinstance(value, Cell):
        return Cell(np.ascontiguousarray(value.data.T))
    if isinstance(value, Struct):
        return Struct(value.fields, np.ascontiguousarray(value.data.T))
    array = _operand("'", value)
    data = engine.permute(array.data, (1, 0))
    if conjugate and data.dtype.kind == "c":
        data = engine.host(np.conjugate, data)
    return wrap(array.kind, data)


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """X of ``a @ x = b``: by factorization, or least squares where a is not square."""
    if a.shape[0] != a.shape[1]:
        return np.asarray(np.linalg.lstsq(a, b, rcond=None)[0])
    try:
        return np.asarray(np.linalg.solve(a, b))
    except np.linalg.LinAlgError:
        return np.full((a.shape[1], b.shape[1]), np.inf)


def _exponential(exponent: np.ndarray, base: Any) -> np.ndarray:
    values, vectors = np.linalg.eig(exponent)
    powers = np.power(complex(base.item()), values)
    return np.asarray(vectors @ np.diag(powers) @ np.linalg.inv(vectors))


def _fractional_power(base: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eig(base)
    powers = np.power(values.astype(complex), exponent)
    return np.asarray(vectors @ np.diag(powers) @ np.linalg.inv(vectors))


def _is_scalar(value: Value) -> bool:
    return type(value) is float or count_of(value) == 1


def _operand(symbol: str, value: Value) -> Array:
    array = as_array(value)
    if array is None or array.kind == "string":
        raise undefined_operator(symbol, value)
    return array


def _matrices(engine: Engine, symbol: str, left: Value, right: Value) -> tuple[Array, Array]:
    """Both operands as floating point matrices of one precision."""
    a, b = _operand(symbol, left), _operand(symbol, right)
    if len(shape_of(a)) > 2 or len(shape_of(b)) > 2:
        raise MatlabError(
            "MATLAB:mtimes:inputsMustBe2DOrSparse",
            "Arguments must be 2-D, or at least one argument must be scalar. Use TIMES (.*) for "
            "elementwise multiplication.",
        )
    for operand in (a, b):
        if operand.kind in INTEGER_KINDS:
            raise MatlabError(
                "MATLAB:mtimes:integerNotSupported",
                f"MTIMES ({symbol}) is not fully supported for integer classes. At least one "
                f"argument must be scalar. Operands are {kind_of(left)} and {kind_of(right)}.",
            )
    kind = result_kind(a, b)
    single = {"single": np.complex64, "double": np.complex128}[kind]
    real = {"single": np.float32, "double": np.float64}[kind]
    made = [
        Array(kind, engine.cast(x.data, np.dtype(single if x.data.dtype.kind == "c" else real)))
        for x in (a, b)
    ]
    return made[0], made[1]


def _result(engine: Engine, data: Any) -> Value:
    return narrow(engine, kind_of_dtype(data.dtype), data)
