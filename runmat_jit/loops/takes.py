"""Elements and rows at the indices of an array: ``x[index]``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runmat_jit.kernel.ir import Value
from runmat_jit.loops import elements, points
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import SINGLE
from runmat_jit.loops.values import EXTENT, TYPES, Array, Axis, Lazy, Scalar, Unknown, numpy_kind
from runmat_jit.loops.wholes import is_turned


def taken(e: Emitter, base: Array | Lazy, index: Array | Lazy) -> Array:
    """A new array of the parts of one along its first axis; leaves where a place is out of range.

    Raises:
        Unknown: it is another kind of index, or the new array may lie in another order.

    """
    x, at = points.settled(e, base), points.settled(e, index)
    assert isinstance(x, Array), "it is an array"
    assert isinstance(at, Array), "so is the index"
    if at.dtype.kind not in "iu" or not x.axes:
        raise Unknown("an index that is a mask, or no array of integers")
    first, rest = x.axes[0], x.axes[1:]
    has_single = SINGLE in {axis.number for axis in (*at.axes, *rest)}
    is_other = is_turned(x) or is_turned(at) or x.dtype not in TYPES
    if e.streams is not None or is_other or has_single:
        raise Unknown("elements at indices of another dtype or order, or along one element")
    made = points.blank(e, x.dtype, (*at.axes, *rest))
    bounds = elements.bounds_of(at.dtype)
    kinds = frozenset((numpy_kind(at.dtype),))

    def take(places: tuple[Value, ...]) -> None:
        value = e.k.load(at.buffer, _offset_of(e, at, at.axes, places), 0)
        number = Scalar(kinds, value, max(bounds[0], -EXTENT), bounds[1])
        part = elements.moved(e, x, rest, elements.checked(e, number, first), first)
        to = _offset_of(e, made, made.axes[: len(places)], places)
        if rest:
            row = replace(made, offset=to, axes=made.axes[len(places) :], whole=False)
            points.fill_new(e, row, part)
        else:
            assert part.offset is not None, "it has been moved"
            e.k.store(made.buffer, to, e.k.load(x.buffer, part.offset, 0), 0)

    points.note_span(e, made.axes)
    points.rows(e, at.axes, take)
    return made


def _offset_of(e: Emitter, x: Array, axes: Sequence[Axis], places: Sequence[Value]) -> Value:
    """Where the part of an array at some coordinates begins."""
    offset = e.k.const(0, "index") if x.offset is None else x.offset
    for axis, place in zip(axes, places, strict=True):
        if axis.stride != 0:
            offset = offset + (place if axis.stride == 1 else place * axis.stride)
    return offset
