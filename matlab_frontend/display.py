"""How values are shown: ``x =`` and the layouts of ``format short`` and ``format long``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from matlab_frontend.display_elements import cell_lines, inline
from matlab_frontend.display_numbers import (
    SHORT,
    TIMES,
    Layout,
    Style,
    Styles,
    complex_layout,
    float_layout,
    in_groups,
    integer_layout,
    logical_layout,
)
from matlab_frontend.engine import Engine
from matlab_frontend.values.array import (
    OBJECTS,
    AnonymousHandle,
    Array,
    Cell,
    CleanupObject,
    ErrorObject,
    Extension,
    NamedHandle,
    Object,
    ParserObject,
    Struct,
    Value,
    as_array,
    kind_of,
    shape_of,
)
from matlab_frontend.values.kinds import INTEGER_KINDS
from matlab_frontend.values.read import lines_of
from runmat_jit.core.frozen import frozen


@frozen
class Shown:
    """A value's header (``1x3 int32 row vector``, or nothing) and its lines."""

    header: str
    lines: tuple[str, ...]


def display(engine: Engine, name: str, value: Value, style: Styles = SHORT) -> str:
    """The text that a statement without a semicolon prints."""
    array = _array(value)
    if array is not None and len(shape_of(array)) > 2 and 0 not in shape_of(array):
        return "".join(_pages(engine, name, array, style))
    shown = show(engine, value, style)
    gap = " " if _has_open_equals(value) else ""
    header = f"  {shown.header}\n\n" if shown.header else ""
    body = "".join(f"{line}\n" for line in shown.lines)
    end = "" if shown.header and not shown.lines else "\n"
    return f"\n{name} ={gap}\n\n{header}{body}{end}"


def disp(engine: Engine, value: Value, style: Styles = SHORT) -> str:
    """The text that ``disp`` prints: the lines alone."""
    array = _array(value)
    if array is not None and len(shape_of(array)) > 2:
        return "".join(_pages(engine, "", array, style))
    if array is not None and array.kind == "string" and 0 not in shape_of(array):
        return "".join(f"{line}\n" for line in _string_lines(array, alone=True))
    if array is not None and array.kind == "char":
        return "".join(f"{line}\n" for line in lines_of(array) or [""])
    if 0 in shape_of(value) and array is not None:
        shape = shape_of(value)
        return "" if shape == (0, 0) else f"{' ' * 2}{_empty_text(value)}\n"
    shown = show(engine, value, style)
    return "".join(f"{line}\n" for line in shown.lines or (f"  {shown.header}",))


def _array(value: Value) -> Array | None:
    """A value as an array if it is shown as one."""
    return None if isinstance(value, Extension) else as_array(value)


def show(engine: Engine, value: Value, style: Styles = SHORT) -> Shown:
    """Header and lines of a value with two axes."""
    if isinstance(value, Cell):
        return _show_cell(engine, value)
    if isinstance(value, Struct):
        return _show_struct(engine, value)
    if isinstance(value, (NamedHandle, AnonymousHandle)):
        return Shown("function_handle with value:", (f"    {inline(engine, value)}",))
    if isinstance(value, Extension):
        header, lines = value.show(engine)
        return Shown(header, lines)
    if isinstance(value, OBJECTS):
        return _show_object(engine, value)
    array = as_array(value)
    assert array is not None, "all other values are arrays"
    shape = shape_of(array)
    if array.kind == "string" and 0 in shape:
        return Shown(f"{_size(shape)} empty string array", ())
    if array.kind == "string":
        header = "" if shape == (1, 1) else f"{_size(shape)} string array"
        return Shown(header, tuple(_string_lines(array, alone=False)))
    if array.kind == "char":
        return _show_characters(array)
    if 0 in shape:
        if shape == (0, 0) and array.kind == "double":
            return Shown("", ("     []",))
        return Shown(_empty_text(value), ())
    return Shown(_header(array), tuple(number_lines(engine.look(array.data).T, array.kind, style)))


def number_lines(table: np.ndarray, kind: str, style: Styles = SHORT) -> list[str]:
    """The lines of a matrix of numbers, split into groups of columns that fit the window."""
    layout = _layout(table, kind, style)
    lines = [f"   {layout.scale_text} *", ""] if layout.scale_text else []
    rows = [[layout.element(x) for x in row] for row in table.tolist()]
    return lines + list(in_groups(rows, [layout.width] * table.shape[1]))


def _layout(table: np.ndarray, kind: str, style: Styles) -> Layout:
    chooser: Callable[[np.ndarray, Style], Layout]
    if kind == "logical":
        return logical_layout()
    if kind in INTEGER_KINDS:
        return integer_layout(table)
    chooser = complex_layout if table.dtype.kind == "c" else float_layout
    return chooser(table, style.double if kind == "double" else style.single)


def _header(array: Array) -> str:
    if array.kind == "double":
        return ""
    shape = shape_of(array)
    if shape == (1, 1):
        return array.kind
    if array.kind == "logical":
        return f"{_size(shape)} logical array"
    return f"{_size(shape)} {array.kind} {_form(shape)}"


def _form(shape: Sequence[int]) -> str:
    if len(shape) > 2:
        return "array"
    return "row vector" if shape[0] == 1 else "column vector" if shape[1] == 1 else "matrix"


def _size(shape: Sequence[int]) -> str:
    return TIMES.join(map(str, shape))


def _empty_text(value: Value) -> str:
    shape, kind = shape_of(value), kind_of(value)
    if kind in ("char", "cell", "struct", "string", "logical") or shape == (0, 0):
        form = " array" if kind != "double" and kind not in INTEGER_KINDS else " matrix"
        return f"{_size(shape)} empty {kind}{form}"
    return f"{_size(shape)} empty {kind} {_form(shape)}"


def _show_characters(array: Array) -> Shown:
    shape = shape_of(array)
    if 0 in shape:
        return Shown(_empty_text(array), ())
    lines = tuple(f"    '{line}'" for line in lines_of(array))
    return Shown("" if shape[0] == 1 else f"{_size(shape)} char array", lines)


def _string_lines(array: Array, *, alone: bool) -> Iterator[str]:
    table = array.data.T
    if alone and table.size == 1:
        yield str(table[0, 0])
        return
    widths = [max(len(f'"{x}"') for x in column) for column in table.T]
    for row in table:
        yield (
            "".join(
                "    " + f'"{x}"'.ljust(width) for x, width in zip(row, widths, strict=True)
            ).rstrip()
            if table.size == 1
            else "".join(
                "    " + f'"{x}"'.ljust(width) for x, width in zip(row, widths, strict=True)
            )
        )


def _show_cell(engine: Engine, value: Cell) -> Shown:
    shape = shape_of(value)
    if 0 in shape:
        return Shown(f"{_size(shape)} empty cell array", ())
    return Shown(f"{_size(shape)} cell array", tuple(cell_lines(engine, value)))


def _show_struct(engine: Engine, value: Struct) -> Shown:
    shape = shape_of(value)
    if shape != (1, 1):
        title = f"{_size(shape)} {'empty ' if 0 in shape else ''}struct array with "
        title += "fields:" if value.fields else "no fields."
        return Shown(title, tuple(f"    {name}" for name in value.fields))
    if not value.fields:
        return Shown("struct with no fields.", ())
    width = max(map(len, value.fields)) + 4
    element = value.data.item()
    return Shown(
        "struct with fields:",
        tuple(f"{name:>{width}}: {inline(engine, element[name])}" for name in value.fields),
    )


def _show_object(engine: Engine, value: Object) -> Shown:
    if isinstance(value, CleanupObject):
        return Shown("onCleanup with properties:", (f"    task: {inline(engine, value.task)}",))
    if isinstance(value, ErrorObject):
        causes = f"{{{_size((len(value.causes), 1))} cell}}" if value.causes else "{}"
        return Shown(
            "MException with properties:",
            (
                f"    identifier: '{value.identifier}'",
                f"       message: '{value.message}'",
                f"         cause: {causes}",
                f"         stack: [{_size((len(value.stack), 1))} struct]",
                "    Correction: []",
            ),
        )
    if isinstance(value, ParserObject):
        names = (*value.required, *value.optional, *value.parameters)
        return Shown("inputParser with parameters:", tuple(f"    {name}" for name in names))
    return Shown(
        "Map with properties:",
        (
            f"        Count: {len(value.items)}",
            f"      KeyType: {value.key_kind}",
            "    ValueType: any",
        ),
    )


def _has_open_equals(value: Value) -> bool:
    """MATLAB leaves a blank after the sign for structs, strings and objects."""
    if isinstance(value, Extension):
        return value.spaced
    if isinstance(value, (Struct, *OBJECTS)):
        return True
    return isinstance(value, Array) and value.kind == "string" and shape_of(value) == (1, 1)


def _pages(engine: Engine, name: str, array: Array, style: Styles) -> Iterator[str]:
    """One matrix a page, with the page's subscripts in its title."""
    data = engine.look(array.data)
    header = _header(array)
    if name and header:
        yield f"\n{name} =\n\n  {header}\n"
    shape = shape_of(array)
    extents = shape[2:]
    for page in range(math.prod(extents)):
        subscripts = np.unravel_index(page, extents, order="F")
        where = ",".join(str(int(k) + 1) for k in subscripts)
        table = data[tuple(reversed([int(k) for k in subscripts]))].T
        if array.kind == "char":
            lines = [f"    '{line}'" for line in lines_of(Array("char", table.T))]
        else:
            lines = number_lines(table, array.kind, style)
        yield f"\n{name}(:,:,{where}) =\n\n" + "".join(f"{line}\n" for line in lines) + "\n"
