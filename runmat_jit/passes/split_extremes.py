"""Extremes over several axes are found axis by axis where few elements lie side by side.

That is for devices, whose threads would have no work beside each other: a CPU keeps the elements
that it computes in cache instead.
"""

from __future__ import annotations

import math
from typing import Final

from runmat_jit.core.hardware import WARP, WORKGROUP
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.rewrite import rewrite, rule
from runmat_jit.passes.rules.views import integers

FEW: Final = WARP // 2
"""Elements side by side that leave most threads of a team without work."""
LARGE: Final = 256 * WORKGROUP
"""Elements from which another kernel costs less than such threads."""


def split_extremes(graph: Graph) -> Graph:
    """Take the extremes of images, say, over their rows first: there all channels of a row lie side
    by side. Pure; keeps every bit but the sign of a zero, which NumPy does not define.
    """
    return rewrite(graph, (over_first_axis,))


@rule("min", "max", law="an extreme over axes is the extreme of extremes over the first of them")
def over_first_axis(node: Node) -> Node | None:
    (x,) = node.args
    axes, shape = sorted(integers(node, "axis")), x.type.shape
    if len(axes) < 2 or axes[-1] == len(shape) - 1 or x.type.size < LARGE:
        return None
    beside = math.prod(shape[axes[-1] + 1 :])
    if not 1 < beside < FEW or shape[axes[0]] == 1:
        return None
    if axes != list(range(axes[0], axes[-1] + 1)):
        return None
    kept = tuple(1 if axis == axes[0] else extent for axis, extent in enumerate(shape))
    kind = TensorType(node.type.dtype, kept)
    params = {**node.params, "axis": (axes[0],), "keepdims": True}
    first = make_node(node.op.name, (x,), params, kind)
    return _along_rows(node, first, axes)


def _along_rows(node: Node, x: Node, axes: list[int]) -> Node:
    """The same extreme of a smaller array, whose reduced axes are turned to the end."""
    order = (*[axis for axis in range(x.type.ndim) if axis not in axes], *axes)
    shape = tuple(x.type.shape[axis] for axis in order)
    dtype, kept = node.type.dtype, shape[: -len(axes)]
    turned = make_node("transpose", (x,), {"axes": order}, TensorType(dtype, shape))
    last = tuple(range(len(kept), len(shape)))
    params = {**node.params, "axis": last, "keepdims": False}
    found = make_node(node.op.name, (turned,), params, TensorType(dtype, kept))
    if kept == node.type.shape:
        return found
    return make_node("reshape", (found,), {"shape": node.type.shape}, node.type)
