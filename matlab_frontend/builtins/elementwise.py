"""Functions of each element, by the rows of the op table where the names coincide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from matlab_frontend import matrices, operators
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.rounding import round_half_away
from matlab_frontend.values.array import Array, Data, Value, as_array, kind_of
from matlab_frontend.values.kinds import DTYPES, INTEGER_KINDS
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import array_of, integer_of
from runmat_jit.core.frozen import frozen


@frozen
class Function:
    """A function of one array: its row, and where real numbers have complex results."""

    name: str
    row: str
    doc: str
    leaves_reals: Callable[[Engine, Data], bool] | None = None


def below_zero(engine: Engine, data: Data) -> bool:
    """Roots and logarithms of negative numbers are complex."""
    return not engine.is_nonnegative(data)


def below_minus_one(engine: Engine, data: Data) -> bool:
    """``log1p`` is complex below -1."""
    return not engine.is_nonnegative(engine.apply("add", data, 1.0))


def beyond_one(engine: Engine, data: Data) -> bool:
    """Inverse sine, cosine and hyperbolic tangent are complex beyond 1."""
    rest = engine.apply("subtract", 1.0, engine.apply("absolute", data))
    return not engine.is_nonnegative(rest)


def below_one(engine: Engine, data: Data) -> bool:
    """The inverse hyperbolic cosine is complex below 1."""
    return not engine.is_nonnegative(engine.apply("subtract", data, 1.0))


FUNCTIONS = (
    Function("sin", "sin", "Sine of radians."),
    Function("cos", "cos", "Cosine of radians."),
    Function("tan", "tan", "Tangent of radians."),
    Function("asin", "arcsin", "Inverse sine in radians.", beyond_one),
    Function("acos", "arccos", "Inverse cosine in radians.", beyond_one),
    Function("atan", "arctan", "Inverse tangent in radians."),
    Function("sinh", "sinh", "Hyperbolic sine."),
    Function("cosh", "cosh", "Hyperbolic cosine."),
    Function("tanh", "tanh", "Hyperbolic tangent."),
    Function("asinh", "arcsinh", "Inverse hyperbolic sine."),
    Function("acosh", "arccosh", "Inverse hyperbolic cosine.", below_one),
    Function("atanh", "arctanh", "Inverse hyperbolic tangent.", beyond_one),
    Function("exp", "exp", "Exponential."),
    Function("expm1", "expm1", "exp(x) - 1 without cancellation near 0."),
    Function("log", "log", "Natural logarithm.", below_zero),
    Function("log10", "log10", "Logarithm to base 10.", below_zero),
    Function("log1p", "log1p", "log(1 + x) without cancellation near 0.", below_minus_one),
    Function("sqrt", "sqrt", "Square root.", below_zero),
)
ROUNDINGS = (
    Function("floor", "floor", "The next whole number below."),
    Function("ceil", "ceil", "The next whole number above."),
    Function("fix", "trunc", "The next whole number toward zero."),
)


def apply_function(call: Call, function: Function, x: Value) -> Value:
    """Apply a function to numbers; integers are refused, as by MATLAB."""
    engine = call.engine
    array = floating(engine, function.name, x)
    data = array.data
    leaves = function.leaves_reals
    if data.dtype.kind != "c" and leaves is not None and leaves(engine, data):
        return operators.narrow(engine, array.kind, engine.host(_leave_reals, data, function))
    if data.dtype.kind == "c":
        row = getattr(np, function.row)
        return operators.narrow(engine, array.kind, engine.host(row, data))
    return wrap(array.kind, engine.apply(function.row, data))


def _leave_reals(data: np.ndarray, function: Function) -> np.ndarray:
    """Complex results of real numbers, on the side of the branch cut that MATLAB takes.

    ``asin`` and ``acos`` are continuous from below beyond 1, all else from above; what has a real
    result has an imaginary part of +0.
    """
    z = data.astype(np.result_type(data, np.complex64))
    if function.name in ("asin", "acos"):
        z.imag[data > 1] = -0.0
    made: np.ndarray = getattr(np, function.row)(z)
    made.imag[made.imag == 0] = 0.0
    return made


def floating(engine: Engine, name: str, x: Value) -> Array:
    """A value as doubles or singles.

    Raises:
        MatlabError: it is of an integer class, or no array.

    """
    array = as_array(x)
    if array is None or array.kind in INTEGER_KINDS or array.kind == "string":
        raise MatlabError(
            "MATLAB:UndefinedFunction",
            f"Undefined function '{name}' for input arguments of type '{kind_of(x)}'.",
        )
    if array.kind in ("double", "single"):
        return array
    return Array("double", engine.cast(array.data, DTYPES["double"]))


def _declare(function: Function) -> Builtin:
    def run(call: Call, x: Value) -> Value:
        return apply_function(call, function, x)

    return Builtin(function.name, run, 1, 1, function.doc)


def _declare_rounding(function: Function) -> Builtin:
    def run(call: Call, x: Value) -> Value:
        array = array_of(x)
        if array.kind in INTEGER_KINDS:
            return x
        numbers = floating(call.engine, function.name, x)
        return wrap(numbers.kind, _parts(call.engine, numbers.data, function.row))

    return Builtin(function.name, run, 1, 1, function.doc)


def _parts(engine: Engine, data: Data, row: str) -> Data:
    """Round both parts of complex numbers."""
    if data.dtype.kind != "c":
        return engine.apply(row, data)
    rounding = getattr(np, row)
    return engine.host(lambda d: rounding(d.real) + 1j * rounding(d.imag), data)


def _declare_operator(name: str, function: Callable[[Engine, Value, Value], Value]) -> Builtin:
    def run(call: Call, x: Value, y: Value) -> Value:
        return function(call.engine, x, y)

    return Builtin(name, run, 2, 2, f"The operator that is written as {name}(a, b).")


def _binary(op: Any) -> Callable[[Engine, Value, Value], Value]:
    compute = operators.arithmetic if isinstance(op, operators.Arithmetic) else operators.compare
    return lambda engine, x, y: compute(engine, op, x, y)


GENERATED = (
    *map(_declare, FUNCTIONS),
    *map(_declare_rounding, ROUNDINGS),
    *(_declare_operator(op.name, _binary(op)) for op in operators.ARITHMETIC.values()),
    *(_declare_operator(op.name, _binary(op)) for op in operators.COMPARISONS.values()),
    _declare_operator("and", lambda e, x, y: operators.logical(e, "logical_and", x, y)),
    _declare_operator("or", lambda e, x, y: operators.logical(e, "logical_or", x, y)),
    _declare_operator("mtimes", matrices.multiply),
    _declare_operator("mrdivide", matrices.divide),
    _declare_operator("mldivide", matrices.left_divide),
    _declare_operator("mpower", matrices.power),
)


@builtin("not")
def not_(call: Call, x: Value) -> Value:
    """``~x``."""
    return operators.invert(call.engine, x)


@builtin("uminus")
def uminus(call: Call, x: Value) -> Value:
    """``-x``."""
    return operators.negate(call.engine, x)


@builtin("uplus")
def uplus(call: Call, x: Value) -> Value:
    """``+x``."""
    return operators.positive(call.engine, x)


@builtin("xor")
def xor(call: Call, x: Value, y: Value) -> Value:
    """True where exactly one of both is."""
    operators.broadcast_shape(x, y)
    parts = [operators.truth(call.engine, array_of(part)) for part in (x, y)]
    return wrap("logical", call.engine.apply("logical_xor", *parts))


@builtin("abs")
def abs_(call: Call, x: Value) -> Value:
    """Absolute value; the modulus of complex numbers."""
    if type(x) is float:
        return abs(x)
    array = array_of(x)
    if array.kind in INTEGER_KINDS:
        if array.data.dtype.kind == "u":
            return x
        lowest = np.iinfo(array.data.dtype).min + 1
        return wrap(
            array.kind,
            call.engine.apply("absolute", call.engine.apply("maximum", array.data, lowest)),
        )
    numbers = floating(call.engine, "abs", x)
    if numbers.data.dtype.kind == "c":
        return wrap(numbers.kind, call.engine.host(np.abs, numbers.data))
    return wrap(numbers.kind, call.engine.apply("absolute", numbers.data))


@builtin("sign")
def sign(call: Call, x: Value) -> Value:
    """-1, 0 or 1."""
    array = array_of(x)
    if array.kind in INTEGER_KINDS:
        return wrap(array.kind, call.engine.apply("sign", array.data))
    numbers = floating(call.engine, "sign", x)
    return wrap(numbers.kind, call.engine.apply("sign", numbers.data))


@builtin("round")
def round_(call: Call, x: Value, digits: Value = 0.0) -> Value:
    """The nearest whole number, or number of so many decimal digits; halves away from zero."""
    array = array_of(x)
    count = integer_of(call.engine, digits)
    if array.kind in INTEGER_KINDS and count >= 0:
        return x
    numbers = floating(call.engine, "round", x)
    engine, data = call.engine, numbers.data
    if data.dtype.kind == "c":
        return wrap(numbers.kind, engine.host(_round_complex, data))
    if count == 0:
        return wrap(numbers.kind, round_half_away(engine, data))
    scale = 10.0 ** abs(count)
    forth, back = ("multiply", "divide") if count > 0 else ("divide", "multiply")
    scaled = round_half_away(engine, engine.apply(forth, data, scale))
    return wrap(numbers.kind, engine.apply(back, scaled, scale))


def _round_complex(data: np.ndarray) -> np.ndarray:
    def away(part: np.ndarray) -> np.ndarray:
        return np.asarray(np.trunc(part + np.copysign(0.5, part)))

    return np.asarray(away(data.real) + 1j * away(data.imag))


def _two_floats(call: Call, name: str, x: Value, y: Value) -> tuple[str, Data, Data]:
    operators.broadcast_shape(x, y)
    a, b = (floating(call.engine, name, operand) for operand in (x, y))
    kind = operators.result_kind(a, b)
    return kind, *(call.engine.cast(operand.data, DTYPES[kind]) for operand in (a, b))


@builtin("atan2")
def atan2(call: Call, y: Value, x: Value) -> Value:
    """The angle of the point (x, y) in radians."""
    kind, a, b = _two_floats(call, "atan2", y, x)
    return wrap(kind, call.engine.apply("arctan2", a, b))


@builtin("hypot")
def hypot(call: Call, x: Value, y: Value) -> Value:
    """The length of the hypotenuse, without overflow."""
    kind, a, b = _two_floats(call, "hypot", x, y)
    return wrap(kind, call.engine.apply("hypot", a, b))


@builtin("nthroot")
def nthroot(call: Call, x: Value, n: Value) -> Value:
    """The real n-th root."""
    kind, a, b = _two_floats(call, "nthroot", x, n)

    def root(base: np.ndarray, order: np.ndarray) -> np.ndarray:
        made = np.sign(base) * np.abs(base) ** (1.0 / order)
        # One step of Newton's method makes perfect powers exact.
        safe = np.where(made == 0, 1, made)
        return np.where(made == 0, 0, made - (made - base / safe ** (order - 1)) / order)

    return wrap(kind, call.engine.host(root, a, b))


@builtin("log2")
def log2(call: Call, x: Value) -> Value | tuple[Value, ...]:
    """Logarithm to base 2; with two outputs, mantissa and exponent."""
    if call.outputs < 2:
        return apply_function(call, Function("log2", "log2", "", below_zero), x)
    numbers = floating(call.engine, "log2", x)
    mantissa, exponent = call.engine.host(np.frexp, numbers.data)
    return (
        wrap(numbers.kind, mantissa),
        wrap(numbers.kind, exponent.astype(numbers.data.dtype)),
    )


def _flag(call: Call, row: str, x: Value) -> Value:
    array = as_array(x)
    if array is None or array.kind == "string":
        raise MatlabError(
            "MATLAB:UndefinedFunction",
            f"Undefined function '{row}' for input arguments of type '{kind_of(x)}'.",
        )
    data = array.data
    if data.dtype.kind not in "fc":
        shape = data.shape
        return wrap("logical", call.engine.full(shape, row == "isfinite", np.dtype(bool)))
    if data.dtype.kind == "c":
        return wrap("logical", call.engine.host(getattr(np, row), data))
    return wrap("logical", call.engine.apply(row, data))


@builtin("isnan")
def isnan(call: Call, x: Value) -> Value:
    """True where an element is NaN."""
    return _flag(call, "isnan", x)


@builtin("isinf")
def isinf(call: Call, x: Value) -> Value:
    """True where an element is infinite."""
    return _flag(call, "isinf", x)


@builtin("isfinite")
def isfinite(call: Call, x: Value) -> Value:
    """True where an element is neither infinite nor NaN."""
    return _flag(call, "isfinite", x)
