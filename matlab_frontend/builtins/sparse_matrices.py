"""Sparse matrices: making them, and what is stored in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.sparse import from_full, matrix_of, with_stored
from matlab_frontend.sparse import sparse as made_of
from matlab_frontend.values.array import Value, as_array, count_of, kind_of
from matlab_frontend.values.make import column, wrap
from matlab_frontend.values.read import array_of, integer_of, known


@builtin("sparse")
def sparse(call: Call, *arguments: Value) -> Value:
    """A sparse matrix: of a full one, of a size without elements, or of rows, columns and values.

    Values at the same place are added; a sixth argument, the room to reserve, changes nothing.
    """
    engine = call.engine
    if len(arguments) == 1:
        return from_full(engine, arguments[0])
    if len(arguments) == 2:
        rows, columns = _extents(call, arguments)
        return made_of(sp.csc_array((rows, columns)))
    if len(arguments) not in (3, 5, 6):
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    given = [known(engine, argument).ravel(order="F") for argument in arguments[:3]]
    sizes = {part.size for part in given} - {1}
    if len(sizes) > 1:
        raise MatlabError("MATLAB:sparse:IJVMismatch", "Vectors must be the same length.")
    i, j, v = np.broadcast_arrays(*given)
    if not all(np.isreal(part).all() and np.array_equal(part, np.round(part)) for part in (i, j)):
        raise MatlabError("MATLAB:sparse:nonInteger", "Index into matrix must be an integer.")
    if i.size and min(i.min(), j.min()) < 1:
        raise MatlabError("MATLAB:sparse:nonPositive", "Index into matrix must be positive.")
    shape = tuple(int(part.max()) if part.size else 0 for part in (i, j))
    if len(arguments) > 3:
        asked = _extents(call, arguments[3:5])
        if any(there > here for there, here in zip(shape, asked, strict=True)):
            raise MatlabError("MATLAB:sparse:IndexExceedsDim", "Index exceeds matrix dimensions.")
        shape = asked
    numbers = v if v.dtype.kind in "bc" else v.astype(float)
    places = (i.astype(np.int64) - 1, j.astype(np.int64) - 1)
    return made_of(sp.coo_array((numbers, places), shape))


def _extents(call: Call, arguments: Sequence[Value]) -> tuple[int, int]:
    rows, columns = (integer_of(call.engine, argument) for argument in arguments)
    return max(rows, 0), max(columns, 0)


@builtin("spalloc")
def spalloc(call: Call, rows: Value, columns: Value, room: Value = 0.0) -> Value:
    """A sparse matrix of zeros; the room to reserve changes nothing."""
    integer_of(call.engine, room)
    return sparse.one(call, rows, columns)


@builtin("speye")
def speye(call: Call, *sizes: Value) -> Value:
    """The sparse identity."""
    if len(sizes) > 2:
        raise MatlabError("MATLAB:maxrhs", "Too many input arguments.")
    extents = [int(n) for size in sizes for n in known(call.engine, size).ravel()] or [1]
    if len(extents) > 2:
        raise MatlabError("MATLAB:speye:NDArrays", "Sparse matrices have no pages.")
    return made_of(sp.eye_array(extents[0], extents[-1], format="csc"))


@builtin("spdiags")
def spdiags(call: Call, first: Value, *rest: Value) -> Value | tuple[Value, ...]:
    """Diagonals of a matrix as columns, a sparse matrix of diagonals, or one with new ones."""
    if len(rest) < 2:
        return _diagonals_of(call, matrix_of(call.engine, first), rest)
    if len(rest) > 3:
        raise MatlabError("MATLAB:maxrhs", "Too many input arguments.")
    places = [int(n) for n in known(call.engine, rest[0]).ravel()]
    table = known(call.engine, first)
    table = table if table.dtype.kind == "c" else table.astype(float)
    before = None
    if len(rest) == 3:
        shape = _extents(call, rest[1:])
    else:
        before = matrix_of(call.engine, rest[1])
        shape = before.shape
    if table.shape[1] != len(places) and 1 in table.shape and table.size == len(places):
        table = table.reshape(1, -1)
    if table.shape[1] != len(places) or table.shape[0] < min(shape):
        raise MatlabError(
            "MATLAB:spdiags:InvalidSizeB",
            "The first input has a column for each diagonal, as long as the shorter side.",
        )
    tall = shape[0] >= shape[1]
    kinds = (places, shape) if tall else ([-place for place in places], shape[::-1])
    made = sp.spdiags(table.T, *kinds[:1], *kinds[1])
    made = sp.csc_array(made if tall else made.T)
    if before is not None:
        kept = before.tocoo()
        stays = ~np.isin(kept.col - kept.row, places)
        made = made + sp.coo_array((kept.data[stays], (kept.row[stays], kept.col[stays])), shape)
    return made_of(made)


def _diagonals_of(call: Call, matrix: Any, rest: Sequence[Value]) -> Value | tuple[Value, ...]:
    """The diagonals that have elements, or those that are asked for, and which they are."""
    found = matrix.tocoo()
    if rest:
        places = np.array([int(n) for n in known(call.engine, rest[0]).ravel()], int)
    else:
        places = np.unique(found.col - found.row)
    rows, columns = matrix.shape
    table = np.zeros((min(rows, columns), places.size), found.data.dtype)
    at = found.col if rows >= columns else found.row
    for k, place in enumerate(places):
        chosen = found.col - found.row == place
        table[at[chosen], k] = found.data[chosen]
    made = wrap("double", np.ascontiguousarray(table.T.astype(np.result_type(table, float))))
    return made, column(places.astype(float).tolist())


@builtin("spones")
def spones(call: Call, x: Value) -> Value:
    """Ones in the places of the elements that are not zero."""
    matrix = made_of(matrix_of(call.engine, x)).matrix
    return with_stored(matrix, np.ones(matrix.nnz))


@builtin("full")
def full(_: Call, x: Value) -> Value:
    """The full matrix of a sparse one; others as they are."""
    if as_array(x) is None:
        raise MatlabError(
            "MATLAB:full:InvalidInput", f"Values of class '{kind_of(x)}' have no full form."
        )
    if isinstance(x, (float, bool)):
        return x
    array = array_of(x)
    return wrap(array.kind, array.data)


@builtin("nzmax")
def nzmax(call: Call, x: Value) -> Value:
    """Number of elements that memory is kept for: of a sparse matrix, those that it stores."""
    del call
    return float(count_of(x))
