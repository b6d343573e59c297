"""Norms, factorizations and what follows from them."""

from __future__ import annotations

import numpy as np

from matlab_frontend import matrices, operators
from matlab_frontend.builtins.elementwise import floating
from matlab_frontend.builtins.options import word_of, words_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension
from matlab_frontend.concatenation import concatenated_kind
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value, count_of, kind_of, shape_of
from matlab_frontend.values.kinds import kind_of_dtype
from matlab_frontend.values.make import reverse, wrap
from matlab_frontend.values.read import is_text, known, number_of, text_of


def matrix(call: Call, x: Value, *, square: bool = False) -> np.ndarray:
    """A floating-point matrix in MATLAB's order of axes.

    Raises:
        MatlabError: it has pages, or is not square where it must be.

    """
    shape = shape_of(x)
    if len(shape) != 2:
        raise MatlabError("MATLAB:inputMustBe2D", "Input must be 2-D.")
    if square and shape[0] != shape[1]:
        raise MatlabError("MATLAB:square", "Matrix must be square.")
    table = known(call.engine, x)
    return table if table.dtype.kind in "fc" else table.astype(np.float64)


def made(call: Call, table: np.ndarray | np.generic) -> Value:
    """The value of a matrix in MATLAB's order of axes."""
    table = np.atleast_2d(np.asarray(table))
    return operators.narrow(call.engine, kind_of_dtype(table.dtype), reverse(table))


@builtin("norm")
def norm(call: Call, x: Value, order: Value = 2.0) -> Value:
    """The norm of a vector or matrix: 2, 1, Inf, ``'fro'``, p."""
    table = matrix(call, x)
    if table.size == 0:
        return 0.0
    name = text_of(order) if is_text(order) else ""
    vector = 1 in table.shape
    if name and name != "fro" and name.lower() != "inf":
        raise MatlabError("MATLAB:norm:unknownNorm", f"There is no norm '{name}'.")
    number = 2.0 if name == "fro" else np.inf if name else number_of(call.engine, order)
    if vector or name == "fro":
        return made(call, _scaled_norm(table.ravel(), number, 0)[0])
    if number not in (1.0, 2.0, np.inf):
        raise MatlabError("MATLAB:norm:unknownNorm", "Matrices have norms 1, 2, Inf and 'fro'.")
    return made(call, np.linalg.norm(table, number))


def _scaled_norm(table: np.ndarray, order: float, axis: int) -> np.ndarray:
    """The norms of vectors, whose squares and other powers may overflow or vanish."""
    plain = np.linalg.norm(table, order, axis=axis, keepdims=True)
    largest = np.max(np.abs(table), axis=axis, keepdims=True)
    limits = np.finfo(plain.dtype)
    sound = (plain < limits.max) & (plain > np.sqrt(limits.tiny) * 1e3)
    scale = np.where(sound | ~np.isfinite(largest) | (largest == 0), 1.0, largest)
    if np.all(scale == 1.0):
        return np.asarray(plain)
    scaled = np.linalg.norm(table / scale, order, axis=axis, keepdims=True) * scale
    return np.asarray(np.where(scale == 1.0, plain, scaled))


@builtin("vecnorm")
def vecnorm(call: Call, x: Value, order: Value = 2.0, dimension: Value | None = None) -> Value:
    """The norms of the columns, or of the vectors along a dimension."""
    axis = first_dimension(x) if dimension is None else dimension_of(call.engine, dimension)
    table = known(call.engine, x)
    if table.dtype.kind not in "fc":
        table = table.astype(np.float64)
    if axis >= table.ndim:
        return made(call, np.abs(table))
    if not table.size:
        return made(call, np.zeros((*table.shape[:axis], 1, *table.shape[axis + 1 :])))
    number = number_of(call.engine, order)
    return made(call, _scaled_norm(table, number, axis))


@builtin("dot")
def dot(call: Call, x: Value, y: Value, dimension: Value | None = None) -> Value:
    """The sum of products of two vectors, of columns, or along a dimension."""
    a, b = (call.engine.look(floating(call.engine, "dot", part).data).T for part in (x, y))
    if "single" in (kind_of(x), kind_of(y)):
        a, b = (
            part.astype(np.complex64 if part.dtype.kind == "c" else np.float32) for part in (a, b)
        )
    vectors = all(table.ndim == 2 and 1 in table.shape for table in (a, b))
    same = count_of(x) == count_of(y) if vectors and dimension is None else a.shape == b.shape
    if not same:
        raise MatlabError("MATLAB:dot:InputSizeMismatch", "A and B must be same size.")
    if vectors and dimension is None:
        return made(call, np.vdot(a.ravel(), b.ravel()).astype(np.result_type(a, b, np.float32)))
    if dimension is None:
        axis = next((k for k, extent in enumerate(a.shape) if extent != 1), 0)
    else:
        axis = dimension_of(call.engine, dimension)
    products = np.conj(a) * b
    return made(call, products.sum(axis=axis, keepdims=True) if axis < a.ndim else products)


@builtin("cross")
def cross(call: Call, x: Value, y: Value) -> Value:
    """The vector product of vectors with three elements."""
    a, b = known(call.engine, x), known(call.engine, y)
    axis = next((k for k, extent in enumerate(a.shape) if extent == 3), None)
    if axis is None or a.size != b.size:
        raise MatlabError(
            "MATLAB:cross:InvalidDimAorBForCrossProd",
            "A and B must be of length 3 in the dimension in which the cross product is taken.",
        )
    return made(call, np.cross(a, b.reshape(a.shape), axis=axis))


@builtin("det")
def det(call: Call, x: Value) -> Value:
    """Determinant."""
    return made(call, np.linalg.det(matrix(call, x, square=True)))


@builtin("inv")
def inv(call: Call, x: Value) -> Value:
    """Inverse of a square matrix; Inf and a warning where it is singular."""
    table = matrix(call, x, square=True)
    try:
        found = np.linalg.inv(table)
    except np.linalg.LinAlgError:
        call.session.write_error("Warning: Matrix is singular to working precision.\n")
        found = np.full(table.shape, np.inf)
    return made(call, found)


@builtin("pinv")
def pinv(call: Call, x: Value) -> Value:
    """Moore-Penrose inverse."""
    return made(call, np.linalg.pinv(matrix(call, x)))


@builtin("rank")
def rank(call: Call, x: Value) -> Value:
    """The number of singular values that are not negligible."""
    return float(np.linalg.matrix_rank(matrix(call, x)))


@builtin("trace")
def trace(call: Call, x: Value) -> Value:
    """The sum of the diagonal."""
    return made(call, np.trace(matrix(call, x, square=True)))


@builtin("cond")
def cond(call: Call, x: Value, order: Value = 2.0) -> Value:
    """The condition number."""
    return made(call, np.linalg.cond(matrix(call, x), number_of(call.engine, order)))


@builtin("eig")
def eig(call: Call, x: Value) -> Value | tuple[Value, ...]:
    """Eigenvalues in ascending order where they are real; with two outputs, vectors first."""
    table = matrix(call, x, square=True)
    if np.array_equal(table, np.conj(table.T)):
        values, vectors = np.linalg.eigh(table)
    else:
        values, vectors = np.linalg.eig(table)
    if call.outputs < 2:
        return made(call, values.reshape(-1, 1))
    return made(call, vectors), made(call, np.diag(values))


def _check_economy(name: str, options: tuple[Value, ...]) -> None:
    """``0`` and ``'econ'`` ask for the smaller factors; nothing else is an option."""
    if options and options != (0.0,):
        words_of(name, options, ("econ",))


@builtin("svd")
def svd(call: Call, x: Value, *economy: Value) -> Value | tuple[Value, ...]:
    """Singular values, or the factors U, S and V."""
    table = matrix(call, x)
    _check_economy("svd", economy)
    if call.outputs < 2:
        return made(call, np.linalg.svd(table, compute_uv=False).reshape(-1, 1))
    u, s, v = np.linalg.svd(table, full_matrices=not economy)
    middle = np.zeros((u.shape[1], v.shape[0]), s.dtype)
    np.fill_diagonal(middle, s)
    return made(call, u), made(call, middle), made(call, np.conj(v.T))


@builtin("qr")
def qr(call: Call, x: Value, *economy: Value) -> Value | tuple[Value, ...]:
    """Factors Q and R; with one output, R."""
    table = matrix(call, x)
    _check_economy("qr", economy)
    if call.outputs > 2:
        raise MatlabError("MATLAB:qr:pivots", "Permutations of columns are not supported.")
    q, r = np.linalg.qr(table, mode="reduced" if economy else "complete")
    return (made(call, q), made(call, r)) if call.outputs > 1 else made(call, r)


@builtin("chol")
def chol(call: Call, x: Value, side: Value | None = None) -> Value | tuple[Value, ...]:
    """The upper (or lower) triangular factor of a positive definite matrix."""
    if side is not None:
        word_of("chol", side, ("lower", "upper"))
    table = matrix(call, x, square=True)
    try:
        lower = np.linalg.cholesky(table)
    except np.linalg.LinAlgError as error:
        if call.outputs > 1:
            return _partial_factor(call, table, lower=side is not None and text_of(side) == "lower")
        raise MatlabError("MATLAB:posdef", "Matrix must be positive definite.") from error
    factor = lower if side is not None and text_of(side) == "lower" else np.conj(lower.T)
    return (made(call, factor), 0.0) if call.outputs > 1 else made(call, factor)


def _partial_factor(call: Call, table: np.ndarray, *, lower: bool) -> tuple[Value, ...]:
    """The factor of the largest leading block that is positive definite, and the order after it."""
    order = 1
    while True:
        try:
            np.linalg.cholesky(table[:order, :order])
        except np.linalg.LinAlgError:
            break
        order += 1
    factor = np.linalg.cholesky(table[: order - 1, : order - 1])
    return made(call, factor if lower else np.conj(factor.T)), float(order)


@builtin("lu")
def lu(call: Call, x: Value) -> Value | tuple[Value, ...]:
    """Triangular factors L and U, and the permutation P; alone, both in one matrix."""
    from scipy.linalg import lu as factorize  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    p, lower, upper = factorize(matrix(call, x))
    if call.outputs > 2:
        return made(call, lower), made(call, upper), made(call, p.T)
    if call.outputs > 1:
        return made(call, p @ lower), made(call, upper)
    both = (
        lower[:, : upper.shape[1]].copy()
        if lower.shape[0] >= upper.shape[1]
        else np.pad(lower, ((0, 0), (0, upper.shape[1] - lower.shape[1])))
    )
    np.fill_diagonal(both, 0.0)
    both[: upper.shape[0]] += upper
    return made(call, both)


@builtin("null")
def null(call: Call, x: Value) -> Value:
    """An orthonormal basis of the vectors that a matrix maps to zero."""
    table = matrix(call, x)
    _, s, v = np.linalg.svd(table)
    limit = max(table.shape) * np.finfo(float).eps * (s.max(initial=0.0))
    return made(call, np.conj(v[int(np.sum(s > limit)) :].T))


@builtin("orth")
def orth(call: Call, x: Value) -> Value:
    """An orthonormal basis of the range of a matrix."""
    table = matrix(call, x)
    u, s, _ = np.linalg.svd(table, full_matrices=False)
    limit = max(table.shape) * np.finfo(float).eps * (s.max(initial=0.0))
    return made(call, u[:, : int(np.sum(s > limit))])


@builtin("expm")
def expm(call: Call, x: Value) -> Value:
    """The exponential of a matrix."""
    from scipy.linalg import expm as exponential  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    return made(call, exponential(matrix(call, x, square=True)))


@builtin("linsolve")
def linsolve(call: Call, a: Value, b: Value) -> Value:
    """The solution x of ``a * x = b``."""
    return matrices.left_divide(call.engine, a, b)


@builtin("toeplitz")
def toeplitz(call: Call, column: Value, row: Value | None = None) -> Value:
    """A matrix with equal elements along each diagonal."""
    first = known(call.engine, column).ravel()
    top = first if row is None else known(call.engine, row).ravel()
    if row is None:  # Hermitian but for the diagonal
        first, top = np.concatenate((first[:1], np.conj(first[1:]))), first
    values = np.concatenate((first[:0:-1], first[:1], top[1:]))
    at = np.arange(top.size)[None, :] - np.arange(first.size)[:, None] + first.size - 1
    kind = concatenated_kind([kind_of(column)] if row is None else [kind_of(column), kind_of(row)])
    return wrap(kind, reverse(values[at]))


@builtin("ctranspose")
def ctranspose(call: Call, x: Value) -> Value:
    """``x'``."""
    return matrices.transpose(call.engine, x, conjugate=True)


@builtin("bsxfun")
def bsxfun(call: Call, function: Value, x: Value, y: Value) -> Value:
    """A function of two arrays with extents of 1 expanded."""
    operators.broadcast_shape(x, y)
    return call.interpreter.call_one(function, x, y)


@builtin("issymmetric")
def issymmetric(call: Call, x: Value) -> Value:
    """True if a matrix equals its transpose."""
    table = known(call.engine, x)
    return bool(table.shape[0] == table.shape[1] and np.array_equal(table, table.T))


@builtin("rref")
def rref(call: Call, x: Value) -> Value:
    """The reduced row echelon form."""
    table = matrix(call, x).copy()
    limit = max(table.shape) * np.finfo(float).eps * np.abs(table).sum(axis=1).max(initial=0.0)
    row_ = 0
    for at in range(table.shape[1]):
        if row_ >= table.shape[0]:
            break
        pivot = row_ + int(np.argmax(np.abs(table[row_:, at])))
        if abs(table[pivot, at]) <= limit:
            table[row_:, at] = 0
            continue
        table[[row_, pivot]] = table[[pivot, row_]]
        table[row_] /= table[row_, at]
        others = np.arange(table.shape[0]) != row_
        table[others] -= np.outer(table[others, at], table[row_])
        row_ += 1
    return wrap("double", reverse(table))
