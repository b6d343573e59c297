"""Parts of arrays that slices show: places within an array, which share its elements."""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import replace

from runmat_jit.kernel.ir import Value
from runmat_jit.loops.elements import Elements
from runmat_jit.loops.extents import ONE, SINGLE, Dim, Extents
from runmat_jit.loops.values import Array, Axis, Item, Lazy, Scalar, Unknown

_UNKNOWN_EXTENT = -(1 << 41)
"""Numbers of extents that are no other's begin below this one."""


class Slices(Elements):
    """Emits where parts of arrays lie."""

    __slots__ = ("extents",)

    extents: Extents

    @abstractmethod
    def settled(self, item: Item) -> Item:
        """An item of which nothing is to be computed any more."""

    def element(self, base: Item, index: ast.expr) -> Array:
        """The part of an array that indices and slices show."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if not any(map(is_sliced, parts)) and not isinstance(base, Lazy):
            return super().element(base, index)
        found = self.settled(base)
        if not isinstance(found, Array):
            raise Unknown("an item of what is no array")
        taken = [part for part in parts if not is_new_axis(part)]
        dots = [part for part in taken if is_dots(part)]
        missing = len(found.axes) - len(taken) + len(dots)
        if missing < 0 or len(dots) > 1:
            raise Unknown("more indices than axes")
        left, axes = list(found.axes), list[Axis]()
        found = replace(found, axes=(), whole=False)
        for part in parts:
            if is_new_axis(part):
                axes.append(self.single())
            elif is_dots(part):
                axes.extend(left[:missing])
                del left[:missing]
            elif isinstance(part, ast.Slice):
                found, axis = self.sliced(found, left.pop(0), part)
                axes.append(axis)
            else:
                axis = left.pop(0)
                at = self.checked(self.scalar(self.item(part)), axis)
                found = self.moved(found, (), at, axis)
        return replace(found, axes=(*axes, *left))

    def single(self) -> Axis:
        """An axis of one element."""
        return Axis(SINGLE, self.extents.value(ONE), 0, ONE)

    def sliced(self, base: Array, axis: Axis, part: ast.Slice) -> tuple[Array, Axis]:
        """A slice along an axis: where it begins, and the axis that is left of it."""
        k, step = self.k, self.bound_of(part.step)
        start, stop = self.bound_of(part.lower), self.bound_of(part.upper)
        size = 1 if step is None else step.literal
        if type(size) is not int:
            return self.sliced_by(base, axis, start, stop, step)
        if size == 0:
            raise Unknown("a slice whose step is 0")
        if (start, stop, size) != (None, None, 1):
            self.fixed.add(axis.number)
        if size < 0:
            if start is not None or stop is not None:
                raise Unknown("a slice backwards between bounds")
            return self.reversed_(base, axis, size)
        first = self.clipped(start, axis, 0)
        dim = self.dim_of_slice(axis, start, stop, size)
        if dim is not None:
            extent, number = self.extents.value(dim), self.extents.number(dim)
        else:
            last = self.clipped(stop, axis, None)
            length = last - first
            extent = k.select(length < 0, 0, length)
            if size != 1:
                extent = k.prim("sdiv", extent + (size - 1), size)
            number = self.unknown_number()
        stride = axis.stride if size == 1 else axis.stride * size
        if isinstance(stride, int) and stride != 1:
            stride = k.const(stride, "index")
        made = base if start is None else self.moved(base, (), first, axis)
        return made, Axis(number, extent, stride, dim, dim or axis.dim or axis.limit)

    def sliced_by(
        self,
        base: Array,
        axis: Axis,
        start: Scalar | None,
        stop: Scalar | None,
        step: Scalar | None,
    ) -> tuple[Array, Axis]:
        """A slice of which only the loop knows how far apart its elements are."""
        if step is None or step.low < 1:
            raise Unknown("a slice whose step is not written in the program")
        k, size = self.k, self.arithmetic.index(step)
        self.fixed.add(axis.number)
        first = self.clipped(start, axis, 0)
        length = self.clipped(stop, axis, None) - first
        extent = k.prim("sdiv", k.select(length < 0, 0, length) + (size - 1), size)
        made = base if start is None else self.moved(base, (), first, axis)
        return made, Axis(
            self.unknown_number(), extent, size * axis.stride, None, axis.dim or axis.limit
        )

    def unknown_number(self) -> int:
        """The number of an extent that is no other's."""
        return _UNKNOWN_EXTENT - self.k.placeholder("index").number

    def reversed_(self, base: Array, axis: Axis, step: int) -> tuple[Array, Axis]:
        """``x[::-1]``; of an axis without elements nothing is read."""
        k, dim = self.k, axis.dim
        if step != -1 or dim is None:
            raise Unknown("a slice backwards")
        last = axis.extent - 1
        at = k.select(last < 0, 0, last)
        stride = -1 if axis.stride == 1 else self.k.const(0, "index") - axis.stride
        return self.moved(base, (), at, axis), Axis(axis.number, axis.extent, stride, dim)

    def bound_of(self, node: ast.expr | None) -> Scalar | None:
        """A bound of a slice."""
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return None
        found = self.scalar(self.item(node))
        if found.is_float or found.type == "i1":
            raise Unknown("a slice between what are no integers")
        return found

    def clipped(self, bound: Scalar | None, axis: Axis, default: int | None) -> Value:
        """A bound as NumPy takes it: counted from the end where negative, within the extent."""
        k, extent = self.k, axis.extent
        if bound is None:
            return k.const(default, "index") if default is not None else extent
        at = self.arithmetic.index(bound)
        if bound.high < 0:
            at = at + extent
        elif bound.low < 0:
            at = k.select(at < 0, at + extent, at)
        if bound.low < 0:
            at = k.select(at < 0, 0, at)
        return k.select(at < extent, at, extent)

    def dim_of_slice(
        self, axis: Axis, start: Scalar | None, stop: Scalar | None, step: int
    ) -> Dim | None:
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
    """Whether an index leaves an axis."""
    return isinstance(part, ast.Slice) or is_new_axis(part) or is_dots(part)


def is_new_axis(part: ast.expr) -> bool:
    """Whether an index is None, which is called ``np.newaxis``, too."""
    if isinstance(part, ast.Attribute):
        return part.attr == "newaxis"
    return isinstance(part, ast.Constant) and part.value is None


def is_dots(part: ast.expr) -> bool:
    """Whether an index stands for all axes that others do not name."""
    return isinstance(part, ast.Constant) and part.value is Ellipsis
