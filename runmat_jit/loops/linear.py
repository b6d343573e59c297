"""Linear algebra of small matrices in loops, by NumPy's own C functions: its bits.

Where NumPy raises, as for a singular matrix, results are not numbers, and Python runs the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from runmat_jit.loops import elements, indexing, products
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.numpy_functions import LINEAR, function
from runmat_jit.loops.signatures import Signature, Table, array
from runmat_jit.loops.values import FLOAT64, Array, Axis, Item, Scalar, numpy_kind

_SQUARE: Final = array(2, of=(FLOAT64,))


def _call(e: Emitter, name: str, operands: Sequence[Array], axes: Sequence[Axis]) -> Array:
    """Result of a function of a square matrix, and of another operand."""
    k, (a, *others) = e.k, operands
    inner_loop = function(e, f"{LINEAR}{name}")
    e.fix(*(axis.number for x in operands for axis in x.axes))
    indexing.equal(e, a.axes[0], a.axes[1])
    for x in others:
        indexing.equal(e, a.axes[0], x.axes[0])
    k.leave_if(k.eq(a.axes[0].extent, 0))
    made = indexing.blank(e, FLOAT64, axes or (elements.single(e),))
    results = made if axes else replace(made, axes=())
    columns = [axis.extent for x in others for axis in x.axes[1:]]
    every = (*operands, results)
    steps = [0] * len(every) + [axis.stride for x in every for axis in x.axes]
    counts = [k.const(1, "index"), a.axes[0].extent, *columns]
    products.call_loop(e, inner_loop, every, counts, steps)
    e.arithmetic.mark_ours(bits=False)  # it clears what the machine tells of other operations
    first = k.load(made.buffer, elements.start_of(e, made), 0)
    k.leave_if(k.prim("isnan", first - first))
    return made


def solve(e: Emitter, *operands: Item) -> Item:
    """``np.linalg.solve(a, b)`` for a vector or a matrix."""
    a, b = (indexing.settled_array(e, x) for x in operands)
    return _call(e, "solve1" if len(b.axes) == 1 else "solve", (a, b), b.axes)


def _of_matrix(name: str) -> Signature:
    def emit(e: Emitter, x: Item) -> Item:
        a = indexing.settled_array(e, x)
        return _call(e, name, (a,), a.axes)

    return Signature((_SQUARE,), emit)


def determinant(e: Emitter, x: Item) -> Item:
    """``np.linalg.det(a)``."""
    a = indexing.settled_array(e, x)
    made = _call(e, "det", (a,), ())
    value = e.k.load(made.buffer, elements.start_of(e, made), 0)
    e.k.leave_if(e.k.eq(value, 0.0))  # NumPy may warn
    return Scalar(frozenset((numpy_kind(FLOAT64),)), value)


CALLS_OF_LINEAR: Final[Table] = {
    np.linalg.solve: [Signature((_SQUARE, array(1, 2, of=(FLOAT64,))), solve)],
    np.linalg.inv: [_of_matrix("inv")],
    np.linalg.cholesky: [_of_matrix("cholesky_lo")],
    np.linalg.det: [Signature((_SQUARE,), determinant)],
}
