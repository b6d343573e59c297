"""The names that an expression mentions: what an anonymous function captures."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from matlab_frontend import nodes


def names_in(expression: nodes.Expression) -> set[str]:
    """Names of variables or functions anywhere in an expression."""
    found: set[str] = set()
    left: list[Any] = [expression]
    while left:
        node = left.pop()
        if isinstance(node, nodes.Name):
            found.add(node.name)
        elif isinstance(node, nodes.Node):
            left += [getattr(node, field.name) for field in fields(node) if field.name != "span"]
        elif isinstance(node, tuple):
            left += node
    return found
