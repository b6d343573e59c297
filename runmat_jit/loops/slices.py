"""Parts of arrays that slices show: places within an array, which share its elements."""

from __future__ import annotations

import ast
from dataclasses import replace

from runmat_jit.kernel.ir import Value
from runmat_jit.loops import elements, indexing, masks
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.values import Array, Axis, Item, Lazy, Scalar, Unknown, scalar
from runmat_jit.loops.whole_arrays import is_whole


def part_of(e: Emitter, base: Item, index: ast.expr) -> Array:
    """The part of an array that indices and slices show."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if not isinstance(base, Array | Lazy):
        raise Unknown("an item of what is no array")
    if not any(map(is_sliced, parts)) and isinstance(base, Array):
        if isinstance(index, ast.Tuple):
            return elements.element(e, base, index)
        found = e.item(index)
        return masks.place(e, base, found) if is_whole(found) else elements.part_at(e, base, found)
    found = indexing.settled_array(e, base)
    taken = [part for part in parts if not is_new_axis(part)]
    dots = [part for part in taken if is_dots(part)]
    missing = len(found.axes) - len(taken) + len(dots)
    if missing < 0 or len(dots) > 1:
        raise Unknown("more indices than axes")
    left, axes = list(found.axes), list[Axis]()
    found = replace(found, axes=(), whole=False)
    for part in parts:
        if is_new_axis(part):
            axes.append(elements.single(e))
        elif is_dots(part):
            axes.extend(left[:missing])
            del left[:missing]
        elif isinstance(part, ast.Slice):
            found, axis = _sliced(e, found, left.pop(0), part)
            axes.append(axis)
        else:
            axis = left.pop(0)
            at = elements.checked(e, scalar(e.item(part)), axis)
            found = elements.moved(e, found, (), at, axis)
    return replace(found, axes=(*axes, *left))


def _sliced(e: Emitter, base: Array, axis: Axis, part: ast.Slice) -> tuple[Array, Axis]:
    """A slice along an axis: where it begins, and the axis that is left of it."""
    k, step = e.k, _bound_of(e, part.step)
    start, stop = _bound_of(e, part.lower), _bound_of(e, part.upper)
    size = 1 if step is None else step.literal
    if type(size) is not int:
        return _sliced_by(e, base, axis, (start, stop), step)
    if (start, stop, size) != (None, None, 1):
        e.fix(axis.number)
    if size < 1:
        if (start, stop, size) != (None, None, -1):
            raise Unknown("a slice backwards between bounds, or in larger steps")
        return _reversed(e, base, axis)
    first = _clipped(e, start, axis, 0)
    dim = _dim_of_slice(axis, start, stop, size)
    if dim is not None:
        extent, number = e.extents.value(dim), e.extents.number(dim)
    else:
        last = _clipped(e, stop, axis, None)
        length = last - first
        extent = k.select(length < 0, 0, length)
        if size != 1:
            extent = k.prim("sdiv", extent + (size - 1), size)
        number = elements.unknown_number(e)
    stride = axis.stride if size == 1 else axis.stride * size
    if isinstance(stride, int) and stride != 1:
        stride = k.const(stride, "index")
    made = base if start is None else elements.moved(e, base, (), first, axis)
    return made, Axis(number, extent, stride, dim, axis.most)


def _sliced_by(
    e: Emitter,
    base: Array,
    axis: Axis,
    bounds: tuple[Scalar | None, Scalar | None],
    step: Scalar | None,
) -> tuple[Array, Axis]:
    """A slice of which only the loop knows how far apart its elements are."""
    if step is None or step.low < 1:
        raise Unknown("a slice whose step is not written in the program")
    (start, stop), k, size = bounds, e.k, e.arithmetic.index(step)
    e.fix(axis.number)
    first = _clipped(e, start, axis, 0)
    length = _clipped(e, stop, axis, None) - first
    extent = k.prim("sdiv", k.select(length < 0, 0, length) + (size - 1), size)
    made = base if start is None else elements.moved(e, base, (), first, axis)
    return made, Axis(elements.unknown_number(e), extent, size * axis.stride, None, axis.most)


def _reversed(e: Emitter, base: Array, axis: Axis) -> tuple[Array, Axis]:
    """``x[::-1]``; of an axis without elements nothing is read."""
    k = e.k
    last = axis.extent - 1
    at = k.select(last < 0, 0, last)
    stride = -1 if axis.stride == 1 else e.k.const(0, "index") - axis.stride
    return elements.moved(e, base, (), at, axis), replace(axis, stride=stride)


def flipped(e: Emitter, x: Item) -> Item:
    """``np.flip(x)``: a view in the opposite order along all axes."""
    found = indexing.settled_array(e, x)
    left, axes = found.axes, list[Axis]()
    found = replace(found, axes=(), whole=False)
    for own in left:
        e.fix(own.number)
        found, axis = _reversed(e, found, own)
        axes.append(axis)
    return replace(found, axes=tuple(axes))


def _bound_of(e: Emitter, node: ast.expr | None) -> Scalar | None:
    """A bound of a slice."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return None
    found = scalar(e.item(node))
    if found.is_float or found.type == "i1":
        raise Unknown("a slice between what are no integers")
    return found


def _clipped(e: Emitter, bound: Scalar | None, axis: Axis, default: int | None) -> Value:
    """A bound as NumPy takes it: counted from the end where negative, within the extent."""
    k, extent = e.k, axis.extent
    if bound is None:
        return k.const(default, "index") if default is not None else extent
    at = e.arithmetic.index(bound)
    if bound.high < 0:
        at = at + extent
    elif bound.low < 0:
        at = k.select(at < 0, at + extent, at)
    if bound.low < 0:
        at = k.select(at < 0, 0, at)
    return k.select(at < extent, at, extent)


def _dim_of_slice(axis: Axis, start: Scalar | None, stop: Scalar | None, step: int) -> Dim | None:
    """The extent of a slice, where it is known before the loop."""
    less = 0
    for bound, begins in ((start, True), (stop, False)):
        number = 0 if bound is None else bound.literal
        if type(number) is not int:
            return None
        if bound is not None and (number < 0) is begins:
            return None
        less += abs(number)
    return None if axis.dim is None else axis.dim.part(less, step)


def is_sliced(part: ast.expr) -> bool:
    """True if an index leaves an axis."""
    return isinstance(part, ast.Slice) or is_new_axis(part) or is_dots(part)


def is_new_axis(part: ast.expr) -> bool:
    """True if an index is None, which is called ``np.newaxis``, too."""
    if isinstance(part, ast.Attribute):
        return part.attr == "newaxis"
    return isinstance(part, ast.Constant) and part.value is None


def is_dots(part: ast.expr) -> bool:
    """True if an index stands for all axes that others do not name."""
    return isinstance(part, ast.Constant) and part.value is Ellipsis
