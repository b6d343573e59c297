"""Linear algebra of small matrices in loops, by NumPy's own C functions: its bits.

Where NumPy raises, as for a singular matrix, results are not numbers, and Python runs the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.loops import elements, points, products
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.numpy_functions import LINEAR, function
from runmat_jit.loops.values import FLOAT64, Array, Axis, Item, Scalar, Unknown, numpy_kind


def _call(e: Emitter, name: str, operands: Sequence[Array], axes: Sequence[Axis]) -> Array:
    """Result of a function of a square matrix, and of another operand."""
    k, (a, *others) = e.k, operands
    inner_loop = function(e, f"{LINEAR}{name}")
    e.fix(*(axis.number for x in operands for axis in x.axes))
    points.equal(e, a.axes[0], a.axes[1])
    for x in others:
        points.equal(e, a.axes[0], x.axes[0])
    k.leave_if(k.eq(a.axes[0].extent, 0))
    made = points.blank(e, FLOAT64, axes or (elements.single(e),))
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


def _matrix(e: Emitter, item: Item, *others: Item, ranks: Sequence[int] = (2,)) -> Array:
    """An operand that NumPy takes as it is; there are to be no others."""
    x = points.settled(e, item)
    is_known = isinstance(x, Array) and x.dtype == FLOAT64 and not others
    if not isinstance(x, Array) or not is_known or len(x.axes) not in ranks:
        raise Unknown("linear algebra of what is no matrix of doubles")
    return x


def solve(e: Emitter, items: Sequence[Item]) -> Item:
    """``np.linalg.solve(a, b)`` for a vector or a matrix."""
    a, b = _matrix(e, items[0]), _matrix(e, *items[1:], ranks=(1, 2))
    return _call(e, "solve1" if len(b.axes) == 1 else "solve", (a, b), b.axes)


def _of_matrix(name: str) -> Callable[[Emitter, Sequence[Item]], Item]:
    def handle(e: Emitter, items: Sequence[Item]) -> Item:
        a = _matrix(e, *items)
        return _call(e, name, (a,), a.axes)

    return handle


def determinant(e: Emitter, items: Sequence[Item]) -> Item:
    """``np.linalg.det(a)``."""
    a = _matrix(e, *items)
    made = _call(e, "det", (a,), ())
    value = e.k.load(made.buffer, elements.start_of(e, made), 0)
    e.k.leave_if(e.k.eq(value, 0.0))  # NumPy may warn
    return Scalar(frozenset((numpy_kind(FLOAT64),)), value)


HANDLERS: Final[dict[Any, Callable[[Emitter, Sequence[Item]], Item]]] = {
    np.linalg.solve: solve,
    np.linalg.inv: _of_matrix("inv"),
    np.linalg.cholesky: _of_matrix("cholesky_lo"),
    np.linalg.det: determinant,
}
"""By NumPy's function."""
