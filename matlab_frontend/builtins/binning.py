"""Elements counted or combined by the bin or the group that they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from matlab_frontend.builtins.options import options_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.concatenation import convert
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import (
    HANDLES,
    Cell,
    NamedHandle,
    Value,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.kinds import DTYPES, NUMERIC_KINDS
from matlab_frontend.values.make import empty, objects, row, wrap
from matlab_frontend.values.read import array_of, cell_of, integer_of, is_text, known, text_of
from runmat_jit.core.frozen import frozen

V = TypeVar("V", Value, Cell)
_GROUPS: Mapping[str, np.ufunc] = {"max": np.fmax, "min": np.fmin}
"""Functions of groups that NumPy applies to all groups at once."""


@builtin("histc")
def histc(
    call: Call, x: Value, edges: Value, dimension: Value | None = None
) -> Value | tuple[Value, ...]:
    """How many elements fall between edges; the last count is of those equal to the last edge."""
    data = call.engine.look(array_of(x).data)
    marks = known(call.engine, edges).ravel()
    at = _bins(data, marks)
    places = wrap("double", at + 1.0)
    vector = data.ndim == 2 and 1 in data.shape
    if vector and dimension is None:
        counts = np.bincount(at[at >= 0], minlength=marks.size).astype(float)
        like = edges if data.size == 1 else x
        shape = (-1, 1) if shape_of(like)[0] == 1 else (1, -1)
        return wrap("double", counts.reshape(shape)), places
    along = first_dimension(x) if dimension is None else dimension_of(call.engine, dimension)
    axis = data.ndim - 1 - along
    numbers = np.arange(marks.size)
    bins = np.moveaxis(at, axis, -1)[..., None] == numbers
    counts = np.moveaxis(bins.sum(axis=-2).astype(float), -1, axis)
    return wrap("double", np.ascontiguousarray(counts)), places


def _bins(data: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The bin of each element, from 0; -1 for those in none, NaN among them."""
    at = np.searchsorted(marks, data, side="right") - 1
    inside = (at >= 0) & (data <= marks[-1])
    return np.where(inside, at, -1)


@builtin("hist")
def hist(call: Call, x: Value, bins: Value = 10.0, *options: Value) -> tuple[Value, ...] | None:
    """Number of elements of each column that are nearest to centers, and the centers.

    An element between two centers is counted with the lower one.
    ``bins`` is a number of bins of equal width between the extremes, or the centers themselves.
    Without outputs MATLAB draws: there is no screen.
    """
    if call.outputs == 0:
        return None
    if options:
        raise MatlabError("MATLAB:hist:options", "hist takes data and bins, not options.")
    table = known(call.engine, x).astype(float)
    columns = table.reshape(-1, 1) if 1 in table.shape else table
    if count_of(bins) == 1:
        centers = _centers(columns, integer_of(call.engine, bins))
    else:
        centers = known(call.engine, bins).ravel().astype(float)
        if np.any(np.diff(centers) < 0):
            raise MatlabError("MATLAB:hist:centers", "Centers must ascend.")
    middles = (centers[1:] + centers[:-1]) / 2
    counts = np.zeros((centers.size, columns.shape[1]))
    for k, column in enumerate(columns.T):
        at = np.searchsorted(middles, column[~np.isnan(column)], side="left")
        counts[:, k] = np.bincount(at, minlength=centers.size)
    if 1 in table.shape:
        return row(counts[:, 0]), row(centers)
    return wrap("double", np.ascontiguousarray(counts.T)), wrap("double", centers.reshape(1, -1))


def _centers(table: np.ndarray, count: int) -> np.ndarray:
    """The middles of bins of equal width between the extremes of all finite elements."""
    if count < 1:
        raise MatlabError("MATLAB:hist:bins", "There must be one bin at least.")
    finite = table[np.isfinite(table)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low == high:
        low, high = low - count // 2 - 0.5, high + -(-count // 2) - 0.5
    width = (high - low) / count
    return np.asarray(low + width * (np.arange(count) + 0.5))


@builtin("histcounts")
def histcounts(call: Call, x: Value, *options: Value) -> tuple[Value, ...]:
    """Counts of elements between edges, the edges, and the bin of each element.

    The last bin includes its right edge. Edges are given, or follow from ``BinLimits`` and
    ``NumBins``; MATLAB's automatic choice of edges is not there.
    """
    data = call.engine.look(array_of(x).data)
    given = options[0] if options and not is_text(options[0]) else None
    names = ("binedges", "binlimits", "numbins", "normalization")
    named = options_of(options if given is None else options[1:], names, "histcounts")
    edges = _edges(call, given, named)
    at = _bins(data, edges)
    at = np.where(at == edges.size - 1, edges.size - 2, at)
    counts = np.bincount(at[at >= 0], minlength=edges.size - 1).astype(float)
    if "normalization" in named:
        word = text_of(named["normalization"]).lower()
        counts = _normalized(counts, np.diff(edges), word)
    return row(counts), row(edges), wrap("double", at + 1.0)


def _edges(call: Call, given: Value | None, named: Mapping[str, Value]) -> np.ndarray:
    edges = named.get("binedges") if given is None else given
    if edges is not None and count_of(edges) > 1:
        return known(call.engine, edges).ravel().astype(float)
    limits = named.get("binlimits")
    count = edges if edges is not None else named.get("numbins")
    if limits is None or count is None:
        raise MatlabError(
            "MATLAB:histcounts:edges",
            "Edges of bins are not chosen automatically: give them, or BinLimits and NumBins.",
        )
    low, high = known(call.engine, limits).ravel().astype(float)
    return np.linspace(low, high, integer_of(call.engine, count) + 1)


def _normalized(counts: np.ndarray, widths: np.ndarray, word: str) -> np.ndarray:
    total = counts.sum()
    made = {
        "count": counts,
        "probability": counts / total,
        "countdensity": counts / widths,
        "pdf": counts / total / widths,
        "cumcount": counts.cumsum(),
        "cdf": counts.cumsum() / total,
    }
    if word not in made:
        raise MatlabError("MATLAB:histcounts:normalization", f"Unknown normalization '{word}'.")
    return np.asarray(made[word])


@builtin("accumarray")
def accumarray(call: Call, subscripts: Value, values: Value, *rest: Value) -> Value:
    """Sums (or another function) of the values that share subscripts."""
    if len(rest) > 3 or (len(rest) > 1 and count_of(rest[1]) and not isinstance(rest[1], HANDLES)):
        raise MatlabError(
            "MATLAB:accumarray:arguments", "Arguments: subscripts, values, size, function, filling."
        )
    table = _subscript_table(call, subscripts, count_of(values))
    held = call.engine.look(array_of(values).data)
    numbers = np.broadcast_to(held.ravel(), (table.shape[0],))
    shape = _size(call, table, rest[0] if rest else None)
    columns = list((table - 1).T)
    columns += [np.zeros_like(columns[0])] * (len(shape) - len(columns))
    if np.any(table < 1) or np.any(table > shape[: table.shape[1]]):
        raise MatlabError(
            "MATLAB:accumarray:invalidSubs",
            "First input SUBS must contain positive integer subscripts within the size.",
        )
    flat = np.ravel_multi_index(columns, shape, order="F")
    function = rest[1] if len(rest) > 1 and isinstance(rest[1], HANDLES) else None
    kind = array_of(values).kind
    kind = kind if kind in NUMERIC_KINDS else "double"
    filling = known(call.engine, rest[2]).item() if len(rest) > 2 and count_of(rest[2]) else 0.0
    name = function.name if isinstance(function, NamedHandle) else ""
    if function is not None and name != "sum" and not (name in _GROUPS and kind == "double"):
        return _by_function(call, function, _Groups(kind, numbers, flat, shape), filling)
    dtype = np.result_type(held, float) if kind == "double" else DTYPES[kind]
    total = np.full(int(np.prod(shape)), np.nan if name in _GROUPS else 0, dtype)
    _GROUPS.get(name, np.add).at(total, flat, numbers)
    alone = np.ones(total.size, bool)
    alone[flat] = False
    total[alone] = filling
    return wrap(kind, total.reshape(shape[::-1]))


@frozen
class _Groups:
    """Values of a class, the group of each, and the size of all groups."""

    kind: str
    numbers: np.ndarray
    flat: np.ndarray
    shape: tuple[int, ...]


def _subscript_table(call: Call, subscripts: Value, values: int) -> np.ndarray:
    """One row of subscripts for each value; a row of them is one element for a single value."""
    if isinstance(subscripts, Cell):
        columns = [known(call.engine, item).ravel() for item in cell_of(subscripts).data.flat]
        return _whole(np.stack(columns, axis=1))
    table = _whole(known(call.engine, subscripts))
    return table.reshape(-1, 1) if table.shape[0] == 1 and values != 1 else table


def _whole(table: np.ndarray) -> np.ndarray:
    """Subscripts as integers.

    Raises:
        MatlabError: one has a fraction.

    """
    if np.any(table != np.trunc(table)):
        raise MatlabError("MATLAB:accumarray:nonIntegerSubs", "Subscripts must be whole numbers.")
    return table.astype(int)


def _size(call: Call, table: np.ndarray, asked: Value | None) -> tuple[int, ...]:
    if asked is not None and count_of(asked):
        return tuple(int(n) for n in known(call.engine, asked).ravel())
    shape = tuple(int(n) for n in table.max(axis=0)) if table.size else (0,)
    return (shape[0], 1) if len(shape) == 1 else shape


def _by_function(call: Call, function: Value, groups: _Groups, filling: float) -> Value:
    """One call for each group; functions that give cells make a cell array."""
    order = np.argsort(groups.flat, kind="stable")
    names, starts = np.unique(groups.flat[order], return_index=True)
    made: dict[int, Value] = {}
    for name, members in zip(names, np.split(groups.numbers[order], starts[1:]), strict=True):
        column = wrap(groups.kind, np.ascontiguousarray(members.reshape(1, -1)))
        made[int(name)] = call.interpreter.call_one(function, column)
    count = int(np.prod(groups.shape))
    if any(isinstance(result, Cell) for result in made.values()):
        cells: list[Value] = [empty()] * count
        for group, result in made.items():
            cells[group] = _only(cell_of(result)).data.item()
        return Cell(objects(cells, groups.shape))
    kinds = {kind_of(result) for result in made.values()}
    kind = kinds.pop() if len(kinds) == 1 and kinds <= set(NUMERIC_KINDS) else "double"
    total = np.full(count, filling, DTYPES[kind])
    for group, result in made.items():
        array = array_of(_only(result))
        total[group] = call.engine.look(convert(call.engine, array, kind)).item()
    return wrap(kind, total.reshape(groups.shape[::-1]))


def _only(result: V) -> V:
    """The result of a group.

    Raises:
        MatlabError: it is no scalar.

    """
    if count_of(result) != 1:
        raise MatlabError("MATLAB:accumarray:fun", "The function must return a scalar.")
    return result
