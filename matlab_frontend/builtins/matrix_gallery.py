"""Named matrices."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.linear_algebra import matrix
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.concatenation import concatenated_kind
from matlab_frontend.values.array import Value, kind_of
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import reverse, wrap
from matlab_frontend.values.read import integer_of, known


def _order(call: Call, n: Value) -> int:
    return max(integer_of(call.engine, n, "The order of a matrix"), 0)


@builtin("hilb")
def hilb(call: Call, n: Value) -> Value:
    """The Hilbert matrix, whose elements are 1 / (i + j - 1)."""
    at = np.arange(1.0, _order(call, n) + 1)
    return wrap("double", 1.0 / (at[:, None] + at - 1.0))


@builtin("pascal")
def pascal(call: Call, n: Value) -> Value:
    """The symmetric matrix of binomial coefficients."""
    made = np.ones((_order(call, n),) * 2)
    for k in range(1, len(made)):
        made[k] = np.cumsum(made[k - 1])
    return wrap("double", made)


@builtin("wilkinson")
def wilkinson(call: Call, n: Value) -> Value:
    """Wilkinson's tridiagonal matrix of pairs of nearly equal eigenvalues."""
    order = _order(call, n)
    beside = np.ones(max(order - 1, 0))
    middle = np.abs(np.arange(order) - (order - 1) / 2)
    return wrap("double", np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1))


@builtin("hankel")
def hankel(call: Call, column: Value, row: Value | None = None) -> Value:
    """The matrix that is constant along its antidiagonals."""
    first = known(call.engine, column).ravel(order="F")
    last = np.zeros_like(first) if row is None else known(call.engine, row).ravel(order="F")
    kinds = [kind_of(column)] if row is None else [kind_of(column), kind_of(row)]
    kind = concatenated_kind(kinds)
    if kind in ("logical", "char"):
        kind = "double"
    along = np.concatenate([first, last[1:]])
    along = along.astype(
        np.result_type(DTYPES[kind], np.complex64 if along.dtype.kind == "c" else DTYPES[kind])
    )
    at = np.arange(first.size)[:, None] + np.arange(last.size)
    return wrap(kind, reverse(along[at]))


@builtin("compan")
def compan(call: Call, polynomial: Value) -> Value:
    """The companion matrix of a polynomial."""
    c = known(call.engine, polynomial).ravel().astype(float)
    made = np.diag(np.ones(max(c.size - 2, 0)), -1)
    if c.size > 1:
        made[0] = -c[1:] / c[0]
    return wrap("double", reverse(made))


@builtin("blkdiag")
def blkdiag(call: Call, *blocks: Value) -> Value:
    """Matrices along the diagonal of a larger one."""
    tables = [matrix(call, block) for block in blocks]
    rows, columns = (sum(table.shape[k] for table in tables) for k in (0, 1))
    made = np.zeros((rows, columns), np.result_type(float, *tables))
    row = column = 0
    for table in tables:
        made[row : row + table.shape[0], column : column + table.shape[1]] = table
        row, column = row + table.shape[0], column + table.shape[1]
    return wrap("double", reverse(made))
