"""Loops with ``return``: the loop ends by a ``break``, and notes which of them ended it.

The value is computed after the loop: by Python where the loop stands in the function that is
compiled, by the kernel where it stands in a function that a loop calls.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import Any, Final

Loop = ast.For | ast.While

EXIT: Final = "<exit>"
"""Name that holds the number of the ``return`` that ended a loop; 0: none has."""
VALUE: Final = "<value>"
"""Name that holds its value, in a function that a loop calls."""
_SCOPES: Final = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def returns_in(node: ast.AST) -> list[ast.Return]:
    """Return the ``return`` statements in a statement, in their order."""
    return [each for each in ast.walk(node) if isinstance(each, ast.Return)]


def may_move(node: ast.Return) -> bool:
    """Return True if the value of a ``return`` may be computed by a copy of it after the loop."""
    return not any(isinstance(each, _SCOPES) for each in ast.walk(node))


def without_returns(loop: Loop, *, keeps: bool = False) -> Loop:
    """Return a loop that ends by ``break`` where another one returns.

    Statements without ``return`` are shared with the other loop, not copied. ``keeps``: the value
    is computed in the loop, and kept under :data:`VALUE`.
    """
    numbers = {id(each): number for number, each in enumerate(returns_in(loop), 1)}
    return _with(loop, body=list(_ended(loop.body, numbers, keeps=keeps))) if numbers else loop


def _ended(
    statements: Sequence[ast.stmt], numbers: dict[int, int], *, keeps: bool
) -> Iterator[ast.stmt]:
    """Yield statements that break the loop around them where they would return."""
    for node in statements:
        if isinstance(node, ast.Return):
            if keeps:
                assert node.value is not None, "its syntax is known"
                yield _bound(VALUE, node.value, node)
            yield _bound(EXIT, ast.Constant(numbers[id(node)]), node)
            yield ast.copy_location(ast.Break(), node)
            return
        if not returns_in(node):
            yield node
        elif isinstance(node, ast.If):
            blocks = (list(_ended(each, numbers, keeps=keeps)) for each in (node.body, node.orelse))
            yield _with(node, **dict(zip(("body", "orelse"), blocks, strict=True)))
        else:
            assert isinstance(node, Loop), "its syntax is known"
            yield _with(node, body=list(_ended(node.body, numbers, keeps=keeps)))
            test = ast.copy_location(ast.Name(EXIT, ast.Load()), node)
            yield ast.copy_location(ast.If(test, [ast.copy_location(ast.Break(), node)], []), node)


def _bound(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    """Return an assignment to a name."""
    statement = ast.Assign([ast.Name(name, ast.Store())], value)
    return ast.fix_missing_locations(ast.copy_location(statement, at))


def _with(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields; what is in the rest is shared."""
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made
