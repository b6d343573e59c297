"""Elements that an array of truth values chooses: read, changed and stored.

Where they are only reduced, or stored where they were, none is moved: all elements are computed,
the others of numbers that say nothing, and what is stored is chosen. Elsewhere they are copied side
by side, and stored one after the other.
"""

from __future__ import annotations

from dataclasses import replace

from runmat_jit.core.types import is_complex
from runmat_jit.kernel.ir import Value
from runmat_jit.loops import elements, index_arrays, indexing, operations
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import BOOL, Array, Item, Lazy, Unknown, literal
from runmat_jit.loops.whole_arrays import Whole
from runmat_jit.ops.table import ROWS


def place(e: Emitter, base: Array, index: Whole) -> Array:
    """Return ``x[mask]``, or ``x[index]`` of integers, to be stored to.

    A mask of rows is one of all their elements.
    """
    mask = indexing.settled_array(e, index)
    if mask.dtype.kind in "iu" and len(mask.axes) == 1 and base.axes and e.streams is None:
        return replace(base, mask=mask)
    missing = len(base.axes) - len(mask.axes)
    if mask.dtype != BOOL or missing < 0 or e.streams is not None:
        raise Unknown("a store by an index that is no mask")
    for axis, own in zip(mask.axes, base.axes, strict=False):
        indexing.equal(e, axis, own)
    return replace(base, mask=mask)


def read(e: Emitter, base: Whole, mask: Array) -> Whole:
    """Return ``x[mask]``: each element is used where it is, or all are reduced."""
    if mask.dtype != BOOL:
        return index_arrays.taken(e, base, mask)
    x = place(e, indexing.settled_array(e, base), mask)
    if is_complex(x.dtype):
        assert x.mask is not None, "it has been given one"
        return indexing.side_by_side(e, replace(x, mask=None), x.mask)
    number = literal(e.k, number=True) if x.dtype == BOOL else literal(e.k, 1)
    chosen = elements.spread(e, mask, len(x.axes))
    made = operations.by_row(e, ROWS["where"], [chosen, replace(x, mask=None), number], {})
    assert isinstance(made, Lazy), "it has axes"
    return replace(made, mask=x.mask)


def store(e: Emitter, at: Array, made: Item) -> None:
    """Store to a part of an array, or to the elements that a mask chooses."""
    if at.mask is None:
        indexing.store(e, at, made)
        return
    if at.mask.dtype != BOOL:
        index_arrays.store(e, replace(at, mask=None), at.mask, made)
        return
    whole = replace(at, mask=None)
    value = replace(made, mask=None) if isinstance(made, Lazy) and made.mask is at.mask else made
    if isinstance(made, Array | Lazy) and (value is made or is_complex(at.dtype)):
        _store_side_by_side(e, whole, at.mask, made)
        return
    mask = elements.spread(e, at.mask, len(at.axes))
    chosen = operations.by_row(e, ROWS["where"], [mask, value, whole], {})
    if not isinstance(chosen, Lazy) or chosen.dtype != whole.dtype:
        raise Unknown("a store of elements of another dtype where a mask chooses")
    with e.masked(at.mask):
        indexing.store(e, whole, chosen)


def _store_side_by_side(e: Emitter, at: Array, mask: Array, made: Whole) -> None:
    """Store the elements of a vector where a mask chooses; leaves where these are not as many."""
    k, x = e.k, indexing.settled_array(e, made)
    is_vector = len(at.axes) == len(mask.axes) and len(x.axes) == 1 and e.streams is None
    if not is_vector or indexing.may_overlap(e, x, at):  # NumPy copies none
        raise Unknown("a store of rows, or of elements of its own, where a mask chooses")
    indexing.note_store(e, at)
    e.fix(x.axes[0].number)

    def put(outer: tuple[Value, ...], count: Value) -> Value:
        with k.if_(indexing.truth_at(e, mask, outer), [count]) as chosen:
            k.leave_if(count >= x.axes[0].extent)
            value = elements.load(e, elements.moved(e, x, (), count, x.axes[0]))
            elements.put(e, indexing.part_at(e, at, outer), value)
            chosen.yield_(count + 1)
        return chosen.out[0]

    count = indexing.counted(e, mask.axes, put, k.const(0, "index"))
    k.leave_if(k.ne(count, x.axes[0].extent))
    e.stores += 1
