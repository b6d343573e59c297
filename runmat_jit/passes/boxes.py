"""Parts of an array that are one progression of indices along each axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Node


@frozen
class Progression:
    """The indices ``start + step * k`` for ``k < count``."""

    start: int
    step: int
    count: int

    def is_disjoint(self, other: Progression) -> bool:
        if not self.count or not other.count:
            return True
        (low, high), (first, last) = self._ends(), other._ends()
        if high < first or last < low:
            return True
        common = math.gcd(self.step, other.step)
        return bool(common) and (self.start - other.start) % common != 0

    def within(self, whole: Progression) -> Progression | None:
        """These indices counted along ``whole``, or None if not all of them are in it."""
        if self.count == 0:
            return Progression(0, 1, 0)
        step = self.step if self.count > 1 else whole.step
        if (self.start - whole.start) % whole.step or step % whole.step:
            return None
        found = Progression(
            (self.start - whole.start) // whole.step, step // whole.step, self.count
        )
        low, high = found._ends()
        return found if low >= 0 and high < whole.count else None

    def _ends(self) -> tuple[int, int]:
        last = self.start + self.step * (self.count - 1)
        return min(self.start, last), max(self.start, last)


Box = tuple[Progression, ...]


def box(starts: Sequence[int], steps: Sequence[int], shape: Sequence[int]) -> Box:
    """The part that a slice takes."""
    return tuple(map(Progression, starts, steps, shape))


def box_of_strides(
    base: tuple[int, ...], offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Box | None:
    """The part that a strided view of a C-contiguous array takes, if its axes are the array's.

    Axes of the view must come in the array's order; axes of one element may be missing.
    """
    steps = c_strides(base)
    if 0 in base or 0 in shape:
        return None
    starts = [offset // step % extent for step, extent in zip(steps, base, strict=True)]
    found = [Progression(start, 1, 1) for start in starts]
    axis = -1
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 1:
            continue
        axis = _axis_of(stride, steps, base, axis + 1)
        if axis == len(base):
            return None
        step = stride // steps[axis]
        if not 0 <= starts[axis] + step * (extent - 1) < base[axis]:
            return None
        found[axis] = Progression(starts[axis], step, extent)
    return tuple(found)


def box_of_update(update: Node) -> Box | None:
    """The part of its base that an update writes, if it is one."""
    offset = cast("int", update.params["offset"])
    shape, strides = (cast("tuple[int, ...]", update.params[name]) for name in ("shape", "strides"))
    return box_of_strides(update.type.shape, offset, shape, strides)


def boxes_around(part: Box, shape: Sequence[int]) -> tuple[Box, ...] | None:
    """The rest of an array, in boxes that do not meet; None if the part has gaps."""
    if any(each.step != 1 for each in part):
        return None
    found: list[Box] = []
    for axis, (each, extent) in enumerate(zip(part, shape, strict=True)):
        after = tuple(Progression(0, 1, extent) for extent in shape[axis + 1 :])
        end = each.start + each.count
        for start, stop in ((0, each.start), (end, extent)):
            found.append((*part[:axis], Progression(start, 1, stop - start), *after))
    return tuple(found)


def _axis_of(stride: int, steps: tuple[int, ...], base: tuple[int, ...], first: int) -> int:
    """The outermost axis from ``first`` on along which the stride is a whole number of steps;
    the number of axes if there is none.
    """
    for axis in range(first, len(steps)):
        if base[axis] > 1 and stride and stride % steps[axis] == 0:
            return axis
    return len(base)


def are_disjoint(one: Box, other: Box) -> bool:
    """Is there no element in both? An axis on which they do not meet is enough."""
    return any(a.is_disjoint(b) for a, b in zip(one, other, strict=True))


def is_whole(part: Box, shape: tuple[int, ...]) -> bool:
    """Is it every element, in the array's order?"""
    return part == tuple(Progression(0, 1, extent) for extent in shape)
