"""Rewriting of the functions, lambdas and classes defined inside a function, and of its body."""

import ast
from collections.abc import Mapping

from runmat_jit.capture.source.hook_calls import RUNTIME, constant, hook, placed
from runmat_jit.capture.source.node_rewriter import Handler, NodeRewriter
from runmat_jit.capture.source.refusal import Refusal
from runmat_jit.capture.source.scopes import FunctionNode, Scope, Scopes, parameters, scope_of


def function_body(rewriter: NodeRewriter, node: FunctionNode) -> list[ast.stmt]:
    """The rewritten body of a function or lambda, as statements.

    Raises:
        Refusal: The function stores outside of the decorated one, or what a node raises.

    """
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [placed(ast.Return(node.body), node.body)]
        documented = False
    else:
        body = node.body
        documented = ast.get_docstring(node, clean=False) is not None
    scope = scope_of((*parameters(node.args), *body), rewriter.scopes.class_name)
    check_stores(scope, rewriter.scopes)
    with rewriter.scopes.entered(scope):
        rewritten = rewriter.block(body)
    if node.args.kwarg:
        rewritten.insert(1 if documented else 0, _fresh_keywords(node.args.kwarg))
    return rewritten


def _fresh_keywords(parameter: ast.arg) -> ast.stmt:
    """``kwargs = fresh(kwargs)``."""
    read = placed(ast.Name(parameter.arg, ast.Load()), parameter)
    target = placed(ast.Name(parameter.arg, ast.Store()), parameter)
    return placed(ast.Assign([target], hook("fresh", [read], read)), parameter)


def check_stores(scope: Scope, scopes: Scopes) -> None:
    """Check that what a scope binds lies inside the decorated function.

    Raises:
        Refusal: It binds a global, or a variable of a function around the decorated one.

    """
    for name, line in scope.bound.items():
        if name == RUNTIME:
            raise Refusal("reserved-name", line)
        if name in scope.global_names:
            raise Refusal("stores-global", line)
        if name in scope.nonlocal_names and not scopes.binds_nonlocal(name):
            raise Refusal("stores-nonlocal", line)


def rewrite_function(
    rewriter: NodeRewriter, node: ast.FunctionDef | ast.AsyncFunctionDef
) -> ast.stmt:
    refuse_type_parameters(node)
    decorators = _decorators(rewriter, node.decorator_list)
    args = _arguments(rewriter, node.args)
    returns = node.returns and _annotation(rewriter, node.returns)
    body = function_body(rewriter, node)
    return rewriter.copy(node, decorator_list=decorators, args=args, returns=returns, body=body)


def rewrite_lambda(rewriter: NodeRewriter, node: ast.Lambda) -> ast.expr:
    """``lambda **k: body`` becomes ``lambda **k: ((k := fresh(k)), body)[1]``."""
    args = _arguments(rewriter, node.args)
    match function_body(rewriter, node):
        case [ast.Return(value=ast.expr() as result)]:
            return rewriter.copy(node, args=args, body=result)
        case [ast.Assign(targets=[ast.Name() as keywords], value=value), ast.Return(value=result)]:
            assert result, "a lambda returns a value"
            fresh = placed(ast.NamedExpr(keywords, value), result)
            pair = placed(ast.Tuple([fresh, result], ast.Load()), result)
            body = placed(ast.Subscript(pair, constant(1, result), ast.Load()), result)
            return rewriter.copy(node, args=args, body=body)
    raise AssertionError("the body of a lambda is one expression")


def _arguments(rewriter: NodeRewriter, args: ast.arguments) -> ast.arguments:
    def parameter(node: ast.arg) -> ast.arg:
        annotation = node.annotation and _annotation(rewriter, node.annotation)
        return placed(ast.arg(node.arg, annotation), node)

    return ast.arguments(
        posonlyargs=[parameter(node) for node in args.posonlyargs],
        args=[parameter(node) for node in args.args],
        vararg=args.vararg and parameter(args.vararg),
        kwonlyargs=[parameter(node) for node in args.kwonlyargs],
        kw_defaults=[default and rewriter.expression(default) for default in args.kw_defaults],
        kwarg=args.kwarg and parameter(args.kwarg),
        defaults=[rewriter.expression(default) for default in args.defaults],
    )


def _annotation(rewriter: NodeRewriter, node: ast.expr) -> ast.expr:
    return node if rewriter.annotations_are_text else rewriter.expression(node)


def _decorators(rewriter: NodeRewriter, decorators: list[ast.expr]) -> list[ast.expr]:
    return [hook("decorator", [rewriter.expression(node)], node) for node in decorators]


def rewrite_class(rewriter: NodeRewriter, node: ast.ClassDef) -> ast.stmt:
    refuse_type_parameters(node)
    decorators = _decorators(rewriter, node.decorator_list)
    bases = [_base(rewriter, base) for base in node.bases]
    keywords = [
        placed(ast.keyword(keyword.arg, _base(rewriter, keyword.value)), keyword)
        for keyword in node.keywords
    ]
    scope = scope_of(node.body, node.name, is_class=True)
    check_stores(scope, rewriter.scopes)
    with rewriter.scopes.entered(scope, node.name):
        body = rewriter.block(node.body)
    return rewriter.copy(node, decorator_list=decorators, bases=bases, keywords=keywords, body=body)


def _base(rewriter: NodeRewriter, node: ast.expr) -> ast.expr:
    """A base class or an argument of a class definition, which may run code of its own."""
    if isinstance(node, ast.Starred):
        return rewriter.expression(node)
    return hook("base", [rewriter.expression(node)], node)


def refuse_type_parameters(node: ast.stmt | ast.expr) -> None:
    """Check that a definition is not generic in the syntax of Python 3.12.

    Raises:
        Refusal: It is: its type parameters have scopes of their own.

    """
    if getattr(node, "type_params", None):
        raise Refusal("type-parameters", node.lineno)


DEFINITIONS: Mapping[type[ast.AST], Handler] = {
    ast.FunctionDef: rewrite_function,
    ast.AsyncFunctionDef: rewrite_function,
    ast.Lambda: rewrite_lambda,
    ast.ClassDef: rewrite_class,
}
