"""Arrays and cell arrays as sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.concatenation import concatenated_kind
from matlab_frontend.values.array import Array, Cell, Value, count_of, shape_of
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import cell, column, empty, reverse, text, wrap
from matlab_frontend.values.read import array_of, is_text, known, lines_of, text_of


def _words(options: Sequence[Value]) -> list[str]:
    return [text_of(option) for option in options if is_text(option)]


def _is_row(x: Value) -> bool:
    return len(shape_of(x)) == 2 and shape_of(x)[0] == 1 and count_of(x) > 0


def _vector(kind: str, data: np.ndarray, *, row: bool) -> Value:
    return wrap(kind, data.reshape((-1, 1) if row else (1, -1)))


@builtin("unique")
def unique(call: Call, x: Value, *options: Value) -> Value | tuple[Value, ...]:
    """The different elements in order, where they are, and how they give back the array."""
    words = _words(options)
    if isinstance(x, Cell):
        return _unique_texts(x, words)
    array = array_of(x)
    if "rows" in words:
        return _unique_rows(call, array)
    data = call.engine.look(array.data).ravel()
    if shape_of(x) == (0, 0):
        return array, empty(), empty()
    found, first, back = np.unique(data, return_index=True, return_inverse=True, equal_nan=False)
    if "last" in words:
        first = data.size - 1 - np.unique(data[::-1], return_index=True)[1]
    if "stable" in words:
        order = np.argsort(first, kind="stable")
        found, first = found[order], first[order]
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        back = place[back]
    return (
        _vector(array.kind, found, row=_is_row(x)),
        column(first + 1.0),
        column(back.ravel() + 1.0),
    )


def _unique_rows(call: Call, array: Array) -> tuple[Value, ...]:
    table = known(call.engine, array)
    found, first, back = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return (
        wrap(array.kind, reverse(found)),
        column(first + 1.0),
        column(np.ravel(back) + 1.0),
    )


def _unique_texts(x: Cell, words: list[str]) -> tuple[Value, ...]:
    lines = lines_of(x)
    found = list(dict.fromkeys(lines)) if "stable" in words else sorted(set(lines))
    shape = (1, len(found)) if _is_row(x) else (len(found), 1)
    return (
        cell([text(line) for line in found], shape),
        column(lines.index(line) + 1.0 for line in found),
        column(found.index(line) + 1.0 for line in lines),
    )


@builtin("ismember")
def ismember(call: Call, x: Value, members: Value) -> Value | tuple[Value, ...]:
    """True where an element is a member of a set, and where it stands there first."""
    if isinstance(members, Cell) or (is_text(members) and isinstance(x, Cell)):
        return _text_members(x, members)
    array, table = array_of(x), array_of(members)
    data = call.engine.look(array.data)
    pool = call.engine.look(table.data).ravel()
    order = np.argsort(pool, kind="stable")
    at = np.searchsorted(pool[order], data.ravel())
    inside = at < pool.size
    where = np.where(inside, order[np.minimum(at, max(pool.size - 1, 0))] if pool.size else 0, 0)
    hits = inside & (pool[where] == data.ravel()) if pool.size else np.zeros(data.size, bool)
    places = np.where(hits, where + 1.0, 0.0)
    return wrap("logical", hits.reshape(data.shape)), wrap("double", places.reshape(data.shape))


def _text_members(x: Value, members: Value) -> tuple[Value, ...]:
    pool = lines_of(members)
    items = lines_of(x)
    places = [pool.index(item) + 1.0 if item in pool else 0.0 for item in items]
    if not isinstance(x, Cell):
        return places[0] > 0, places[0]
    shape = x.data.shape
    data = np.array(places).reshape(shape)
    return wrap("logical", data > 0), wrap("double", data)


def _combined(call: Call, x: Value, y: Value, operation: Any) -> Value | tuple[Value, ...]:
    if isinstance(x, Cell) or isinstance(y, Cell):
        a, b = set(lines_of(x)), set(lines_of(y))
        chosen = {np.union1d: a | b, np.intersect1d: a & b, np.setdiff1d: a - b}
        lines = sorted(chosen.get(operation, a ^ b))
        return cell([text(line) for line in lines], (1, len(lines)))
    a_, b_ = array_of(x), array_of(y)
    left, right = (call.engine.look(array.data).ravel() for array in (a_, b_))
    found = operation(left, right)
    as_row = (_is_row(x) or count_of(x) == 0) and (
        _is_row(y) or count_of(y) == 0 or operation is np.setdiff1d
    )
    kind = concatenated_kind([a_.kind, b_.kind])
    made = _vector(
        kind, np.asarray(found, DTYPES[kind]) if found.dtype.kind != "c" else found, row=as_row
    )
    if call.outputs < 2:
        return made
    places = [_places(part, found) for part in (left, right)]
    return made, places[0], places[1]


def _places(pool: np.ndarray, found: np.ndarray) -> Value:
    values, first = np.unique(pool, return_index=True)
    at = np.searchsorted(values, found)
    hits = at < values.size
    hits[hits] = values[at[hits]] == found[hits]
    return column(first[at[hits]] + 1.0)


@builtin("union")
def union(call: Call, x: Value, y: Value) -> Value | tuple[Value, ...]:
    """Elements of either array, in order."""
    return _combined(call, x, y, np.union1d)


@builtin("intersect")
def intersect(call: Call, x: Value, y: Value) -> Value | tuple[Value, ...]:
    """Elements of both arrays, in order."""
    return _combined(call, x, y, np.intersect1d)


@builtin("setdiff")
def setdiff(call: Call, x: Value, y: Value) -> Value | tuple[Value, ...]:
    """Elements of the first array that the second lacks, in order."""
    return _combined(call, x, y, np.setdiff1d)


@builtin("setxor")
def setxor(call: Call, x: Value, y: Value) -> Value | tuple[Value, ...]:
    """Elements of exactly one of both arrays, in order."""
    return _combined(call, x, y, np.setxor1d)
