"""Rows of arithmetic."""

from __future__ import annotations

import operator

import numpy as np

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.ops.elementwise import (
    ABSORBS,
    PASSES,
    elementwise,
    identity,
    is_float,
    smallest,
)
from runmat_jit.ops.late import late
from runmat_jit.ops.promotion import ufunc_rule
from runmat_jit.ops.spec import Event, Operand, Params, Result

_ROUNDED: frozenset[Event] = frozenset({"overflow", "underflow", "invalid"})
_DIVIDED: frozenset[Event] = _ROUNDED | {"divide"}


def _add(k: Builder, x: Value, y: Value) -> Value:
    return k.prim("or", x, y) if x.type == "i1" else x + y


def _multiply(k: Builder, x: Value, y: Value) -> Value:
    return k.prim("and", x, y) if x.type == "i1" else x * y


def _absolute(k: Builder, x: Value) -> Value:
    return x if x.type == "i1" else k.prim("abs", x)


def _sign(k: Builder, x: Value) -> Value:
    negative = k.select(x < 0, k.const(-1, x.type), k.const(0, x.type))
    sign = k.select(x > 0, 1, negative)
    return k.select(k.prim("isnan", x), x, sign) if is_float(x) else sign


def _bad_divisor(k: Builder, operands: tuple[Value, ...], _result: Value) -> Value | None:
    x, y = operands
    if is_float(x):
        return None
    overflow = k.eq(x, smallest(x.type)) & k.eq(y, -1)
    return k.eq(y, 0) | overflow


_reciprocal_rule = ufunc_rule(np.reciprocal)


def _reciprocal_result(operands: tuple[Operand, ...], params: Params) -> Result | None:
    result = _reciprocal_rule(operands, params)
    # 1 / 0 of integers is whatever the processor does
    return result if result is not None and result.type.dtype.kind == "f" else None


ROWS = (
    elementwise(
        np.add,
        "Sum; of bools, whether either is true.",
        _add,
        (PASSES, PASSES),
        spellings=(operator.add,),
        scalar_integers=False,
        events=_ROUNDED,
        matlab="plus",
    ),
    elementwise(
        np.subtract,
        "Difference.",
        lambda _k, x, y: x - y,
        (PASSES, PASSES),
        spellings=(operator.sub,),
        scalar_integers=False,
        events=_ROUNDED,
        matlab="minus",
    ),
    elementwise(
        np.multiply,
        "Product; of bools, whether both are true.",
        _multiply,
        (PASSES, PASSES),
        spellings=(operator.mul,),
        scalar_integers=False,
        events=_ROUNDED,
        matlab="times",
    ),
    elementwise(
        np.divide,
        "Quotient; of integers and bools, as float64.",
        lambda _k, x, y: x / y,
        (PASSES, ABSORBS),
        spellings=(operator.truediv,),
        events=_DIVIDED,
        matlab="rdivide",
        flops=4,
    ),
    elementwise(
        np.floor_divide,
        "The quotient's floor; of integers by zero, 0.",
        late("division", "floor_divide"),
        (PASSES, ABSORBS),
        spellings=(operator.floordiv,),
        scalar_integers=False,
        events=_DIVIDED,
        event_test=_bad_divisor,
        flops=20,
    ),
    elementwise(
        np.remainder,
        "What floor division leaves, with the divisor's sign; by an integer 0, 0.",
        late("division", "remainder"),
        (PASSES, ABSORBS),
        spellings=(operator.mod,),
        scalar_integers=False,
        events=_DIVIDED,
        event_test=_bad_divisor,
        matlab="mod",
        flops=20,
    ),
    elementwise(
        np.negative,
        "The opposite number.",
        lambda _k, x: -x,
        (PASSES,),
        spellings=(operator.neg,),
        scalar_integers=False,
        matlab="uminus",
    ),
    elementwise(
        np.positive,
        "The number itself, in new memory.",
        identity,
        (PASSES,),
        spellings=(operator.pos,),
        matlab="uplus",
        flops=0,
    ),
    elementwise(
        np.absolute,
        "Magnitude; the smallest integer stays as it is.",
        _absolute,
        (PASSES,),
        spellings=(operator.abs, abs),
        scalar_integers=False,
        matlab="abs",
    ),
    elementwise(
        np.square,
        "The number times itself.",
        lambda _k, x: x * x,
        (PASSES,),
        events=_ROUNDED,
    ),
    elementwise(
        np.sign,
        "-1, 0 or 1 by the sign; NaN stays.",
        _sign,
        (ABSORBS,),
        matlab="sign",
    ),
    elementwise(
        np.reciprocal,
        "One divided by a float.",
        lambda _k, x: 1.0 / x,
        (ABSORBS,),
        events=_DIVIDED,
        flops=4,
    ),
)
