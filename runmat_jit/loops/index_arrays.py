"""Elements and rows at the indices of an array, read and stored: ``x[index]``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runmat_jit.kernel.ir import Value
from runmat_jit.loops import elements, indexing
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import SINGLE
from runmat_jit.loops.values import (
    EXTENT,
    TYPES,
    Array,
    Axis,
    Complex,
    Item,
    Lazy,
    Scalar,
    Unknown,
    numpy_kind,
)
from runmat_jit.loops.whole_arrays import is_turned


def taken(e: Emitter, base: Array | Lazy, index: Array | Lazy) -> Array:
    """Return a new array of parts along the first axis of one; leave for an index out of range.

    Raises:
        Unknown: it is another kind of index, or the new array may lie in another order.

    """
    x, at = indexing.settled(e, base), indexing.settled(e, index)
    assert isinstance(x, Array), "it is an array"
    assert isinstance(at, Array), "so is the index"
    first, *rest = x.axes or (elements.single(e),)
    has_single = SINGLE in {axis.number for axis in (*at.axes, *rest)}
    is_other = is_turned(x) or is_turned(at) or x.dtype not in TYPES or not x.axes
    if e.streams is not None or is_other or has_single or at.dtype.kind not in "iu":
        raise Unknown("elements at indices of another dtype or order, or along one element")
    made = indexing.blank(e, x.dtype, (*at.axes, *rest))
    bounds = elements.bounds_of(at.dtype)
    kinds = frozenset((numpy_kind(at.dtype),))

    def take(places: tuple[Value, ...]) -> None:
        value = e.k.load(at.buffer, _offset_of(e, at, at.axes, places), 0)
        number = Scalar(kinds, value, max(bounds[0], -EXTENT), bounds[1])
        part = elements.moved(e, x, tuple(rest), elements.checked(e, number, first), first)
        to = _offset_of(e, made, made.axes[: len(places)], places)
        if rest:
            row = replace(made, offset=to, axes=made.axes[len(places) :], whole=False)
            indexing.fill_new(e, row, part)
        else:
            assert part.offset is not None, "it has been moved"
            e.k.store(made.buffer, to, e.k.load(x.buffer, part.offset, 0), 0)

    indexing.note_span(e, made.axes)
    indexing.rows(e, at.axes, take)
    return made


def store(e: Emitter, base: Array, index: Array, made: Item) -> None:
    """Store to the rows of an array at some indices, in order: the last of equal ones counts."""
    k, (first, *rest) = e.k, base.axes
    value = indexing.settled(e, made)
    if isinstance(value, Array) and _may_share(e, value, base):
        value = indexing.materialized(e, value)
    axes = value.axes if isinstance(value, Array) else ()
    each = len(axes) == len(rest) + 1
    is_other = len(axes) > len(rest) + each or (each and axes[0].number == SINGLE)
    is_known = isinstance(value, Array | Scalar | Complex) and not is_other
    if not is_known or _may_share(e, index, base):
        raise Unknown("a store at indices of one row, of more axes, or to the indices themselves")
    if each:
        indexing.equal(e, axes[0], index.axes[0])
    indexing.note_store(e, base)
    e.fix(first.number, index.axes[0].number)
    bounds = elements.bounds_of(index.dtype)
    kinds = frozenset((numpy_kind(index.dtype),))
    before = e.stores
    with k.loop(0, index.axes[0].extent) as loop:
        at = k.load(index.buffer, _offset_of(e, index, index.axes, (loop.i,)), 0)
        number = Scalar(kinds, at, max(bounds[0], -EXTENT), bounds[1])
        row = elements.moved(e, base, tuple(rest), elements.checked(e, number, first), first)
        own: Item = value
        if isinstance(value, Array) and each:
            own = elements.load(e, elements.moved(e, value, value.axes[1:], loop.i, value.axes[0]))
        if rest:
            indexing.fill(e, row, own)
        else:
            elements.put(e, row, own)
        loop.yield_()
    e.arithmetic.mark_ours(bits=False)
    e.stores = before + 1


def _may_share(e: Emitter, x: Array, base: Array) -> bool:
    """Return True if two arrays may have an element in common."""
    return x.operand == base.operand and (x.operand >= 0 or not e.memory.are_apart(x, base))


def _offset_of(e: Emitter, x: Array, axes: Sequence[Axis], places: Sequence[Value]) -> Value:
    """Where the part of an array at some coordinates begins."""
    offset = e.k.const(0, "index") if x.offset is None else x.offset
    for axis, place in zip(axes, places, strict=True):
        if axis.stride != 0:
            offset = offset + (place if axis.stride == 1 else place * axis.stride)
    return offset
