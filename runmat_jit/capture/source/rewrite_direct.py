"""Rewriting for plain execution: loops that may run natively have hooks, and calls of such loops.

The hooks are a constant of the code: code that looks at the program's frames finds the program's
variables alone.
"""

import ast
import copy
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from runmat_jit.capture.source.hook_calls import RUNTIME, constant, hook, placed
from runmat_jit.capture.source.node_rewriter import Handler, NodeRewriter
from runmat_jit.capture.source.refusal import Refusal
from runmat_jit.capture.source.rewrite_statements import natively
from runmat_jit.capture.source.scopes import FunctionNode, parameters, scope_of

HOOKS = "<hooks>"
"""The constant in whose place the hooks are put: no variable of the program's frames is ours."""


def _loop(rewriter: NodeRewriter, node: ast.For) -> ast.stmt:
    """A ``for`` that may run natively; ``ended(0)`` is called if Python has run it to its end."""
    found = natively(rewriter, node, rewriter.copy(node))
    if node in rewriter.loops:
        assert isinstance(found, ast.For), "an attempt to run it natively stands around it"
        number = constant(list(rewriter.loops).index(node), node)
        found.orelse.append(placed(ast.Expr(hook("ended", [number], node)), node))
    return found


def _while(rewriter: NodeRewriter, node: ast.While) -> ast.stmt:
    """A ``while`` that may run natively from an iteration on, when it has run long enough::

    for <results> in looped(0): break
    else:
        for () in head(0):
            if not <test>: break
            <body>
        else:
            for <results> in again(0): break
            else: <the loop as it stands>

    """
    loop = rewriter.copy(node)
    loops = rewriter.loops
    is_inner = any(node in ast.walk(other) for other in loops if other is not node)
    if node not in loops or is_inner or node.orelse:
        return natively(rewriter, node, loop)
    test = placed(ast.UnaryOp(ast.Not(), rewriter.expression(node.test)), node.test)
    ends: ast.stmt = placed(ast.If(test, [placed(ast.Break(), node)], []), node.test)
    given = hook("head", [constant(list(loops).index(node), node)], node)
    nothing = placed(ast.Tuple([], ast.Store()), node)
    rest = natively(rewriter, node, loop, "again")
    body = [ends, *rewriter.block(node.body)]
    return natively(rewriter, node, placed(ast.For(nothing, given, body, [rest]), node))


def _as_it_stands(_rewriter: NodeRewriter, node: ast.AST) -> ast.AST:
    return copy.deepcopy(node)


def _expression(rewriter: NodeRewriter, node: ast.expr) -> ast.AST:
    return Helpers(rewriter.is_helper).visit(copy.deepcopy(node))  # type: ignore[no-any-return]  # a node


class Helpers(ast.NodeTransformer):
    """Has functions with loops called in their direct form: ``helper(f)(x)`` for ``f(x)``."""

    def __init__(self, is_helper: Callable[[str], bool]) -> None:
        self._is_helper = is_helper

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and self._is_helper(node.func.id):
            node.func = hook("helper", [node.func], node.func)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _match_case(rewriter: NodeRewriter, node: ast.match_case) -> ast.match_case:
    return ast.match_case(node.pattern, node.guard, rewriter.block(node.body))


def _classes(base: type[ast.AST]) -> Iterator[type[ast.AST]]:
    for each in base.__subclasses__():
        yield each
        yield from _classes(each)


DIRECT: Mapping[type[ast.AST], Handler] = {
    **dict.fromkeys(_classes(ast.AST), _as_it_stands),
    **dict.fromkeys(_classes(ast.expr), _expression),
    **dict.fromkeys((*_classes(ast.stmt), ast.ExceptHandler), NodeRewriter.copy),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), _as_it_stands),
    ast.match_case: _match_case,
    ast.For: _loop,
    ast.While: _while,
}
"""Statements are copied for the sake of the loops in them, expressions for that of calls."""


def direct_body(rewriter: NodeRewriter, node: FunctionNode) -> list[ast.stmt]:
    """Body of a function whose loops have hooks.

    Raises:
        Refusal: a lambda, which has no loops, or the name of the hooks is the program's.

    """
    if isinstance(node, ast.Lambda):
        raise Refusal("unknown-syntax", node.lineno)
    for each in ast.walk(node):
        if RUNTIME in (getattr(each, "id", ""), getattr(each, "arg", "")):
            raise Refusal("reserved-name", node.lineno)
    scope = scope_of((*parameters(node.args), *node.body), rewriter.scopes.class_name)
    with rewriter.scopes.entered(scope):
        return rewriter.block(node.body)


def direct_loop(rewriter: NodeRewriter, loop: ast.For | ast.While) -> ast.stmt | None:
    """A loop of hooked code in direct form, without its ``else``; None where there is none."""
    direct = replace(rewriter, handlers=DIRECT, rests=None)
    bare = type(loop)(**{name: getattr(loop, name) for name in loop._fields})
    bare.orelse = []
    try:
        found = direct.copy(placed(bare, loop))
    except Refusal:
        return None
    return HooksOfDirect().visit(found)  # type: ignore[no-any-return]  # of a statement


class HooksOfDirect(ast.NodeTransformer):
    """Puts the hooks of the direct form in the place of those of the hooked one."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != RUNTIME:
            return node
        return placed(ast.Attribute(node, "direct", ast.Load()), node)


class HooksAsConstant(ast.NodeTransformer):
    """Puts a constant in the place of the variable that holds the hooks."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return constant(HOOKS, node) if node.id == RUNTIME else node


def with_hooks(code: types.CodeType, hooks: Any) -> types.CodeType:
    """Direct code, and that defined in it, with the hooks in their place."""

    def put(const: Any) -> Any:
        if isinstance(const, types.CodeType):
            return with_hooks(const, hooks)
        return hooks if type(const) is str and const == HOOKS else const

    consts = tuple(map(put, code.co_consts))
    if all(new is old for new, old in zip(consts, code.co_consts, strict=True)):
        return code
    return code.replace(co_consts=consts)
