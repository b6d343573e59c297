"""Groups of elements: their numbers, and a function of each."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.concatenation import concatenate
from matlab_frontend.errors import MatlabError
from matlab_frontend.indexing import read
from matlab_frontend.subscripts import EVERYTHING
from matlab_frontend.values.array import Cell, Value, as_array, count_of, kind_of, shape_of
from matlab_frontend.values.make import cell, column, strings, text, wrap
from matlab_frontend.values.read import array_of, is_text, known, lines_of


@builtin("discretize")
def discretize(call: Call, x: Value, edges: Value, *options: Value) -> Value:
    """The bin between edges that each element lies in, or a value for each; NaN: in none."""
    marks = known(call.engine, edges).ravel().astype(float)
    if marks.size < 2 or np.any(np.diff(marks) < 0):
        raise MatlabError(
            "MATLAB:discretize:InvalidEdges",
            "Edges must ascend; they are not chosen automatically.",
        )
    left, values = list(options), None
    if left and not is_text(left[0]):
        values = known(call.engine, left.pop(0)).ravel()
        if values.size != marks.size - 1:
            raise MatlabError("MATLAB:discretize:InvalidValues", "There is one value for each bin.")
    side = "left"
    if left:
        word_of("discretize", left[0], ("includededge",))
        (side,) = (word_of("discretize", each, ("left", "right")) for each in left[1:])
    table = known(call.engine, x).astype(float)
    at = np.searchsorted(marks, table, side="right" if side == "left" else "left") - 1.0
    at[table == marks[-1 if side == "left" else 0]] = marks.size - 2 if side == "left" else 0
    outside = ~((table >= marks[0]) & (table <= marks[-1]))
    places = np.where(outside, 0, at).astype(int)
    made = places + 1.0 if values is None else values[places].astype(float)
    return wrap("double", np.ascontiguousarray(np.where(outside, np.nan, made).T))


@builtin("findgroups")
def findgroups(call: Call, *variables: Value) -> tuple[Value, ...]:
    """The number of the group of each element, and what the groups have in common."""
    if not variables:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    columns, missing = [], np.zeros(count_of(variables[0]), bool)
    for variable in variables:
        names, at, gone = _numbered(call, variable)
        if at.size != missing.size:
            raise MatlabError(
                "MATLAB:findgroups:InputSizeMismatch", "Grouping variables must have one size."
            )
        columns.append((names, at))
        missing |= gone
    keys = np.stack([at for _, at in columns], axis=1)
    groups, first, numbers = np.unique(
        keys[~missing], axis=0, return_index=True, return_inverse=True
    )
    del first
    made = np.full(missing.size, np.nan)
    made[~missing] = numbers.ravel() + 1.0
    shape = shape_of(variables[0])
    told = wrap("double", made.reshape(shape[::-1]))
    found = [
        _names_like(variable, names, groups[:, k])
        for k, (variable, (names, _)) in enumerate(zip(variables, columns, strict=True))
    ]
    return (told, *found)


def _numbered(call: Call, variable: Value) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different elements in order, which of them each is, and which are missing."""
    if isinstance(variable, Cell) or kind_of(variable) == "string":
        given = np.array(lines_of(variable), object)
        gone = np.array([not word for word in given], bool)
        gone &= isinstance(variable, Cell)
    else:
        given = known(call.engine, variable).ravel(order="F")
        gone = np.isnan(given) if given.dtype.kind == "f" else np.zeros(given.size, bool)
    names, at = np.unique(given, return_inverse=True)
    return names, at.ravel(), gone


def _names_like(variable: Value, names: np.ndarray, chosen: np.ndarray) -> Value:
    """Elements that name groups, as a column, or as a row where they are one."""
    count = chosen.size
    shape = (1, count) if shape_of(variable)[0] == 1 and count_of(variable) != 1 else (count, 1)
    picked = names[chosen]
    if isinstance(variable, Cell):
        return cell([text(word) for word in picked], shape)
    if kind_of(variable) == "string":
        return strings(list(picked), shape)
    return wrap(kind_of(variable), picked.reshape(shape[::-1]))


@builtin("splitapply")
def splitapply(call: Call, function: Value, *rest: Value) -> tuple[Value, ...] | Value:
    """A function of the elements, or rows, of each group; its results below one another."""
    if len(rest) < 2:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    *data, groups = rest
    numbers = known(call.engine, groups).ravel(order="F")
    real = numbers[~np.isnan(numbers)]
    count = int(real.max(initial=0))
    if not np.array_equal(np.unique(real), np.arange(1.0, count + 1)):
        raise MatlabError(
            "MATLAB:splitapply:InvalidGroupNums", "Groups must be numbered from 1, without gaps."
        )
    outputs: list[list[Value]] = []
    for group in range(1, count + 1):
        chosen = column((np.flatnonzero(numbers == group) + 1.0).tolist())
        given = [_part(call, each, chosen, numbers.size) for each in data]
        outputs.append(call.interpreter.call(function, given, max(call.outputs, 1)))
    made = [list(each) for each in zip(*outputs, strict=True)]
    if any(count_of(value) != 1 for values in made for value in values):
        raise MatlabError(
            "MATLAB:splitapply:OutputNotUniform",
            "The function must return a scalar for each group.",
        )
    return tuple(concatenate(call.engine, values, 0) for values in made)


def _part(call: Call, value: Value, chosen: Value, size: int) -> Value:
    """The elements of a vector, or the rows of a matrix, of one group."""
    shape = shape_of(value)
    if (
        len(shape) != 2
        or size not in (shape[0], count_of(value))
        or (1 not in shape and shape[0] != size)
    ):
        raise MatlabError(
            "MATLAB:splitapply:RowMismatch", "Data must have a row for each group number."
        )
    subscripts = [chosen] if 1 in shape else [chosen, EVERYTHING]
    if isinstance(value, Cell):
        return Cell(read(call.engine, value.data, subscripts))
    assert as_array(value) is not None or array_of(value), "numbers, texts or truth values"
    array = array_of(value)
    return wrap(array.kind, read(call.engine, array.data, subscripts))
