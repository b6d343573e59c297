"""``jsonencode`` and ``jsondecode``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.names_of_fields import unique_names
from matlab_frontend.values.array import (
    Array,
    Cell,
    MapObject,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import cell, column, empty, objects, reverse, struct, text, wrap
from matlab_frontend.values.read import is_true, lines_of, text_of


@builtin("jsonencode")
def jsonencode(call: Call, value: Value, *options: Value) -> Value:
    """A value as JSON text."""
    pretty, nulls = False, True
    for at in range(0, len(options), 2):
        name = text_of(options[at], "An option").lower()
        if at + 1 == len(options) or name not in ("prettyprint", "convertinfandnan"):
            raise MatlabError("MATLAB:json:UnknownOption", f"'{name}' is no option with a value.")
        chosen = is_true(call.engine, options[at + 1])
        pretty, nulls = (chosen, nulls) if name == "prettyprint" else (pretty, chosen)
    shown = _encoded(call, value, nulls=nulls)
    made = json.dumps(
        shown,
        ensure_ascii=False,
        indent=2 if pretty else None,
        separators=(",", ": ") if pretty else (",", ":"),
    )
    return text(made)


def _encoded(call: Call, value: Value, *, nulls: bool) -> Any:
    """A value as the ``json`` module writes it."""
    if isinstance(value, Cell):
        return [_encoded(call, item, nulls=nulls) for item in value.data.flat]
    if isinstance(value, Struct):
        made = [
            {name: _encoded(call, item, nulls=nulls) for name, item in element.items()}
            for element in value.data.flat
        ]
        return made[0] if count_of(value) == 1 else made
    if isinstance(value, MapObject):
        return {str(k): _encoded(call, item, nulls=nulls) for k, item in value.items.items()}
    array = as_array(value)
    if array is None:
        message = f"Unable to encode objects of class '{kind_of(value)}' as JSON-formatted text."
        raise MatlabError("MATLAB:json:UnsupportedType", message)
    if array.kind == "char":
        lines = lines_of(array)
        return lines[0] if len(lines) == 1 else lines or ""
    data = call.engine.look(array.data)
    if data.dtype.kind == "c":
        message = "Unable to encode complex numbers as JSON-formatted text."
        raise MatlabError("MATLAB:json:UnsupportedType", message)
    return _nested(data, nulls=nulls)


def _nested(data: np.ndarray, *, nulls: bool) -> Any:
    """Elements as lists: rows within pages within the last dimension inside out."""
    table = data.T
    if table.size == 1 and table.ndim == 2:
        return _element(table.item(), nulls=nulls)
    if 0 in table.shape:
        return []
    if table.ndim == 2 and 1 in table.shape:
        table = table.ravel()
    return _lists(table.tolist(), nulls=nulls)


def _lists(items: Any, *, nulls: bool) -> Any:
    if isinstance(items, list):
        return [_lists(item, nulls=nulls) for item in items]
    return _element(items, nulls=nulls)


def _element(item: Any, *, nulls: bool) -> Any:
    if isinstance(item, float):
        if not np.isfinite(item):
            return None if nulls else item
        if item.is_integer() and abs(item) < 1e15:
            return int(item)
    return item


@builtin("jsondecode")
def jsondecode(_: Call, shown: Value) -> Value:
    """The value of a JSON text."""
    characters = text_of(shown, "JSON text")
    try:
        return _decoded(json.loads(characters))
    except json.JSONDecodeError as error:
        message = (
            f"JSON syntax error at line {error.lineno}, column {error.colno} (character "
            f"{error.pos + 1}): {error.msg}."
        )
        raise MatlabError("MATLAB:json:ExpectedValue", message) from error


def _decoded(item: Any) -> Value:
    if item is None:
        return empty()
    if isinstance(item, bool):
        return item
    if isinstance(item, (int, float)):
        return float(item)
    if isinstance(item, str):
        return text(item)
    if isinstance(item, dict):
        names = unique_names(list(item))
        return struct(dict(zip(names, map(_decoded, item.values()), strict=True)))
    return _array(item)


def _array(items: list[Any]) -> Value:
    """A JSON array: numbers, truth values or structs where its elements go together, else cells."""
    if not items:
        return empty()
    if all(isinstance(item, bool) for item in items):
        return wrap("logical", np.array(items).reshape(1, -1))
    if any(x is not None for x in items) and all(_is_number(x) or x is None for x in items):
        return column([float("nan") if x is None else float(x) for x in items])
    made = [_decoded(item) for item in items]
    joined = _joined(items, made)
    return cell(made, (len(made), 1)) if joined is None else joined


def _is_number(item: Any) -> bool:
    return isinstance(item, (int, float)) and not isinstance(item, bool)


def _joined(items: Sequence[Any], made: Sequence[Value]) -> Value | None:
    """Structs with the same fields as a struct array; arrays of one size as one array."""
    first = made[0]
    if isinstance(first, Struct):
        same = all(isinstance(x, Struct) and x.fields == first.fields for x in made)
        if not same or any(count_of(x) != 1 for x in made):
            return None
        elements = [x.data.item() for x in made if isinstance(x, Struct)]
        return Struct(first.fields, objects(elements, (len(elements), 1)))
    if not all(isinstance(item, list) and item for item in items):
        return None
    arrays = [as_array(x) for x in made]
    kinds = {None if x is None else x.kind for x in arrays}
    if kinds not in ({"double"}, {"logical"}) or len({shape_of(x) for x in made}) > 1:
        return None
    # A vector is a column by itself, and a row among others.
    tables = [x.data.T for x in arrays if x is not None]
    tables = [t.ravel() if t.ndim == 2 and t.shape[1] == 1 else t for t in tables]
    return Array(kinds.pop() or "double", reverse(np.stack(tables)))
