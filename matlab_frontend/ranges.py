"""``start:step:stop``."""

from __future__ import annotations

import math

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.rounding import saturate
from matlab_frontend.values.array import Array, Value, count_of, kind_of
from matlab_frontend.values.kinds import DTYPES, INTEGER_KINDS
from matlab_frontend.values.make import empty, wrap
from matlab_frontend.values.read import number_of

_SLACK = 2 * float(np.finfo(float).eps)
"""Relative error by which a last element may miss ``stop``."""


def count_steps(start: float, step: float, stop: float) -> int:
    """Number of elements a range has.

    Raises:
        MatlabError: an end is infinite.

    """
    if step == 0 or any(math.isnan(x) for x in (start, step, stop)):
        return 0
    if (step > 0 and start > stop) or (step < 0 and start < stop):
        return 0
    steps = (stop - start) / step
    if not math.isfinite(steps):
        raise MatlabError("MATLAB:pmaxsize", "Maximum variable size allowed is exceeded.")
    return math.floor(steps + max(abs(start), abs(stop)) / abs(step) * _SLACK) + 1


def make_range(engine: Engine, start: Value, step: Value, stop: Value) -> Value:
    """A row; whole numbers are counted, others are measured from the nearer end.

    Raises:
        MatlabError: an end is infinite or no number.

    """
    parts = (start, step, stop)
    if any(count_of(part) == 0 for part in parts):
        return empty(1, 0)
    first, by, last = (_first_number(engine, part) for part in parts)
    count = count_steps(first, by, last)
    if first.is_integer() and by.is_integer():
        data = engine.reshape(engine.arange(count, first, by), (count, 1))
    else:
        data = _measured(first, by, last, count).reshape(count, 1)
    for kind in map(kind_of, parts):
        if kind in INTEGER_KINDS:
            return wrap(kind, saturate(engine, data, DTYPES[kind]))
    if kind_of(start) == kind_of(stop) == "char":
        return wrap("char", engine.cast(data, DTYPES["char"]))
    if "single" in map(kind_of, parts):
        return wrap("single", engine.cast(data, DTYPES["single"]))
    return wrap("double", data)


def _first_number(engine: Engine, value: Value) -> float:
    if isinstance(value, Array) and count_of(value) > 1:
        return float(engine.look(value.data).flat[0])
    return number_of(engine, value, "A colon operand")


def _measured(start: float, step: float, stop: float, count: int) -> np.ndarray:
    """Both halves are counted from their own end, so that errors stay small and symmetrical."""
    data = start + step * np.arange(count)
    if count > 1 and abs(data[-1] - stop) <= abs(stop) * 1e-10 * (stop != 0) + abs(step) * 1e-10:
        back = np.arange(count // 2)
        data[count - 1 - back] = stop - step * back
    return data
