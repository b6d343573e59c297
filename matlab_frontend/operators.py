"""Elementwise and matrix operators: what class comes out, and which rows compute it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.rounding import saturate, saturate_number
from matlab_frontend.values.array import (
    Array,
    Data,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.kinds import DTYPES, INTEGER_KINDS
from matlab_frontend.values.make import strings, wrap
from runmat_jit.core.frozen import frozen

_DOUBLE = np.dtype(np.float64)


@frozen
class Arithmetic:
    """An arithmetic operator: its row, and the function of two Python floats where that is safe."""

    name: str
    row: str
    symbol: str
    scalar: Callable[[float, float], float] | None = None


@frozen
class Comparison:
    """A comparison: its row, and the function of two Python numbers."""

    name: str
    row: str
    symbol: str
    scalar: Callable[[float, float], bool]


ARITHMETIC: Mapping[str, Arithmetic] = {
    "+": Arithmetic("plus", "add", "+", operator.add),
    "-": Arithmetic("minus", "subtract", "-", operator.sub),
    ".*": Arithmetic("times", "multiply", ".*", operator.mul),
    "./": Arithmetic("rdivide", "divide", "./"),
    ".^": Arithmetic("power", "power", ".^"),
}
COMPARISONS: Mapping[str, Comparison] = {
    "==": Comparison("eq", "equal", "==", operator.eq),
    "~=": Comparison("ne", "not_equal", "~=", operator.ne),
    "<": Comparison("lt", "less", "<", operator.lt),
    "<=": Comparison("le", "less_equal", "<=", operator.le),
    ">": Comparison("gt", "greater", ">", operator.gt),
    ">=": Comparison("ge", "greater_equal", ">=", operator.ge),
}
LOGICAL: Mapping[str, str] = {"&": "logical_and", "|": "logical_or"}


def arithmetic(engine: Engine, op: Arithmetic, left: Value, right: Value) -> Value:
    """An elementwise arithmetic operator.

    Raises:
        MatlabError: sizes or classes do not go together.

    """
    if type(left) is float and type(right) is float:
        if op.scalar is not None:
            return op.scalar(left, right)
        if op.row == "divide" and right != 0.0:
            return left / right
    data = _at_once(engine, op.row, left, right)
    if data is not None:
        return wrap("double", data) if data.dtype.kind == "f" else narrow(engine, "double", data)
    whole = _integer_scalar(op, left, right)
    if whole is not None:
        return whole
    a, b = _operands(op.symbol, left, right)
    if "string" in (a.kind, b.kind):
        return _join(engine, op, a, b)
    kind = result_kind(a, b)
    if kind in INTEGER_KINDS:
        return wrap(kind, _integer(engine, op, kind, a, b))
    x, y = (_as_float(engine, operand.data, kind) for operand in (a, b))
    if op.row == "power":
        return narrow(engine, kind, _power(engine, x, y))
    data = engine.apply(op.row, x, y)
    return narrow(engine, kind, data)


def compare(engine: Engine, op: Comparison, left: Value, right: Value) -> Value:
    """An elementwise comparison; complex numbers compare by their real parts, but for equality.

    Raises:
        MatlabError: sizes or classes do not go together.

    """
    if type(left) is float and type(right) is float:
        return op.scalar(left, right)
    data = _at_once(engine, op.row, left, right)
    if data is not None:
        return wrap("logical", data)
    a, b = _operands(op.symbol, left, right)
    if "string" in (a.kind, b.kind):
        return wrap("logical", _compare_texts(engine, op, a, b))
    x, y = a.data, b.data
    if op.row not in ("equal", "not_equal"):
        x, y = (engine.host(np.real, d) if d.dtype.kind == "c" else d for d in (x, y))
    if x.dtype != y.dtype:  # whole numbers of 64 bits compare as they are, all else as doubles
        x, y = (d if d.dtype.kind in "iuc" else engine.cast(d, _DOUBLE) for d in (x, y))
    return wrap("logical", engine.apply(op.row, x, y))


def _at_once(engine: Engine, row: str, left: Value, right: Value) -> np.ndarray | None:
    """An elementwise row of known doubles that are not recorded; None where it is not that."""
    x, y = _doubles(engine, left), _doubles(engine, right)
    if x is None or y is None:
        return None
    if isinstance(x, float):
        shapes_fit = not isinstance(y, float)
    else:
        shapes_fit = isinstance(y, float) or x.shape == y.shape
    if not shapes_fit or (row in _LOOKING and not _is_plain(row, x, y)):
        return None
    return getattr(np, row)(x, y)  # type: ignore[no-any-return]  # an array, as one operand is


def _doubles(engine: Engine, value: Value) -> Data | float | None:
    """The data of doubles that operations of their own are computed on at once, or a number."""
    if type(value) is float:
        return value
    if type(value) is not Array or value.kind != "double" or not engine.computes_now(value.data):
        return None
    return value.data


def _integer_scalar(op: Arithmetic, left: Value, right: Value) -> Array | None:
    """Arithmetic of known scalars of one integer class, or of one and a double; else None."""
    kind = left.kind if type(left) is Array else right.kind if type(right) is Array else ""
    if kind not in _NARROW or op.scalar is None:
        return None
    x, y = _number_of(kind, left), _number_of(kind, right)
    if x is None or y is None:
        return None
    dtype = DTYPES[kind]
    return Array(kind, np.array([[saturate_number(op.scalar(x, y), np.iinfo(dtype))]], dtype))


def _number_of(kind: str, value: Value) -> float | None:
    """A known scalar of a class, or a double, as a number."""
    if type(value) is float:
        return value
    if type(value) is not Array or value.kind != kind or type(value.data) is not np.ndarray:
        return None
    return float(value.data.item()) if value.data.shape == (1, 1) else None


_NARROW = frozenset(kind for kind in INTEGER_KINDS if DTYPES[kind].itemsize < 8)
"""Integer classes whose sums and products are exact as doubles, or saturate."""
_LOOKING = frozenset(("power", "less", "less_equal", "greater", "greater_equal"))
"""Rows that look at their operands before they are computed."""


def _is_plain(row: str, x: Data | float, y: Data | float) -> bool:
    """True if a row that looks has nothing to see: real operands, whole powers."""
    if row == "power" and not (isinstance(y, float) and y.is_integer()):
        return False
    return all(isinstance(part, float) or part.dtype.kind == "f" for part in (x, y))


def logical(engine: Engine, row: str, left: Value, right: Value) -> Value:
    """``&`` and ``|``.

    Raises:
        MatlabError: sizes do not go together, or an operand is NaN.

    """
    a, b = _operands("&" if row == "logical_and" else "|", left, right)
    return wrap("logical", engine.apply(row, *(truth(engine, x) for x in (a, b))))


def negate(engine: Engine, value: Value) -> Value:
    """``-x``."""
    if type(value) is float:
        return -value
    plain = _doubles(engine, value)
    if plain is not None:
        return wrap("double", np.negative(plain))
    array = _operand("-", value)
    kind = result_kind(array, array)
    data = array.data
    if kind not in INTEGER_KINDS:
        return wrap(kind, engine.apply("negative", _as_float(engine, data, kind)))
    if data.dtype.kind == "u":
        return wrap(kind, engine.full(data.shape, 0, data.dtype))
    lowest = np.iinfo(data.dtype).min
    negative = engine.apply("negative", engine.apply("maximum", data, lowest + 1))
    return wrap(kind, negative)


def positive(engine: Engine, value: Value) -> Value:
    """``+x``: numbers as they are; truth values and characters become doubles."""
    if type(value) is float:
        return value
    array = _operand("+", value)
    kind = result_kind(array, array)
    return value if kind == array.kind else wrap(kind, engine.cast(array.data, DTYPES[kind]))


def invert(engine: Engine, value: Value) -> Value:
    """``~x``."""
    if type(value) is bool:
        return not value
    return wrap("logical", engine.apply("logical_not", truth(engine, _operand("~", value))))


def truth(engine: Engine, array: Array) -> Data:
    """Nonzero or not, element by element.

    Raises:
        MatlabError: an element is NaN.

    """
    if array.kind == "logical":
        return array.data
    if array.data.dtype.kind in "fc" and engine.has_nan(array.data):
        raise MatlabError("MATLAB:nologicalnan", "NaN values cannot be converted to logicals.")
    return engine.apply("not_equal", array.data, 0)


def result_kind(a: Array, b: Array) -> str:
    """The class that arithmetic on two arrays gives.

    Raises:
        MatlabError: two integer classes, or two arrays of which one is of an integer class.

    """
    kinds = (a.kind, b.kind)
    if kinds == ("double", "double"):
        return "double"
    integers = [kind for kind in kinds if kind in INTEGER_KINDS]
    if not integers:
        return "single" if "single" in kinds else "double"
    if len(set(integers)) == 2 or (len(integers) == 1 and 1 not in (count_of(a), count_of(b))):
        raise MatlabError(
            "MATLAB:mixClasses",
            "Integers can only be combined with integers of the same class, or scalar doubles.",
        )
    return integers[0]


def narrow(engine: Engine, kind: str, data: Data) -> Value:
    """Complex results without imaginary parts are real, as MATLAB's are."""
    if type(data) is np.ndarray and data.size == 1 and data.dtype.kind == "c" and data.item().imag:
        return Array(kind, data)
    if data.dtype.kind == "c" and not np.any(engine.look(data).imag):
        data = np.ascontiguousarray(engine.look(data).real)
    return wrap(kind, data)


def broadcast_shape(left: Value, right: Value) -> tuple[int, ...]:
    """The size of an elementwise result.

    Raises:
        MatlabError: the sizes do not go together.

    """
    a, b = shape_of(left), shape_of(right)
    rank = max(len(a), len(b))
    a, b = (shape + (1,) * (rank - len(shape)) for shape in (a, b))
    if any(m != n and 1 not in (m, n) for m, n in zip(a, b, strict=True)):
        raise MatlabError(
            "MATLAB:sizeDimensionsMustMatch",
            "Arrays have incompatible sizes for this operation.",
        )
    return tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))


def _operand(symbol: str, value: Value) -> Array:
    array = as_array(value)
    if array is None:
        raise undefined_operator(symbol, value)
    return array


def _operands(symbol: str, left: Value, right: Value) -> tuple[Array, Array]:
    a, b = _operand(symbol, left), _operand(symbol, right)
    x, y = a.data.shape, b.data.shape
    if x != y and (1, 1) not in (x, y):
        broadcast_shape(a, b)
    return a, b


def undefined_operator(symbol: str, value: Value) -> MatlabError:
    """The error of an operator that a class does not have."""
    return MatlabError(
        "MATLAB:UndefinedFunction",
        f"Operator '{symbol}' is not supported for operands of type '{kind_of(value)}'.",
    )


def _as_float(engine: Engine, data: Data, kind: str) -> Data:
    if data.dtype.kind == "c":
        return engine.cast(data, np.dtype(np.complex64 if kind == "single" else np.complex128))
    return engine.cast(data, DTYPES[kind])


def _integer(engine: Engine, op: Arithmetic, kind: str, a: Array, b: Array) -> Data:
    """Integer arithmetic: as if with unlimited precision, then rounded and saturated."""
    dtype = DTYPES[kind]
    if dtype.itemsize == 8:
        from matlab_frontend.wide_integers import compute  # noqa: PLC0415  (few programs need it)

        return engine.host(compute, op.row, dtype, a.data, b.data)
    x, y = (engine.cast(operand.data, _DOUBLE) for operand in (a, b))
    return saturate(engine, engine.apply(op.row, x, y), dtype)


def _power(engine: Engine, x: Data, y: Data) -> Data:
    """Powers; negative numbers to a power with a fraction are complex."""
    if "c" in (x.dtype.kind, y.dtype.kind):
        return engine.host(np.power, x, y)
    if type(y) is np.ndarray and y.size == 1:  # a plain number: kernels may depend on it
        exponent = float(y.item())
        if exponent.is_integer() or engine.is_nonnegative(x):
            return engine.apply("power", x, exponent)
    if engine.is_nonnegative(x) or _is_whole(engine.look(y)):
        return engine.apply("power", x, y)
    return engine.host(lambda b, e: np.power(b.astype(np.result_type(b, np.complex64)), e), x, y)


def _is_whole(data: np.ndarray) -> bool:
    return bool(np.all(np.trunc(data) == data))


def _join(engine: Engine, op: Arithmetic, a: Array, b: Array) -> Value:
    """``+`` of strings joins them."""
    if op.row != "add":
        raise undefined_operator(op.symbol, a if a.kind == "string" else b)
    joined = np.broadcast(_texts(engine, a), _texts(engine, b))
    return strings([left + right for left, right in joined], joined.shape[::-1])


def _compare_texts(engine: Engine, op: Comparison, a: Array, b: Array) -> np.ndarray:
    pairs = np.broadcast(_texts(engine, a), _texts(engine, b))
    made = [op.scalar(left, right) for left, right in pairs]
    return np.array(made, bool).reshape(pairs.shape)


def _texts(engine: Engine, array: Array) -> np.ndarray:
    """Texts of an array beside a string: a row of characters is one text, a number its digits."""
    if array.kind == "string":
        return np.asarray(array.data)
    one = np.empty((1, 1), object)
    if array.kind == "char":
        one[0, 0] = np.asarray(array.data).tobytes().decode("utf-16-le")
        return one
    numbers = engine.look(array.data)
    made = np.empty(numbers.shape, object)
    for at in np.ndindex(made.shape):
        made[at] = f"{numbers[at]:.5g}"
    return made
