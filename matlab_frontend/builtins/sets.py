"""Arrays and cell arrays as sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matlab_frontend.builtins.options import word_of, words_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.concatenation import concatenated_kind
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Cell, Value, count_of, shape_of
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import cell, column, empty, objects, reverse, strings, text, wrap
from matlab_frontend.values.read import array_of, is_text, known, lines_of
from runmat_jit.core.frozen import frozen

_WORDS = ("rows", "sorted", "stable")


def _is_row(x: Value) -> bool:
    return len(shape_of(x)) == 2 and shape_of(x)[0] == 1 and count_of(x) > 0


def _vector(kind: str, data: np.ndarray, *, row: bool) -> Value:
    return wrap(kind, data.reshape((-1, 1) if row else (1, -1)))


@builtin("unique")
def unique(call: Call, x: Value, *options: Value) -> Value | tuple[Value, ...]:
    """The different elements in order, where they are, and how they give back the array."""
    words = words_of("unique", options, (*_WORDS, "first", "last"))
    if isinstance(x, Cell):
        return _unique_texts(x, words)
    array = array_of(x)
    if "rows" in words:
        return _unique_rows(call, array, words)
    data = call.engine.look(array.data).ravel()
    if shape_of(x) == (0, 0):
        return array, empty(), empty()
    found, first, back = np.unique(data, return_index=True, return_inverse=True, equal_nan=False)
    found, first, back = _arranged(found, first, back.ravel(), words)
    return (
        _vector(array.kind, found, row=_is_row(x)),
        column(first + 1.0),
        column(back.ravel() + 1.0),
    )


def _arranged(
    found: np.ndarray, first: np.ndarray, back: np.ndarray, words: list[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Different elements as ``'last'`` and ``'stable'`` ask for them."""
    if "last" in words:
        return found, back.size - 1 - np.unique(back[::-1], return_index=True)[1], back
    if "stable" not in words:
        return found, first, back
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return found[order], first[order], place[back]


def _unique_rows(call: Call, array: Array, words: list[str]) -> tuple[Value, ...]:
    table = known(call.engine, array)
    found, first, back = np.unique(table, axis=0, return_index=True, return_inverse=True)
    found, first, back = _arranged(found, first, np.ravel(back), words)
    return (
        wrap(array.kind, reverse(found)),
        column(first + 1.0),
        column(np.ravel(back) + 1.0),
    )


def _unique_texts(x: Cell, words: list[str]) -> tuple[Value, ...]:
    if "rows" in words:
        raise MatlabError("MATLAB:unique:rows", "Cell arrays have no rows that are compared.")
    lines = lines_of(x)
    numbers = {line: number for number, line in enumerate(sorted(set(lines)))}
    back = np.array([numbers[line] for line in lines], int)
    _, first = np.unique(back, return_index=True)
    different = objects(numbers, (1, len(numbers))).ravel()
    found, first, back = _arranged(different, first, back, words)
    shape = (1, found.size) if _is_row(x) else (found.size, 1)
    return (
        cell([text(line) for line in found], shape),
        column(first + 1.0),
        column(back + 1.0),
    )


@builtin("ismember")
def ismember(
    call: Call, x: Value, members: Value, option: Value | None = None
) -> Value | tuple[Value, ...]:
    """True where an element (or row) is a member of a set, and where it stands there first."""
    by_rows = option is not None and bool(word_of("ismember", option, ("rows",)))
    if isinstance(members, Cell) or _are_strings(x, members) or isinstance(x, Cell):
        return _text_members(x, members)
    array, table = array_of(x), array_of(members)
    if by_rows:
        places = _positions(_keys(call, table, rows=True), _keys(call, array, rows=True))
        return wrap("logical", (places > 0).reshape(1, -1)), wrap("double", places.reshape(1, -1))
    data = call.engine.look(array.data)
    pool = call.engine.look(table.data).ravel()
    places = _positions(pool, data.ravel()).reshape(data.shape)
    return wrap("logical", places > 0), wrap("double", places)


def _positions(pool: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where keys stand in a pool first, counted from 1; 0 for those that are not there."""
    if pool.size == 0:
        return np.zeros(wanted.size)
    order = np.argsort(pool, kind="stable")
    at = np.searchsorted(pool[order], wanted)
    where = order[np.minimum(at, pool.size - 1)]
    hits = (at < pool.size) & (pool[where] == wanted)
    return np.where(hits, where + 1.0, 0.0)


def _keys(call: Call, array: Array, *, rows: bool) -> np.ndarray:
    """What elements (or rows) of an array are told apart and ordered by."""
    if not rows:
        return call.engine.look(array.data).ravel()
    table = np.ascontiguousarray(known(call.engine, array).astype(float)) + 0.0
    fields = [(f"f{at}", float) for at in range(table.shape[1])]
    return table.view(fields).ravel()


def _are_strings(*values: Value) -> bool:
    return any(isinstance(value, Array) and value.kind == "string" for value in values)


def _text_members(x: Value, members: Value) -> tuple[Value, ...]:
    pool = lines_of(members)
    items = lines_of(x)
    places = [pool.index(item) + 1.0 if item in pool else 0.0 for item in items]
    if is_text(x):
        return places[0] > 0, places[0]
    shape = shape_of(x)[::-1]
    data = np.array(places).reshape(shape)
    return wrap("logical", data > 0), wrap("double", data)


@frozen
class Operation:
    """A set operation: whether it keeps elements of both sets, and of one of them alone."""

    name: str
    shared: bool
    left_alone: bool
    right_alone: bool
    doc: str


_OPERATIONS = (
    Operation("union", True, True, True, "Elements of either array, in order."),
    Operation("intersect", True, False, False, "Elements of both arrays, in order."),
    Operation("setdiff", False, True, False, "Elements that the second array lacks, in order."),
    Operation("setxor", False, True, True, "Elements of exactly one of both arrays, in order."),
)


def _declare(operation: Operation) -> Builtin:
    def run(call: Call, x: Value, y: Value, *options: Value) -> Value | tuple[Value, ...]:
        return _combined(call, operation, (x, y), words_of(operation.name, options, _WORDS))

    return Builtin(operation.name, run, 2, None, operation.doc)


GENERATED = tuple(map(_declare, _OPERATIONS))


def _combined(
    call: Call, operation: Operation, sets: tuple[Value, Value], words: list[str]
) -> Value | tuple[Value, ...]:
    """The elements of a set operation, and where they are in the arrays."""
    if any(isinstance(x, Cell) for x in sets) or _are_strings(*sets):
        pools = [np.array(lines_of(x), object) for x in sets]
    else:
        pools = [_keys(call, array_of(x), rows="rows" in words) for x in sets]
    first = _choose(operation, pools, stable="stable" in words)
    made = _collect(call, operation, sets, first, rows="rows" in words)
    if call.outputs < 2:
        return made
    left, right = first
    places = (left[left >= 0], right[right >= 0])
    if operation.name in ("union", "setxor"):
        places = (places[0], right[(left < 0) & (right >= 0)])
    return made, *(column(part + 1.0) for part in places)


def _choose(
    operation: Operation, pools: Sequence[np.ndarray], *, stable: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Where each element of the result stands first in either set; -1 where it does not."""
    joined = np.concatenate(pools)
    distinct, codes = np.unique(joined, return_inverse=True, **_nan_differs(joined))
    left, right = (np.full(distinct.size, -1) for _ in pools)
    count = pools[0].size
    for places, part in ((left, codes[:count]), (right, codes[count:])):
        places[part[::-1]] = np.arange(part.size)[::-1]
    in_left, in_right = left >= 0, right >= 0
    kept = np.where(
        in_left & in_right,
        operation.shared,
        np.where(in_left, operation.left_alone, operation.right_alone),
    )
    order = np.flatnonzero(kept)
    if stable:
        order = order[np.argsort(np.where(in_left, left, count + right)[order], kind="stable")]
    elif distinct.dtype.kind == "c":
        order = order[np.lexsort((np.angle(distinct[order]), np.abs(distinct[order])))]
    return left[order], right[order]


def _nan_differs(keys: np.ndarray) -> dict[str, Any]:
    """NaN is no member of any set: each one is an element of its own."""
    return {} if keys.dtype.kind in "OV" else {"equal_nan": False}


def _collect(
    call: Call,
    operation: Operation,
    sets: tuple[Value, Value],
    first: tuple[np.ndarray, np.ndarray],
    *,
    rows: bool,
) -> Value:
    """The elements at the chosen places as a row, a column, or rows of a matrix."""
    left, right = first
    beyond = left < 0
    deciding = sets[:1] if operation.name == "setdiff" else sets
    as_row = all(_is_row(x) or is_text(x) or count_of(x) == 0 for x in deciding)
    if any(isinstance(x, Cell) for x in sets) or _are_strings(*sets):
        pools = [lines_of(x) for x in sets]
        lines = [
            pools[1][there] if at < 0 else pools[0][at]
            for at, there in zip(left, right, strict=True)
        ]
        shape = (1, len(lines)) if as_row else (len(lines), 1)
        if _are_strings(*sets):
            return strings(lines, shape)
        return cell([text(line) for line in lines], shape)
    kind = concatenated_kind([array_of(x).kind for x in sets])
    a, b = (
        known(call.engine, x) if rows else call.engine.look(array_of(x).data).ravel() for x in sets
    )
    width = a.shape[1:] if len(a) else b.shape[1:]
    found = np.empty((left.size, *width), np.result_type(a, b))
    found[~beyond], found[beyond] = a[left[~beyond]], b[right[beyond]]
    found = found if found.dtype.kind == "c" else found.astype(DTYPES[kind])
    return wrap(kind, reverse(found)) if rows else _vector(kind, found, row=as_row)
