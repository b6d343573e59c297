"""``readtable`` and ``writetable``: tables in text files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matlab_frontend.builtins.delimited import quoted, read_rows, write_lines
from matlab_frontend.builtins.options import options_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.tables import make_table, table_of
from matlab_frontend.dates import parse_date
from matlab_frontend.delimited_text import delimiter_of, number_in
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import format_number, unescape
from matlab_frontend.names_of_fields import unique_names
from matlab_frontend.times import Times, from_texts
from matlab_frontend.values.array import Cell, Value, kind_of, shape_of
from matlab_frontend.values.make import cell, strings, text, wrap
from matlab_frontend.values.read import is_true, known, lines_of, text_of

_READING = (
    *("delimiter", "readvariablenames", "numheaderlines", "texttype", "range", "commentstyle"),
    *("filetype", "variablenamingrule"),
)
_DATES = ("yyyy-mm-dd", "yyyy-mm-dd HH:MM:SS", "dd-mmm-yyyy", "dd-mmm-yyyy HH:MM:SS")


@builtin("readtable")
def readtable(call: Call, name: Value, *given: Value) -> Value:
    """A table from the columns of a text file; its first line has names where it has no numbers."""
    options = options_of(given, _READING, "readtable")
    has_header = options.pop("readvariablenames", None)
    plain = {key: value for key, value in options.items() if key != "texttype"}
    plain.setdefault("numheaderlines", 0.0)
    rows = read_rows(call, name, plain, "readtable")
    names_there = _is_header(rows) if has_header is None else is_true(call.engine, has_header)
    head = rows.pop(0) if names_there and rows else []
    count = max([len(head), *map(len, rows)], default=0)
    padded = [[*row, *[""] * (count - len(row))] for row in rows]
    keeps = "variablenamingrule" in options and text_of(options["variablenamingrule"]) == "preserve"
    shown = [x or f"Var{k + 1}" for k, x in enumerate([*head, *[""] * (count - len(head))])]
    names = shown if keeps else unique_names(shown)
    kind = text_of(options["texttype"]) if "texttype" in options else "char"
    columns = [_column([row[k] for row in padded], kind) for k in range(count)]
    return make_table(columns, names)


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """True if the first row holds names: no number, though rows below may hold some."""
    if not rows or any(number_in(item) is not None for item in rows[0]):
        return False
    return len(rows) == 1 or all(item != "" for item in rows[0]) or len(rows[0]) == len(rows[1])


def _column(fields: list[str], kind: str) -> Value:
    """A column of numbers, dates or texts."""
    shape = (len(fields), 1)
    numbers = [number_in(x) if x else float("nan") for x in fields]
    if all(x is not None for x in numbers) and any(fields):
        data = np.array(numbers)
        return wrap(
            "double", (data if np.any(data.imag) else data.real.astype(float)).reshape(1, -1)
        )
    dates = any(fields) and all(
        x == "" or any(parse_date(x, form, "datestr") is not None for form in _DATES)
        for x in fields
    )
    listed = [text(x) for x in fields]
    if dates:
        return from_texts(fields, cell(listed, shape))
    return strings(fields, shape) if kind == "string" else cell(listed, shape)


_WRITING = (
    *("delimiter", "writevariablenames", "writerownames", "writemode", "quotestrings", "filetype"),
)


@builtin("writetable")
def writetable(call: Call, x: Value, name: Value, *given: Value) -> None:
    """Write a table to a text file: a line of names and a line for each row."""
    options = options_of(given, _WRITING, "writetable")
    held = table_of(x)
    mark = delimiter_of(unescape(text_of(options["delimiter"]))) if "delimiter" in options else ","
    appends = "writemode" in options and text_of(options["writemode"]) == "append"
    with_rows = "writerownames" in options and is_true(call.engine, options["writerownames"])
    headed = not appends
    if "writevariablenames" in options:
        headed = is_true(call.engine, options["writevariablenames"])
    heads: list[str] = ["Row"] if with_rows and held.row_names else []
    columns: list[list[list[str]]] = []
    for title, part in zip(held.names, held.columns, strict=True):
        fields = _fields(call, part)
        across = max(map(len, fields), default=1)
        heads += [title] if across == 1 else [f"{title}_{k + 1}" for k in range(across)]
        columns.append(fields)
    lines = [mark.join(quoted(head, mark) for head in heads)] if headed else []
    for k in range(held.rows):
        row = [held.row_names[k]] if with_rows and held.row_names else []
        row += [item for fields in columns for item in fields[k]]
        lines.append(mark.join(quoted(item, mark) for item in row))
    write_lines(call, name, lines, appends=appends)


def _fields(call: Call, part: Value) -> list[list[str]]:
    """The fields of each row of a column."""
    rows = shape_of(part)[0]
    if isinstance(part, Times):
        return np.array(part.texts(), object).reshape(-1, rows).T.tolist()
    if isinstance(part, Cell):
        items = [_one(call, item) for item in part.data.reshape(-1, rows).T.ravel()]
        return [items[k * len(items) // rows : (k + 1) * len(items) // rows] for k in range(rows)]
    if kind_of(part) == "char":
        return [[line] for line in lines_of(part)]
    table = known(call.engine, part).reshape(rows, -1, order="F")
    return [[_shown(item) for item in row] for row in table.tolist()]


def _one(call: Call, item: Value) -> str:
    if kind_of(item) in ("char", "string"):
        return text_of(item)
    table = known(call.engine, item)
    if table.size > 1:
        message = "Cells of tables to be written must hold texts or scalars."
        raise MatlabError("MATLAB:table:write:UnsupportedCell", message)
    return _shown(table.item()) if table.size else ""


def _shown(item: object) -> str:
    if isinstance(item, bool):
        return str(int(item))
    if isinstance(item, float):
        return format_number(item, "g", precision="15")
    return str(item)
