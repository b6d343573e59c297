"""Live names of loops: what a function, or the next iteration, may read before it binds it anew."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from runmat_jit.loops.returns import Loop

_JUMPS: Final = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LATER: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)
"""Code that may run, and read names, at any time after it stands."""
_Bound = frozenset[str] | None
_Around = Sequence[tuple[Sequence[ast.stmt], Loop | None]]
"""Code that follows a statement, the innermost block last: statements, or the loop they are in."""


def live_after(function: Any) -> dict[ast.AST, frozenset[str]]:
    """Return the names that a function may read after each of its loops before it binds them.

    After a loop within another one comes the next iteration of that one, too.
    """
    captured = set[str]()
    for each in ast.walk(function):
        if each is not function and isinstance(each, _LATER):
            captured.update(loads(each))
        elif isinstance(each, ast.Nonlocal):
            captured.update(each.names)
    found: dict[ast.AST, frozenset[str]] = {}
    _visit(function.body if isinstance(function.body, list) else (), (), captured, found)
    return found


def read_early(loop: Loop) -> frozenset[str]:
    """Return the names that an iteration may read before it binds them."""
    reads = _Reads()
    reads.in_loop(loop, frozenset())
    return frozenset(reads.early)


def loads(node: ast.AST, hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names that a node reads; ``hidden``: those of comprehensions around it."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Store) and node.id not in hidden:
            yield node.id
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    if isinstance(node, _COMPREHENSIONS):
        yield from loads(node.generators[0].iter, hidden)
        hidden |= frozenset().union(*(bound_in(each.target) for each in node.generators))
    for child in ast.iter_child_nodes(node):
        yield from loads(child, hidden)


def bound_in(target: ast.AST) -> frozenset[str]:
    """Return the names that a target binds."""
    names = (each for each in ast.walk(target) if isinstance(each, ast.Name))
    return frozenset(each.id for each in names if isinstance(each.ctx, ast.Store))


def _visit(
    block: Iterable[ast.stmt],
    around: _Around,
    captured: set[str],
    found: dict[ast.AST, frozenset[str]],
) -> None:
    """Find the loops of a block, and what is live after each."""
    statements = list(block)
    for place, node in enumerate(statements):
        rest = (*around, (statements[place + 1 :], None))
        if isinstance(node, Loop):
            found[node] = frozenset(captured | _read_after(rest))
            _visit(node.body, (*rest, ((), node)), captured, found)
            _visit(node.orelse, rest, captured, found)
        elif not isinstance(node, _LATER):
            if isinstance(node, ast.Try | ast.TryStar):
                rest = (*rest, ([node], None))  # any part of it may follow
            for name in ("body", "orelse", "finalbody"):
                _visit(getattr(node, name, ()), rest, captured, found)
            for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                _visit(inner.body, rest, captured, found)


def _read_after(around: _Around) -> set[str]:
    """Return the names that are read before they are bound, from the innermost block on."""
    reads, known = _Reads(), frozenset[str]()
    for rest, loop in reversed(around):
        if loop is not None:
            reads.in_loop(loop, known)
            known = frozenset()  # it may be over at once
            continue
        jumps = any(isinstance(each, _JUMPS) for node in rest for each in ast.walk(node))
        after = reads.in_block(rest, known)
        known = frozenset() if jumps or after is None else after
    return reads.early


class _Reads:
    """Names that statements may read before they bind them.

    Methods take the names that are bound before a statement, and return those that are bound after
    it; None: nothing comes after it.
    """

    def __init__(self) -> None:
        self.early: set[str] = set()

    def in_block(self, statements: Iterable[ast.stmt], known: frozenset[str]) -> _Bound:
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
                known |= bound_in(target)
        else:
            self.read(node, known)
        return None if isinstance(node, _JUMPS) else known

    def in_loop(self, loop: Loop, known: frozenset[str]) -> None:
        """Look at a loop, which may run no iteration."""
        self.read(loop.test if isinstance(loop, ast.While) else loop.iter, known)
        bound = frozenset[str]() if isinstance(loop, ast.While) else bound_in(loop.target)
        self.in_block(loop.body, known | bound)
        self.in_block(loop.orelse, known)

    def read(self, node: ast.AST, known: frozenset[str]) -> None:
        """Note the names that a node reads."""
        self.early.update(name for name in loads(node) if name not in known)
