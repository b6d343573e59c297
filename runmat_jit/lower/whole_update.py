"""Parts of new arrays in one kernel on a GPU: what is computed of a part, and the rest of the base.

Operands are views of arrays of the same shape, so that the element of the result at ``e`` needs
those at ``e`` plus a constant. The kernel runs along the memory of the result: its vectors are
stored whole, those of operands are put together of the two in which they lie, whatever the extents
are. Outside the part the base is copied, by a ``select``. Several kernels would write one buffer,
each after the other.
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


def over_all_of_it(problem: Problem, node: Node, plan: Plan) -> Problem | None:
    """The problem of an update, over all elements of the array that it makes.

    None where the part is the lesser half of the array, or no box; where it writes its base;
    and where some operand does not lie as the result does.
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
    """An operand along the memory of the result; None where it lies otherwise.

    ``strides`` and ``offset`` are those of the part that it is an operand of.
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
    """The limits of a part along each axis on which it has any."""
    found = []
    for each, extent, step in zip(part, shape, c_strides(shape), strict=True):
        if each.count < extent:
            low, high = each.start * step, (each.start + each.count) * step
            is_outermost = step * extent == math.prod(shape)
            found.append(Limit(0 if is_outermost else step * extent, low, high))
    return tuple(found)
