"""Tables: made, converted, sorted, joined and summarized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matlab_frontend.builtins.callers import argument_names
from matlab_frontend.builtins.options import options_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.names_of_fields import unique_names
from matlab_frontend.subscripts import Span
from matlab_frontend.tables import Table, take_rows
from matlab_frontend.times import Times
from matlab_frontend.values.array import (
    HANDLES,
    Cell,
    Extension,
    NamedHandle,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import cell, column, empty, objects, strings, text, wrap
from matlab_frontend.values.read import (
    cell_of,
    is_text,
    is_true,
    known,
    lines_of,
    number_of,
    struct_of,
    text_of,
    wrong_class,
)


def table_of(value: Value) -> Table:
    """The value as a table.

    Raises:
        MatlabError: it is of another class.

    """
    if not isinstance(value, Table):
        raise wrong_class("table", value)
    return value


def take_options(given: list[Value], names: Sequence[str], function: str) -> dict[str, Value]:
    """Take names and values off the end of arguments, from the first text that is a name on.

    Raises:
        MatlabError: an option is not supported.

    """
    start = next(
        (k for k, x in enumerate(given) if is_text(x) and text_of(x).lower() in names), len(given)
    )
    made: dict[str, Value] = {}
    for at in range(start, len(given), 2):
        name = text_of(given[at], "An option").lower()
        if name not in names or at + 1 == len(given):
            message = f"'{name}' is not an option with a value that is supported."
            raise MatlabError(f"MATLAB:{function}:UnknownOption", message)
        made[name] = given[at + 1]
    del given[start:]
    return made


def make_table(
    columns: Sequence[Value], names: Sequence[str], row_names: Sequence[str] = ()
) -> Table:
    """A table of columns.

    Raises:
        MatlabError: their rows are not as many, or names are missing or met twice.

    """
    heights = {shape_of(x)[0] for x in columns}
    if len(heights) > 1:
        message = "All table variables must have the same number of rows."
        raise MatlabError("MATLAB:table:UnequalVarLengths", message)
    if len(names) != len(columns):
        message = "The VariableNames property must contain one name for each variable."
        raise MatlabError("MATLAB:table:IncorrectNumberOfVarNames", message)
    if len(set(names)) != len(names):
        raise MatlabError("MATLAB:table:DuplicateVarNames", "Names of variables must differ.")
    rows = heights.pop() if heights else len(row_names)
    if row_names and len(row_names) != rows:
        message = "The RowNames property must contain one name for each row."
        raise MatlabError("MATLAB:table:IncorrectNumberOfRowNames", message)
    return Table(tuple(names), tuple(columns), rows, tuple(row_names))


def _named(options: dict[str, Value], key: str) -> list[str]:
    return lines_of(options[key]) if key in options else []


@builtin("table")
def table(call: Call, *arguments: Value) -> Value:
    """A table of columns, named as the variables that they are, or by ``'VariableNames'``."""
    given = list(arguments)
    allowed = ("size", "variabletypes", "variablenames", "rownames")
    options = take_options(given, allowed, "table")
    names = _named(options, "variablenames")
    if "size" in options or "variabletypes" in options:
        return _table_of_size(call, given, options, names)
    if not names:
        own = [] if call.frame is None else argument_names(call.frame)
        own += [""] * (len(given) - len(own))
        names = [name or f"Var{k + 1}" for k, name in enumerate(own[: len(given)])]
    return make_table(given, names, _named(options, "rownames"))


def _table_of_size(
    call: Call, given: Sequence[Value], options: dict[str, Value], names: list[str]
) -> Value:
    """A table of a size, whose variables of given types hold the types' defaults."""
    if given or not {"size", "variabletypes"} <= options.keys():
        message = "'Size' and 'VariableTypes' are given together, and without variables."
        raise MatlabError("MATLAB:table:InvalidSize", message)
    size = known(call.engine, options["size"]).ravel().astype(int)
    types = lines_of(options["variabletypes"])
    if size.size != 2 or size[1] != len(types):
        message = "The VariableTypes must be as many as the size has variables."
        raise MatlabError("MATLAB:table:VarTypesMismatch", message)
    rows = int(size[0])
    columns = [_default_column(name, rows) for name in types]
    names = names or [f"Var{k + 1}" for k in range(len(types))]
    made = make_table(columns, names, _named(options, "rownames"))
    return made if columns else replace(made, rows=rows)


def _default_column(name: str, rows: int) -> Value:
    """The default of a type, once for each row."""
    if name in ("cell", "cellstr"):
        item = empty() if name == "cell" else text("")
        return cell([item] * rows, (rows, 1))
    if name == "string":
        return strings([""] * rows, (rows, 1))
    if name in ("datetime", "duration"):
        value = np.nan if name == "datetime" else 0.0
        return Times(name, np.full((1, rows), value), "")
    if name == "struct":
        return Struct((), objects([{} for _ in range(rows)], (rows, 1)))
    kind = {"doublenan": "double", "singlenan": "single"}.get(name, name)
    if kind not in DTYPES or kind == "char":
        message = f"'{name}' is no type of variables of tables."
        raise MatlabError("MATLAB:table:InvalidVarType", message)
    value = np.nan if name != kind else 0
    return wrap(kind, np.full((1, rows), value, DTYPES[kind]))


def _default_names(options: dict[str, Value], count: int, stem: str = "Var") -> list[str]:
    return _named(options, "variablenames") or [f"{stem}{k + 1}" for k in range(count)]


@builtin("array2table")
def array2table(call: Call, x: Value, *given: Value) -> Value:
    """A table whose variables are the columns of a matrix."""
    options = options_of(given, ("variablenames", "rownames"), "array2table")
    rows, count = shape_of(x)[:2]
    own = argument_names(call.frame) if call.frame is not None else []
    names = _default_names(options, count, own[0] if own and own[0] else "Var")
    columns = [_column_of(call, x, k) for k in range(count)]
    made = make_table(columns, names, _named(options, "rownames"))
    return made if count else replace(made, rows=rows)


def _column_of(call: Call, x: Value, k: int) -> Value:
    if isinstance(x, Extension):
        return x.index(call.engine, [Span(1, shape_of(x)[0]), k + 1.0])
    if isinstance(x, Cell):
        return Cell(x.data[k : k + 1])
    array = as_array(x)
    if array is None:
        raise wrong_class("double", x)
    return wrap(array.kind, np.ascontiguousarray(call.engine.look(array.data)[k : k + 1]))


@builtin("cell2table")
def cell2table(call: Call, x: Value, *given: Value) -> Value:
    """A table whose variables are the columns of a cell array; numbers become arrays."""
    options = options_of(given, ("variablenames", "rownames"), "cell2table")
    columns = [_uncelled(call, Cell(part[None])) for part in cell_of(x).data]
    names = _default_names(options, len(columns))
    return make_table(columns, names, _named(options, "rownames"))


def _uncelled(call: Call, column: Cell) -> Value:
    """A column of cells as an array, where each holds one number or truth value."""
    items = list(column.data.flat)
    arrays = [as_array(item) for item in items]
    kinds = {None if array is None else array.kind for array in arrays}
    if len(kinds) != 1 or kinds & {None, "char"} or any(count_of(item) != 1 for item in items):
        return column
    return call.interpreter.call_one(text("vertcat"), *items)


@builtin("struct2table")
def struct2table(call: Call, x: Value, *given: Value) -> Value:
    """A table whose variables are the fields of a struct array, or of a struct of columns."""
    options = options_of(given, ("asarray", "rownames"), "struct2table")
    held = struct_of(x)
    as_array_ = "asarray" in options and is_true(call.engine, options["asarray"])
    if count_of(held) == 1 and not as_array_:
        return make_table(list(held.data.item().values()), held.fields, _named(options, "rownames"))
    elements = list(held.data.flat)
    columns = [
        _uncelled(call, cell([element[name] for element in elements], (len(elements), 1)))
        for name in held.fields
    ]
    return make_table(columns, held.fields, _named(options, "rownames"))


@builtin("table2struct")
def table2struct(call: Call, x: Value) -> Value:
    """A struct array with an element for each row."""
    held = table_of(x)
    rows = [
        {name: _inside(take_rows(call.engine, part, k + 1.0)) for name, part in _pairs(held)}
        for k in range(held.rows)
    ]
    return Struct(tuple(unique_names(held.names)), objects(rows, (held.rows, 1)))


def _pairs(held: Table) -> list[tuple[str, Value]]:
    return list(zip(held.names, held.columns, strict=True))


def _inside(value: Value) -> Value:
    if isinstance(value, Cell) and count_of(value) == 1:
        found: Value = value.data.item()
        return found
    return value


@builtin("table2array")
def table2array(call: Call, x: Value) -> Value:
    """The variables side by side in one array."""
    return call.interpreter.call_one(text("horzcat"), *table_of(x).columns)


@builtin("table2cell")
def table2cell(call: Call, x: Value) -> Value:
    """A cell array with a cell for each variable of each row."""
    held = table_of(x)
    items = [
        _inside(take_rows(call.engine, part, k + 1.0))
        for part in held.columns
        for k in range(held.rows)
    ]
    return cell(items, (held.rows, len(held.names)))


@builtin("istable")
def istable(_: Call, x: Value) -> Value:
    """True if a value is a table."""
    return isinstance(x, Table)


@builtin("height")
def height(_: Call, x: Value) -> Value:
    """Number of rows a table or an array has."""
    return float(shape_of(x)[0])


@builtin("width")
def width(_: Call, x: Value) -> Value:
    """Number of variables a table, or columns an array has."""
    return float(shape_of(x)[1])


def _rows_at(call: Call, held: Table, numbers: np.ndarray) -> Table:
    """Rows by their numbers, from 0."""
    at = wrap("double", (numbers + 1.0).reshape(1, -1))
    return held.take(call.engine, at, range(len(held.names)))


@builtin("head")
def head(call: Call, x: Value, count: Value = 8.0) -> Value:
    """The first rows of a table or an array, eight unless told."""
    rows = min(int(number_of(call.engine, count)), shape_of(x)[0])
    return _part(call, x, np.arange(rows))


@builtin("tail")
def tail(call: Call, x: Value, count: Value = 8.0) -> Value:
    """The last rows of a table or an array, eight unless told."""
    rows = shape_of(x)[0]
    return _part(call, x, np.arange(max(rows - int(number_of(call.engine, count)), 0), rows))


def _part(call: Call, x: Value, numbers: np.ndarray) -> Value:
    if isinstance(x, Table):
        return _rows_at(call, x, numbers)
    return take_rows(call.engine, x, wrap("double", (numbers + 1.0).reshape(1, -1)))


def _codes(call: Call, part: Value) -> np.ndarray:
    """Numbers that are ordered as the elements of a column are; equal ones for equal elements."""
    if isinstance(part, Times):
        keys: Any = part.data.ravel()
    elif isinstance(part, Cell) or kind_of(part) in ("string", "char"):
        keys = np.array(lines_of(part), str)
    else:
        keys = known(call.engine, part)
        if keys.ndim != 2 or keys.shape[1] != 1:
            message = "Variables to sort or group by must have one column."
            raise MatlabError("MATLAB:table:InvalidKey", message)
        keys = keys.ravel()
    return np.unique(keys, return_inverse=True)[1].ravel()


@builtin("table.sortrows")
def sort_table(call: Call, x: Value, *given: Value) -> Value | tuple[Value, ...]:
    """The rows of a table in order of some variables, and where they were."""
    held, left = table_of(x), list(given)
    keys: list[int] = list(range(len(held.names)))
    if left:
        chosen = left.pop(0)
        downwards = [False] * len(keys)
        if not is_text(chosen) and not isinstance(chosen, Cell) and kind_of(chosen) != "string":
            signs = known(call.engine, chosen).ravel()
            downwards = [bool(x < 0) for x in signs]
            chosen = column(np.abs(signs).tolist())
        keys = held.column_numbers(call.engine, chosen)
    else:
        downwards = [False] * len(keys)
    if left:
        words = [line.lower() for line in lines_of(left.pop(0))]
        if not set(words) <= {"ascend", "descend"} or left:
            message = "A direction is 'ascend' or 'descend'; other options are not supported."
            raise MatlabError("MATLAB:table:sortrows:UnknownDirection", message)
        words = words * len(keys) if len(words) == 1 else words
        downwards = [word == "descend" for word in words]
    codes = [
        -_codes(call, held.columns[k]) if down else _codes(call, held.columns[k])
        for k, down in zip(keys, downwards, strict=False)
    ]
    order = np.lexsort(codes[::-1]) if codes else np.arange(held.rows)
    return _rows_at(call, held, order), column((order + 1.0).tolist())


def _keys_of(call: Call, one: Table, two: Table, options: dict[str, Value]) -> list[str]:
    del call
    if "keys" in options:
        return lines_of(options["keys"])
    shared = [name for name in one.names if name in two.names]
    if not shared:
        message = "Cannot find a common table variable to use as a key variable."
        raise MatlabError("MATLAB:table:join:CantInferKey", message)
    return shared


def _row_keys(call: Call, one: Table, two: Table, keys: Sequence[str]) -> tuple[Any, Any]:
    """The keys of the rows of two tables as tuples of numbers."""
    codes = [
        _codes(call, _stacked(call, one.columns[one.number(k)], two.columns[two.number(k)]))
        for k in keys
    ]
    rows = list(zip(*(code.tolist() for code in codes), strict=True))
    return rows[: one.rows], rows[one.rows :]


def _stacked(call: Call, one: Value, two: Value) -> Value:
    return call.interpreter.call_one(text("vertcat"), one, two)


def _joined(
    call: Call, one: Table, two: Table, keys: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> Table:
    """Pairs of rows side by side, the keys once; names met twice tell their tables."""
    left, right = np.array(pairs, int).reshape(-1, 2).T
    first, second = _rows_at(call, one, left), _rows_at(call, two, right)
    others = [name for name in two.names if name not in keys]
    shared = set(one.names) & set(others)
    names = [f"{name}_left" if name in shared else name for name in one.names]
    names += [f"{name}_right" if name in shared else name for name in others]
    columns = [*first.columns, *(second.columns[two.number(name)] for name in others)]
    return Table(tuple(names), tuple(columns), len(pairs))


@builtin("innerjoin")
def innerjoin(call: Call, x: Value, y: Value, *given: Value) -> Value:
    """The rows of two tables whose keys are equal, side by side."""
    one, two = table_of(x), table_of(y)
    keys = _keys_of(call, one, two, options_of(given, ("keys",), "innerjoin"))
    left_keys, right_keys = _row_keys(call, one, two, keys)
    pairs = [
        (key, at, k)
        for at, key in enumerate(left_keys)
        for k, other in enumerate(right_keys)
        if key == other
    ]
    pairs.sort()
    return _joined(call, one, two, keys, [pair[1:] for pair in pairs])


@builtin("table.join")
def join_tables(call: Call, x: Value, y: Value, *given: Value) -> Value:
    """Each row of a table beside the one row of another table that has its keys."""
    one, two = table_of(x), table_of(y)
    keys = _keys_of(call, one, two, options_of(given, ("keys",), "join"))
    left_keys, right_keys = _row_keys(call, one, two, keys)
    if len(set(right_keys)) != len(right_keys):
        message = "The key variables of the right table must have different values."
        raise MatlabError("MATLAB:table:join:DuplicateRightKeyVarValues", message)
    missing = [key for key in left_keys if key not in right_keys]
    if missing:
        message = "The key variable of the right table must contain all values of the left one."
        raise MatlabError("MATLAB:table:join:LeftKeyValueNotFound", message)
    found = [(at, right_keys.index(key)) for at, key in enumerate(left_keys)]
    return _joined(call, one, two, keys, found)


@builtin("groupsummary")
def groupsummary(call: Call, x: Value, groups: Value, *given: Value) -> Value:
    """Number of rows each group has, and statistics of its other variables."""
    if len(given) > 2:
        raise MatlabError("MATLAB:groupsummary:UnknownOption", "Options are not supported.")
    methods, variables = (*given, None, None)[:2]
    held = table_of(x)
    keys = held.column_numbers(call.engine, groups)
    codes = list(zip(*(_codes(call, held.columns[k]).tolist() for k in keys), strict=True))
    found = sorted(set(codes))
    members = [np.array([k for k, code in enumerate(codes) if code == group]) for group in found]
    firsts = _rows_at(call, held, np.array([rows[0] for rows in members], int))
    names = [held.names[k] for k in keys]
    columns: list[Value] = [firsts.columns[k] for k in keys]
    names.append("GroupCount")
    columns.append(column([float(rows.size) for rows in members]))
    if methods is None:
        return make_table(columns, names)
    chosen = (
        [k for k in range(len(held.names)) if k not in keys and _is_numeric(held.columns[k])]
        if variables is None
        else held.column_numbers(call.engine, variables)
    )
    for k in chosen:
        for name, function in _methods(methods):
            parts = [
                call.interpreter.call_one(function, _at(call, held.columns[k], rows))
                for rows in members
            ]
            names.append(f"{name}_{held.names[k]}")
            columns.append(call.interpreter.call_one(text("vertcat"), *parts))
    return make_table(columns, names)


def _is_numeric(part: Value) -> bool:
    return as_array(part) is not None and kind_of(part) not in ("char", "string")


def _at(call: Call, part: Value, rows: np.ndarray) -> Value:
    return take_rows(call.engine, part, wrap("double", (rows + 1.0).reshape(1, -1)))


_METHODS = ("mean", "sum", "min", "max", "median", "mode", "var", "std", "range")


def _methods(methods: Value) -> list[tuple[str, Value]]:
    """Names and functions of statistics.

    Raises:
        MatlabError: a name is not known.

    """
    if isinstance(methods, HANDLES):
        return [("fun1", methods)]
    made: list[tuple[str, Value]] = []
    for name in lines_of(methods):
        if name not in _METHODS:
            message = f"The method '{name}' is not among {', '.join(_METHODS)}."
            raise MatlabError("MATLAB:groupsummary:InvalidMethod", message)
        made.append((name, NamedHandle(name)))
    return made


@builtin("varfun")
def varfun(call: Call, function: Value, x: Value, *given: Value) -> Value:
    """A function of each variable, as a table or with ``'uniform'`` as an array."""
    held = table_of(x)
    options = options_of(given, ("outputformat", "inputvariables"), "varfun")
    wanted = options.get("inputvariables")
    numbers = range(len(held.names)) if wanted is None else held.column_numbers(call.engine, wanted)
    made = [call.interpreter.call_one(function, held.columns[k]) for k in numbers]
    form = text_of(options["outputformat"]) if "outputformat" in options else "table"
    if form == "uniform":
        return call.interpreter.call_one(text("horzcat"), *made)
    if form != "table":
        message = f"The output format '{form}' is not supported."
        raise MatlabError("MATLAB:varfun:UnknownOption", message)
    prefix = function.name if isinstance(function, NamedHandle) else "Fun"
    return make_table(made, [f"{prefix}_{held.names[k]}" for k in numbers])


@builtin("rowfun")
def rowfun(call: Call, function: Value, x: Value, *given: Value) -> Value:
    """A function of each row's values, as a table or with ``'uniform'`` as an array."""
    held = table_of(x)
    options = options_of(given, ("outputformat", "inputvariables", "outputvariablenames"), "rowfun")
    wanted = options.get("inputvariables")
    numbers = range(len(held.names)) if wanted is None else held.column_numbers(call.engine, wanted)
    columns = [held.columns[k] for k in numbers]
    made = [
        call.interpreter.call_one(
            function, *(take_rows(call.engine, column, row + 1.0) for column in columns)
        )
        for row in range(held.rows)
    ]
    form = text_of(options["outputformat"]) if "outputformat" in options else "table"
    if form == "cell":
        return cell(made, (len(made), 1))
    stacked = call.interpreter.call_one(text("vertcat"), *made)
    if form == "uniform":
        return stacked
    if form != "table":
        message = f"The output format '{form}' is not supported."
        raise MatlabError("MATLAB:rowfun:UnknownOption", message)
    return make_table([stacked], _named(options, "outputvariablenames") or ["Var1"], held.row_names)


@builtin("addvars")
def addvars(call: Call, x: Value, *given: Value) -> Value:
    """A table with more variables at its end."""
    left = list(given)
    options = take_options(left, ("newvariablenames",), "addvars")
    held = table_of(x)
    own = [] if call.frame is None else argument_names(call.frame)[1:]
    own += [""] * (len(left) - len(own))
    names = _named(options, "newvariablenames") or [
        name or f"Var{len(held.names) + k + 1}" for k, name in enumerate(own)
    ]
    return held.join(call.engine, [held, make_table(left, names[: len(left)])], 1, lambda x: x[0])


@builtin("removevars")
def removevars(call: Call, x: Value, names: Value) -> Value:
    """A table without some variables."""
    held = table_of(x)
    return held.without_columns(held.column_numbers(call.engine, names))


@builtin("renamevars")
def renamevars(_: Call, x: Value, old: Value, new: Value) -> Value:
    """A table with other names of some variables."""
    held = table_of(x)
    renamed = dict(zip(lines_of(old), lines_of(new), strict=True))
    for name in renamed:
        held.number(name)
    names = [renamed.get(name, name) for name in held.names]
    return make_table(held.columns, names, held.row_names)
