"""The order in which a reduction combines its elements: a function of dtype, shape and axes alone.

A reduction takes steps. Each step reduces one group of neighboring axes, read as one axis in C
order, to one partial result a *cell*; the next step reduces the partial results, until every
reduced axis has extent 1. Memory layout, fusion and threads have no part in it, so they cannot
change a bit of the result.

=======  =========================================  ================================================
style    the group is                               a cell combines
=======  =========================================  ================================================
row      innermost and has at least 8 elements      by the kernel IR's ``total``: up to 16 * 16 *
                                                    ``logical_lanes`` elements
column   followed by an axis that is kept           up to 256 elements: 16 in order give a block, up
                                                    to 16 blocks are combined in order
short    innermost and has fewer than 8 elements    in order
=======  =========================================  ================================================

Squared deviations of more than one cell are those from a center of each cell, and then those of the
cells' means from the mean of all. The center is the mean of the cell (of a row), or of its first
block (of a column); what the elements leave after it is added besides, so that no rounding of a
center matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.primitives import TOTAL_BLOCKS, TOTAL_STEPS, logical_lanes

Shape = tuple[int, ...]
Style = Literal["row", "column", "short"]

COLUMN_BLOCK = 16
"""Elements of a column that are combined in order before blocks are."""
COLUMN_CELL = 256
WHOLE_WORDS = frozenset(map(np.dtype, ("float32", "float64", "int32", "int64")))
"""Types of elements that a thread of a GPU loads and stores alone."""
_ROW_IN_REGISTERS, _VECTOR = 1024, 4
"""Elements of a row of which a GPU kernel takes several iterations, and those of a vector.

Longer rows would fit in registers, too, and gain nothing.
"""
_SHORT = 8
"""Fewer elements than this are combined in order, as NumPy does."""
_ROW_GROUP = 512
"""Inner axes are read as one until they hold this many elements."""
_COLUMN_GROUP = 64


@frozen
class Step:
    """One step: ``axes`` are reduced together, ``cell`` elements at a time."""

    style: Style
    axes: tuple[int, ...]
    cell: int

    def extent(self, shape: Shape) -> int:
        """Elements of the group."""
        return math.prod(shape[axis] for axis in self.axes)

    def cells(self, shape: Shape) -> int:
        """Partial results of the group; one for a group without elements."""
        return max(1, -(-self.extent(shape) // self.cell))

    def result(self, shape: Shape) -> Shape:
        """The shape after the step: partial results lie along the last axis of the group."""
        left = [1 if axis in self.axes else extent for axis, extent in enumerate(shape)]
        if self.axes:
            left[self.axes[-1]] = self.cells(shape)
        return tuple(left)


def is_shared_by_threads(step: Step, shape: Shape) -> bool:
    """True if threads of a GPU share a column, and have all of its elements in registers."""
    return step.style == "column" and COLUMN_BLOCK < step.extent(shape) <= step.cell


def in_registers(step: Step, shape: Shape) -> int:
    """Elements, or vectors, of a row or column per GPU thread; 0 if registers do not hold it."""
    extent, lanes = step.extent(shape), step.cell // (TOTAL_STEPS * TOTAL_BLOCKS)
    if is_shared_by_threads(step, shape):
        return TOTAL_STEPS
    if step.style != "row" or extent > _ROW_IN_REGISTERS:
        return 0
    if extent <= lanes:  # one thread has the row
        return extent // _VECTOR if extent % _VECTOR == 0 else extent
    return min(TOTAL_STEPS, -(-extent // lanes))


def next_step(shape: Shape, axes: tuple[int, ...], dtype: np.dtype) -> Step:
    """The step that an array of this shape takes next.

    Where nothing is left to combine it is a short step over no axes.
    """
    long = [axis for axis, extent in enumerate(shape) if extent != 1]
    if not any(axis in axes for axis in long):
        return Step("short", (), 1)
    inner = _last_run(long, axes)
    if inner:
        if math.prod(shape[axis] for axis in inner) < _SHORT:
            return Step("short", inner, _SHORT)
        lanes = logical_lanes(_value_type(dtype))
        return Step("row", _suffix(shape, inner, _ROW_GROUP), TOTAL_STEPS * TOTAL_BLOCKS * lanes)
    while long[-1] not in axes:
        long.pop()
    return Step("column", _suffix(shape, _last_run(long, axes), _COLUMN_GROUP), COLUMN_CELL)


def steps(shape: Shape, axes: tuple[int, ...], dtype: np.dtype) -> Iterator[tuple[Shape, Step]]:
    """All steps of a reduction, each with the shape that it reads; at least one."""
    while True:
        step = next_step(shape, axes, dtype)
        yield shape, step
        shape = step.result(shape)
        if all(shape[axis] == 1 for axis in axes):
            return


def has_moments_of_cells(shape: Shape, axes: tuple[int, ...], dtype: np.dtype) -> bool:
    """True if squared deviations are those within the cells of the first step, and between them.

    Otherwise elements are read twice: one cell has them all, or there are few in each.
    """
    step = next_step(shape, axes, dtype)
    result = step.result(shape)
    return step.style != "short" and any(result[axis] != 1 for axis in axes)


def _value_type(dtype: np.dtype) -> str:
    element = KERNEL_ELEMENTS[dtype]
    return "i1" if element == "bool" else element


def _last_run(long: list[int], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The last axes of ``long`` that are reduced, as many as stand together."""
    start = len(long)
    while start and long[start - 1] in axes:
        start -= 1
    return tuple(long[start:])


def _suffix(shape: Shape, run: tuple[int, ...], enough: int) -> tuple[int, ...]:
    """The fewest last axes of a run that hold enough elements."""
    start = len(run) - 1
    while start and math.prod(shape[axis] for axis in run[start:]) < enough:
        start -= 1
    return run[start:]
