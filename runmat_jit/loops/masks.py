"""Elements that an array of truth values chooses: read, changed and stored, none of them moved.

All elements are computed, the others of numbers that say nothing; what is stored is chosen.
"""

from __future__ import annotations

from dataclasses import replace

from runmat_jit.loops import operations, points
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import BOOL, Array, Item, Lazy, Scalar, Unknown, literal
from runmat_jit.loops.wholes import Whole
from runmat_jit.ops.table import ROWS


def place(e: Emitter, base: Array, index: Whole) -> Array:
    """``x[mask]``, to be stored to."""
    mask = points.settled(e, index)
    assert isinstance(mask, Array), "it is an array"
    if mask.dtype != BOOL or len(mask.axes) != len(base.axes) or e.streams is not None:
        raise Unknown("a store by an index that is no mask of all elements")
    points.matched(e, [base, mask])
    return replace(base, mask=mask)


def read(e: Emitter, base: Whole, mask: Array) -> Lazy:
    """``x[mask]``, of which each element is used where it is, or all are reduced."""
    x = place(e, _array(e, base), mask)
    number = literal(e.k, number=True) if x.dtype == BOOL else literal(e.k, 1)
    made = operations.by_row(e, ROWS["where"], [mask, replace(x, mask=None), number], {})
    assert isinstance(made, Lazy), "it has axes"
    return replace(made, mask=mask)


def store(e: Emitter, at: Array, made: Item) -> None:
    """Store to a part of an array, or to the elements that a mask chooses."""
    if at.mask is None:
        points.store(e, at, made)
        return
    whole = replace(at, mask=None)
    value = replace(made, mask=None) if isinstance(made, Lazy) and made.mask is at.mask else made
    known = isinstance(value, Scalar) or value is not made
    chosen = operations.by_row(e, ROWS["where"], [at.mask, value, whole], {}) if known else made
    if not known or not isinstance(chosen, Lazy) or chosen.dtype != whole.dtype:
        raise Unknown("a store of other elements than a mask chooses, or of another dtype")
    with e.masked(at.mask):
        points.store(e, whole, chosen)


def _array(e: Emitter, x: Whole) -> Array:
    """An array of which nothing is to be computed any more."""
    found = points.settled(e, x)
    assert isinstance(found, Array), "it is an array"
    return found
