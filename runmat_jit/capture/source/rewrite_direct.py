"""Rewriting for direct execution: calls and powers are hooks, all else is the program's own code.

What may run a row whose bits are our own passes through a hook: calls, ``**``, and definitions,
whose bodies hold such. Names, attributes, items, loops and text are left to Python. The hooks are a
constant of the code: code that looks at the program's frames finds the program's variables alone.
"""

import ast
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runmat_jit.capture.source.hook_calls import RUNTIME, constant, placed
from runmat_jit.capture.source.node_rewriter import Handler, NodeRewriter
from runmat_jit.capture.source.refusal import Refusal
from runmat_jit.capture.source.rewrite_definitions import DEFINITIONS
from runmat_jit.capture.source.rewrite_expressions import (
    hooked_call,
    hooked_operation,
    stays_a_call,
)
from runmat_jit.capture.source.rewrite_statements import natively, rewrite_if
from runmat_jit.capture.source.rewrite_stores import rewrite_augmented
from runmat_jit.capture.source.scopes import Where

_LEFT = (
    *(ast.Assign, ast.AnnAssign, ast.Delete, ast.AsyncFor),
    *(ast.ImportFrom, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Compare),
    *(ast.JoinedStr, ast.FormattedValue, ast.List, ast.Dict, ast.Set, ast.Tuple),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred),
)
HOOKS = "<hooks>"
"""The constant in whose place the hooks are put: no variable of the program's frames is ours."""
_OF_PYTHON = frozenset(
    (
        *("len", "range", "float", "int", "bool", "complex", "str", "list", "dict", "tuple", "set"),
        *("frozenset", "enumerate", "zip", "reversed", "sorted", "min", "max", "any", "all"),
        *("isinstance", "issubclass", "ord", "chr", "id", "next", "iter", "divmod"),
    )
)
"""Builtins that run no row of ours; what a module puts in their place later is not hooked."""
_POWER: Mapping[type[ast.operator], str] = {ast.Pow: "power"}


def _call(rewriter: NodeRewriter, node: ast.Call) -> ast.expr:
    if stays_a_call(node.func, rewriter.scopes) or _is_of_python(rewriter, node.func):
        return rewriter.copy(node, func=node.func)
    keywords = [rewriter.copy(keyword) for keyword in node.keywords]
    return hooked_call(rewriter, node, rewriter.expression(node.func), keywords)


def _is_of_python(rewriter: NodeRewriter, function: ast.expr) -> bool:
    if not isinstance(function, ast.Name) or function.id not in _OF_PYTHON:
        return False
    is_global = rewriter.scopes.where(function.id) is Where.GLOBAL
    return is_global and rewriter.is_builtin(function.id)


def _operation(rewriter: NodeRewriter, node: ast.BinOp) -> ast.expr:
    return hooked_operation(rewriter, node, _POWER)


def _augmented(rewriter: NodeRewriter, node: ast.AugAssign) -> ast.stmt:
    if isinstance(node.op, ast.Pow):
        return rewrite_augmented(rewriter, node)
    return rewriter.copy(node)


def _loop(rewriter: NodeRewriter, node: ast.For | ast.While) -> ast.stmt:
    return natively(rewriter, node, rewriter.copy(node))


def _comprehension(rewriter: NodeRewriter, node: ast.comprehension) -> ast.comprehension:
    conditions = [rewriter.expression(condition) for condition in node.ifs]
    target, iterated = rewriter.expression(node.target), rewriter.expression(node.iter)
    return ast.comprehension(target, iterated, conditions, node.is_async)


def _with_item(rewriter: NodeRewriter, node: ast.withitem) -> ast.withitem:
    target = node.optional_vars
    return ast.withitem(
        rewriter.expression(node.context_expr), target and rewriter.expression(target)
    )


def _match(rewriter: NodeRewriter, node: ast.Match) -> ast.stmt:
    cases = [
        ast.match_case(
            case.pattern, case.guard and rewriter.expression(case.guard), rewriter.block(case.body)
        )
        for case in node.cases
    ]
    return placed(ast.Match(rewriter.expression(node.subject), cases), node)


DIRECT: Mapping[type[ast.AST], Handler] = {
    **dict.fromkeys((*_LEFT, ast.With, ast.AsyncWith), NodeRewriter.copy),
    **DEFINITIONS,
    ast.If: rewrite_if,
    ast.For: _loop,
    ast.While: _loop,
    ast.Call: _call,
    ast.BinOp: _operation,
    ast.AugAssign: _augmented,
    ast.comprehension: _comprehension,
    ast.withitem: _with_item,
    ast.Match: _match,
}


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
