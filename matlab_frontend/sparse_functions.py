"""What functions do with sparse matrices, as functions of SciPy's.

They are given SciPy's matrices where a program gives sparse ones, and give such, or values. None
says that a function does nothing special with these arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from matlab_frontend.builtins.options import word_of
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, as_array, count_of, shape_of
from matlab_frontend.values.make import column, row, text, wrap
from matlab_frontend.values.read import integer_of, is_text, known, text_of


def find(call: Any, x: Any, *options: Value) -> Any:
    """Where elements are, which are stored column by column."""
    found = x.tocoo()
    chosen = slice(None)
    if options:
        count = integer_of(call.engine, options[0])
        if count < 1:
            raise MatlabError("MATLAB:find:count", "How many to find must be a positive integer.")
        last = [word_of("find", each, ("first", "last")) for each in options[1:]] == ["last"]
        chosen = slice(-count, None) if last else slice(0, count)
    rows, columns = (part[chosen].astype(np.int64) for part in (found.row, found.col))
    is_row = x.shape[0] == 1 and x.shape[1] != 1
    make = row if is_row else column
    if call.outputs < 2:
        return make(columns * x.shape[0] + rows + 1.0)
    numbers = found.data[chosen].reshape((-1, 1) if is_row else (1, -1))
    return make(rows + 1.0), make(columns + 1.0), wrap(_kind(x), numbers)


def total(call: Any, x: Any, *options: Value) -> Any:
    """Sums over rows, columns or everything."""
    matrix = _wide(x)
    if options and is_text(options[0]) and text_of(options[0]).lower() == "all":
        return sp.csc_array(np.array([[matrix.sum()]]))
    if len(options) > 1 or (options and (is_text(options[0]) or count_of(options[0]) != 1)):
        return None
    axis = integer_of(call.engine, options[0]) - 1 if options else int(x.shape[0] == 1)
    if axis not in (0, 1):
        return None
    return sp.csc_array(
        np.asarray(matrix.sum(axis=axis)).reshape((1, -1) if axis == 0 else (-1, 1))
    )


def norm(call: Any, x: Any, which: Value = 2.0) -> Any:
    """The norms that need no singular values."""
    if 1 in x.shape:
        return None
    number = text_of(which).lower() if is_text(which) else float(known(call.engine, which).item())
    sizes = abs(_wide(x))
    if number == "fro":
        return float(np.sqrt((sizes.data**2).sum()))
    if number in (1.0, np.inf, "inf"):
        return float(np.max(sizes.sum(axis=0 if number == 1.0 else 1), initial=0.0))
    message = (
        "The 2-norm of a sparse matrix is not there: ask for 1, Inf or 'fro', or for norm(full(S))."
    )
    raise MatlabError("MATLAB:norm:sparseNorm", message)


def diag(call: Any, x: Any, offset: Value = 0.0) -> Any:
    """A diagonal as a column, or the matrix of a diagonal."""
    k = integer_of(call.engine, offset)
    if 1 not in x.shape:
        return sp.csc_array(x.diagonal(k).reshape(-1, 1))
    line = x.reshape((-1, 1), order="F").tocoo()
    extent = line.shape[0] + abs(k)
    places = (line.row + max(-k, 0), line.row + max(k, 0))
    return sp.csc_array((line.data, places), shape=(extent, extent))


def triangle(part: Callable[..., Any], call: Any, x: Any, offset: Value = 0.0) -> Any:
    """What lies above or below a diagonal."""
    return part(x, integer_of(call.engine, offset))


def kron(call: Any, x: Any, y: Any) -> Any:
    """Kronecker's product."""
    a, b = (
        each if sp.issparse(each) else sp.csc_array(known(call.engine, each)) for each in (x, y)
    )
    return sp.kron(_wide(a), _wide(b), format="csc")


def reshape(call: Any, x: Any, *sizes: Value) -> Any:
    """The same elements in another shape."""
    given = [
        int(n)
        for size in sizes
        for n in (known(call.engine, size).ravel() if count_of(size) else [-1])
    ]
    count = x.shape[0] * x.shape[1]
    others = int(np.prod([n for n in given if n >= 0]))
    shape = tuple([n if n >= 0 else count // max(others, 1) for n in given])
    if len(shape) != 2 or shape[0] * shape[1] != count:
        message = "Number of elements must not change, and sparse matrices have no pages."
        raise MatlabError("MATLAB:getReshapeDims:notSameNumel", message)
    return x.reshape(shape, order="F")


def isequal(call: Any, first: Any, *others: Any) -> Any:
    """True if matrices are equal, full ones among them."""
    return all(_is_equal(call, first, other) for other in others)


def _is_equal(call: Any, x: Any, y: Any) -> bool:
    if not (sp.issparse(x) and sp.issparse(y)):
        full, matrix = (y, x) if sp.issparse(x) else (x, y)
        if as_array(full) is None or shape_of(full) != matrix.shape:
            return False
        x, y = sp.csc_array(known(call.engine, full)), matrix
    return bool(x.shape == y.shape and (x != y).nnz == 0)


def of_stored(name: str, call: Any, x: Any) -> Any:
    """A function of each element that is zero where that is."""
    made = call.interpreter.call_one(text(name), stored(call, x))
    return sp.csc_array((known(call.engine, made).ravel(), x.indices, x.indptr), shape=x.shape)


def of_full(name: str, call: Any, *given: Any) -> Any:
    """A function of the full matrix, whose first output is made sparse."""
    plain = [_full(each) if sp.issparse(each) else each for each in given]
    made = call.interpreter.call(text(name), plain, call.outputs)
    if made and as_array(made[0]) is not None and len(shape_of(made[0])) == 2:
        made[0] = sp.csc_array(known(call.engine, made[0]))
    return tuple(made)


def stored(_: Any, x: Any) -> Value:
    """The elements that are not zero, as a column."""
    return wrap(_kind(x), x.data.reshape(1, -1))


def _full(x: Any) -> Value:
    return wrap(_kind(x), np.ascontiguousarray(x.toarray().T))


def _kind(x: Any) -> str:
    return "logical" if x.dtype == np.bool_ else "double"


def _wide(x: Any) -> Any:
    return x.astype(np.result_type(x.dtype, np.float64))


_ZERO_AT_ZERO = (
    *("abs", "asin", "asinh", "atan", "atanh", "ceil", "conj", "double", "expm1", "fix"),
    *("floor", "imag", "isinf", "isnan", "log1p", "logical", "real", "round", "sign", "sin"),
    *("sinh", "sqrt", "tan", "tanh"),
)
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "issparse": lambda *_: True,
    "isreal": lambda _, x: x.dtype.kind != "c",
    "nnz": lambda _, x: float(x.nnz),
    "nzmax": lambda _, x: float(max(x.nnz, 1)),
    "nonzeros": stored,
    "transpose": lambda _, x: x.T,
    "ctranspose": lambda _, x: x.conj().T,
    "find": find,
    "isequal": isequal,
    "sum": total,
    "norm": norm,
    "diag": diag,
    "triu": partial(triangle, sp.triu),
    "tril": partial(triangle, sp.tril),
    "kron": kron,
    "reshape": reshape,
    **{name: partial(of_stored, name) for name in _ZERO_AT_ZERO},
}
"""By the name of the function."""
MADE_SPARSE = frozenset(
    (
        *("all", "any", "chol", "circshift", "cummax", "cummin", "cumprod", "cumsum", "diff"),
        *("flip", "fliplr", "flipud", "inv", "lu", "max", "mean", "min", "permute", "prod"),
        *("qr", "repmat", "rot90", "sort", "sum"),
    )
)
"""Functions that give sparse matrices, computed from full ones."""
