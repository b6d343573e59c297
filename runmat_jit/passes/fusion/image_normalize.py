"""The kind ``image_normalize``: proven by structure, so that the name never promises too much.

For images ``x`` of shape (batch, height, width)::

    mean = sum(x, (1, 2)) / (height * width)
    sigma = sqrt(sum((x - mean)**2, (1, 2)) / (height * width) + epsilon)
    out = maximum((x - mean) / sigma * gain + bias, floor) ** gamma
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runmat_jit.graph.constant import constant_array, is_constant
from runmat_jit.graph.node import Node
from runmat_jit.passes.fusion.access import is_view
from runmat_jit.passes.fusion.edges import is_moment

_STATISTICS_AXES = (1, 2)
_POWERS = ("power", "pow")
_SUMS = ("sum", "squared_deviations")


def is_image_normalize(nodes: Sequence[Node], space: tuple[int, ...]) -> bool:
    """True if some member is whitened, scaled, shifted, clamped images to a power."""
    return len(space) == 3 and any(_is_gamma(node) for node in nodes)


def _is_gamma(node: Node) -> bool:
    clamped = _power_base(node)
    limited = None if clamped is None else _with_constant(clamped, ("maximum", "fmax"))
    shifted = None if limited is None else _with_constant(limited, ("add", "subtract"))
    scaled = None if shifted is None else _with_constant(shifted, ("multiply",))
    return scaled is not None and _is_whitened(scaled)


def _power_base(node: Node) -> Node | None:
    """What is raised to a constant power."""
    if node.op.name in _POWERS and is_constant(_plain(node.args[1])):
        return node.args[0]
    if node.op.name in ("square", "sqrt"):
        return node.args[0]
    if node.op.name == "multiply" and node.args[0] is node.args[1]:
        return node.args[0]
    return None


def _is_whitened(node: Node) -> bool:
    """``(x - mean) / sqrt(variance + epsilon)``, the statistics those of ``x``'s own images."""
    if node.op.name != "divide":
        return False
    centered, sigma = node.args
    if not _is_centered(centered):
        return False
    root = _plain(sigma)
    if root.op.name != "sqrt":
        return False
    variance = _with_constant(_plain(root.args[0]), ("add",))
    squares = None if variance is None else _mean_of(variance)
    return squares is not None and _is_square_of(squares, centered)


def _is_centered(node: Node) -> bool:
    """``x - mean(x)`` over each image."""
    if node.op.name != "subtract":
        return False
    x, mean = node.args
    return _mean_of(_plain(mean)) is x


def _is_square_of(node: Node, value: Node) -> bool:
    if is_moment(node):
        x, mean = node.args
        return x is value.args[0] and _mean_of(_plain(mean)) is x
    if node.op.name in _POWERS:
        return node.args[0] is value and _number(node.args[1]) == 2
    if node.op.name == "square":
        return node.args[0] is value
    return node.op.name == "multiply" and node.args[0] is value and node.args[1] is value


def _mean_of(node: Node) -> Node | None:
    """What ``node`` is the mean of over each image; None where it is none.

    Of squares that no operation has made by itself, their sum.
    """
    node = _plain(node)
    if node.op.name == "divide":
        count = _number(node.args[1])
    elif node.op.name == "multiply":
        factor = _number(node.args[1])
        count = None if not factor else 1 / factor
    else:
        return None
    total = _plain(node.args[0])
    if total.op.name not in _SUMS or total.params["axis"] != _STATISTICS_AXES:
        return None
    x = total.args[0]
    _, height, width = x.type.shape
    if count != height * width:
        return None
    return total if is_moment(total) else x


def _with_constant(node: Node, names: tuple[str, ...]) -> Node | None:
    """The other operand of an operation with one constant."""
    if node.op.name not in names:
        return None
    first, second = node.args
    if is_constant(_plain(second)):
        return first
    return second if is_constant(_plain(first)) and node.op.name != "subtract" else None


def _plain(node: Node) -> Node:
    """The value without casts and views around it."""
    while node.op.name == "cast" or is_view(node):
        node = node.args[0]
    return node


def _number(node: Node) -> Any:
    node = _plain(node)
    if node.op.name == "count":
        return node.params["number"]
    return constant_array(node)[()] if is_constant(node) else None
