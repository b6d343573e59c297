"""Rows of logical and bit operations."""

from __future__ import annotations

import operator

import numpy as np

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.ops.elementwise import ABSORBS, elementwise, not_, truth

_BOTH = (ABSORBS, ABSORBS)


def _invert(k: Builder, x: Value) -> Value:
    return not_(k, x) if x.type == "i1" else k.prim("xor", x, -1)


def _left_shift(k: Builder, x: Value, count: Value) -> Value:
    width = _width(x)
    inside = k.prim("ult", count, width)  # negative counts are large ones
    return k.select(inside, x << k.select(inside, count, 0), 0)


def _right_shift(k: Builder, x: Value, count: Value) -> Value:
    width = _width(x)
    inside = k.prim("ult", count, width)
    return x >> k.select(inside, count, width - 1)


def _width(x: Value) -> int:
    return int(x.type[1:])


ROWS = (
    elementwise(
        np.logical_and,
        "Whether both are true.",
        lambda k, x, y: truth(k, x) & truth(k, y),
        _BOTH,
        matlab="and",
    ),
    elementwise(
        np.logical_or,
        "Whether either is true.",
        lambda k, x, y: truth(k, x) | truth(k, y),
        _BOTH,
        matlab="or",
    ),
    elementwise(
        np.logical_xor,
        "Whether exactly one is true.",
        lambda k, x, y: truth(k, x) ^ truth(k, y),
        _BOTH,
        matlab="xor",
    ),
    elementwise(
        np.logical_not,
        "Whether a value is zero.",
        lambda k, x: not_(k, truth(k, x)),
        (ABSORBS,),
        matlab="not",
    ),
    elementwise(
        np.bitwise_and,
        "The bits set in both.",
        lambda _k, x, y: x & y,
        _BOTH,
        spellings=(operator.and_,),
        matlab="bitand",
    ),
    elementwise(
        np.bitwise_or,
        "The bits set in either.",
        lambda _k, x, y: x | y,
        _BOTH,
        spellings=(operator.or_,),
        matlab="bitor",
    ),
    elementwise(
        np.bitwise_xor,
        "The bits set in exactly one.",
        lambda _k, x, y: x ^ y,
        _BOTH,
        spellings=(operator.xor,),
        matlab="bitxor",
    ),
    elementwise(
        np.invert,
        "The bits that are not set.",
        _invert,
        (ABSORBS,),
        spellings=(operator.invert,),
    ),
    elementwise(
        np.left_shift,
        "Bits moved to the left; 0 from the integer's width on.",
        _left_shift,
        _BOTH,
        spellings=(operator.lshift,),
        matlab="bitshift",
    ),
    elementwise(
        np.right_shift,
        "Bits moved to the right, the sign kept.",
        _right_shift,
        _BOTH,
        spellings=(operator.rshift,),
    ),
)
