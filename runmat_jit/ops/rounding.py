"""Rows that round to whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.kernel.math import rounding
from runmat_jit.ops import sign
from runmat_jit.ops.elementwise import PASSES, elementwise
from runmat_jit.ops.promotion import is_compiled
from runmat_jit.ops.readers import (
    Arguments,
    Keywords,
    NotCovered,
    arguments,
    destination,
    operand,
    reader,
    whole,
)
from runmat_jit.ops.spec import Bound, Make, Op, Operand, Params, Result


@reader
def _read_round(args: Arguments, kwargs: Keywords) -> Bound:
    given = arguments(args, kwargs, ("a", "decimals", "out"))
    if whole(given.get("decimals", 0)) != 0:
        raise NotCovered
    return Bound((operand(given["a"]),), {}, destination(given.get("out")))


def _round_result(operands: tuple[Operand, ...], _params: Params) -> Result | None:
    (x,) = operands
    if not isinstance(x, TensorType) or not is_compiled(x.dtype) or x.dtype.kind == "b":
        return None
    return Result(x, (x.dtype,))


def _decompose_round(make: Make, args: tuple[Any, ...], _params: Params, kind: TensorType) -> Any:
    return make("rint" if kind.dtype.kind == "f" else "positive", args, {}, kind)


ROWS = (
    elementwise(
        np.floor,
        "The largest whole number not above the value.",
        rounding.floor,
        (PASSES,),
        matlab="floor",
        sign=sign.least,
        top=sign.highest,
    ),
    elementwise(
        np.ceil,
        "The smallest whole number not below the value.",
        rounding.ceil,
        (PASSES,),
        matlab="ceil",
        sign=sign.least,
        top=sign.highest,
    ),
    elementwise(
        np.trunc,
        "The value without its fraction.",
        rounding.trunc,
        (PASSES,),
        matlab="fix",
        sign=sign.least,
        top=sign.highest,
    ),
    elementwise(
        np.rint,
        "The nearest whole number, ties to even.",
        rounding.rint,
        (PASSES,),
        sign=sign.least,
        top=sign.highest,
    ),
    Op(
        name="round",
        doc="The nearest whole number, ties to even; integers stay integers.",
        kind="elementwise",
        arity=1,
        numpy=np.round,
        spellings=(np.round, np.around),
        methods=("round",),
        bind=_read_round,
        result=_round_result,
        allocates="ufunc",
        ufunc="rint",
        decompose=_decompose_round,
    ),
)
