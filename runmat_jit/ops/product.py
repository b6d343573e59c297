"""Products of vectors and matrices: one row, whose result may go to given memory.

Bits are NumPy's, but for stacks of small matrices times one matrix (:meth:`Product.joins`).
NumPy chooses a routine of BLAS by the strides of its operands, and by whether both are one array;
the routines round differently. So a product records how its operands lay in the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import TensorType
from runmat_jit.ops.host_call import HostCall, called
from runmat_jit.ops.spec import Op

if TYPE_CHECKING:
    from collections.abc import Mapping

Operand = np.ndarray | TensorType
Lies = Literal["rows", "columns", "dense"]
"""How an operand lies: rows of neighbors, columns of neighbors (the transpose of the former), or in
C order without gaps, as everything does unless it is a view."""

DENSE: Final[tuple[Lies, Lies]] = ("dense", "dense")
FEW_ROWS: Final = 128
"""Rows of a matrix in a stack up to which a call of BLAS for each matrix takes longer than one."""
_JOINED: Final = (np.dtype(np.float32), np.dtype(np.float64))


@frozen
class Product:
    """A product of two arrays, ``fn(a, b)``, in new memory or in a given one of C order.

    ``lie`` says how the operands lay in the program. ``apart``: they were two arrays there, one of
    which may be the transpose of the other; a graph that computes equal values once would make them
    one, for which NumPy computes half the result and copies it. ``symmetric``: it shall do so.
    ``ours``: the program asked for sums of products by another name, so that its bits are our own.
    """

    fn: Callable[..., Any]
    lie: tuple[Lies, Lies] = DENSE
    apart: bool = False
    symmetric: bool = False
    ours: bool = False

    def __call__(self, a: np.ndarray, b: np.ndarray) -> Any:
        """The product in new memory."""
        if self.lie != DENSE:
            return self.fn(*self.placed(a, b))
        if self.joins(a, b) and a.flags.c_contiguous:
            return self.fn(_rows_of(a), b).reshape(*a.shape[:-1], *b.shape[1:])
        return self.fn(a, b)

    def into(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The product in memory of the program's, which is given back."""
        store: Any = np.dot if self.fn is np.dot else np.matmul
        if self.joins(a, b) and a.flags.c_contiguous and out.flags.c_contiguous:
            rows = _rows_of(a)
            store(rows, b, out=out.reshape(len(rows), *b.shape[1:]))
        else:
            store(*self.placed(a, b), out=out)
        return out

    def joins(self, a: Operand, b: Operand) -> bool:
        """Return True if one product of the rows of all matrices of a stack replaces many.

        ``a`` is a stack of matrices with few rows, ``b`` one matrix or vector for all of them. One
        call of BLAS reads ``b`` once and takes a half to a tenth of the time. It may add the terms
        of a sum in another order than NumPy's calls, so that its last bits may differ.
        """
        if a.ndim < 3 or b.ndim not in (1, 2) or self.lie[0] != "dense":
            return False
        joins = a.dtype == b.dtype and a.dtype in _JOINED
        return bool(joins and a.shape[-2] <= FEW_ROWS and math.prod(a.shape[:-2]) > 1)

    def placed(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The operands, as they lay in the program."""
        a, b = _lying(a, self.lie[0]), _lying(b, self.lie[1])
        return (a, b.copy(order="K")) if self.apart and np.may_share_memory(a, b) else (a, b)


def _rows_of(stack: np.ndarray) -> np.ndarray:
    """The rows of all matrices of a stack, which may be empty."""
    return stack.reshape(math.prod(stack.shape[:-1]), stack.shape[-1])


def _lying(array: np.ndarray, lies: Lies) -> np.ndarray:
    if lies == "dense":
        return array
    neighbors = array.strides[-1 if lies == "rows" else -2] == array.itemsize
    if neighbors:
        return array
    if lies == "rows":
        return np.array(array, order="C")
    return np.array(array.swapaxes(-1, -2), order="C").swapaxes(-1, -2)


def product_in(params: Mapping[str, Any]) -> Product | None:
    """The product that a node with these parameters is; None where it is something else."""
    call = params.get("call")
    found = call.fn if isinstance(call, HostCall) else None
    return found if isinstance(found, Product) else None


ROWS = (
    Op(
        name="product",
        doc="A product of vectors and matrices, or of stacks of them: a ``call`` of a `Product`.",
        kind="host",
        arity=2,
        numpy=called,
        layout="C",
        ufunc="host call",
        events=frozenset(("divide", "overflow", "invalid")),
    ),
)
