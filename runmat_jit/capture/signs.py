"""What is known of the sign of a value before it is computed: from the operations still pending."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from runmat_jit.capture.pending import Operand, Pending, ScalarOperand
from runmat_jit.capture.storage import Geometry, Storage
from runmat_jit.ops.sign import Fact, Sign, fact_of_number

if TYPE_CHECKING:
    from runmat_jit.capture.traced import Traced


def sign_of(pending: Sequence[Pending], value: Traced) -> Sign:
    """What holds for all elements of a value of this call; nothing is computed."""
    at = value._rm_geometry
    if at is None:
        return Sign.ANY
    known: dict[Storage, Sign] = {}
    for operation in pending:
        _note(known, operation)
    return known.get(at.storage, Sign.ANY)


def _note(known: dict[Storage, Sign], operation: Pending) -> None:
    """An operation writes a new storage, or part of one that keeps its other elements."""
    storage, sign = operation.target.storage, _result(known, operation)
    new = storage not in known and storage.memory is None
    known[storage] = sign if new else min(sign, known.get(storage, Sign.ANY))


def _result(known: dict[Storage, Sign], operation: Pending) -> Sign:
    what = operation.meaning
    if what.dtype.kind == "b":
        return Sign.CLEAR
    rule = what.row.sign
    if rule is None or what.dtype.kind != "f":
        return Sign.ANY
    facts = [_fact(known, operand) for operand in operation.operands]
    return rule(tuple(facts), what.params)


def _fact(known: dict[Storage, Sign], operand: Operand) -> Fact:
    if isinstance(operand, Geometry):
        boolean = operand.dtype.kind == "b"
        sign = Sign.CLEAR if boolean else known.get(operand.storage, Sign.ANY)
        return Fact(sign, identity=operand)
    number = operand.value if isinstance(operand, ScalarOperand) else operand
    if isinstance(number, bool | int | float | np.number | np.bool):
        return fact_of_number(float(number))
    return Fact(Sign.ANY)
