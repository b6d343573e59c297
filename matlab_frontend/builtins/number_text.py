"""Numbers as texts: ``num2str`` and ``mat2str``."""

from __future__ import annotations

import math

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.format_text import format_number, shortest
from matlab_frontend.values.array import Array, Value
from matlab_frontend.values.make import text, text_rows
from matlab_frontend.values.read import decode, known

_LONG = 1e15
"""Doubles from here on are shown with 16 digits at most."""


def number_text(engine: Engine, array: Array, digits: int | None) -> Value:
    """What ``num2str`` makes of numbers: one text a row, columns aligned."""
    table = known(engine, array)
    if table.size == 0:
        return text("")
    table = table.reshape(table.shape[0], -1, order="F")
    if table.dtype.kind == "c":
        return text_rows([_join([_complex(x, digits) for x in row]) for row in table])
    if table.size == 1:
        return text(_scalar(table.item(), digits))
    finite = np.abs(table[np.isfinite(table)].astype(float))
    largest = float(finite.max(initial=0.0))
    whole = not np.any(np.trunc(finite) != finite)
    places = math.floor(math.log10(largest)) if largest > 0 else 0
    negative = int(np.any(table < 0))
    if whole and digits is None:
        width = max(places, 0) + 3 + negative
        if finite.size < table.size:
            width = max(width, 5)  # room for Inf and NaN
        rows = [[format_number(float(x), "d", width=str(width)) for x in row] for row in table]
    else:
        shown = min(max(places + 5, 5), 16) if digits is None else digits
        width = shown + 7 + negative
        rows = [
            [format_number(float(x), "g", "", str(width), str(shown)) for x in row] for row in table
        ]
    lines = ["".join(row) for row in rows]
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    return text_rows([line[margin:] for line in lines])


def matrix_text(engine: Engine, array: Array, digits: int) -> str:
    """What ``mat2str`` makes of a matrix."""
    table = known(engine, array)
    if array.kind == "char":
        lines = ["'" + decode(line).replace("'", "''") + "'" for line in table]
        return lines[0] if len(lines) == 1 else f"[{';'.join(lines)}]" if lines else "''"
    rows = [[_element(x, array.kind, digits) for x in row] for row in table.tolist()]
    if table.size == 1:
        return rows[0][0]
    if table.size == 0:
        return f"zeros({table.shape[0]},{table.shape[1]})"
    return "[" + ";".join(" ".join(row) for row in rows) + "]"


def _scalar(number: float, digits: int | None) -> str:
    if digits is not None:
        return shortest(number, digits)
    if isinstance(number, (bool, int)) or not math.isfinite(number) or number == int(number):
        if isinstance(number, float) and math.isfinite(number) and abs(number) >= _LONG:
            return shortest(number, 16)
        return format_number(number if isinstance(number, float) else int(number), "d")
    places = math.floor(math.log10(abs(number)))
    return shortest(number, min(max(places + 5, 5), 16))


def _complex(number: complex, digits: int | None) -> str:
    sign = "-" if math.copysign(1.0, number.imag) < 0 else "+"
    return f"{_scalar(number.real, digits)}{sign}{_scalar(abs(number.imag), digits)}i"


def _join(parts: list[str]) -> str:
    return "   ".join(parts)


def _element(number: complex, kind: str, digits: int) -> str:
    if kind == "logical":
        return "true" if number else "false"
    if isinstance(number, complex):
        sign = "-" if math.copysign(1.0, number.imag) < 0 else "+"
        return f"{shortest(number.real, digits)}{sign}{shortest(abs(number.imag), digits)}i"
    return shortest(number, digits)
