"""Rewriting of stores: assignment targets, augmented assignment, deletion."""

import ast
from collections.abc import Iterator, Mapping

from runmat_jit.capture.source.hook_calls import constant, hook, key_of, method, placed
from runmat_jit.capture.source.node_rewriter import Handler, NodeRewriter

OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitXor: "xor",
    ast.BitAnd: "and",
    ast.BitOr: "or",
}


def rewrite_assignment(rewriter: NodeRewriter, node: ast.Assign) -> ast.stmt:
    """``targets = value``: the value first, then each target from left to right."""
    value = rewriter.expression(node.value)
    match node.targets:
        case [ast.Subscript() as target]:
            store = hook("setitem", [value, *_object_and_key(rewriter, target)], target)
            return placed(ast.Expr(store), node)
        case [ast.Attribute() as target]:
            args = [value, *_object_and_key(rewriter, target)]
            store = hook("setattr_", args, target, attribute=target)
            return placed(ast.Expr(store), node)
    targets = [store_target(rewriter, target) for target in node.targets]
    return placed(ast.Assign(targets, value), node)


def _object_and_key(
    rewriter: NodeRewriter, target: ast.Subscript | ast.Attribute
) -> tuple[ast.expr, ast.expr]:
    obj = rewriter.expression(target.value)
    if isinstance(target, ast.Subscript):
        return obj, key_of(target.slice, rewriter.expression)
    return obj, constant(rewriter.scopes.mangle(target.attr), target)


def store_target(rewriter: NodeRewriter, target: ast.expr) -> ast.expr:
    """A target with each item or attribute in it replaced by ``place.value``.

    Python evaluates ``place`` when it comes to store there, and the store calls the hook.
    """
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            stored = [store_target(rewriter, element) for element in elements]
            return placed(type(target)(stored, ast.Store()), target)
        case ast.Starred(value=value):
            starred = store_target(rewriter, value)
            return placed(ast.Starred(starred, ast.Store()), target)
        case ast.Subscript() | ast.Attribute():
            place = _place(rewriter, target)
            store = placed(ast.Attribute(place, "value", ast.Store()), target)
            if isinstance(target, ast.Subscript) and target.end_lineno != target.lineno:
                # An item is stored at the first line of its target, an attribute at the last.
                store.end_lineno = target.lineno
                store.end_col_offset = target.col_offset + len("value")
            return store
    return target


def _place(rewriter: NodeRewriter, target: ast.Subscript | ast.Attribute) -> ast.Call:
    name = "item_place" if isinstance(target, ast.Subscript) else "attr_place"
    return hook(name, _object_and_key(rewriter, target), target)


def rewrite_augmented(rewriter: NodeRewriter, node: ast.AugAssign) -> ast.stmt:
    """``target op= value``: object and key once, the old value, the operand, then the store."""
    op = constant(OPERATORS[type(node.op)], node)
    target = node.target
    if isinstance(target, ast.Name):
        old = rewriter.expression(placed(ast.Name(target.id, ast.Load()), target))
        new = hook("iop", [op, old, rewriter.expression(node.value)], node)
        return placed(ast.Assign([target], new), node)
    read_line = target.end_lineno if isinstance(target, ast.Attribute) else target.lineno
    late = isinstance(target, ast.Subscript) and _is_plain(node.value)
    load = "load_late" if late else "load"
    loaded = method(_place(rewriter, target), load, [], target, line=read_line)
    args = [op, rewriter.expression(node.value)]
    return placed(ast.Expr(method(loaded, "update", args, node, line=node.lineno)), node)


def _is_plain(value: ast.expr) -> bool:
    """True if evaluating an expression runs no code: a number, maybe with a sign, or a name."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant):
        value = value.operand
    return isinstance(value, ast.Constant | ast.Name)


def rewrite_annotated(rewriter: NodeRewriter, node: ast.AnnAssign) -> ast.stmt:
    """``target: annotation = value``; without a value, only parts of the target are evaluated."""
    annotation = node.annotation
    if not rewriter.scopes.in_class:  # never evaluated in a function
        annotation = constant(None, annotation)
    elif not rewriter.annotations_are_text:
        annotation = rewriter.expression(annotation)
    target: ast.Name | ast.Attribute | ast.Subscript = node.target
    value = node.value and rewriter.expression(node.value)
    stored: ast.expr = target
    if value:
        stored = store_target(rewriter, target)
    elif isinstance(target, ast.Attribute):
        obj = rewriter.expression(target.value)
        stored = placed(ast.Attribute(obj, target.attr, ast.Store()), target)
    elif isinstance(target, ast.Subscript):
        parts = _object_and_key(rewriter, target)
        stored = placed(ast.Subscript(*parts, ast.Store()), target)
    assert isinstance(stored, ast.Name | ast.Attribute | ast.Subscript), "one target"
    return placed(ast.AnnAssign(stored, annotation, value, node.simple), node)


def rewrite_deletion(rewriter: NodeRewriter, node: ast.Delete) -> list[ast.stmt]:
    """``del a, b[0], c.d``: one statement for each target, from left to right."""
    statements: list[ast.stmt] = []
    for target in _flat(node.targets):
        match target:
            case ast.Subscript():
                call = hook("delitem", _object_and_key(rewriter, target), target)
            case ast.Attribute():
                args = _object_and_key(rewriter, target)
                call = hook("delattr_", args, target, attribute=target)
            case _:
                statements.append(placed(ast.Delete([target]), node))
                continue
        statements.append(placed(ast.Expr(call), node))
    return statements or [placed(ast.Pass(), node)]


def _flat(targets: list[ast.expr]) -> Iterator[ast.expr]:
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            yield from _flat(target.elts)
        else:
            yield target


STORES: Mapping[type[ast.AST], Handler] = {
    ast.Assign: rewrite_assignment,
    ast.AugAssign: rewrite_augmented,
    ast.AnnAssign: rewrite_annotated,
    ast.Delete: rewrite_deletion,
}
