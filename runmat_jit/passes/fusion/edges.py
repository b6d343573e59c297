"""Where a node would stand in the group of one of its operands, and which merge that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from runmat_jit.core.frozen import frozen
from runmat_jit.core.reasons import Reason
from runmat_jit.graph.node import Node
from runmat_jit.passes.fusion.access import is_computed
from runmat_jit.passes.fusion.groups import Axes, Group, Shape
from runmat_jit.passes.fusion.reduction_shape import next_step

Merge = Literal["elementwise", "reduction", "map_reduce_broadcast"]
"""Producer into consumer over one space; also into a reduction, or a result into what needs only
results; also a result back into the space it was reduced from."""


@frozen
class Place:
    """A node's place in its group: among the elements (``axes`` None), or among the results.

    ``axes`` says for each axis of a result which axis of the group's space it runs along, -1 for an
    axis of extent 1 that stands for none.
    """

    group: Group
    axes: Axes | None


@frozen
class Fit:
    """A place that a node may take, and the merge that takes it there."""

    merge: Merge
    axes: Axes | None


def fit(node: Node, operand: Node, place: Place) -> Fit | Reason:
    """How ``node`` fits into the group of its operand; a reason where it does not."""
    space = place.group.root().space
    if node.op.kind == "gather" and operand is node.args[0]:
        return Reason("other-order", f"{node.op.name} reads elements at any place")
    if node.op.reduction is not None:
        return _fit_reduction(node, operand, place, space)
    if node.op.scan is not None and (place.axes is not None or place.group.root().step):
        return Reason("region-of-its-own", f"{node.op.name} shares no kernel with reductions")
    if place.axes is None:
        if node.op.scan is None and not is_computed(node):
            return Reason("other-order", f"{node.op.name} reads elements in another order")
        if node.type.shape == space:
            return Fit("elementwise", None)
        return _differ(space, node.type.shape)
    if node.op.expand is None:
        return _fit_renamed(node, operand, place.axes, space)
    if node.type.shape == space and is_aligned(place.axes, operand.type.shape, len(space)):
        return Fit("map_reduce_broadcast", None)
    if node.type.shape == operand.type.shape:
        return Fit("reduction", place.axes)
    return _differ(operand.type.shape, node.type.shape)


def _fit_reduction(node: Node, operand: Node, place: Place, space: Shape) -> Fit | Reason:
    if operand is not node.args[0]:
        return _fit_mean(node, operand, place, space)
    if place.axes is not None:
        return Reason("reduction-of-reduction", f"{node.op.name} reduces reduced results")
    if operand.type.shape != space:
        return _differ(space, operand.type.shape)
    axes = reduced_axes(node)
    step = place.group.root().step
    if step is not None and is_position(node):
        return Reason("region-of-its-own", f"{node.op.name} shares no kernel with other reductions")
    if step is not None and step != next_step(space, axes, node.type.dtype):
        detail = f"{node.op.name} over axes {axes} needs another order of elements"
        return Reason("other-order", detail)
    return Fit("reduction", result_axes(node))


def _fit_mean(node: Node, mean: Node, place: Place, space: Shape) -> Fit | Reason:
    """A moment beside the mean that it is about."""
    x, axes = node.args[0], place.axes
    if axes is None or not is_aligned(axes, mean.type.shape, len(space)):
        return Reason("other-order", f"{node.op.name} is about a mean that is stored")
    return _fit_reduction(node, x, Place(place.group, None), space)


def _fit_renamed(node: Node, operand: Node, axes: Axes, space: Shape) -> Fit | Reason:
    """A view of a result that only adds or drops unit axes, or repeats it over the space."""
    shape = operand.type.shape
    if node.op.name == "broadcast_to" and node.type.shape == space:
        if is_aligned(axes, shape, len(space)):
            return Fit("map_reduce_broadcast", None)
    elif node.op.name == "reshape" and _long(node.type.shape) == _long(shape):
        return Fit("reduction", renamed_axes(axes, shape, node.type.shape))
    return Reason("other-order", f"{node.op.name} reads results in another order")


def is_position(node: Node) -> bool:
    """True if a reduction gives the position of an element."""
    return node.op.reduction is not None and node.op.reduction.is_position


def is_moment(node: Node) -> bool:
    """True if a reduction adds squares of what elements leave after a mean."""
    return node.op.reduction is not None and node.op.reduction.is_moment


def is_aligned(axes: Axes, shape: Shape, rank: int) -> bool:
    """True if broadcasting a result to the space takes each axis to where it came from."""
    first = rank - len(axes)
    return all(
        extent == 1 or axis == first + position
        for position, (axis, extent) in enumerate(zip(axes, shape, strict=True))
    )


def reduced_axes(node: Node) -> Axes:
    """The axes of its operand that a reduction reduces."""
    axes: Any = node.params["axis"]
    return tuple(axes)


def result_axes(node: Node) -> Axes:
    """The axes of its operand that the axes of a reduction's result run along."""
    rank = node.args[0].type.ndim
    if node.params["keepdims"]:
        return tuple(range(rank))
    reduced = reduced_axes(node)
    return tuple(axis for axis in range(rank) if axis not in reduced)


def renamed_axes(axes: Axes, shape: Shape, new_shape: Shape) -> Axes:
    """Axes of a reshape that only adds or drops axes of extent 1."""
    walked = iter([axis for axis, extent in zip(axes, shape, strict=True) if extent != 1])
    return tuple(-1 if extent == 1 else next(walked) for extent in new_shape)


def _long(shape: Shape) -> Sequence[int]:
    return [extent for extent in shape if extent != 1]


def _differ(space: Shape, shape: Shape) -> Reason:
    detail = f"the iteration spaces {list(space)} and {list(shape)} differ"
    return Reason("different-extents", detail)
