"""The walk over syntax nodes: a table says which are rewritten, and the rest must be known.

New nodes are built and the given ones left alone, because trees are shared. What needs no hook is
copied: ``and``, arithmetic, comparisons, ``try`` and so on.
"""

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, TypeVar

from runmat_jit.capture.source.hook_calls import placed
from runmat_jit.capture.source.refusal import Refusal
from runmat_jit.capture.source.scopes import Scopes, assigned_by
from runmat_jit.core.frozen import frozen
from runmat_jit.loops.source import LoopSource

N = TypeVar("N", bound=ast.AST)

COPIED: frozenset[type[ast.AST]] = frozenset(
    {
        # statements
        *(ast.Return, ast.Raise, ast.Assert, ast.Expr, ast.Pass, ast.Break, ast.Continue),
        *(ast.Try, ast.TryStar, ast.ExceptHandler, ast.Import, ast.alias),
        *(ast.Global, ast.Nonlocal),
        # expressions
        *(ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.NamedExpr),
        *(ast.Constant, ast.keyword),
        *(ast.Await, ast.Yield, ast.YieldFrom),
    }
)


@frozen
class NodeRewriter:
    """Rewrites the nodes of one function.

    Attributes:
        handlers: How each kind of node is rewritten, unless it is copied.
        scopes: Where names are found, at the node being rewritten.
        is_builtin: Whether a global name stands for the builtin of that name.
        is_module: Whether a global name stands for a module.
        is_helper: True if a name stands for a function of the program with loops.
        package: The function's package, for relative imports.
        annotations_are_text: ``from __future__ import annotations`` holds.
        loops: The loops that may run natively, by their statements.
        rests: Gives the direct form of a loop, without its ``else``; None: there is none.

    """

    handlers: Mapping[type[ast.AST], "Handler"]
    scopes: Scopes
    is_builtin: Callable[[str], bool]
    is_module: Callable[[str], bool]
    is_helper: Callable[[str], bool]
    package: str
    annotations_are_text: bool
    loops: Mapping[ast.AST, LoopSource] = field(default_factory=dict)
    rests: "Callable[[NodeRewriter, Any], Any] | None" = None

    def expression(self, node: ast.expr) -> ast.expr:
        """The rewritten expression.

        Raises:
            Refusal: The expression cannot be rewritten with its exact meaning.

        """
        rewritten = self._dispatch(node)
        assert isinstance(rewritten, ast.expr), "an expression becomes an expression"
        return rewritten

    def block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        """The rewritten statements of a block."""
        rewritten: list[ast.stmt] = []
        with self.scopes.branch():
            for statement in statements:
                result = self._dispatch(statement)
                rewritten.extend(result if isinstance(result, list) else [result])
                self.scopes.note_assigned(assigned_by(statement))
        return rewritten

    def direct(self, loop: N) -> N | None:
        """A loop in direct form, without its ``else``; None where there is none."""
        return None if self.rests is None else self.rests(self, loop)

    def copy(self, node: N, **replaced: Any) -> N:
        """The node with its fields rewritten, or replaced by what is given."""
        fields = {
            name: replaced[name] if name in replaced else self._field(getattr(node, name))
            for name in node._fields
            if name in vars(node)
        }
        return placed(type(node)(**fields), node)

    def _dispatch(self, node: ast.AST) -> Any:
        handler = self.handlers.get(type(node))
        if handler:
            return handler(self, node)
        if type(node) in COPIED:
            return self.copy(node)
        raise Refusal("unknown-syntax", getattr(node, "lineno", 0))

    def _field(self, value: Any) -> Any:
        match value:
            case [ast.stmt(), *_]:
                return self.block(value)
            case list():
                return [self._field(element) for element in value]
            case ast.expr_context() | ast.operator() | ast.unaryop() | ast.boolop() | ast.cmpop():
                return value
            case ast.AST():
                return self._dispatch(value)
        return value


Handler = Callable[[NodeRewriter, Any], ast.AST | list[ast.stmt]]
