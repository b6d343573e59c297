"""Printing and formatting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matlab_frontend.builtins.number_text import matrix_text, number_text
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.display import disp as disp_text
from matlab_frontend.display import display as display_text
from matlab_frontend.display_numbers import STYLES
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import format_values, unescape
from matlab_frontend.streams import STANDARD
from matlab_frontend.values.array import Array, Value, as_array
from matlab_frontend.values.make import from_numpy, string, text, text_rows
from matlab_frontend.values.read import known, number_of, text_of


def formatted(call: Call, template: Value, values: tuple[Value, ...]) -> str:
    """The text of a template and values; escapes of quoted texts are undone."""
    if not isinstance(template, Array) or template.kind not in ("char", "string"):
        template, values = text("%g "), (template, *values)
    shown = unescape(text_of(template, "The format"))
    return format_values(call.engine, shown, values)


@builtin("fprintf")
def fprintf(call: Call, template: Value, *values: Value) -> Value | None:
    """Print by a template; the first argument may be the identifier of a file."""
    write: Callable[[str], object] = call.session.write
    if isinstance(template, float) and values:
        write = _writer(call, template)
        template, values = values[0], values[1:]
    made = formatted(call, template, values)
    write(made)
    return float(len(made.encode("utf-8", "replace"))) if call.outputs else None


def _writer(call: Call, identifier: float) -> Callable[[str], object]:
    """What prints to the stream of an identifier."""
    if identifier == STANDARD[1]:
        return call.session.write
    if identifier == STANDARD[2]:
        return call.session.write_error
    return call.session.streams.get(identifier).write


@builtin("sprintf")
def sprintf(call: Call, template: Value, *values: Value) -> Value:
    """The text of a template and values."""
    made = formatted(call, template, values)
    return string(made) if isinstance(template, Array) and template.kind == "string" else text(made)


@builtin("disp")
def disp(call: Call, x: Value) -> None:
    """Print a value without its name."""
    call.session.write(disp_text(call.engine, x, call.session.style))


@builtin("display")
def display(call: Call, x: Value) -> None:
    """Print a value as a statement without a semicolon does."""
    call.session.write(display_text(call.engine, "ans", x, call.session.style))


@builtin("num2str")
def num2str(call: Call, x: Value, precision: Value | None = None) -> Value:
    """The text of numbers, with four digits after the point, so many digits, or a template."""
    array = as_array(x)
    if array is None:
        raise MatlabError("MATLAB:num2str:nonNumericInput", "Input to num2str must be numeric.")
    if array.kind in ("char", "string"):
        return x
    if precision is None:
        return number_text(call.engine, array, None)
    if isinstance(precision, Array) and precision.kind in ("char", "string"):
        return _formatted_rows(call, known(call.engine, x), unescape(text_of(precision)))
    return number_text(call.engine, array, int(number_of(call.engine, precision)))


def _formatted_rows(call: Call, table: np.ndarray, template: str) -> Value:
    """Each row of a matrix by the template, without the blanks that all rows begin or end with."""
    flat = table.reshape(table.shape[0], -1, order="F")
    rows = [format_values(call.engine, template, (from_numpy(row),)) for row in flat]
    lines = [line for shown in rows for line in shown.removesuffix("\n").split("\n")]
    width = max(map(len, lines), default=0)
    padded = [line.ljust(width) for line in lines]
    first = min((len(line) - len(line.lstrip()) for line in padded), default=0)
    last = max((len(line.rstrip()) for line in padded), default=0)
    kept = [line[first:last] for line in padded]
    return text(kept[0]) if len(kept) == 1 else text_rows(kept)


@builtin("int2str")
def int2str(call: Call, x: Value) -> Value:
    """The text of rounded numbers."""
    rounded = call.interpreter.call_one(text("round"), x)
    return num2str.one(call, rounded)


@builtin("mat2str")
def mat2str(call: Call, x: Value, digits: Value = 15.0) -> Value:
    """The text of an expression that gives a matrix."""
    array = as_array(x)
    if array is None:
        raise MatlabError("MATLAB:mat2str:NumericInput", "Input matrix must be numeric.")
    return text(matrix_text(call.engine, array, int(number_of(call.engine, digits))))


@builtin("format")
def format_(call: Call, *words: Value) -> None:
    """Choose how numbers are shown: ``short``, ``long``, ``shortg`` or ``longg``.

    A ``g`` may stand alone, after a blank. ``compact`` and ``loose`` are accepted.
    """
    names = "".join(text_of(word).lower() for word in words) or "short"
    for name in ("compact", "loose"):
        names = names.replace(name, "")
    if names:
        known = (
            names
            if names in STYLES
            else next((name for name in ("short", "long") if names.startswith(name)), "")
        )
        call.session.style = STYLES.get(known, call.session.style)
