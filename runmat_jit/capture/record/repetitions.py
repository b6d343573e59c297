"""``sequence * number``: Python repeats what a list or tuple holds, as often as a number says."""

from __future__ import annotations

import operator
from typing import Any

from runmat_jit.capture.record import answers
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.values import ARRAY, PYTHON


def number(recording: Recording, value: Any) -> Any:
    """The other operand of a list or tuple: a number that counts, or says that it cannot."""
    if type(value) is not Traced or value._rm_kind == ARRAY:
        return value
    counts = hasattr(answers.alike(value), "__index__")
    return recording.look(value, "a count") if counts or value._rm_kind == PYTHON else value


def repeat(recording: Recording, fn: Any, args: tuple[Any, ...]) -> Any:
    """What a list or tuple times a traced number is; None for anything else."""
    if fn is not operator.mul or not any(type(arg) in (list, tuple) for arg in args):
        return None
    left, right = (number(recording, arg) for arg in args)
    if type(left) is Traced or type(right) is Traced:
        return None
    return recording.own(left * right)
