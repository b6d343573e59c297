"""Rolled arrays as elements at positions, for devices.

``np.roll`` writes two parts of an array into a new one. What is computed of rolled arrays is cut
into pieces (:mod:`.cut_at_joins`), each of which would be a kernel on a device: those of an image
that is rolled to every side take longer to start than the image does.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.rewrite import rewrite, rule
from runmat_jit.passes.rules.views import integers

LARGE: Final = 1 << 24
"""Elements from which vectors of pieces gain more than kernels cost."""
_INT64: Final = np.dtype(np.int64)


def rolls_at_positions(graph: Graph) -> Graph:
    """Read rolled arrays where their elements are. Pure; keeps every bit."""
    return rewrite(graph, (at_positions,))


@rule("update", law="an array rolled along an axis has its elements at positions of that axis")
def at_positions(node: Node) -> Node | None:
    inner, second = node.args
    if inner.op.name != "update" or not 0 < node.type.size < LARGE:
        return None
    parts = [_part(inner, inner.args[1]), _part(node, second)]
    found = [part for part in parts if part is not None and part.base.type == node.type]
    if len(found) < len(parts) or found[0].base is not found[1].base:
        return None
    base, shape = found[0].base, node.type.shape
    axes = [axis for axis, extent in enumerate(shape) if found[0].shape[axis] != extent]
    if len(axes) != 1:
        return None
    (axis,), extent = axes, shape[axes[0]]
    first, last = sorted(found, key=lambda part: part.target[axis])
    turned = first.shape[axis], last.shape[axis]
    if not (first.lies(shape, axis, 0, turned[1]) and last.lies(shape, axis, turned[0], 0)):
        return None
    count = {"start": -turned[0], "step": 1}  # of negative ones NumPy counts from the end
    index = make_node("iota", (), count, TensorType(_INT64, (extent,)))
    beside = (extent, *(1,) * (node.type.ndim - axis - 1))
    index = make_node("reshape", (index,), {"shape": beside}, TensorType(_INT64, beside))
    return make_node("take", (base, index), {"axis": axis}, node.type)


@frozen
class Part:
    """A box of an array that is written over one of another: where both begin, and extents."""

    base: Node
    source: tuple[int, ...]
    target: tuple[int, ...]
    shape: tuple[int, ...]

    def lies(self, whole: tuple[int, ...], axis: int, target: int, source: int) -> bool:
        """True if it begins there along an axis, up to the end of one of the arrays, and is whole
        along all others.
        """
        reach = self.shape[axis] + max(target, source)
        at = (self.target[axis], self.source[axis], reach)
        others = [n for n in range(len(whole)) if n != axis]
        return at == (target, source, whole[axis]) and all(
            (self.target[n], self.source[n], self.shape[n]) == (0, 0, whole[n]) for n in others
        )


def _part(update: Node, value: Node) -> Part | None:
    """What an update writes, where that is a box of an array in its place along other axes."""
    shape, strides = integers(update, "shape"), integers(update, "strides")
    offset = update.params["offset"]
    assert isinstance(offset, int), "an update begins at an element"
    steps = c_strides(update.type.shape)
    if len(shape) != len(steps):
        return None
    if any(n != 1 and s != step for n, s, step in zip(shape, strides, steps, strict=True)):
        return None
    found = _box(value)
    if found is None or found[0].type.shape != update.type.shape:
        return None
    base, source, axes = found
    if axes != [(n, step) for n, step in zip(shape, steps, strict=True) if n != 1]:
        return None
    return Part(base, _unraveled(source, steps), _unraveled(offset, steps), shape)


def _box(value: Node) -> tuple[Node, int, list[tuple[int, int]]] | None:
    """The array that a value is a part of, where that begins, and extents and strides of its axes
    but for those of extent 1; None of another view.
    """
    views = []
    while value.op.name in ("slice", "transpose", "reshape"):
        views.append(value)
        value = value.args[0]
    offset, axes = 0, list(zip(value.type.shape, c_strides(value.type.shape), strict=True))
    for view in reversed(views):
        if view.op.name == "slice":
            starts, steps = integers(view, "starts"), integers(view, "steps")
            offset += sum(n * stride for n, (_, stride) in zip(starts, axes, strict=True))
            strides = [stride * step for (_, stride), step in zip(axes, steps, strict=True)]
            axes = list(zip(view.type.shape, strides, strict=True))
        elif view.op.name == "transpose":
            axes = [axes[axis] for axis in integers(view, "axes")]
        else:
            long = iter([axis for axis in axes if axis[0] != 1])
            axes = [next(long, (0, 0)) if n != 1 else (1, 0) for n in view.type.shape]
            if [n for n, _ in axes] != list(view.type.shape) or next(long, None) is not None:
                return None
    return value, offset, [axis for axis in axes if axis[0] != 1]


def _unraveled(offset: int, strides: tuple[int, ...]) -> tuple[int, ...]:
    """The coordinates of an element."""
    found = []
    for stride in strides:
        at, offset = divmod(offset, stride) if stride else (0, offset)
        found.append(at)
    return tuple(found)
