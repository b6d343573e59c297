"""Files of numbers in rows and columns: csvread, dlmread, readmatrix, and what writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from matlab_frontend.builtins.options import options_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.delimited_text import (
    delimiter_of,
    fields_of,
    guess_delimiter,
    header_count,
    number_in,
)
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import format_number, format_values, unescape
from matlab_frontend.pattern import pattern
from matlab_frontend.values.array import Cell, Value, as_array, kind_of
from matlab_frontend.values.make import empty, from_numpy, strings, text
from matlab_frontend.values.read import is_text, known, number_of, text_of

_RANGE = pattern(r"\$?([A-Za-z]+)\$?(\d+)(?::\$?([A-Za-z]+)\$?(\d+))?")


def lines_in(call: Call, name: Value, function: str) -> list[str]:
    """The lines of a file.

    Raises:
        MatlabError: there is no such file.

    """
    shown = text_of(name, "The file name")
    path = call.session.path.find(shown)
    try:
        if path is None:
            raise FileNotFoundError
        return path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    except OSError as error:
        identifier = f"MATLAB:{function}:FileNotFound"
        reason = error.strerror or "No such file or directory"
        raise MatlabError(identifier, f"Unable to open file '{shown}': {reason}.") from error


@builtin("dlmread")
def dlmread(
    call: Call,
    name: Value,
    delimiter: Value | None = None,
    first: Value | None = None,
    column: Value | None = None,
) -> Value:
    """The numbers of a file, from a row and a column on, both counted from 0; gaps are 0."""
    lines = lines_in(call, name, "dlmread")
    if delimiter is not None and not is_text(delimiter) and column is None and first is not None:
        delimiter, first, column = None, delimiter, first
    given = "" if delimiter is None or not is_text(delimiter) else unescape(text_of(delimiter))
    if delimiter is not None and not is_text(delimiter):
        first = delimiter
    window = _window(call, first, column)
    mark = delimiter_of(given) if given else guess_delimiter(lines[window[0] :])
    rows = fields_of(lines[window[0] : window[2]], mark)
    return _matrix([row[window[1] : window[3]] for row in rows], 0.0, strict=True)


def _window(call: Call, first: Value | None, column: Value | None) -> tuple[int, int, int, int]:
    """First row and column, and those behind the last ones."""
    everything = 1 << 60
    if first is None:
        return 0, 0, everything, everything
    if is_text(first):
        return _window_of_cells(text_of(first))
    corner = known(call.engine, first).ravel().astype(int).tolist()
    if len(corner) == 4:
        return corner[0], corner[1], corner[2] + 1, corner[3] + 1
    if len(corner) != 1 or column is None:
        message = "A range is a row and a column, or four numbers."
        raise MatlabError("MATLAB:dlmread:InvalidInput", message)
    return corner[0], int(number_of(call.engine, column)), everything, everything


def _window_of_cells(shown: str) -> tuple[int, int, int, int]:
    """The window that ``'B2:D5'`` means."""
    found = _RANGE.fullmatch(shown)
    if found is None or found[1] is None:
        raise MatlabError("MATLAB:textio:InvalidRange", f"'{shown}' is no range of cells.")
    left, top, right, bottom = found.groups()
    end = (int(bottom), _column_number(right)) if right else (1 << 60, 1 << 60)
    return int(top) - 1, _column_number(left) - 1, *end


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _matrix(rows: Sequence[Sequence[str]], gap: float, *, strict: bool) -> Value:
    """The numbers of fields, gaps filled; ``strict`` refuses a field that is no number."""
    width = max(map(len, rows), default=0)
    if not width:
        return empty()
    table = np.full((len(rows), width), gap, complex)
    for k, row in enumerate(rows):
        for j, shown in enumerate(row):
            number = number_in(shown)
            if number is not None:
                table[k, j] = number
            elif shown and strict:
                message = f"Mismatch between file and format: '{shown}' is no number (row {k + 1})."
                raise MatlabError("MATLAB:textscan:handleErrorAndShowInfo", message)
    return from_numpy(table if np.any(table.imag) else table.real)


@builtin("csvread")
def csvread(
    call: Call,
    name: Value,
    first: Value | None = None,
    column: Value | None = None,
    window: Value | None = None,
) -> Value:
    """The numbers of a file of comma-separated values."""
    lines = lines_in(call, name, "csvread")
    top, left, bottom, right = _window(call, window if window is not None else first, column)
    rows = fields_of(lines[top:bottom], ",")
    return _matrix([row[left:right] for row in rows], 0.0, strict=True)


_READING = ("delimiter", "numheaderlines", "outputtype", "range", "filetype", "commentstyle")


@builtin("readmatrix")
def readmatrix(call: Call, name: Value, *given: Value) -> Value:
    """The numbers of a file, what is no number NaN; or its texts as strings."""
    options = options_of(given, _READING, "readmatrix")
    rows = read_rows(call, name, options, "readmatrix")
    kind = text_of(options["outputtype"]) if "outputtype" in options else "double"
    if kind == "string":
        width = max(map(len, rows), default=0)
        padded = [[*row, *[""] * (width - len(row))] for row in rows]
        listed = [row[j] for j in range(width) for row in padded]
        return strings(listed, (len(rows), width))
    made = _matrix(rows, float("nan"), strict=False)
    if kind == "double":
        return made
    return call.interpreter.call_one(text(kind), made)


def read_rows(
    call: Call, name: Value, options: Mapping[str, Value], function: str
) -> list[list[str]]:
    """The fields of a file as options say, without the lines of its header."""
    lines = lines_in(call, name, function)
    if "commentstyle" in options:
        mark = text_of(options["commentstyle"])
        lines = [line.partition(mark)[0] for line in lines]
    skipped = "numheaderlines" in options
    if skipped:
        lines = lines[int(number_of(call.engine, options["numheaderlines"])) :]
    given = options.get("delimiter")
    if given is not None and isinstance(given, Cell):
        given = given.data.flat[0]
    mark = guess_delimiter(lines) if given is None else delimiter_of(unescape(text_of(given)))
    rows = fields_of(lines, mark)
    if "range" in options:
        top, left, bottom, right = _window(call, options["range"], None)
        return [row[left:right] for row in rows[top:bottom]]
    return rows if skipped else rows[header_count(rows) :]


_WRITING = ("delimiter", "precision", "newline", "roffset", "coffset")


@builtin("dlmwrite")
def dlmwrite(call: Call, name: Value, x: Value, *given: Value) -> None:
    """Write a matrix to a file, five digits a number unless ``'precision'`` says otherwise."""
    appends = any(is_text(option) and text_of(option) == "-append" for option in given)
    left = [option for option in given if not (is_text(option) and text_of(option) == "-append")]
    options: dict[str, Value] = {}
    if left and (not is_text(left[0]) or text_of(left[0]).lower() not in _WRITING):
        options = dict(zip(("delimiter", "roffset", "coffset"), left, strict=False))
    else:
        options = options_of(left, _WRITING, "dlmwrite")
    mark = unescape(text_of(options["delimiter"])) if "delimiter" in options else ","
    end = "\n"
    if "newline" in options:
        end = {"pc": "\r\n", "unix": "\n"}.get(text_of(options["newline"]), "\n")
    offsets = [
        int(number_of(call.engine, options[key])) if key in options else 0
        for key in ("roffset", "coffset")
    ]
    rows = [
        [*[""] * offsets[1], *row] for row in _shown_rows(call, x, options.get("precision", 5.0))
    ]
    width = max(map(len, rows), default=0)
    lines = [mark.join([""] * width) for _ in range(offsets[0])]
    lines += [mark.join(row) for row in rows]
    write_lines(call, name, lines, end, appends=appends)


def _shown_rows(call: Call, x: Value, precision: Value) -> list[list[str]]:
    """The numbers of a matrix as texts."""
    if as_array(x) is None:
        message = f"A value of class '{kind_of(x)}' cannot be written as a matrix."
        raise MatlabError("MATLAB:dlmwrite:InvalidInput", message)
    table = known(call.engine, x)
    table = table.reshape(table.shape[0], -1, order="F")
    if is_text(precision):
        template = unescape(text_of(precision))
        return [
            [format_values(call.engine, template, (float(item),)) for item in row] for row in table
        ]
    digits = str(int(number_of(call.engine, precision)))
    return [[_shown(item, digits) for item in row] for row in table.tolist()]


def _shown(item: complex, digits: str) -> str:
    if isinstance(item, complex):
        real, imaginary = (format_number(x, "g", precision=digits) for x in (item.real, item.imag))
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}i"
    if isinstance(item, int):
        return str(int(item))
    return format_number(item, "g", precision=digits)


def write_lines(
    call: Call, name: Value, lines: Sequence[str], end: str = "\n", *, appends: bool = False
) -> None:
    """Write lines to a file.

    Raises:
        MatlabError: the file cannot be written.

    """
    shown = text_of(name, "The file name")
    path = call.session.path.resolve(shown)
    data = "".join(f"{line}{end}" for line in lines).encode("utf-8", "replace")
    try:
        with Path(path).open("ab" if appends else "wb") as file:
            file.write(data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "Invalid file name"
        message = f"Unable to open file '{shown}' for writing: {reason}."
        raise MatlabError("MATLAB:textio:CannotOpenFile", message) from error


@builtin("csvwrite")
def csvwrite(call: Call, name: Value, x: Value, row: Value = 0.0, column: Value = 0.0) -> None:
    """Write a matrix to a file of comma-separated values, five digits a number."""
    dlmwrite.function(call, name, x, text(","), row, column)


@builtin("writematrix")
def writematrix(call: Call, x: Value, name: Value, *given: Value) -> None:
    """Write a matrix of numbers or strings to a file, all digits of a number."""
    options = options_of(
        given, ("delimiter", "writemode", "quotestrings", "filetype"), "writematrix"
    )
    mark = delimiter_of(unescape(text_of(options["delimiter"]))) if "delimiter" in options else ","
    array = as_array(x)
    if array is not None and array.kind in ("string", "char"):
        table = array.data.T if array.kind == "string" else _one_text(x)
        rows = [[quoted(str(item), mark) for item in row] for row in table]
    else:
        rows = _shown_rows(call, x, 15.0)
    mode = text_of(options["writemode"]) if "writemode" in options else "overwrite"
    lines = [mark.join(row) for row in rows]
    write_lines(call, name, lines, appends=mode == "append")


def _one_text(x: Value) -> np.ndarray:
    return np.array([[text_of(x)]], object)


def quoted(shown: str, delimiter: str) -> str:
    """A text in quotes where it holds what would end it."""
    if any(mark in shown for mark in (delimiter, '"', "\n")):
        return '"' + shown.replace('"', '""') + '"'
    return shown
