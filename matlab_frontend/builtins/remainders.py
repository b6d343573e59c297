"""``mod`` and ``rem``."""

from __future__ import annotations

import numpy as np

from matlab_frontend import operators
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Data, Value
from matlab_frontend.values.kinds import DTYPES, INTEGER_KINDS
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import array_of

_LOOKED_AT = 64
"""Divisors of more elements are not looked at."""


def _remainder(call: Call, row: str, x: Value, y: Value) -> Value:
    a, b = array_of(x), array_of(y)
    operators.broadcast_shape(x, y)
    if "c" in (a.data.dtype.kind, b.data.dtype.kind):
        raise MatlabError("MATLAB:mod:complexArgument", "Arguments must be real.")
    kind = operators.result_kind(a, b)
    engine = call.engine
    if kind in INTEGER_KINDS:
        left, right = (
            engine.cast(operand.data, DTYPES["int64" if kind != "uint64" else kind])
            for operand in (a, b)
        )
        least, most = (
            int(limit) for limit in (np.iinfo(DTYPES[kind]).min, np.iinfo(DTYPES[kind]).max)
        )
        if kind != "uint64":  # numbers of doubles are of the class first: no -2 is unsigned
            left, right = (
                engine.apply("minimum", engine.apply("maximum", each, least), most)
                for each in (left, right)
            )
    else:
        left, right = (engine.cast(operand.data, DTYPES[kind]) for operand in (a, b))
    zero = engine.apply("equal", right, 0)
    safe = engine.apply("where", zero, 1, right) if kind in INTEGER_KINDS else right
    rest = engine.apply(row, left, safe)
    if row == "remainder" or kind in INTEGER_KINDS:
        keep = 0 if row == "fmod" else left
        rest = engine.apply("where", zero, keep, rest)
    if kind not in INTEGER_KINDS and not _are_whole(engine, right):
        signed = right if row == "remainder" else left
        rest = _without_roundoff(engine, left, right, rest, signed)
    return wrap(kind, engine.cast(rest, DTYPES[kind]))


def _are_whole(engine: Engine, divisor: Data) -> bool:
    """True if a divisor is one known whole number; others are not looked at."""
    if type(divisor) is not np.ndarray:
        return False
    return bool(divisor.size <= _LOOKED_AT and np.all(divisor == np.trunc(engine.look(divisor))))


def _without_roundoff(engine: Engine, left: Data, right: Data, rest: Data, signed: Data) -> Data:
    """Nothing is left of a quotient within rounding of a whole number, if the divisor is none.

    The zero has the sign of ``signed``, as other remainders have.
    """
    quotient = engine.apply("absolute", engine.apply("divide", left, right))
    distance = engine.apply(
        "absolute", engine.apply("subtract", quotient, engine.apply("rint", quotient))
    )
    bound = engine.apply("multiply", quotient, float(np.finfo(left.dtype).eps))
    near = engine.apply("less_equal", distance, bound)
    fraction = engine.apply("not_equal", right, engine.apply("trunc", right))
    zero = engine.apply("multiply", signed, 0.0)
    return engine.apply("where", engine.apply("logical_and", near, fraction), zero, rest)


@builtin("mod")
def mod(call: Call, x: Value, y: Value) -> Value:
    """The remainder with the sign of the divisor; ``mod(x, 0)`` is x."""
    if type(x) is float and type(y) is float and abs(x) < np.inf and 0 < abs(y) < np.inf:  # noqa: SIM102  (one question of types and range, one of fractions)
        if y.is_integer():
            return x % y
    return _remainder(call, "remainder", x, y)


@builtin("rem")
def rem(call: Call, x: Value, y: Value) -> Value:
    """The remainder with the sign of the dividend; ``rem(x, 0)`` is NaN."""
    return _remainder(call, "fmod", x, y)
