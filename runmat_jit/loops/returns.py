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
_JUMPS: Final = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_Bound = frozenset[str] | None
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


def read_early(loop: Loop) -> frozenset[str]:
    """Return the names that an iteration may read before it binds them."""
    reads = _Reads()
    reads.in_loop(loop, frozenset())
    return frozenset(reads.early)


class _Reads:
    """Names that statements may read before they bind them.

    Methods take the names that are bound before a statement, and return those that are bound after
    it; None: nothing comes after it.
    """

    def __init__(self) -> None:
        self.early: set[str] = set()

    def in_block(self, statements: Sequence[ast.stmt], known: frozenset[str]) -> _Bound:
        """Look at statements, one after the other."""
        for node in statements:
            after = self.in_statement(node, known)
            if after is None:
                return None
            known = after
        return known

    def in_statement(self, node: ast.stmt, known: frozenset[str]) -> _Bound:
        """Look at a statement."""
        if isinstance(node, Loop):
            self.in_loop(node, known)
        elif isinstance(node, ast.If):
            self.read(node.test, known)
            ends = [self.in_block(block, known) for block in (node.body, node.orelse)]
            going_on = [each for each in ends if each is not None]
            return frozenset.intersection(*going_on) if going_on else None
        elif isinstance(node, ast.Assign):
            self.read(node.value, known)
            for target in node.targets:
                self.read(target, known)
                known |= _bound_by(target)
        else:
            self.read(node, known)
        return None if isinstance(node, _JUMPS) else known

    def in_loop(self, loop: Loop, known: frozenset[str]) -> None:
        """Look at a loop, which may run no iteration."""
        if isinstance(loop, ast.While):
            self.read(loop.test, known)
        else:
            self.read(loop.iter, known)
            known |= _bound_by(loop.target)
        self.in_block(loop.body, known)

    def read(self, node: ast.AST, known: frozenset[str]) -> None:
        """Note the names that a node reads."""
        names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        in_place = node.target if isinstance(node, ast.AugAssign) else None
        read = {each.id for each in names if isinstance(each.ctx, ast.Load) or each is in_place}
        self.early |= read - known


def _bound_by(target: ast.expr) -> frozenset[str]:
    """Return the names that a target binds."""
    stored = (each for each in ast.walk(target) if isinstance(each, ast.Name))
    return frozenset(each.id for each in stored if isinstance(each.ctx, ast.Store))
