"""``classdef``: blocks of properties, methods and enumeration members."""

from __future__ import annotations

import re
from collections.abc import Callable

from matlab_frontend.nodes import ArgumentDeclaration, Expression, Function
from matlab_frontend.nodes.classes import (
    Attributes,
    ClassBlock,
    ClassDefinition,
    EnumerationMember,
)
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.parser.declarations import declaration
from matlab_frontend.parser.expressions import arguments
from matlab_frontend.pattern import pattern
from matlab_frontend.source import Span
from matlab_frontend.tokens import NAME, SEPARATORS

_BLOCK = pattern(
    r"(properties|methods|events|enumeration)[ \t]*(?:\(((?:[^()\n]|\([^()\n]*\))*)\))?"
    r"[ \t]*(?=[\n%,;]|\Z)",
    re.ASCII,
)
_HEAD = pattern(
    r"classdef[ \t]*(?:\(([^()\n]*)\))?[ \t]*([A-Za-z]\w*)[ \t]*"
    r"(?:<[ \t]*([\w.]+(?:[ \t]*&[ \t]*[\w.]+)*))?[ \t]*(?=[\n%,;]|\Z)",
    re.ASCII,
)
ReadFunction = Callable[[Cursor], Function]


def class_definition(cursor: Cursor, read_function: ReadFunction) -> ClassDefinition:
    """Read a class; ``classdef`` is the next token."""
    opening = cursor.token
    found = _HEAD.match(cursor.source.text, opening.start)
    if found is None:
        cursor.fail("expected 'classdef Name', 'classdef (attributes) Name < Superclass'")
    attributes, name, supers = found.groups()
    cursor.last_end = found.end()
    blocks: list[ClassBlock] = []
    while True:
        start = cursor.skip_to_statement()
        block = _BLOCK.match(cursor.source.text, start)
        if block is None:
            break
        cursor.last_end = block.end()
        blocks.append(_block(cursor, block, start, read_function))
    cursor.read_statement(start)
    if cursor.token.kind != "end":
        message = "'classdef' is not closed: expected a block or 'end'"
        cursor.fail(message, opening.span)
    span = Span(opening.start, cursor.advance().end)
    parents = tuple(part.strip() for part in supers.split("&")) if supers else ()
    return ClassDefinition(span, name, _attributes(attributes), parents, tuple(blocks))


def _attributes(shown: str | None) -> Attributes:
    """``Access = private, Static`` as names and values; ``true`` where none is written."""
    made: list[tuple[str, str]] = []
    for part in (shown or "").split(","):
        name, sign, value = part.partition("=")
        if name.strip().startswith("~"):
            made.append((name.strip()[1:], "false"))
        elif name.strip():
            made.append((name.strip(), value.strip().strip("'\"") if sign else "true"))
    return tuple(made)


def _block(
    cursor: Cursor, found: re.Match[str], start: int, read_function: ReadFunction
) -> ClassBlock:
    kind = found.group(1)
    properties: list[ArgumentDeclaration] = []
    functions: list[Function] = []
    members: list[EnumerationMember] = []
    signatures: list[str] = []
    while True:
        cursor.read_statement(cursor.skip_to_statement())
        if cursor.token.kind == "end":
            break
        if kind == "methods" and cursor.token.kind == "function":
            functions.append(read_function(cursor))
        elif cursor.token.kind not in {NAME, "["}:
            message = f"the '{kind}' block is not closed: expected 'end'"
            cursor.fail(message, Span(start, start + len(kind)))
        elif kind == "properties":
            properties.append(declaration(cursor))
        elif kind == "enumeration":
            members.append(_member(cursor))
        else:  # a signature of a method, or the name of an event
            signatures.append(_signature(cursor))
    span = Span(start, cursor.advance().end)
    attributes = _attributes(found.group(2))
    return ClassBlock(
        span,
        kind,
        attributes,
        tuple(properties),
        tuple(functions),
        tuple(members),
        tuple(signatures),
    )


def _signature(cursor: Cursor) -> str:
    """The name of a method in ``result = name(obj)``, which is read to its end."""
    name = ""
    while not cursor.at_separator():
        if cursor.token.kind == NAME and cursor.peek() in {"(", *SEPARATORS}:
            name = name or cursor.token.text
        cursor.advance()
    return name


def _member(cursor: Cursor) -> EnumerationMember:
    token = cursor.advance()
    given: tuple[Expression, ...] = ()
    if cursor.token.kind == "(":
        given = arguments(cursor, ")")
    return EnumerationMember(Span(token.start, cursor.last_end), token.text, given)
