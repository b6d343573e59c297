"""Sign analysis: facts of a value before it is computed, from the operations still pending."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.entries import Operand, Operation, ScalarOperand
from runmat_jit.capture.tape.storage import Geometry, Storage
from runmat_jit.ops.sign import Fact, Sign, Top, fact_of_number

_NOTHING = Fact(Sign.ANY)
_TRUTH = Fact(Sign.CLEAR, top=Top.ONE)


def sign_of(pending: Sequence[Operation], value: Traced) -> Sign:
    """Sign of all elements of a value of this call; nothing is computed."""
    at = value._rm_geometry
    if at is None:
        return Sign.ANY
    known: dict[Storage, Fact] = {}
    for operation in pending:
        _note(known, operation)
    return known.get(at.storage, _NOTHING).sign


def _note(known: dict[Storage, Fact], operation: Operation) -> None:
    """An operation writes a new storage, or part of one that keeps its other elements."""
    storage, made = operation.target.storage, _result(known, operation)
    if storage in known or storage.memory is not None:
        before = known.get(storage, _NOTHING)
        made = Fact(min(made.sign, before.sign), top=min(made.top, before.top))
    known[storage] = made


def _result(known: dict[Storage, Fact], operation: Operation) -> Fact:
    what = operation.meaning
    if what.dtype.kind == "b":
        return _TRUTH
    if what.dtype.kind != "f":
        return _NOTHING
    row, facts = what.row, tuple(_fact(known, operand) for operand in operation.operands)
    sign = Sign.ANY if row.sign is None else row.sign(facts, what.params)
    return Fact(sign, top=Top.ANY if row.top is None else row.top(facts, what.params))


def _fact(known: dict[Storage, Fact], operand: Operand) -> Fact:
    if isinstance(operand, Geometry):
        held = _TRUTH if operand.dtype.kind == "b" else known.get(operand.storage, _NOTHING)
        return Fact(held.sign, identity=operand, top=held.top)
    number = operand.value if isinstance(operand, ScalarOperand) else operand
    if isinstance(number, bool | int | float | np.number | np.bool):
        return fact_of_number(float(number))
    return _NOTHING
