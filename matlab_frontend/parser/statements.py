"""Statements and blocks of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from matlab_frontend.commands import command_at
from matlab_frontend.nodes import (
    Block,
    Branch,
    Case,
    DoUntil,
    Expression,
    For,
    If,
    Statement,
    Switch,
    Try,
    UnwindProtect,
    While,
)
from matlab_frontend.parser import simple
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.parser.expressions import expression, reference
from matlab_frontend.source import Span
from matlab_frontend.tokens import FINISH, NAME, Token

_ENDS_BLOCK = frozenset(
    {
        *("end", "elseif", "else", "case", "otherwise", "catch", "function", FINISH),
        *("until", "unwind_protect_cleanup"),
    }
)
_CLOSING = {"do": "until"}


def next_statement(cursor: Cursor) -> Statement | None:
    """Read the next statement; None before a keyword that ends a block, and at the end.

    Raises:
        MatlabSyntaxError: No statement begins here, or it is not complete.

    """
    offset = cursor.skip_to_statement()
    found = command_at(cursor.source.text, offset, cursor.variables, octave=cursor.octave)
    if found is not None:
        return simple.command(cursor, found)
    cursor.read_statement(offset)
    kind = cursor.token.kind
    read = _STATEMENTS.get(kind)
    if read is not None:
        return read(cursor)
    if kind in _ENDS_BLOCK:
        return None
    return simple.expression_or_assignment(cursor)


def block(cursor: Cursor, opening: Token, *closing: str) -> Block:
    """Read the statements up to one of the closing keywords, which is then the next token."""
    cursor.enter()
    statements: list[Statement] = []
    while (statement := next_statement(cursor)) is not None:
        statements.append(statement)
    if cursor.token.kind not in closing:
        _fail_unclosed(cursor, opening)
    cursor.depth -= 1
    return tuple(statements)


def _if(cursor: Cursor) -> If:
    opening = cursor.token
    branches: list[Branch] = []
    while cursor.token.kind in {"if", "elseif"}:
        start = cursor.advance().start
        condition = _condition(cursor)
        body = block(cursor, opening, "elseif", "else", "end")
        branches.append(Branch(Span(start, cursor.last_end), condition, body))
    otherwise: Block = ()
    if cursor.token.kind == "else":
        cursor.advance()
        otherwise = block(cursor, opening, "end")
    return If(_closed(cursor, opening), tuple(branches), otherwise)


def _while(cursor: Cursor) -> While:
    opening = cursor.advance()
    condition = _condition(cursor)
    body = _loop_body(cursor, opening)
    return While(_closed(cursor, opening), condition, body)


def _do_until(cursor: Cursor) -> DoUntil:
    opening = cursor.advance()
    body = _loop_body(cursor, opening)
    cursor.advance()
    condition = _condition(cursor)
    return DoUntil(Span(opening.start, cursor.last_end), body, condition)


def _for(cursor: Cursor) -> For:
    """``for i = v``, ``for (i = v)``, ``parfor (i = v, workers)``."""
    opening = cursor.advance()
    in_parentheses = cursor.token.kind == "("
    if in_parentheses:
        cursor.advance()
    if cursor.token.kind != NAME:
        found = cursor.token.describe()
        cursor.fail(f"expected a variable after '{opening.text}', found {found}")
    target = simple.as_reference(cursor, reference(cursor))
    cursor.expect("=", f"after the variable of '{opening.text}'")
    columns = expression(cursor)
    if in_parentheses:
        if opening.kind == "parfor" and cursor.token.kind == ",":
            cursor.advance()
            expression(cursor)
        cursor.expect(")", f"to close '(' after '{opening.text}'")
    body = _loop_body(cursor, opening)
    span = _closed(cursor, opening)
    return For(span, target, columns, body, parallel=opening.kind == "parfor")


def _switch(cursor: Cursor) -> Switch:
    opening = cursor.advance()
    subject = expression(cursor)
    cases: list[Case] = []
    otherwise: Block = ()
    if next_statement(cursor) is not None:
        cursor.fail("expected 'case', 'otherwise' or 'end' after 'switch'", cursor.previous.span)
    while cursor.token.kind == "case":
        start = cursor.advance().start
        value = expression(cursor)
        body = block(cursor, opening, "case", "otherwise", "end")
        cases.append(Case(Span(start, cursor.last_end), value, body))
    if cursor.token.kind == "otherwise":
        cursor.advance()
        otherwise = block(cursor, opening, "end")
    if cursor.token.kind != "end":
        _fail_unclosed(cursor, opening)
    return Switch(_closed(cursor, opening), subject, tuple(cases), otherwise)


def _try(cursor: Cursor) -> Try:
    """A name on the line of ``catch``, and nothing else, is the error's variable."""
    opening = cursor.advance()
    body = block(cursor, opening, "catch", "end")
    error = None
    handler: Block = ()
    if cursor.token.kind == "catch":
        cursor.advance()
        if cursor.token.kind == NAME and cursor.peek_is_separator():
            error = cursor.advance().text
            cursor.variables.add(error)
        handler = block(cursor, opening, "end")
    return Try(_closed(cursor, opening), body, error, handler)


def _unwind_protect(cursor: Cursor) -> UnwindProtect:
    opening = cursor.advance()
    body = block(cursor, opening, "unwind_protect_cleanup")
    cursor.advance()
    cleanup = block(cursor, opening, "end")
    return UnwindProtect(_closed(cursor, opening), body, cleanup)


def _condition(cursor: Cursor) -> Expression:
    condition = expression(cursor)
    if cursor.token.kind == "=":
        cursor.fail("a condition assigns nothing: to compare, write '=='")
    return condition


def _loop_body(cursor: Cursor, opening: Token) -> Block:
    cursor.loops += 1
    body = block(cursor, opening, _CLOSING.get(opening.kind, "end"))
    cursor.loops -= 1
    return body


def _closed(cursor: Cursor, opening: Token) -> Span:
    """Read the ``end`` of a block; return the span of the whole."""
    return Span(opening.start, cursor.advance().end)


def _fail_unclosed(cursor: Cursor, opening: Token) -> NoReturn:
    found = cursor.token
    line = cursor.source.position(found.start).line
    where = "the end of the text" if found.kind == FINISH else f"'{found.text}' of line {line}"
    closing = _CLOSING.get(opening.kind, "end")
    message = f"'{opening.text}' is not closed: expected '{closing}' before {where}"
    cursor.fail_unclosed(message, opening.span)


def _fail_unsupported(cursor: Cursor) -> NoReturn:
    if cursor.token.kind == "classdef":
        cursor.fail("a class ('classdef') is defined at the start of a file of its own")
    cursor.fail("blocks of parallel workers ('spmd') are not supported yet")


_STATEMENTS: dict[str, Callable[[Cursor], Statement]] = {
    "if": _if,
    "for": _for,
    "parfor": _for,
    "while": _while,
    "switch": _switch,
    "try": _try,
    "global": simple.declaration,
    "persistent": simple.declaration,
    "return": simple.jump,
    "break": simple.jump,
    "continue": simple.jump,
    "do": _do_until,
    "unwind_protect": _unwind_protect,
    "classdef": _fail_unsupported,
    "spmd": _fail_unsupported,
}
