"""Rows of logical and bit operations."""

from __future__ import annotations

import operator

import numpy as np

from runmat_jit.kernel.math import arithmetic, predicates
from runmat_jit.ops.elementwise import ABSORBS, elementwise

_BOTH = (ABSORBS, ABSORBS)


ROWS = (
    elementwise(
        np.logical_and,
        "Whether both are true.",
        predicates.logical_and,
        _BOTH,
        matlab="and",
    ),
    elementwise(
        np.logical_or,
        "Whether either is true.",
        predicates.logical_or,
        _BOTH,
        matlab="or",
    ),
    elementwise(
        np.logical_xor,
        "Whether exactly one is true.",
        predicates.logical_xor,
        _BOTH,
        matlab="xor",
    ),
    elementwise(
        np.logical_not,
        "Whether a value is zero.",
        predicates.logical_not,
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
        arithmetic.invert,
        (ABSORBS,),
        spellings=(operator.invert,),
    ),
    elementwise(
        np.left_shift,
        "Bits moved to the left; 0 from the integer's width on.",
        arithmetic.left_shift,
        _BOTH,
        spellings=(operator.lshift,),
        matlab="bitshift",
    ),
    elementwise(
        np.right_shift,
        "Bits moved to the right, the sign kept.",
        arithmetic.right_shift,
        _BOTH,
        spellings=(operator.rshift,),
    ),
)
