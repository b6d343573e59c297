"""Rows of arithmetic."""

from __future__ import annotations

import operator

import numpy as np

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math import arithmetic, division
from runmat_jit.ops import parts, sign
from runmat_jit.ops.elementwise import (
    ABSORBS,
    GPU_DIVIDED,
    GPU_ROUNDED,
    PASSES,
    elementwise,
    identity,
    is_float,
    smallest,
)
from runmat_jit.ops.spec import Event

_SIGNED = (PASSES, ABSORBS)
_ROUNDED: frozenset[Event] = frozenset({"overflow", "underflow", "invalid"})
_DIVIDED: frozenset[Event] = _ROUNDED | {"divide"}


def _add(k: Builder, x: Value, y: Value) -> Value:
    return k.prim("or", x, y) if x.type == "i1" else x + y


def _multiply(k: Builder, x: Value, y: Value) -> Value:
    return k.prim("and", x, y) if x.type == "i1" else x * y


def _bad_divisor(k: Builder, operands: tuple[Value, ...], _result: Value) -> Value | None:
    x, y = operands
    if is_float(x):
        return None
    overflow = k.eq(x, smallest(x.type)) & k.eq(y, -1)
    return k.eq(y, 0) | overflow


def _is_zero(k: Builder, operands: tuple[Value, ...], _result: Value) -> Value | None:
    (x,) = operands
    return None if is_float(x) else k.eq(x, 0)


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
        gpu_ulp=GPU_ROUNDED,
        sign=sign.least,
        top=sign.total,
        parts=parts.add,
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
        gpu_ulp=GPU_ROUNDED,
        sign=sign.difference,
        top=sign.top_of_difference,
        parts=parts.subtract,
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
        gpu_ulp=GPU_ROUNDED,
        sign=sign.product,
        top=sign.top_of_product,
        parts=parts.multiply,
    ),
    elementwise(
        np.divide,
        "Quotient; of integers and bools, as float64.",
        lambda _k, x, y: x / y,
        (PASSES, ABSORBS),
        spellings=(operator.truediv,),
        events=_DIVIDED,
        divisor=1,
        matlab="rdivide",
        flops=4,
        gpu_ulp=GPU_DIVIDED,
        sign=sign.quotient,
        top=sign.top_of_quotient,
        parts=parts.divide,
    ),
    elementwise(
        np.floor_divide,
        "The quotient's floor; of integers by zero, 0.",
        division.floor_divide,
        (PASSES, ABSORBS),
        spellings=(operator.floordiv,),
        scalar_integers=False,
        events=_DIVIDED,
        divisor=1,
        event_test=_bad_divisor,
        flops=20,
    ),
    elementwise(
        np.remainder,
        "What floor division leaves, with the divisor's sign; by an integer 0, 0.",
        division.remainder,
        (PASSES, ABSORBS),
        spellings=(operator.mod,),
        scalar_integers=False,
        events=_DIVIDED,
        divisor=1,
        event_test=_bad_divisor,
        differs="two NaN: the first, in NumPy that of the larger payload",
        matlab="mod",
        flops=20,
    ),
    elementwise(
        np.negative,
        "The opposite number.",
        arithmetic.negative,
        (PASSES,),
        spellings=(operator.neg,),
        scalar_integers=False,
        matlab="uminus",
        sign=sign.opposite,
        top=sign.zero_below,
        parts=parts.negative,
    ),
    elementwise(
        np.positive,
        "The number itself, in new memory.",
        identity,
        (PASSES,),
        spellings=(operator.pos,),
        matlab="uplus",
        flops=0,
        sign=sign.least,
        top=sign.highest,
        parts=parts.positive,
    ),
    elementwise(
        np.absolute,
        "Magnitude; the smallest integer stays as it is.",
        arithmetic.absolute,
        (PASSES,),
        spellings=(operator.abs, abs),
        scalar_integers=False,
        matlab="abs",
        sign=sign.clear,
        parts=parts.absolute,
        complex_exactness="ours",
    ),
    elementwise(
        np.square,
        "The number times itself.",
        arithmetic.square,
        (PASSES,),
        events=_ROUNDED,
        gpu_ulp=GPU_ROUNDED,
        sign=sign.clear,
        top=sign.top_of_square,
        parts=parts.square,
    ),
    elementwise(
        np.sign,
        "-1, 0 or 1 by the sign; NaN stays.",
        arithmetic.sign,
        (ABSORBS,),
        matlab="sign",
        sign=sign.least,
    ),
    elementwise(
        np.reciprocal,
        "One divided by a number; of integers, without the fraction.",
        arithmetic.reciprocal,
        (ABSORBS,),
        events=_DIVIDED,
        divisor=0,
        event_test=_is_zero,
        flops=4,
        gpu_ulp=GPU_DIVIDED,
        parts=parts.reciprocal,
    ),
    elementwise(
        np.fmod,
        "What division toward zero leaves, with the dividend's sign; by an integer 0, 0.",
        division.fmod,
        (PASSES, ABSORBS),
        events=_DIVIDED,
        divisor=1,
        event_test=_bad_divisor,
        matlab="rem",
        flops=15,
    ),
    elementwise(
        np.copysign, "The first magnitude with the second sign.", arithmetic.copysign, _SIGNED
    ),
    elementwise(
        np.heaviside,
        "0 below 0, the second operand at 0, 1 above; NaN stays.",
        arithmetic.heaviside,
        (ABSORBS, ABSORBS),
        matlab="heaviside",
    ),
)
