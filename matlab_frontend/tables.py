"""``table``: named columns of as many rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from matlab_frontend.concatenation import concatenate
from matlab_frontend.display_elements import inside_cell
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import shortest
from matlab_frontend.indexing import read as read_elements
from matlab_frontend.subscripts import EVERYTHING, Everything, Subscript, positions
from matlab_frontend.times import Times
from matlab_frontend.values.array import (
    Array,
    Assign,
    Cell,
    Delete,
    Extension,
    Join,
    Shape,
    Struct,
    Value,
    as_array,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import cell, cell_row, empty, struct, text, wrap
from matlab_frontend.values.read import known, lines_of
from runmat_jit.core.frozen import frozen_object

_PROPERTIES = "Properties"
_OVERLOADED = ("sortrows", "join")
"""Functions that are others for tables: ``table.sortrows`` instead of ``sortrows``."""


def take_rows(engine: Any, column: Value, rows: Subscript) -> Value:
    """Rows of a column of a table."""
    subscripts: list[Any] = [rows, *[EVERYTHING] * (len(shape_of(column)) - 1)]
    if isinstance(column, Extension):
        return column.index(engine, subscripts)
    if isinstance(column, Cell):
        return Cell(read_elements(engine, column.data, subscripts))
    if isinstance(column, Struct):
        return Struct(column.fields, read_elements(engine, column.data, subscripts))
    array = as_array(column)
    if array is None:
        raise MatlabError("MATLAB:table:InvalidColumn", f"'{kind_of(column)}' has no rows.")
    return wrap(array.kind, read_elements(engine, array.data, subscripts))


@frozen_object
class Table(Extension):
    """Columns by name; each has ``rows`` rows, which may have names."""

    names: tuple[str, ...]
    columns: tuple[Value, ...]
    rows: int
    row_names: tuple[str, ...] = ()
    kind = "table"
    spaced = False

    @property
    def shape(self) -> Shape:
        return (self.rows, len(self.names))

    def column_numbers(self, engine: Any, subscript: Subscript) -> list[int]:
        """The columns, from 0, that numbers, truth values or names mean.

        Raises:
            MatlabError: there is no such column.

        """
        if not isinstance(subscript, Everything) and _is_words(subscript):
            return [self.number(name) for name in lines_of(subscript)]  # type: ignore[arg-type]  # texts
        found = positions(engine, subscript, len(self.names))
        if found.highest > len(self.names):
            message = f"Variable index {found.highest} exceeds table dimensions."
            raise MatlabError("MATLAB:table:VarIndexOutOfRange", message)
        return np.arange(len(self.names))[found.key].ravel().tolist()

    def number(self, name: str) -> int:
        """The place of a column, from 0."""
        if name not in self.names:
            message = f"Unrecognized table variable name '{name}'."
            raise MatlabError("MATLAB:table:UnrecognizedVarName", message)
        return self.names.index(name)

    def row_subscript(self, subscript: Subscript) -> Subscript:
        """A subscript of rows; names become numbers."""
        if isinstance(subscript, Everything) or not _is_words(subscript):
            return subscript
        numbers: list[float] = []
        for name in lines_of(subscript):  # type: ignore[arg-type]  # texts
            if name not in self.row_names:
                message = f"Unrecognized table row name '{name}'."
                raise MatlabError("MATLAB:table:UnrecognizedRowName", message)
            numbers.append(self.row_names.index(name) + 1.0)
        return wrap("double", np.array(numbers).reshape(1, -1))

    def _two(self, subscripts: Sequence[Subscript]) -> tuple[Subscript, Subscript]:
        if len(subscripts) != 2:
            message = "Subscripting into a table needs a row and a variable subscript."
            raise MatlabError("MATLAB:table:LinearSubscript", message)
        return self.row_subscript(subscripts[0]), subscripts[1]

    def take(self, engine: Any, rows: Subscript, numbers: Sequence[int]) -> Table:
        """Rows of some columns."""
        found = positions(engine, rows, self.rows)
        if found.highest > self.rows:
            message = f"Row index {found.highest} exceeds table dimensions."
            raise MatlabError("MATLAB:table:RowIndexOutOfRange", message)
        names = tuple(np.array(self.row_names, object)[found.key].ravel()) if self.row_names else ()
        columns = tuple(take_rows(engine, self.columns[k], rows) for k in numbers)
        return Table(tuple(self.names[k] for k in numbers), columns, found.count, names)

    def index(self, engine: Any, subscripts: list[Any]) -> Value:
        rows, columns = self._two(subscripts)
        return self.take(engine, rows, self.column_numbers(engine, columns))

    def contents(self, engine: Any, subscripts: list[Any]) -> list[Value]:
        rows, columns = self._two(subscripts)
        part = self.take(engine, rows, self.column_numbers(engine, columns))
        return [concatenate(engine, part.columns, 1)]

    def field(self, engine: Any, name: str) -> Value:
        if name == _PROPERTIES:
            listed = cell_row([text(x) for x in self.names])
            rows = [text(x) for x in self.row_names]
            properties: dict[str, Value] = {
                "VariableNames": listed,
                "RowNames": cell(rows, (len(rows), 1 if rows else 0)),
            }
            return struct(properties)
        if name not in self.names and name in self.row_names:
            raise MatlabError("MATLAB:table:UnrecognizedVarName", f"'{name}' is the name of a row.")
        return self.columns[self.number(name)]

    def put_field(self, engine: Any, name: str, value: Value) -> Value:
        if name == _PROPERTIES:
            return self._with_properties(value)
        if isinstance(value, Array) and shape_of(value) == (0, 0):
            return self.without_columns([self.number(name)])
        return self.with_column(name, value)

    def _with_properties(self, value: Value) -> Table:
        assert isinstance(value, Struct), "the properties are a struct"
        found = value.data.item()
        names, rows = (tuple(lines_of(found[key])) for key in ("VariableNames", "RowNames"))
        known_ones = {"VariableNames", "RowNames"}
        if set(value.fields) != known_ones:
            unknown = next(name for name in value.fields if name not in known_ones)
            message = f"Property '{unknown}' of tables is not supported."
            raise MatlabError("MATLAB:table:UnknownProperty", message)
        if len(names) != len(self.names) or len(set(names)) != len(names):
            message = "The VariableNames property must contain one different name a variable."
            raise MatlabError("MATLAB:table:IncorrectNumberOfVarNames", message)
        if rows and len(rows) != self.rows:
            message = "The RowNames property must contain one name for each row."
            raise MatlabError("MATLAB:table:IncorrectNumberOfRowNames", message)
        return replace(self, names=names, row_names=rows)

    def with_column(self, name: str, value: Value) -> Table:
        """The table with a column replaced, or with one more."""
        rows = shape_of(value)[0]
        if self.names and rows != self.rows:
            message = "To assign to or create a variable in a table, the number of rows must match "
            message += f"the height of the table: {rows} are not {self.rows}."
            raise MatlabError("MATLAB:table:RowDimensionMismatch", message)
        if name in self.names:
            at = self.names.index(name)
            return replace(self, columns=(*self.columns[:at], value, *self.columns[at + 1 :]))
        return replace(self, names=(*self.names, name), columns=(*self.columns, value), rows=rows)

    def without_columns(self, numbers: Sequence[int]) -> Table:
        """The table without some columns."""
        left = [k for k in range(len(self.names)) if k not in numbers]
        columns = tuple(self.columns[k] for k in left)
        return replace(self, names=tuple(self.names[k] for k in left), columns=columns)

    def put(self, engine: Any, subscripts: list[Any], value: Value, assign: Assign) -> Value:
        rows, columns = self._two(subscripts)
        numbers = self.column_numbers(engine, columns)
        if isinstance(value, Cell):
            parts = self._parts_of(engine, value, numbers)
        elif isinstance(value, Table):
            parts = list(value.columns)
        else:
            message = "The right side of an assignment to rows must be a table or a cell array."
            raise MatlabError("MATLAB:table:InvalidRHS", message)
        if len(parts) != len(numbers):
            message = "The number of table variables in an assignment must match."
            raise MatlabError("MATLAB:table:AssignmentDimensionMismatch", message)
        made = self
        for number, part in zip(numbers, parts, strict=True):
            made = made.with_rows(engine, [number, rows], part, assign)
        return made.filled(engine, assign)

    def _parts_of(self, engine: Any, value: Cell, numbers: Sequence[int]) -> list[Value]:
        """The columns of a cell array as columns of the classes that the table has."""
        columns = [value.data[k : k + 1] for k in range(value.data.shape[0])]
        if len(columns) != len(numbers):
            return []
        return [
            Cell(part)
            if isinstance(self.columns[number], Cell)
            else concatenate(engine, list(part.flat), 0)
            for part, number in zip(columns, numbers, strict=True)
        ]

    def put_contents(
        self, engine: Any, subscripts: list[Any], value: Value, assign: Assign
    ) -> Value:
        rows, columns = self._two(subscripts)
        numbers = self.column_numbers(engine, columns)
        made = self
        for k, number in enumerate(numbers):
            part = value
            if len(numbers) > 1 and shape_of(value) != (1, 1):
                array = as_array(value)
                if array is None:
                    raise self.refusal("This brace assignment")
                part = wrap(array.kind, read_elements(engine, array.data, [EVERYTHING, k + 1.0]))
            made = made.with_rows(engine, [number, rows], part, assign)
        return made.filled(engine, assign)

    def with_rows(self, engine: Any, place: list[Any], part: Value, assign: Assign) -> Table:
        """The table with a part at the number of a column and its rows; it may grow."""
        number, rows = place
        held = self.columns[number]
        if isinstance(held, Extension):
            made = held.put(engine, [rows, EVERYTHING], part, assign)
        else:
            made = assign([rows, EVERYTHING], held, part)
        columns = (*self.columns[:number], made, *self.columns[number + 1 :])
        return replace(self, columns=columns, rows=max(self.rows, shape_of(made)[0]))

    def filled(self, engine: Any, assign: Assign) -> Table:
        """The table with the rows that an assignment to some columns made in the others, too."""
        made = list(self.columns)
        for k, column in enumerate(made):
            missing = self.rows - shape_of(column)[0]
            if missing > 0:
                if isinstance(column, (Extension, Struct)):
                    raise self.refusal("Growth by some variables alone")
                blank: Value = cell([empty()], (1, 1)) if isinstance(column, Cell) else 0.0
                made[k] = assign([float(self.rows), EVERYTHING], column, blank)
        return replace(self, columns=tuple(made))

    def without(self, engine: Any, subscripts: list[Any], delete: Delete) -> Value:
        rows, columns = self._two(subscripts)
        if isinstance(rows, Everything):
            return self.without_columns(self.column_numbers(engine, columns))
        if not isinstance(columns, Everything):
            raise self.refusal("Deletion of rows of some variables")
        keep = np.ones(self.rows, bool)
        keep[positions(engine, rows, self.rows).key] = False
        return self.take(engine, wrap("logical", keep.reshape(1, -1)), range(len(self.names)))

    def join(self, engine: Any, values: list[Value], axis: int, join: Join) -> Value:
        tables: list[Table] = []
        for value in values:
            if isinstance(value, Table):
                tables += [value] if value.names else []
            elif isinstance(value, Cell) and axis == 0 and shape_of(value)[1] == len(self.names):
                parts = self._parts_of(engine, value, range(len(self.names)))
                tables.append(Table(self.names, tuple(parts), shape_of(value)[0]))
            elif 0 not in shape_of(value):
                raise self.refusal("Concatenation with values of other classes")
        if axis == 1:
            return reduce(_beside, tables)
        return reduce(lambda one, two: _below(one, two, join), tables)

    def overload(self, name: str) -> Callable[..., Any] | None:
        if name in ("isequal", "isequaln"):
            return lambda call, *given: all(_equal(call, name, given[0], x) for x in given[1:])
        if name in _OVERLOADED:
            function = text(f"table.{name}")
            return lambda call, *given: tuple(
                call.interpreter.call(function, given, max(call.outputs, 1))
            )
        return None

    def show(self, engine: Any) -> tuple[str, tuple[str, ...]]:
        size = f"{self.rows}\N{MULTIPLICATION SIGN}{len(self.names)}"
        if not self.rows or not self.names:
            listed = f": {', '.join(self.names)}" if self.names else ""
            return f"{size} empty table{listed}", ()
        blocks = [_block(engine, name, x) for name, x in zip(self.names, self.columns, strict=True)]
        if self.row_names:
            width = max(map(len, self.row_names))
            head = ["", "", "", *(name.ljust(width) for name in self.row_names)]
            blocks.insert(0, [x.ljust(width) for x in head])
        lines = ["    " + "    ".join(line) for line in zip(*blocks, strict=True)]
        lines[2] = ""
        return f"{size} table", tuple(lines)


def _is_words(subscript: Any) -> bool:
    return isinstance(subscript, Cell) or (
        isinstance(subscript, Array) and subscript.kind in ("char", "string")
    )


def _equal(call: Any, name: str, one: Value, two: Value) -> bool:
    if not isinstance(one, Table) or not isinstance(two, Table):
        return False
    if (one.names, one.rows, one.row_names) != (two.names, two.rows, two.row_names):
        return False
    pairs = zip(one.columns, two.columns, strict=True)
    return all(bool(call.interpreter.call_one(text(name), x, y)) for x, y in pairs)


def _beside(one: Table, two: Table) -> Table:
    shared = [name for name in one.names if name in two.names]
    if shared:
        message = f"Duplicate table variable name: '{shared[0]}'."
        raise MatlabError("MATLAB:table:DuplicateVarNames", message)
    if one.rows != two.rows:
        message = "All tables being horizontally concatenated must have the same number of rows."
        raise MatlabError("MATLAB:table:horzcat:SizeMismatch", message)
    names, columns = (*one.names, *two.names), (*one.columns, *two.columns)
    return Table(names, columns, one.rows, one.row_names or two.row_names)


def _below(one: Table, two: Table, join: Join) -> Table:
    if set(one.names) != set(two.names):
        message = "All tables being vertically concatenated must have the same variable names."
        raise MatlabError("MATLAB:table:vertcat:UnequalVarNames", message)
    columns = tuple(
        join([column, two.columns[two.names.index(name)]])
        for name, column in zip(one.names, one.columns, strict=True)
    )
    names = (*one.row_names, *two.row_names) if one.row_names and two.row_names else ()
    return Table(one.names, columns, one.rows + two.rows, names)


def _block(engine: Any, name: str, column: Value) -> list[str]:
    """A column's name, a line below it, a blank line and its rows, all of one width."""
    rows = _rows(engine, column)
    inner = max(map(len, rows), default=0)
    width = max(len(name), inner)
    before = " " * ((width - inner) // 2)
    centered = " " * ((width - len(name)) // 2) + name
    return [
        centered.ljust(width),
        "_" * width,
        " " * width,
        *((before + row).ljust(width) for row in rows),
    ]


def _rows(engine: Any, column: Value) -> list[str]:
    """The rows of a column as texts of one width."""
    rows = shape_of(column)[0]
    if isinstance(column, Cell):
        shown = [inside_cell(engine, x).text for x in column.data.reshape(-1, rows).T.ravel()]
        width = max(map(len, shown), default=0)
        cells = [f"{{{x.ljust(width)}}}" for x in shown]
    elif isinstance(column, Times):
        cells = list(np.array(column.texts(), object).reshape(-1, rows).T.ravel())
    else:
        cells = _elements(engine, column, rows)
    across = len(cells) // rows if rows else 1
    table = [cells[k * across : (k + 1) * across] for k in range(rows)]
    widths = [max(map(len, part)) for part in zip(*table, strict=True)]
    left = isinstance(column, Cell) or kind_of(column) in ("char", "string", "logical")
    return [
        "    ".join(x.ljust(n) if left else x.rjust(n) for x, n in zip(row, widths, strict=True))
        for row in table
    ]


def _elements(engine: Any, column: Value, rows: int) -> list[str]:
    """The elements of a column, row by row."""
    if isinstance(column, Struct) or as_array(column) is None:
        return [f"1\N{MULTIPLICATION SIGN}1 {kind_of(column)}"] * rows
    kind = kind_of(column)
    if kind == "char":
        return lines_of(column)
    table = known(engine, column).reshape(rows, -1, order="F")
    if kind == "string":
        return [f'"{x}"' for x in table.ravel()]
    if kind == "logical":
        return ["true" if x else "false" for x in table.ravel()]
    if table.dtype.kind == "c":
        return [f"{x.real:.5g}{x.imag:+.5g}i" for x in table.ravel().tolist()]
    if table.dtype.kind in "iu":
        return [str(x) for x in table.ravel().tolist()]
    return [shortest(x) for x in table.ravel().tolist()]
