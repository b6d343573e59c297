"""Numbers as quotients of whole ones, and as multiples of powers of two."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import text_rows, wrap
from matlab_frontend.values.read import array_of, known, number_of

_MOST_TERMS = 20


@builtin("pow2")
def pow2(call: Call, x: Value, exponent: Value | None = None) -> Value:
    """Powers of two, or numbers times powers of two."""
    array = array_of(x)
    data = call.engine.look(array.data)
    if data.dtype.kind not in "fc":
        raise MatlabError("MATLAB:pow2:class", "Numbers must be floating-point ones.")
    if exponent is None:
        return wrap(array.kind, np.asarray(np.exp2(data) if data.dtype.kind == "f" else 2**data))
    steps = np.trunc(call.engine.look(array_of(exponent).data).real)
    return wrap(array.kind, np.asarray(data * np.exp2(steps), data.dtype))


@builtin("rat")
def rat(call: Call, x: Value, tolerance: Value | None = None) -> Value | tuple[Value, ...]:
    """Continued fractions as text; with two outputs, numerators and denominators."""
    table = known(call.engine, x)
    if table.dtype.kind == "c":
        raise MatlabError("MATLAB:rat:complex", "Numbers must be real.")
    numbers = table.astype(float)
    finite = np.abs(numbers[np.isfinite(numbers)])
    near = 1e-6 * float(finite.sum()) if tolerance is None else number_of(call.engine, tolerance)
    terms = [_terms(number, near) for number in numbers.ravel(order="F")]
    if call.outputs < 2:
        shown = [_shown(each) for each in terms]
        return text_rows([each.ljust(max(map(len, shown))) for each in shown])
    quotients = [_quotient(each) for each in terms]
    parts = (np.array([pair[k] for pair in quotients], float) for k in (0, 1))
    return tuple(wrap("double", part.reshape(numbers.T.shape)) for part in parts)


def _terms(number: float, near: float) -> list[float]:
    """The whole numbers of a continued fraction that is near enough."""
    if not math.isfinite(number):
        return [number]
    made: list[float] = []
    left = number
    while len(made) < _MOST_TERMS:
        step = float(np.trunc(left + math.copysign(0.5, left)))
        made.append(step)
        left -= step
        top, bottom = _quotient(made)
        if left == 0 or abs(number - top / bottom) < max(near, np.spacing(abs(number))):
            break
        left = 1 / left
    return made


def _quotient(terms: list[float]) -> tuple[float, float]:
    if not math.isfinite(terms[0]):
        return (0.0, 0.0) if math.isnan(terms[0]) else (math.copysign(1.0, terms[0]), 0.0)
    made = Fraction(int(terms[-1]))
    for term in reversed(terms[:-1]):
        made = int(term) + 1 / made
    return float(made.numerator), float(made.denominator)


def _shown(terms: list[float]) -> str:
    if not math.isfinite(terms[0]):
        return "NaN" if math.isnan(terms[0]) else "Inf" if terms[0] > 0 else "-Inf"
    first, *others = (str(int(term)) for term in terms)
    return first + "".join(f" + 1/({word}" for word in others) + ")" * len(others)
