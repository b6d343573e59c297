"""Sparse matrices: what a variable holds, its indexing, operators and display.

Zeros are not stored. Functions that know nothing of sparse matrices are given the full one, whose
values are the same; those in :mod:`matlab_frontend.sparse_functions` work on what is stored.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from matlab_frontend.display import number_lines
from matlab_frontend.display_numbers import TIMES
from matlab_frontend.errors import MatlabError
from matlab_frontend.indexing import linear_shape
from matlab_frontend.sparse_functions import FUNCTIONS, MADE_SPARSE, of_full
from matlab_frontend.subscripts import Everything, Subscript, positions
from matlab_frontend.values.array import (
    Array,
    Assign,
    Delete,
    Extension,
    Join,
    Shape,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import column, wrap
from runmat_jit.core.frozen import frozen_object

_FULL_WITH_FULL = frozenset("+-")
"""Operators that give full matrices where one operand is full."""
_NATIVE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    ".*": lambda x, y: x.multiply(y),
}
"""Operators of two sparse matrices of one size."""
_PREFIX = 5
"""Characters of a row's number in a display, its parenthesis included."""
_AFTER = 6
"""Characters that a column's number takes there at least."""


@frozen_object
class Sparse(Extension):
    """A matrix by columns, doubles (also complex ones) or truth values, without stored zeros."""

    matrix: Any
    spaced = False

    @property
    def kind(self) -> str:  # type: ignore[override]  # of its elements
        """``double`` or ``logical``."""
        return "logical" if self.matrix.dtype == np.bool_ else "double"

    @property
    def shape(self) -> Shape:
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    def as_array(self) -> Array:
        return Array(self.kind, np.ascontiguousarray(self.matrix.toarray().T))

    def to_python(self) -> Any:
        return self.matrix

    def overload(self, name: str) -> Callable[..., Any] | None:
        function = FUNCTIONS.get(name)
        if function is None and name not in MADE_SPARSE:
            return None

        def call_it(call: Any, *given: Value) -> Any:
            plain = [each.matrix if isinstance(each, Sparse) else each for each in given]
            made = None if function is None else function(call, *plain)
            if made is None:
                made = of_full(name, call, *plain)
            parts = made if isinstance(made, tuple) else (made,)
            return tuple([sparse(part) if sp.issparse(part) else part for part in parts])

        return call_it

    # -- elements ----------------------------------------------------------------------------------
    def index(self, engine: Any, subscripts: list[Any]) -> Value:
        if len(subscripts) == 1:
            return self._at_places(engine, subscripts[0])
        rows, columns = self._places(engine, subscripts)
        return sparse(self.matrix[rows][:, columns])

    def _at_places(self, engine: Any, subscript: Subscript) -> Value:
        """``value(places)``, counted column by column."""
        rows, columns = self.shape
        count = rows * columns
        if isinstance(subscript, Everything):
            return sparse(self.matrix.reshape((count, 1), order="F"))
        found = positions(engine, subscript, count)
        if found.highest > count:
            raise MatlabError(
                "MATLAB:badsubscript",
                f"Index exceeds the number of array elements. Index must not exceed {count}.",
            )
        at = _numbers(engine, subscript, count)
        taken = self.matrix[at % max(rows, 1), at // max(rows, 1)]
        numbers = taken.toarray() if sp.issparse(taken) else np.asarray(taken)
        return sparse(numbers.reshape(linear_shape(found, self.shape), order="F"))

    def _places(self, engine: Any, subscripts: Sequence[Subscript]) -> tuple[Any, Any]:
        if len(subscripts) != 2:
            raise MatlabError(
                "MATLAB:sparse:subscripts", "Sparse matrices take one subscript or two."
            )
        keys = []
        for at, (subscript, extent) in enumerate(zip(subscripts, self.shape, strict=True)):
            found = positions(engine, subscript, extent, f"in position {at + 1} ")
            if found.highest > extent:
                where = f"Index in position {at + 1} exceeds array bounds."
                raise MatlabError("MATLAB:badsubscript", f"{where} Index must not exceed {extent}.")
            keys.append(found.key if isinstance(found.key, slice) else np.ravel(found.key))
        return keys[0], keys[1]

    def put(self, engine: Any, subscripts: list[Any], value: Value, assign: Assign) -> Value:
        given = value.matrix.toarray() if isinstance(value, Sparse) else _full(engine, value)
        rows, columns = self._stored_at(engine, subscripts, given)
        height, width = (
            max([n, *(at + 1)]) for n, at in zip(self.shape, (rows, columns), strict=True)
        )
        dtype = self.matrix.dtype if self.kind == "logical" else np.result_type(self.matrix, given)
        made = sp.csc_array(self.matrix, dtype=dtype, copy=True)
        made.resize((height, width))
        if len(subscripts) == 1:
            made[rows, columns] = np.broadcast_to(given.ravel(order="F"), rows.shape)
        else:
            fits = given.size == 1 or _squeezed(given.shape) == _squeezed((rows.size, columns.size))
            if not fits:
                sizes = f"{rows.size}-by-{columns.size}", "-by-".join(map(str, given.shape))
                message = "Unable to perform assignment because the size of the left side is "
                message += f"{sizes[0]} and the size of the right side is {sizes[1]}."
                raise MatlabError("MATLAB:subsassigndimmismatch", message)
            whole = np.broadcast_to(given.reshape(-1)[0], (rows.size, columns.size))
            if given.size != 1:
                whole = given.reshape((rows.size, columns.size), order="F")
            made[np.ix_(rows, columns)] = whole
        return sparse(made)

    def _stored_at(
        self, engine: Any, subscripts: list[Any], given: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns that an assignment stores to: of one subscript, of each element."""
        rows, columns = self.shape
        if len(subscripts) == 1:
            at = _numbers(engine, subscripts[0], rows * columns)
            if np.any(at >= rows * columns):
                raise MatlabError(
                    "MATLAB:badsubscript", "Sparse matrices grow by two subscripts alone."
                )
            if given.size not in (1, at.size):
                message = "Unable to perform assignment because the left and right sides have a "
                message += "different number of elements."
                raise MatlabError("MATLAB:matchedNumelsRequired", message)
            return at % max(rows, 1), at // max(rows, 1)
        if len(subscripts) != 2:
            raise self.refusal("Assignment with more than two subscripts")
        return _numbers(engine, subscripts[0], rows), _numbers(engine, subscripts[1], columns)

    def without(self, engine: Any, subscripts: list[Any], delete: Delete) -> Value:
        if len(subscripts) != 2:
            raise self.refusal("Deletion with one subscript")
        rows, columns = self._places(engine, subscripts)
        gone = [np.arange(n)[key] for n, key in zip(self.shape, (rows, columns), strict=True)]
        whole = [len(set(at.tolist())) == n for n, at in zip(self.shape, gone, strict=True)]
        if not any(whole):
            raise MatlabError(
                "MATLAB:subsdeldimmismatch", "A null assignment can have only one non-colon index."
            )
        axis = 1 if whole[0] else 0
        left = np.setdiff1d(np.arange(self.shape[axis]), gone[axis])
        return sparse(self.matrix[:, left] if axis else self.matrix[left])

    # -- operators ---------------------------------------------------------------------------------
    def operate(
        self, operator: str, function: Callable[..., Value], engine: Any, operands: list[Value]
    ) -> Value:
        if any(as_array_or_sparse(each) is None for each in operands):
            raise self.refusal(f"Operator '{operator}'")
        if operator in ("'", ".'"):
            return sparse(self.matrix.conj().T if operator == "'" else self.matrix.T)
        if len(operands) == 1:
            return self._on_stored(
                lambda data: function(engine, data), function(engine, 0.0), engine
            )
        if operator in _MATRICES and not any(count_of(each) == 1 for each in operands):
            return _MATRICES[operator](engine, *operands)
        if operator == "^":
            return _power(self, engine, operands[1])
        if operator in ("/", "*", "\\"):
            operator = f".{operator}"
        return self._by_element(operator, function, engine, operands)

    def _by_element(
        self, operator: str, function: Callable[..., Value], engine: Any, operands: list[Value]
    ) -> Value:
        left, right = operands
        if isinstance(left, Sparse) and isinstance(right, Sparse) and operator in _NATIVE:
            pair = left.matrix.astype(_wide(left)), right.matrix.astype(_wide(right))
            is_finite = operator != ".*" or all(np.isfinite(each.data).all() for each in pair)
            if left.shape == right.shape and is_finite:
                return sparse(_NATIVE[operator](*pair))
        scalar = next((each for each in operands if not isinstance(each, Sparse)), None)
        if scalar is None or operator not in _FULL_WITH_FULL:
            if scalar is not None and count_of(scalar) == 1:
                zero = function(engine, *[0.0 if each is self else each for each in operands])
                return self._on_stored(
                    lambda data: function(
                        engine, *[data if each is self else each for each in operands]
                    ),
                    zero,
                    engine,
                )
            return from_full(engine, function(engine, *map(full, operands)))
        return function(engine, *map(full, operands))

    def _on_stored(self, function: Callable[[Value], Value], zero: Value, engine: Any) -> Value:
        """A function of each element; ``zero`` is what it gives for those that are not stored."""
        if zero not in (0.0, False):
            return from_full(engine, function(self.as_array()))
        made = _full(engine, function(column(self.matrix.data.astype(_wide(self)).tolist())))
        return with_stored(self.matrix, made.ravel())

    def join(self, engine: Any, values: list[Value], axis: int, join: Join) -> Value:
        parts = [as_array_or_sparse(each) for each in values]
        if any(part is None for part in parts):
            raise self.refusal("Concatenation with values of another class")
        matrices = [matrix_of(engine, part) for part in parts if part is not None]
        matrices = [each for each in matrices if each.shape != (0, 0)]
        if len({each.shape[1 - axis] for each in matrices}) > 1:
            raise MatlabError(
                "MATLAB:catenate:dimensionMismatch",
                "Dimensions of arrays being concatenated are not consistent.",
            )
        return sparse((sp.vstack, sp.hstack)[axis](matrices or [self.matrix]))

    # -- display -----------------------------------------------------------------------------------
    def show(self, engine: Any) -> tuple[str, tuple[str, ...]]:
        rows, columns = self.shape
        if not self.matrix.nnz:
            word = "All zero sparse:" if rows and columns else "Empty sparse:"
            return "", (f"   {word} {rows}{TIMES}{columns}",)
        del engine
        found = self.matrix.tocoo()
        numbers = number_lines(found.data.reshape(-1, 1), self.kind)
        head, numbers = numbers[: -found.data.size], numbers[-found.data.size :]
        lines = list(head)
        for row, at, number in zip(found.row + 1, found.col + 1, numbers, strict=True):
            place = f",{at})"
            width = len(number) + _AFTER - len(place)
            lines.append(f"{f'({row}':>{_PREFIX}}{place}{number.strip():>{width}}")
        header = f"{rows}{TIMES}{columns} sparse logical array" if self.kind == "logical" else ""
        return header, tuple(lines)


def sparse(matrix: Any) -> Sparse:
    """The value of SciPy's sparse matrix, or of a full one, of any format and dtype."""
    made = sp.csc_array(matrix)
    if made.dtype.kind not in "bc":
        made = made.astype(np.float64)
    if not (made.has_canonical_format and made.data.all()):
        made = made.copy()  # others may have the same places
        made.sum_duplicates()
        made.eliminate_zeros()
    return Sparse(made)


def from_full(engine: Any, value: Value) -> Sparse:
    """The sparse matrix of a full one.

    Raises:
        MatlabError: it is of another class, or has pages.

    """
    return sparse(matrix_of(engine, value))


def matrix_of(engine: Any, value: Value) -> Any:
    """A matrix of SciPy's.

    Raises:
        MatlabError: as of :func:`from_full`.

    """
    if isinstance(value, Sparse):
        return value.matrix
    array = as_array(value)
    if array is None or array.kind not in ("double", "logical", "single", "char"):
        message = f"Values of class '{kind_of(value)}' cannot be sparse."
        raise MatlabError("MATLAB:sparsefcn:InvalidInput", message)
    if len(shape_of(array)) > 2:
        raise MatlabError("MATLAB:sparsefcn:NDArrays", "Sparse matrices have no pages.")
    return sp.csc_array(_full(engine, array))


def with_stored(matrix: Any, data: np.ndarray) -> Sparse:
    """Other elements in the places of the stored ones."""
    return sparse(sp.csc_array((data, matrix.indices, matrix.indptr), matrix.shape))


def full(value: Value) -> Value:
    """The full matrix of a sparse one; others as they are."""
    if not isinstance(value, Sparse):
        return value
    array = value.as_array()
    return wrap(array.kind, array.data)


def as_array_or_sparse(value: Value) -> Value | None:
    """Numbers and truth values, full or sparse; None for others."""
    return value if isinstance(value, Sparse) else as_array(value)


def solve(engine: Any, left: Value, right: Value) -> Value:
    r"""``left \ right``: by sparse factors where ``left`` is sparse and square."""
    from scipy.sparse.linalg import splu  # noqa: PLC0415  (few programs solve)

    rows, columns = shape_of(left)
    if rows != shape_of(right)[0]:
        raise MatlabError("MATLAB:dimagree", "Matrix dimensions must agree.")
    sides = _full(engine, right) if not isinstance(right, Sparse) else right.matrix.toarray()
    a = matrix_of(engine, left)
    is_sparse = isinstance(left, Sparse) and isinstance(right, Sparse)
    if rows != columns:
        made = np.linalg.lstsq(a.toarray(), sides, rcond=None)[0]
    else:
        dtype = np.result_type(a.dtype, sides.dtype, np.float64)
        try:
            made = splu(a.astype(dtype)).solve(sides.astype(dtype))
        except RuntimeError:  # a pivot is zero
            made = np.full((columns, sides.shape[1]), np.inf)
    return sparse(made) if is_sparse else wrap("double", np.ascontiguousarray(made.T))


def _multiply(engine: Any, left: Value, right: Value) -> Value:
    a, b = (
        each.matrix if isinstance(each, Sparse) else _full(engine, each) for each in (left, right)
    )
    if a.shape[1] != b.shape[0]:
        raise MatlabError(
            "MATLAB:innerdim",
            "Incorrect dimensions for matrix multiplication. Check that the number of columns in "
            "the first matrix matches the number of rows in the second matrix. To operate on each "
            "element of the matrix individually, use TIMES (.*) for elementwise multiplication.",
        )
    kinds = [np.result_type(each.dtype, np.float64) for each in (a, b)]
    made = a.astype(kinds[0]) @ b.astype(kinds[1])
    return sparse(made) if sp.issparse(made) else wrap("double", np.ascontiguousarray(made.T))


def _divide(engine: Any, left: Value, right: Value) -> Value:
    turned = solve(engine, _turned(engine, right), _turned(engine, left))
    return _turned(engine, turned)


def _turned(engine: Any, value: Value) -> Value:
    if isinstance(value, Sparse):
        return sparse(value.matrix.T)
    return wrap("double", np.ascontiguousarray(_full(engine, value)))


def _power(base: Value, engine: Any, exponent: Value) -> Value:
    """Repeated products of a square sparse matrix."""
    number = _full(engine, exponent).ravel() if count_of(exponent) == 1 else np.array([np.nan])
    if not isinstance(base, Sparse) or base.shape[0] != base.shape[1]:
        raise MatlabError("MATLAB:square", "The base must be square and the power a scalar.")
    if number.dtype.kind == "c" or not float(number[0]).is_integer() or number[0] < 0:
        raise MatlabError("MATLAB:sparse:power", "Powers of sparse matrices are whole numbers.")
    made, left = sp.eye_array(base.shape[0], format="csc"), int(number[0])
    factor = base.matrix.astype(_wide(base))
    while left:
        made = made @ factor if left & 1 else made
        factor, left = (factor @ factor if left > 1 else factor), left >> 1
    return sparse(made)


_MATRICES: dict[str, Callable[[Any, Value, Value], Value]] = {
    "*": _multiply,
    "/": _divide,
    "\\": solve,
}
"""Operators of matrices."""


def _full(engine: Any, value: Value) -> np.ndarray:
    """The elements with the axes in MATLAB's order."""
    array = as_array(value)
    if array is None:
        raise MatlabError(
            "MATLAB:sparsefcn:InvalidInput", f"Values of class '{kind_of(value)}' cannot be sparse."
        )
    data: np.ndarray = engine.look(array.data).T
    return data.astype(np.float64) if data.dtype.kind not in "bc" else data


def _wide(value: Sparse) -> Any:
    """The dtype of computations."""
    return np.result_type(value.matrix.dtype, np.float64)


def _numbers(engine: Any, subscript: Subscript, extent: int) -> np.ndarray:
    """The places of a subscript, from 0, in the order of its elements."""
    found = positions(engine, subscript, extent)
    key = np.arange(max(extent, found.highest))[found.key]
    return np.asarray(key).ravel()


def _squeezed(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(extent for extent in shape if extent != 1)
