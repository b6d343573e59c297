"""Syntax of generator expressions, and of lists, that calls are given: loops in expressions.

The names that they bind are their own: in a loop that runs natively they have other names.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import Any, Final, TypeVar

Comprehension = ast.GeneratorExp | ast.ListComp
N = TypeVar("N", bound=ast.AST)


def with_own_names(node: N) -> N:
    """Return a statement whose comprehensions bind names that are nobody else's.

    What has none in it is shared with the other statement, not copied.
    """
    found: Any = _renamed(node, {})
    return found  # type: ignore[no-any-return]  # a node of the same class


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A node with other names, a copy if there are any in it."""
    if isinstance(node, list):
        items = [_renamed(each, names) for each in node]
        return node if all(a is b for a, b in zip(items, node, strict=True)) else items
    if isinstance(node, ast.Name) and node.id in names:
        return ast.copy_location(ast.Name(names[node.id], node.ctx), node)
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, Comprehension):
        return _with_names_of_its_own(node, names)
    fields = {name: _renamed(value, names) for name, value in ast.iter_fields(node)}
    if all(fields[name] is value for name, value in ast.iter_fields(node)):
        return node
    made: Any = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _with_names_of_its_own(node: Comprehension, names: Mapping[str, str]) -> Comprehension:
    """A comprehension; the first of what it iterates is computed around it."""
    own = {**names, **{name: f"{name}@{_suffix(node)}" for name in bound_names(node)}}
    generators = [
        ast.comprehension(
            _renamed(each.target, own),
            _renamed(each.iter, own if place else names),
            _renamed(each.ifs, own),
            each.is_async,
        )
        for place, each in enumerate(node.generators)
    ]
    return ast.copy_location(type(node)(_renamed(node.elt, own), generators), node)


def is_own_name(name: str) -> bool:
    """Return True for a name that only a comprehension binds."""
    return "@" in name


_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "sum": ("total = 0\ncount = 0", "total = total + item\ncount = count + 1"),
    "any": ("total = False", "if item:\n    total = True\n    break"),
    "all": ("total = True", "if not item:\n    total = False\n    break"),
    "array": ("count = 0\nlast = 0.5", "last = item\ntotal[count] = last\ncount = count + 1"),
}
"""By what is made of the items: statements before the loop, and of each iteration."""


class _Filled(ast.NodeTransformer):
    """Puts names and an expression into statements that are written above."""

    def __init__(self, item: ast.expr, suffix: str) -> None:
        self.item, self.suffix = item, suffix

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "item":
            return self.item
        return ast.copy_location(ast.Name(f"{node.id}@{self.suffix}", node.ctx), self.item)


def names_of(node: Comprehension) -> tuple[str, str, str]:
    """The names of what a comprehension has found, of the number of items, and of the last one."""
    suffix = _suffix(node)
    return f"total@{suffix}", f"count@{suffix}", f"last@{suffix}"


def _suffix(node: Comprehension) -> str:
    return f"{node.lineno}.{node.col_offset}"


def bound_names(node: Comprehension) -> list[str]:
    """The names that a comprehension binds."""
    targets = (each for generator in node.generators for each in ast.walk(generator.target))
    return [each.id for each in targets if isinstance(each, ast.Name)]


def statements_of(node: Comprehension, way: str) -> list[ast.stmt]:
    """Statements that do what a call does with a comprehension; the same ones each time."""
    known: dict[str, list[ast.stmt]] = node.__dict__.setdefault("_statements", {})
    if way not in known:
        known[way] = _made(node, way)
    return known[way]


def _made(node: Comprehension, way: str) -> list[ast.stmt]:
    before, inside = (ast.parse(text).body for text in _TEXTS[way])
    filled = _Filled(node.elt, _suffix(node))
    body: list[Any] = [filled.visit(each) for each in inside]
    for generator in reversed(node.generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(generator.target, generator.iter, body, [])]
    made = [*(filled.visit(each) for each in before), *body]
    for each in made:
        for inner in ast.walk(each):
            if isinstance(inner, ast.stmt):
                ast.copy_location(inner, node)
        ast.fix_missing_locations(each)
    return made
