"""Values inside cells and structs, shown in one line each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matlab_frontend.display_numbers import SHORT, TIMES, float_layout, in_groups
from matlab_frontend.engine import Engine
from matlab_frontend.values.array import (
    OBJECTS,
    AnonymousHandle,
    Array,
    Cell,
    Extension,
    NamedHandle,
    Shape,
    Struct,
    Value,
    as_array,
    kind_of,
    shape_of,
)
from matlab_frontend.values.read import decode
from runmat_jit.core.frozen import frozen

_MOST_ELEMENTS = 10
_MOST_CHARACTERS = 75


def inline(engine: Engine, value: Value) -> str:
    """A field of a struct: ``1``, ``[1 2 3]``, ``'text'``, ``[2x2 double]``."""
    if isinstance(value, NamedHandle):
        return f"@{value.name}"
    if isinstance(value, AnonymousHandle):
        return value.text
    if isinstance(value, Cell):
        if not _is_short_row(shape_of(value)):
            return "{}" if shape_of(value) == (0, 0) else f"{{{_size(value)} cell}}"
        return "{" + "  ".join(inside_cell(engine, item).text for item in value.data.flat) + "}"
    if isinstance(value, Extension) and (shown := value.brief()):
        return shown
    if isinstance(value, (Struct, Extension, *OBJECTS)):
        return f"[{_size(value)} {kind_of(value)}]"
    array = as_array(value)
    assert array is not None, "all other values are arrays"
    shape = shape_of(array)
    if array.kind in ("char", "string") and (text := _short_text(array)) is not None:
        return text
    if shape == (0, 0) and array.kind == "double":
        return "[]"
    if _is_short_row(shape):
        listed = numbers(engine.look(array.data).ravel(), array.kind)
        return listed[0] if len(listed) == 1 else f"[{' '.join(listed)}]"
    return f"[{_size(array)} {array.kind}]"


@frozen
class Inside:
    """What stands between the braces of an element; numbers are aligned at the right."""

    text: str
    is_number: bool = False

    def padded(self, width: int) -> str:
        """The text in so many characters."""
        if self.is_number:
            return f"[{self.text[1:-1]:>{width - 2}}]"
        return self.text.ljust(width)


def inside_cell(engine: Engine, value: Value) -> Inside:
    """An element of a cell array: ``[1]``, ``'text'``, ``2x2 double``."""
    if isinstance(value, Extension) and (brief := value.brief()):
        return Inside(f"[{brief}]")
    if isinstance(value, (Cell, Struct, Extension, *OBJECTS)):
        return Inside(f"{_size(value)} {kind_of(value)}")
    array = as_array(value)
    if array is None:
        return Inside(inline(engine, value))
    shape = shape_of(array)
    if array.kind in ("char", "string") and (text := _short_text(array)) is not None:
        return Inside(text if shape != (0, 0) else "0" + TIMES + "0 char")
    if array.kind not in ("char", "string") and _is_short_row(shape):
        listed = numbers(engine.look(array.data).ravel(), array.kind)
        return Inside(f"[{' '.join(listed)}]", is_number=True)
    return Inside(f"{_size(array)} {array.kind}")


def _is_short_row(shape: Shape) -> bool:
    return len(shape) == 2 and shape[0] == 1 and 0 < shape[1] <= _MOST_ELEMENTS


def cell_lines(engine: Engine, value: Cell) -> Iterator[str]:
    """The rows of a cell array, columns aligned."""
    rows = value.data.reshape(-1, value.data.shape[-1]).T
    table = [[inside_cell(engine, item) for item in row] for row in rows]
    widths = [max(len(item.text) for item in column) for column in zip(*table, strict=True)]
    lines = [
        [f"    {{{item.padded(width)}}}" for item, width in zip(row, widths, strict=True)]
        for row in table
    ]
    yield from in_groups(lines, [width + 6 for width in widths])


def numbers(data: np.ndarray, kind: str) -> list[str]:
    """Elements of a short row, each as short as its array's layout allows."""
    if kind == "logical":
        return [str(int(x)) for x in data]
    if data.dtype.kind == "c":
        return [f"{x.real:.4f}{x.imag:+.4f}i" for x in data]
    if kind not in ("double", "single"):
        return [str(x) for x in data]
    layout = float_layout(data.reshape(1, -1)[:, :1], SHORT.double) if data.size == 1 else None
    if layout is not None:
        return [layout.element(data[0].item()).strip()]
    whole = bool(np.all(np.trunc(data) == data))
    return [
        float_layout(np.array([[x]]), SHORT.double).element(x).strip()
        if whole or x == 0
        else f"{x:.4f}"
        if 0.001 <= abs(x) < 1000
        else f"{x:.4e}"
        for x in data.tolist()
    ]


def _short_text(array: Array) -> str | None:
    shape = shape_of(array)
    if array.kind == "string":
        return f'"{array.data.item()}"' if shape == (1, 1) else None
    if shape == (0, 0):
        return "''"
    if len(shape) == 2 and shape[0] == 1 and 0 < shape[1] <= _MOST_CHARACTERS:
        return f"'{decode(np.asarray(array.data).ravel())}'"
    return None


def _size(value: Value) -> str:
    return TIMES.join(map(str, shape_of(value)))
