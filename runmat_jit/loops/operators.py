"""Operators on values of any kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.loops import complex_numbers, control_flow, operations, products, signatures
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import TRUTH, Complex, Item, Scalar, any_number, scalar
from runmat_jit.loops.whole_arrays import is_whole


def operate(e: Emitter, op: str, *items: Item) -> Item:
    """An operator on some values."""
    if op == "MatMult":
        return signatures.apply(e, products.CALLS_OF_PRODUCTS, np.matmul, items)
    if any(map(is_whole, items)):
        return operations.of_operator(e, op, items)
    if any(isinstance(item, Complex) for item in items):
        return complex_numbers.operate(e.arithmetic, op, [*map(any_number, items)])
    scalars = [scalar(item) for item in items]
    made = e.arithmetic.operate(op, *scalars)
    if len({kind.python for kind in made.kinds}) > 1:
        _follow(e, made, scalars)
    return made


def _follow(e: Emitter, made: Scalar, operands: Sequence[Scalar]) -> None:
    """A result is one of NumPy's where an operand is: where that is known."""
    numpys: Value | None = None
    for operand in operands:
        own = control_flow.is_numpys(e, operand)
        if not isinstance(own, Scalar):
            return
        numpys = own.value if numpys is None else numpys | own.value
    if numpys is not None:
        e.numpys[made.value.number] = Scalar(frozenset((TRUTH,)), numpys)
