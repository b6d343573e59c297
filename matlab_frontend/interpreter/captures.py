"""What an expression mentions: names, which anonymous functions capture, and ``end``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matlab_frontend import nodes


def names_in(expression: nodes.Expression) -> set[str]:
    """Names of variables or functions anywhere in an expression."""
    return {node.name for node in below(expression) if isinstance(node, nodes.Name)}


def mentions_end(expression: nodes.Expression) -> bool:
    """True if ``end`` as a value stands anywhere in an expression."""
    return any(isinstance(node, nodes.End) for node in below(expression))


def below(*parts: Any) -> Iterator[nodes.Node]:
    """The nodes below some nodes, these included."""
    left: list[Any] = list(parts)
    while left:
        node = left.pop()
        if isinstance(node, tuple):
            left += node
        elif isinstance(node, nodes.Node):
            yield node
            left += node.parts()
