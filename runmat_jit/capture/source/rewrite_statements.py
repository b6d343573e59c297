"""Rewriting of statements that bind or nest in their own way: ``if``, loops, ``with``, imports."""

import ast
from collections.abc import Mapping
from importlib.util import resolve_name
from typing import TypeVar

from runmat_jit.capture.source.hook_calls import constant, hook, placed
from runmat_jit.capture.source.node_rewriter import Handler, NodeRewriter
from runmat_jit.capture.source.rewrite_stores import store_target
from runmat_jit.loops.returns import EXIT

Loop = TypeVar("Loop", ast.For, ast.AsyncFor)


def rewrite_if(rewriter: NodeRewriter, node: ast.If) -> ast.stmt:
    """A chain of ``elif`` nests as deep as it is long: no recursion."""
    chain = [node]
    orelse = node.orelse
    while len(orelse) == 1 and isinstance(orelse[0], ast.If):
        chain.append(orelse[0])
        orelse = orelse[0].orelse
    rewritten = rewriter.block(orelse)
    for link in reversed(chain):
        test, body = rewriter.expression(link.test), rewriter.block(link.body)
        rewritten = [placed(ast.If(test, body, rewritten), link)]
    return rewritten[0]


def rewrite_while(rewriter: NodeRewriter, node: ast.While) -> ast.stmt:
    """``while goes_on() and test``: what it waits for may have come.

    From where the recording is left, the rest of the loop is in direct form::

        while goes_on() and test:
            <body>
        else:
            if has_rest():
                while test: <body, with hooks for loops alone>
                else: <else>
            else: <else>
    """
    rest = rewriter.direct(node)
    turn = hook("turn" if rest is None else "goes_on", [], node.test)
    test = placed(ast.BoolOp(ast.And(), [turn, rewriter.expression(node.test)]), node.test)
    loop = rewriter.copy(node, test=test)
    if rest is not None:
        rest.orelse = rewriter.block(node.orelse)
        ended = hook("has_rest", [], node.test)
        loop.orelse = [placed(ast.If(ended, [rest], loop.orelse), node)]
    return natively(rewriter, node, loop)


def rewrite_for(rewriter: NodeRewriter, node: ast.For) -> ast.stmt:
    """``for x in loop(iterable)``; its rest likewise::

    for x in loop(iterable):
        <body>
    else:
        for x in rest(): <body, with hooks for loops alone>
        else: <else>
    """
    rest = rewriter.direct(node)
    rests = constant(int(rest is not None), node.iter)
    ends = any(isinstance(inner, (ast.Break, ast.Return)) for inner in ast.walk(node))
    whole = constant(int(not ends), node.iter)
    iterated = hook("loop", [rewriter.expression(node.iter), rests, whole], node.iter)
    loop = _loop(rewriter, node, iterated)
    loop.body.insert(0, placed(ast.Expr(hook("turn", [], node.iter)), node.iter))
    if rest is not None:
        rest.iter, rest.orelse = hook("rest", [], node.iter), loop.orelse
        loop.orelse = [rest]
    return natively(rewriter, node, loop)


def natively(
    rewriter: NodeRewriter, node: ast.stmt, plain: ast.stmt, name: str = "looped"
) -> ast.stmt:
    """A loop, run natively where that may be done::

        for (i, s) in looped(0):
            break
        else:
            <the loop as it stands>

    ``looped`` gives the values that the loop leaves in its variables, or nothing; ``name``: of the
    hook. A loop with ``return`` gives the number of the one that ended it, too::

        for (i, s, <exit>) in looped(0):
            if <exit> == 1: del <exit>; return i
            del <exit>
            break
        else:
            <the loop as it stands>

    """
    source = rewriter.loops.get(node)
    if source is None:
        return plain
    number = list(rewriter.loops).index(node)
    names = [placed(ast.Name(name, ast.Store()), node) for name in source.results]
    target = placed(ast.Tuple(names, ast.Store()), node)  # type: ignore[arg-type]  # expressions
    given = hook(name, [constant(number, node)], node)
    body: list[ast.stmt] = []
    for value, returned in enumerate(source.returns, 1):
        exits = placed(ast.Name(EXIT, ast.Load()), node)
        test = placed(ast.Compare(exits, [ast.Eq()], [constant(value, node)]), node)
        body.append(
            placed(ast.If(test, [_forget_exit(node), *rewriter.block([returned])], []), node)
        )
    body += [_forget_exit(node)] if source.returns else []
    body.append(placed(ast.Break(), node))
    return placed(ast.For(target, given, body, [plain]), node)


def _forget_exit(node: ast.stmt) -> ast.stmt:
    """Return the statement that unbinds :data:`EXIT`: no code of the program's sees it."""
    return placed(ast.Delete([placed(ast.Name(EXIT, ast.Del()), node)]), node)


def rewrite_async_for(rewriter: NodeRewriter, node: ast.AsyncFor) -> ast.stmt:
    return _loop(rewriter, node, rewriter.expression(node.iter))


def _loop(rewriter: NodeRewriter, node: Loop, iterated: ast.expr) -> Loop:
    target = store_target(rewriter, node.target)
    with rewriter.scopes.branch():
        rewriter.scopes.note_assigned([node.target])
        body = rewriter.block(node.body)
    return rewriter.copy(node, target=target, iter=iterated, body=body)


def rewrite_with(rewriter: NodeRewriter, node: ast.With | ast.AsyncWith) -> ast.stmt:
    """``with manager as target, hidden():`` what leaves the block has lost the hooks' frames."""
    items = []
    with rewriter.scopes.branch():
        for item in node.items:
            manager = rewriter.expression(item.context_expr)
            target = item.optional_vars
            items.append(ast.withitem(manager, target and store_target(rewriter, target)))
            rewriter.scopes.note_assigned([target] if target else [])
        if isinstance(node, ast.With):
            items.append(ast.withitem(hook("hidden", [], node.items[-1].context_expr)))
        return rewriter.copy(node, items=items, body=rewriter.block(node.body))


def rewrite_handler(rewriter: NodeRewriter, node: ast.ExceptHandler) -> ast.ExceptHandler:
    """``caught()`` first: the handler sees a traceback without the hooks' frames."""
    rewritten = rewriter.copy(node)
    at = node.body[0]
    rewritten.body = [placed(ast.Expr(hook("caught", [], at)), at), *rewritten.body]
    return rewritten


def rewrite_import(rewriter: NodeRewriter, node: ast.Import) -> list[ast.stmt]:
    """``importing("m")``, then ``import m``: which module that is may change."""
    del rewriter
    return [*(_importing(alias.name, node) for alias in node.names), node]


def rewrite_import_from(rewriter: NodeRewriter, node: ast.ImportFrom) -> list[ast.stmt]:
    """Likewise; after ``from m import a`` comes ``a = imported(a, "m", "a")``: a read of it."""
    try:
        module = resolve_name("." * node.level + (node.module or ""), rewriter.package)
    except ImportError:  # which the statement itself raises
        return [node]
    statements: list[ast.stmt] = [_importing(module, node), node]
    for alias in node.names:
        bound = alias.asname or alias.name
        args = [placed(ast.Name(bound, ast.Load()), node), constant(module, node)]
        read = hook("imported", [*args, constant(alias.name, node)], node)
        target = placed(ast.Name(bound, ast.Store()), node)
        statements.append(placed(ast.Assign([target], read), node))
    return statements


def _importing(module: str, node: ast.stmt) -> ast.stmt:
    return placed(ast.Expr(hook("importing", [constant(module, node)], node)), node)


STATEMENTS: Mapping[type[ast.AST], Handler] = {
    ast.If: rewrite_if,
    ast.While: rewrite_while,
    ast.For: rewrite_for,
    ast.AsyncFor: rewrite_async_for,
    ast.With: rewrite_with,
    ast.AsyncWith: rewrite_with,
    ast.ExceptHandler: rewrite_handler,
    ast.Import: rewrite_import,
    ast.ImportFrom: rewrite_import_from,
}
