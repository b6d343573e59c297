"""``arguments`` blocks: what a function says about its inputs."""

from __future__ import annotations

import re

from matlab_frontend.nodes import ArgumentDeclaration, ArgumentsBlock, Expression
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.parser.expressions import arguments, expression
from matlab_frontend.pattern import pattern
from matlab_frontend.source import Span
from matlab_frontend.tokens import NAME

_OPENING = pattern(r"arguments[ \t]*(?:\(([\w, \t]*)\))?[ \t]*(?=[\n%]|\Z)", re.ASCII)


def opens_arguments_block(cursor: Cursor) -> bool:
    """True if the next statement is an ``arguments`` block, where one may stand."""
    return _OPENING.match(cursor.source.text, cursor.skip_to_statement()) is not None


def arguments_block(cursor: Cursor) -> ArgumentsBlock:
    """Read a block that ``opens_arguments_block`` has found."""
    start = cursor.skip_to_statement()
    found = _OPENING.match(cursor.source.text, start)
    assert found is not None, "the block was found before it is read"
    attributes = tuple((found.group(1) or "").replace(",", " ").split())
    cursor.last_end = found.end()
    declarations: list[ArgumentDeclaration] = []
    while True:
        cursor.read_statement(cursor.skip_to_statement())
        if cursor.token.kind == "end":
            break
        if cursor.token.kind != NAME:
            message = "the 'arguments' block is not closed: expected a declaration or 'end'"
            cursor.fail_unclosed(message, Span(start, start + len("arguments")))
        declarations.append(declaration(cursor))
    return ArgumentsBlock(Span(start, cursor.advance().end), attributes, tuple(declarations))


def declaration(cursor: Cursor) -> ArgumentDeclaration:
    """Read ``name (dimensions) class {validators} = default``."""
    start = cursor.token.start
    name = _dotted_name(cursor)
    dimensions: tuple[Expression, ...] = ()
    validators: tuple[Expression, ...] = ()
    class_name = default = None
    if cursor.token.kind == "(":
        dimensions = arguments(cursor, ")")
    if cursor.token.kind == NAME:
        class_name = _dotted_name(cursor)
    if cursor.token.kind == "{":
        validators = arguments(cursor, "}")
    if cursor.token.kind == "=":
        cursor.advance()
        default = expression(cursor)
    if not cursor.at_separator():
        cursor.fail(f"expected the end of the declaration, found {cursor.token.describe()}")
    span = Span(start, cursor.last_end)
    return ArgumentDeclaration(span, name, dimensions, class_name, validators, default)


def _dotted_name(cursor: Cursor) -> str:
    name = cursor.expect(NAME, "in a declaration").text
    while cursor.token.kind == ".":
        cursor.advance()
        name += "." + cursor.expect(NAME, "after '.'").text
    return name
