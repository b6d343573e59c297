"""Arrays from sizes, and ranges of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.builtins.sizes import read_size, split_class
from matlab_frontend.concatenation import convert
from matlab_frontend.errors import MatlabError
from matlab_frontend.ranges import make_range
from matlab_frontend.values.array import Array, Value, kind_of, shape_of
from matlab_frontend.values.kinds import DTYPES, FLOAT_KINDS, NUMERIC_KINDS
from matlab_frontend.values.make import reverse, row, wrap
from matlab_frontend.values.read import array_of, integer_of, known, number_of, text_of


def filled(call: Call, arguments: Sequence[Value], value: float, default: str) -> Value:
    """``zeros(2, 3, 'single')`` and its like."""
    sizes, kind = split_class(arguments, default)
    shape = read_size(call.engine, sizes)
    return wrap(kind, call.engine.full(shape[::-1], value, DTYPES[kind]))


def _filler(name: str, value: float, what: str, default: str = "double") -> Builtin:
    def function(call: Call, *arguments: Value) -> Value:
        return filled(call, arguments, value, default)

    return Builtin(name, function, 0, None, f"An array of {what}.")


GENERATED = (
    _filler("zeros", 0.0, "zeros"),
    _filler("ones", 1.0, "ones"),
    _filler("inf", np.inf, "infinities"),
    _filler("Inf", np.inf, "infinities"),
    _filler("nan", np.nan, "NaNs"),
    _filler("NaN", np.nan, "NaNs"),
    _filler("pi", np.pi, "the ratio of a circle's circumference to its diameter"),
    _filler("e", np.e, "the base of the natural logarithm"),
    _filler("true", 1.0, "true values", "logical"),
    _filler("false", 0.0, "false values", "logical"),
)


@builtin("eye")
def eye(call: Call, *arguments: Value) -> Value:
    """The identity matrix."""
    sizes, kind = split_class(arguments, "double")
    shape = read_size(call.engine, sizes)
    if len(shape) > 2:
        raise MatlabError("MATLAB:eye:NDArrays", "N-dimensional arrays are not supported.")
    rows, columns = shape
    return wrap(kind, np.eye(columns, rows, dtype=DTYPES[kind]))


@builtin("eps")
def eps(call: Call, x: Value = 1.0) -> Value:
    """The distance to the next larger number, of 1 or of each element."""
    if isinstance(x, Array) and x.kind == "char":
        name = _name(x)
        if name not in FLOAT_KINDS:
            raise MatlabError("MATLAB:eps:InputClass", "Class must be 'single' or 'double'.")
        return wrap(name, np.full((1, 1), np.finfo(DTYPES[name]).eps, DTYPES[name]))
    array = array_of(x)
    if array.kind not in FLOAT_KINDS:
        raise MatlabError("MATLAB:eps:InputClass", "Class must be 'single' or 'double'.")
    data = call.engine.host(lambda d: np.spacing(np.abs(d)), array.data)
    return wrap(kind_of(x), data)


@builtin("realmax")
def realmax(_: Call, kind: Value | None = None) -> Value:
    """The largest finite number of a floating-point class."""
    name = "double" if kind is None else _name(kind)
    return wrap(name, np.full((1, 1), np.finfo(DTYPES[name]).max, DTYPES[name]))


@builtin("realmin")
def realmin(_: Call, kind: Value | None = None) -> Value:
    """The smallest normal number of a floating-point class."""
    name = "double" if kind is None else _name(kind)
    return wrap(name, np.full((1, 1), np.finfo(DTYPES[name]).tiny, DTYPES[name]))


@builtin("intmax")
def intmax(_: Call, kind: Value | None = None) -> Value:
    """The largest number of an integer class."""
    name = "int32" if kind is None else _name(kind)
    return wrap(name, np.full((1, 1), np.iinfo(DTYPES[name]).max, DTYPES[name]))


@builtin("intmin")
def intmin(_: Call, kind: Value | None = None) -> Value:
    """The smallest number of an integer class."""
    name = "int32" if kind is None else _name(kind)
    return wrap(name, np.full((1, 1), np.iinfo(DTYPES[name]).min, DTYPES[name]))


@builtin("flintmax")
def flintmax(_: Call, kind: Value | None = None) -> Value:
    """The whole number from which a floating-point class skips some."""
    name = "double" if kind is None else _name(kind)
    if name not in FLOAT_KINDS:
        raise MatlabError("MATLAB:flintmax:class", "Class must be 'single' or 'double'.")
    return wrap(name, np.full((1, 1), 2.0 ** (53 if name == "double" else 24), DTYPES[name]))


@builtin("linspace")
def linspace(call: Call, first: Value, last: Value, count: Value = 100.0) -> Value:
    """A row of numbers that divide an interval evenly; fractions of a count do not count."""
    ends = [known(call.engine, end) for end in (first, last)]
    if any(end.size != 1 for end in ends):
        raise MatlabError("MATLAB:linspace:scalarInputs", "Inputs must be scalars.")
    number = number_of(call.engine, count)
    if math.isnan(number):
        raise MatlabError("MATLAB:linspace:nan", "The number of points must not be NaN.")
    n = max(math.floor(number), 0)
    kind = "single" if "single" in (kind_of(first), kind_of(last)) else "double"
    a, b = (end.item() for end in ends)
    made = a + np.arange(n) * ((b - a) / max(n - 1, 1))
    if n:
        made[-1] = b
    dtype = np.result_type(DTYPES[kind], np.complex64) if made.dtype.kind == "c" else DTYPES[kind]
    return wrap(kind, made.astype(dtype).reshape(n, 1))


@builtin("logspace")
def logspace(call: Call, first: Value, last: Value, count: Value = 50.0) -> Value:
    """A row of numbers whose logarithms divide an interval evenly; the last one may be pi."""
    if last == np.pi:
        last = float(np.log10(np.pi))
    exponents = linspace.one(call, first, last, count)
    return row(10.0 ** known(call.engine, exponents).ravel())


@builtin("colon")
def colon(call: Call, first: Value, second: Value, third: Value | None = None) -> Value:
    """``first:second`` or ``first:second:third``."""
    if third is None:
        return make_range(call.engine, first, 1.0, second)
    return make_range(call.engine, first, second, third)


@builtin("magic")
def magic(call: Call, order: Value) -> Value:
    """A magic square."""
    n = integer_of(call.engine, order)
    return wrap("double", reverse(_magic(n).astype(float)))


def _magic(n: int) -> np.ndarray:
    if n % 2 == 1:
        rows, columns = np.meshgrid(np.arange(1, n + 1), np.arange(1, n + 1), indexing="ij")
        a = (rows + columns - (n + 3) // 2) % n
        b = (rows + 2 * columns - 2) % n
        return np.asarray(n * a + b + 1)
    if n % 4 == 0:
        square = np.arange(1, n * n + 1).reshape(n, n)
        # The cells whose row and column lie alike in their block of four are counted backwards.
        alike = ((np.arange(n) + 1) % 4 // 2)[:, None] == ((np.arange(n) + 1) % 4 // 2)[None, :]
        return np.where(alike, n * n + 1 - square, square)
    return _singly_even(n)


def _singly_even(n: int) -> np.ndarray:
    half = n // 2
    quarter = _magic(half)
    square = np.block(
        [
            [quarter, quarter + 2 * half * half],
            [quarter + 3 * half * half, quarter + half * half],
        ]
    )
    k = (n - 2) // 4
    swapped = [*range(k), *range(n - k + 1, n)]
    top = square[:half].copy()
    square[:half, swapped], square[half:, swapped] = square[half:, swapped], top[:, swapped]
    cells = [0, k]
    row_ = k
    upper = square[row_, cells].copy()
    square[row_, cells] = square[row_ + half, cells]
    square[row_ + half, cells] = upper
    return square


@builtin("meshgrid")
def meshgrid(
    call: Call, x: Value, y: Value | None = None, z: Value | None = None
) -> tuple[Value, ...]:
    """Coordinates of a grid: x along the rows, y along the columns, z along the pages."""
    given = [x, x if y is None else y]
    if z is not None or (y is None and call.outputs > 2):
        given.append(x if z is None else z)
    vectors = [known(call.engine, vector).ravel(order="F") for vector in given]
    grids = zip(given, np.meshgrid(*vectors), strict=True)
    return tuple(wrap(kind_of(vector), reverse(grid)) for vector, grid in grids)


@builtin("ndgrid")
def ndgrid(call: Call, *vectors: Value) -> tuple[Value, ...]:
    """Coordinates of a grid, the k-th along the k-th dimension."""
    axes = [known(call.engine, vector).ravel(order="F") for vector in vectors]
    axes = axes * max(call.outputs, 2) if len(axes) == 1 else axes
    kinds = [kind_of(vector) for vector in vectors]
    kinds = kinds * len(axes) if len(kinds) == 1 else kinds
    grids = zip(kinds, np.meshgrid(*axes, indexing="ij"), strict=True)
    return tuple(wrap(kind, reverse(grid)) for kind, grid in grids)


@builtin("diag")
def diag(call: Call, x: Value, offset: Value = 0.0) -> Value:
    """A matrix with a diagonal, or the diagonal of a matrix."""
    array = array_of(x)
    k = integer_of(call.engine, offset)
    shape = shape_of(array)
    if shape == (0, 0):
        return array
    if len(shape) != 2:
        raise MatlabError("MATLAB:diag:firstInputMustBe2D", "First input must be 2-D.")
    if 1 in shape:
        made = np.diag(call.engine.look(array.data).ravel(), k)
        return wrap(array.kind, reverse(made))
    return wrap(array.kind, np.diag(call.engine.look(array.data).T, k).reshape(1, -1).copy())


@builtin("cast")
def cast(call: Call, x: Value, kind: Value, like: Value | None = None) -> Value:
    """A value in another class."""
    array = array_of(x)
    if like is not None:
        word_of("cast", kind, ("like",))
    name = kind_of(like) if like is not None else _name(kind)
    return wrap(name, convert(call.engine, array, name))


def _name(kind: Value) -> str:
    name = text_of(kind, "A class name")
    if name not in (*NUMERIC_KINDS, "logical", "char"):
        raise MatlabError("MATLAB:invalidInputClass", f"'{name}' is no class of numbers.")
    return name
