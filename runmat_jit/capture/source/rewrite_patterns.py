"""Rewriting of ``match`` patterns, which may hold dotted names but no calls."""

import ast
from collections.abc import Mapping

from runmat_jit.capture.source.hook_calls import placed, runtime_attribute
from runmat_jit.capture.source.node_rewriter import Handler, NodeRewriter
from runmat_jit.capture.source.refusal import Refusal
from runmat_jit.capture.source.scopes import Scopes, Where

# A class whose one positional subpattern is the subject itself, not an attribute of it.
SELF_MATCHING = frozenset(
    {"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str"}
    | {"tuple"}
)


def rewrite_match(rewriter: NodeRewriter, node: ast.Match) -> ast.stmt:
    subject = rewriter.expression(node.subject)
    cases = []
    for case in node.cases:
        pattern = rewrite_pattern(case.pattern, rewriter.scopes)
        guard = case.guard and rewriter.expression(case.guard)
        cases.append(ast.match_case(pattern, guard, rewriter.block(case.body)))
    return placed(ast.Match(subject, cases), node)


def rewrite_pattern(pattern: ast.pattern, scopes: Scopes) -> ast.pattern:
    """The pattern with outside names read by hooks.

    Raises:
        Refusal: Matching would read an attribute, or compare by identity, without a hook.

    """
    match pattern:
        case ast.MatchValue(value=value):
            return placed(ast.MatchValue(_value(value, scopes)), pattern)
        case ast.MatchSingleton(value=value):
            if value is not None:  # `is True` would not see through a traced value
                raise Refusal("match-singleton", pattern.lineno)
        case ast.MatchSequence(patterns=patterns):
            return placed(ast.MatchSequence(_all(patterns, scopes)), pattern)
        case ast.MatchOr(patterns=patterns):
            return placed(ast.MatchOr(_all(patterns, scopes)), pattern)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            values = [_value(key, scopes) for key in keys]
            return placed(ast.MatchMapping(values, _all(patterns, scopes), rest), pattern)
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=keywords):
            itself = isinstance(cls, ast.Name) and cls.id in SELF_MATCHING and len(patterns) == 1
            if keywords or (patterns and not itself):
                raise Refusal("match-attribute", pattern.lineno)
            class_ = _dotted(cls, scopes, "" if patterns else "class ")
            return placed(ast.MatchClass(class_, _all(patterns, scopes), [], []), pattern)
        case ast.MatchAs(pattern=ast.pattern() as inner, name=name):
            return placed(ast.MatchAs(rewrite_pattern(inner, scopes), name), pattern)
        case ast.MatchAs() | ast.MatchStar():
            pass
        case _:
            raise Refusal("unknown-syntax", pattern.lineno)
    return pattern


def _all(patterns: list[ast.pattern], scopes: Scopes) -> list[ast.pattern]:
    return [rewrite_pattern(pattern, scopes) for pattern in patterns]


def _value(value: ast.expr, scopes: Scopes) -> ast.expr:
    return _dotted(value, scopes) if isinstance(value, ast.Attribute) else value


def _dotted(value: ast.expr, scopes: Scopes, use: str = "") -> ast.expr:
    """``Color.RED`` becomes ``__rt__.outside."glob Color.RED"``; ``use`` stands before it."""
    names: list[str] = []
    root = value
    while isinstance(root, ast.Attribute):
        names.insert(0, scopes.mangle(root.attr))
        root = root.value
    assert isinstance(root, ast.Name), "patterns hold dotted names only"
    where = scopes.where(root.id)
    if where in {Where.LOCAL, Where.UNSETTLED}:
        if not names:
            return value
        raise Refusal("match-attribute", value.lineno)
    names.insert(0, scopes.mangle(root.id))
    path = f"{use}{'glob' if where is Where.GLOBAL else 'free'} {'.'.join(names)}"
    outside = runtime_attribute("outside", value)
    return placed(ast.Attribute(outside, path, ast.Load()), value)


PATTERNS: Mapping[type[ast.AST], Handler] = {ast.Match: rewrite_match}
