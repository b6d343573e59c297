"""Updates of a part of a new array on a GPU: one kernel computes the part and copies the rest.

Operands are views of arrays of the same shape, so the element of the result at flat index ``e``
reads operands at ``e`` plus a constant. The kernel iterates over the flat result. It stores aligned
vectors and assembles operands from two aligned vectors each, for any extents. A ``select`` takes
the base outside of the part. Separate kernels for part and border would run one after the other,
since they write the same buffer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Node
from runmat_jit.lower.blocks_of_draws import draws_numbers
from runmat_jit.lower.operands import aligned, in_window, is_of_vectors, operand_of
from runmat_jit.lower.problem import Iota, Limit, Operand, Problem
from runmat_jit.passes.boxes import Box, box_of_update
from runmat_jit.plan.argument import InputScalar
from runmat_jit.plan.plan import Plan


def over_whole_array(problem: Problem, node: Node, plan: Plan) -> Problem | None:
    """Extend the problem of an update to all elements of the array that it makes.

    None if the part is smaller than half of the array or is not a box, if the update is in place,
    or if an operand has another layout than the result.
    """
    base, size = node.args[0], node.type.size
    part = box_of_update(node)
    if not problem.device.shares_tiles or node in plan.in_place or part is None:
        return None
    if any(each.step != 1 for each in part) or 2 * math.prod(problem.extents) < size:
        return None
    if draws_numbers(problem):  # lanes have several elements each
        return None
    (store,) = problem.stores
    offset, strides = cast("int", node.params["offset"]), store.strides
    rest = operand_of(base, aligned(base, base.type.ndim), base.type.ndim, (), plan)
    flat_rest = _flat(rest, c_strides(base.type.shape), 0)
    moved = {read: _flat(read, strides, offset) for read in problem.reads()}
    found: dict[Operand, Operand] = {r: flat for r, flat in moved.items() if flat is not None}
    if flat_rest is None or len(found) < len(moved) or not is_of_vectors(store.dtype):
        return None
    (stored,) = problem.reading(found).stores
    limits = _limits(part, node.type.shape)
    stored = replace(stored, strides=(1,), start=0, limits=limits, outside=flat_rest)
    return replace(problem.reading(found), extents=(size,), stores=(stored,))


def _flat(operand: Operand, strides: tuple[int, ...], offset: int) -> Operand | None:
    """Return an operand by flat index of the result; None if its layout is another one.

    ``strides`` and ``offset`` are those of the updated part.
    """
    if isinstance(operand, Node):
        return operand
    if isinstance(operand.source, InputScalar) or not any(operand.strides):
        return None if isinstance(operand.source, Iota) else replace(operand, strides=(0,))
    moved = in_window(operand) if operand.strides == strides else None
    if moved is None:
        return None
    return replace(moved, strides=(1,), start=moved.start - offset, window="open")


def _limits(part: Box, shape: tuple[int, ...]) -> tuple[Limit, ...]:
    """Limits of a part, one for each axis that it does not span."""
    found = []
    for each, extent, step in zip(part, shape, c_strides(shape), strict=True):
        if each.count < extent:
            low, high = each.start * step, (each.start + each.count) * step
            is_outermost = step * extent == math.prod(shape)
            found.append(Limit(0 if is_outermost else step * extent, low, high))
    return tuple(found)
