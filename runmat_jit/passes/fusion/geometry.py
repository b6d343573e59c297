"""Views as strides: what each row that only moves elements does to an offset and strides.

``None`` means that no strides describe the result, so that the elements have to be copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Node

Strides = tuple[int, ...]
Place = tuple[int, Strides]
"""Offset and strides in elements of the memory that a value is read from."""


def _transpose(node: Node, offset: int, strides: Strides) -> Place:
    axes: Any = node.params["axes"]
    return offset, tuple(strides[axis] for axis in axes)


def _slice(node: Node, offset: int, strides: Strides) -> Place:
    starts: Any = node.params["starts"]
    steps: Any = node.params["steps"]
    offset += sum(start * stride for start, stride in zip(starts, strides, strict=True))
    return offset, tuple(step * stride for step, stride in zip(steps, strides, strict=True))


def _broadcast_to(node: Node, offset: int, strides: Strides) -> Place:
    shape, source = node.type.shape, node.args[0].type.shape
    added = len(shape) - len(source)
    kept = (
        stride if old == new else 0
        for old, new, stride in zip(source, shape[added:], strides, strict=True)
    )
    return offset, (*(0,) * added, *kept)


def _reshape(node: Node, offset: int, strides: Strides) -> Place | None:
    found = reshaped(node.args[0].type.shape, strides, node.type.shape)
    return None if found is None else (offset, found)


def _strided(node: Node, offset: int, strides: Strides) -> Place | None:
    """Strides on memory in a given order: the operand must lie in that order itself."""
    base = node.args[0].type
    order: Any = node.params["order"]
    added: Any = node.params["offset"]
    wanted: Any = node.params["strides"]
    lies = zip(base.shape, strides, c_strides(base.shape, order), strict=True)
    if any(extent != 1 and stride != asked for extent, stride, asked in lies):
        return None
    return offset + added, wanted


GEOMETRIES: dict[str, Callable[[Node, int, Strides], Place | None]] = {
    "transpose": _transpose,
    "slice": _slice,
    "broadcast_to": _broadcast_to,
    "reshape": _reshape,
    "strided": _strided,
}
"""Rows whose result shows elements of the first operand's memory."""


def reshaped(
    shape: tuple[int, ...], strides: Strides, new_shape: tuple[int, ...]
) -> Strides | None:
    """Strides of the same elements, in C order of the axes, under another shape."""
    if 0 in new_shape:
        return c_strides(new_shape)
    runs: list[list[int]] = []  # extent and stride of axes that lie evenly, outermost first
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 1:
            continue
        if runs and runs[-1][1] == extent * stride:
            runs[-1] = [runs[-1][0] * extent, stride]
        else:
            runs.append([extent, stride])
    found: list[int] = []
    for extent in reversed(new_shape):
        if extent == 1:
            found.append(0)
            continue
        while runs and runs[-1][0] == 1:
            runs.pop()
        if not runs or runs[-1][0] % extent:
            return None
        found.append(runs[-1][1])
        runs[-1] = [runs[-1][0] // extent, runs[-1][1] * extent]
    return tuple(reversed(found))
