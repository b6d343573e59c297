"""Rewriting of expressions: names from outside, attributes, items, calls, ``is``, containers."""

import ast
from collections.abc import Mapping

from runmat_jit.capture.source.hook_calls import RUNTIME, constant, hook, key_of, placed
from runmat_jit.capture.source.node_rewriter import Handler, NodeRewriter
from runmat_jit.capture.source.refusal import Refusal
from runmat_jit.capture.source.rewrite_stores import store_target
from runmat_jit.capture.source.scopes import Comprehension, Scopes, Where, scope_of
from runmat_jit.core.source import FRAME_FUNCTIONS

# Read the frame of their caller, which would be the hook's.
FRAME_READERS = frozenset({"locals", "globals", "vars", "dir", "eval", "exec"})
# `super` and `__class__` make the compiler provide the class; `__debug__` is a constant.
COMPILER_NAMES = frozenset({"super", "__class__", "__debug__"})

_NOT_COMPUTED = frozenset({ast.Constant, ast.Name, ast.Lambda})

COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.In: "in",
    ast.NotIn: "not in",
}


def rewrite_name(rewriter: NodeRewriter, node: ast.Name) -> ast.expr:
    """A name from outside becomes ``glob("name")`` or ``free("name")``."""
    if node.id == RUNTIME:
        raise Refusal("reserved-name", node.lineno)
    if not isinstance(node.ctx, ast.Load) or node.id in COMPILER_NAMES:
        return node
    where = rewriter.scopes.where(node.id)
    if where is Where.UNSETTLED:
        raise Refusal("class-body-name", node.lineno)
    if where is Where.LOCAL or _is_of_test_runner(node, rewriter.scopes):
        return node
    if node.id in FRAME_FUNCTIONS:
        raise Refusal("uses-locals", node.lineno)
    if where is Where.GLOBAL and rewriter.is_builtin(node.id):
        if node.id in FRAME_READERS:
            raise Refusal("uses-locals", node.lineno)
        if node.id == "breakpoint":
            raise Refusal("uses-breakpoint", node.lineno)
    return _outside_read(node, where, rewriter.scopes)


def _outside_read(node: ast.Name, where: Where, scopes: Scopes) -> ast.expr:
    name = constant(scopes.mangle(node.id), node)
    return hook("glob" if where is Where.GLOBAL else "free", [name], node)


def rewrite_attribute(rewriter: NodeRewriter, node: ast.Attribute) -> ast.expr:
    if _is_of_test_runner(node, rewriter.scopes):
        return node
    if node.attr in FRAME_FUNCTIONS or ast.unparse(node) == "inspect.stack":
        raise Refusal("uses-locals", node.lineno)
    if node.attr == "resize" and not _names_module(rewriter, node.value):
        raise Refusal("resizes-array", node.lineno)
    name = constant(rewriter.scopes.mangle(node.attr), node)
    return hook("attr", [rewriter.expression(node.value), name], node, attribute=node)


def _names_module(rewriter: NodeRewriter, node: ast.expr) -> bool:
    """True if an expression is the name of a module that the function sees."""
    return isinstance(node, ast.Name) and rewriter.is_module(node.id)


def rewrite_subscript(rewriter: NodeRewriter, node: ast.Subscript) -> ast.expr:
    obj = rewriter.expression(node.value)
    return hook("item", [obj, key_of(node.slice, rewriter.expression)], node)


def rewrite_call(rewriter: NodeRewriter, node: ast.Call) -> ast.expr:
    if stays_a_call(node.func, rewriter.scopes):
        return rewriter.copy(node, func=node.func)
    keywords = [_keyword(rewriter, keyword) for keyword in node.keywords]
    return hooked_call(rewriter, node, _called(rewriter, node), keywords)


def hooked_call(
    rewriter: NodeRewriter, node: ast.Call, function: ast.expr, keywords: list[ast.keyword]
) -> ast.expr:
    """``call(function, …)`` for a call; ``function`` and ``keywords`` have been rewritten."""
    args = list(map(rewriter.expression, node.args))
    starred = any(isinstance(arg, ast.Starred) for arg in node.args)
    if starred or not all(keyword.arg for keyword in node.keywords):
        return placed(ast.Call(hook("starred", [function], node), args, keywords), node)
    # A call of an attribute is a method call, placed at its name.
    attribute = node.func if isinstance(node.func, ast.Attribute) else None
    return hook("call", [function, *args], node, keywords=keywords, attribute=attribute)


def _keyword(rewriter: NodeRewriter, keyword: ast.keyword) -> ast.keyword:
    value = rewriter.expression(keyword.value)
    if keyword.arg is None:
        value = hook("unpacked", [value, constant("**", keyword)], keyword.value)
    return placed(ast.keyword(keyword.arg, value), keyword)


def rewrite_starred(rewriter: NodeRewriter, node: ast.Starred) -> ast.expr:
    if not isinstance(node.ctx, ast.Load):
        return rewriter.copy(node)
    value = hook("unpacked", [rewriter.expression(node.value), constant("*", node)], node.value)
    return rewriter.copy(node, value=value)


def _called(rewriter: NodeRewriter, node: ast.Call) -> ast.expr:
    function = node.func
    if isinstance(function, ast.Name) and function.id in {"vars", "dir"} and node.args:
        where = rewriter.scopes.where(function.id)
        if where is Where.GLOBAL:  # with an argument they do not read the frame
            return _outside_read(function, where, rewriter.scopes)
    return rewriter.expression(function)


def stays_a_call(function: ast.expr, scopes: Scopes) -> bool:
    """True if a call must be Python's own."""
    if isinstance(function, ast.Name) and function.id == "super":
        return scopes.where("super") is Where.GLOBAL  # it reads the frame of its caller
    return _is_of_test_runner(function, scopes)


def _is_of_test_runner(node: ast.expr, scopes: Scopes) -> bool:
    """True if the expression is pytest's own, put in by its rewriting of assertions."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name) or not node.id.startswith("@"):
        return False
    return scopes.where(node.id) is Where.GLOBAL


OPERATORS: Mapping[type[ast.operator], str] = {ast.Mod: "modulo", ast.Pow: "power"}
"""Hooks of operators: ``%`` may make text, and the bits of ``**`` may be our own."""


def rewrite_operation(rewriter: NodeRewriter, node: ast.BinOp) -> ast.expr:
    return hooked_operation(rewriter, node, OPERATORS)


def hooked_operation(
    rewriter: NodeRewriter, node: ast.BinOp, hooks: Mapping[type[ast.operator], str]
) -> ast.expr:
    """A chain ``a + b + c + …`` nests to the left, as deep as it is long: no recursion."""
    chain: list[ast.BinOp] = []
    leftmost: ast.expr = node
    while isinstance(leftmost, ast.BinOp):
        chain.append(leftmost)
        leftmost = leftmost.left
    result = rewriter.expression(leftmost)
    for link in reversed(chain):
        right = rewriter.expression(link.right)
        if type(link.op) in hooks:
            result = hook(hooks[type(link.op)], [result, right], link)
        else:
            result = placed(ast.BinOp(result, link.op, right), link)
    return result


def rewrite_text(rewriter: NodeRewriter, node: ast.JoinedStr) -> ast.expr:
    """An f-string: a hook formats each part, where Python does it."""
    return placed(ast.JoinedStr([rewriter.expression(part) for part in node.values]), node)


def rewrite_part(rewriter: NodeRewriter, node: ast.FormattedValue) -> ast.expr:
    """``{value!conversion:spec}`` in an f-string: the text of a hook."""
    args = [rewriter.expression(node.value), constant(node.conversion, node)]
    if node.format_spec is not None:
        args.append(rewriter.expression(node.format_spec))
    text = hook("formatted", args, node)
    return placed(ast.FormattedValue(text, -1, None), node)


def rewrite_comparison(rewriter: NodeRewriter, node: ast.Compare) -> ast.expr:
    """``a is b`` is a hook; ``a < b is c`` becomes ``a < (k := b) and is_(k, c)``.

    So are ``a == b`` and ``a in b``: what they compare may be an object's identity.
    """
    operands = [rewriter.expression(operand) for operand in (node.left, *node.comparators)]
    if len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        return hook("compare", [constant(COMPARISONS[type(node.ops[0])], node), *operands], node)
    if not any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
        return placed(ast.Compare(operands[0], node.ops, operands[1:]), node)
    if len(node.ops) > 1 and rewriter.scopes.in_class:
        raise Refusal("chained-is", node.lineno)  # the class would get the variable
    links: list[ast.expr] = []
    lhs = operands[0]
    for number, (op, operand) in enumerate(zip(node.ops, operands[1:], strict=True), start=1):
        kept = f".operand{number}"  # no name a user can write
        rhs = operand
        if number < len(node.ops):
            rhs = placed(ast.NamedExpr(placed(ast.Name(kept, ast.Store()), rhs), operand), operand)
        links.append(_comparison(lhs, op, rhs, node))
        lhs = placed(ast.Name(kept, ast.Load()), operand)
    return links[0] if len(links) == 1 else placed(ast.BoolOp(ast.And(), links), node)


def _comparison(lhs: ast.expr, op: ast.cmpop, rhs: ast.expr, at: ast.Compare) -> ast.expr:
    match op:
        case ast.Is():
            return hook("is_", [lhs, rhs], at)
        case ast.IsNot():
            return hook("is_not", [lhs, rhs], at)
    return placed(ast.Compare(lhs, [op], [rhs]), at)


def rewrite_display(rewriter: NodeRewriter, node: ast.List | ast.Set) -> ast.expr:
    return hook("fresh", [rewriter.copy(node)], node)


def rewrite_dict(rewriter: NodeRewriter, node: ast.Dict) -> ast.expr:
    keys = [None if key is None else rewriter.expression(key) for key in node.keys]
    values = [
        rewriter.expression(value)
        if key is not None
        else hook("unpacked", [rewriter.expression(value), constant("**", value)], value)
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return hook("fresh", [placed(ast.Dict(keys, values), node)], node)


def rewrite_tuple(rewriter: NodeRewriter, node: ast.Tuple) -> ast.expr:
    """A tuple in which a value waits while another is computed is given to a hook."""
    copy = rewriter.copy(node)
    waits = next((n for n, each in enumerate(node.elts) if type(each) is not ast.Constant), None)
    if waits is None or not isinstance(node.ctx, ast.Load):
        return copy
    computed = any(type(each) not in _NOT_COMPUTED for each in node.elts[waits + 1 :])
    return hook("tuple_", [copy], node) if computed else copy


def rewrite_comprehension(rewriter: NodeRewriter, node: Comprehension) -> ast.expr:
    first, *others = node.generators
    outermost = _iterated(rewriter, first)  # evaluated in the scope around
    targets = [generator.target for generator in node.generators]
    with rewriter.scopes.entered(scope_of(targets, rewriter.scopes.class_name)):
        generators = [_generator(rewriter, first, outermost)]
        generators += [_generator(rewriter, other, _iterated(rewriter, other)) for other in others]
        if isinstance(node, ast.DictComp):
            parts = {"key": rewriter.expression(node.key), "value": rewriter.expression(node.value)}
        else:
            parts = {"elt": rewriter.expression(node.elt)}
    rewritten = rewriter.copy(node, generators=generators, **parts)
    return rewritten if isinstance(node, ast.GeneratorExp) else hook("fresh", [rewritten], node)


def _iterated(rewriter: NodeRewriter, generator: ast.comprehension) -> ast.expr:
    iterated = rewriter.expression(generator.iter)
    return iterated if generator.is_async else hook("iter_", [iterated], generator.iter)


def _generator(
    rewriter: NodeRewriter, node: ast.comprehension, iterated: ast.expr
) -> ast.comprehension:
    target = store_target(rewriter, node.target)
    conditions = [rewriter.expression(condition) for condition in node.ifs]
    return ast.comprehension(target, iterated, conditions, node.is_async)


EXPRESSIONS: Mapping[type[ast.AST], Handler] = {
    ast.Name: rewrite_name,
    ast.Attribute: rewrite_attribute,
    ast.Subscript: rewrite_subscript,
    ast.Call: rewrite_call,
    ast.BinOp: rewrite_operation,
    ast.Compare: rewrite_comparison,
    ast.JoinedStr: rewrite_text,
    ast.FormattedValue: rewrite_part,
    ast.Starred: rewrite_starred,
    ast.List: rewrite_display,
    ast.Dict: rewrite_dict,
    ast.Set: rewrite_display,
    ast.Tuple: rewrite_tuple,
    ast.ListComp: rewrite_comprehension,
    ast.SetComp: rewrite_comprehension,
    ast.DictComp: rewrite_comprehension,
    ast.GeneratorExp: rewrite_comprehension,
}
