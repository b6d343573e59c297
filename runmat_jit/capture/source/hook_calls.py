"""Syntax of the hook calls, placed so that tracebacks show the line and columns Python would."""

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

RUNTIME = "__rt__"

Visit = Callable[[ast.expr], ast.expr]
N = TypeVar("N", bound=ast.AST)


def placed(new: N, at: Any) -> N:
    """The new node at the place of another."""
    node: Any = new  # only some kinds of node have a place, and these are such
    node.lineno, node.end_lineno = at.lineno, at.end_lineno
    node.col_offset, node.end_col_offset = at.col_offset, at.end_col_offset
    return new


def constant(value: str | int | None, at: ast.AST) -> ast.Constant:
    return placed(ast.Constant(value), at)


def hook(
    name: str,
    args: Sequence[ast.expr],
    at: ast.expr | ast.stmt,
    *,
    keywords: Sequence[ast.keyword] = (),
    attribute: ast.Attribute | None = None,
) -> ast.Call:
    """``__rt__.name(*args, **keywords)`` in place of ``at``.

    Args:
        name: The hook.
        args: Rewritten arguments.
        at: The node replaced.
        keywords: Rewritten keywords.
        attribute: Given where Python places the instruction at the end of an attribute
            (a method call, an attribute read or store), which matters over several lines.

    """
    function = runtime_attribute(name, at)
    if attribute and attribute.end_lineno and attribute.end_lineno != at.lineno:
        column = (attribute.end_col_offset or 0) - len(attribute.attr)
        function.lineno = function.end_lineno = attribute.end_lineno
        # Python takes the last len(name) columns of the function of a method call.
        function.col_offset, function.end_col_offset = column, column + len(name)
    return placed(ast.Call(function, list(args), list(keywords)), at)


def runtime_attribute(name: str, at: ast.expr | ast.stmt) -> ast.Attribute:
    """``__rt__.name`` at the first line of ``at``: Python places a call at its function's end."""
    function = ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())
    for node in (function, function.value):
        node.lineno = node.end_lineno = at.lineno
        node.col_offset = node.end_col_offset = at.col_offset
    return function


def method(
    receiver: ast.expr,
    name: str,
    args: Sequence[ast.expr],
    at: ast.expr | ast.stmt,
    *,
    line: int | None,
) -> ast.Call:
    """``receiver.name(*args)`` at a line of ``at``, for the places that hooks return."""
    function = placed(ast.Attribute(receiver, name, ast.Load()), at)
    function.lineno = function.end_lineno = line or at.lineno
    function.col_offset = function.end_col_offset = at.col_offset
    return placed(ast.Call(function, list(args), []), at)


def key_of(index: ast.expr, visit: Visit) -> ast.expr:
    """The key of a subscript as an ordinary expression: slices become calls."""
    if isinstance(index, ast.Slice):
        bounds = (index.lower, index.upper, index.step)
        return hook("slice_", [visit(b) if b else constant(None, index) for b in bounds], index)
    if isinstance(index, ast.Tuple):
        elements = [key_of(element, visit) for element in index.elts]
        return placed(ast.Tuple(elements, ast.Load()), index)
    return visit(index)
