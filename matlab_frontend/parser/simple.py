"""Statements that hold no other ones."""

from __future__ import annotations

from typing import NoReturn

from matlab_frontend.commands import CommandText
from matlab_frontend.nodes import (
    Assignment,
    Binary,
    Break,
    CellIndex,
    CharLiteral,
    Command,
    Continue,
    Deletion,
    DynamicField,
    Expression,
    ExpressionStatement,
    Field,
    Global,
    Index,
    Matrix,
    Name,
    Number,
    Persistent,
    Placeholder,
    Reference,
    Return,
    Target,
)
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.parser.expressions import expression, reference
from matlab_frontend.source import Span
from matlab_frontend.tokens import CONTINUED, FINISH, KEYWORDS, NAME

_UPDATES = {f"{symbol}=": symbol for symbol in "+-*/^|&"}
_STEPS = {"++": "+", "--": "-"}


def command(cursor: Cursor, text: CommandText) -> Command:
    """A statement in command syntax, which was recognized in the text."""
    cursor.last_end = text.span.end
    offset = cursor.skip_blanks()
    following = cursor.source.text[offset : offset + 1]
    cursor.expects_more |= not following and text.words[-1].endswith(CONTINUED)
    if following in {"'", '"'}:
        cursor.fail(f"{following} is not closed on its line", Span(offset, offset + 1))
    return Command(text.span, text.name, text.words, suppressed=following == ";")


def expression_or_assignment(
    cursor: Cursor,
) -> ExpressionStatement | Assignment | Deletion:
    """``x``, ``x = 1``, ``x(2) = []``, ``[a, ~] = f(x)``; Octave's ``x += 1`` and ``x++``."""
    start = cursor.token.start
    if cursor.token.kind == "!" or (cursor.octave and cursor.token.text == "!"):
        cursor.fail("commands of the operating system ('!') are not supported")
    if cursor.token.kind == "[" and cursor.kind_after_brackets() == "=":
        targets = _targets(cursor)
        cursor.expect("=", "after the targets")
        value = expression(cursor)
        return _assigned(cursor, start, targets, value, bracketed=True)
    left = expression(cursor)
    kind = cursor.token.kind
    if kind == "=":
        target = as_reference(cursor, left)
        cursor.advance()
        return _assigned(cursor, start, (target,), expression(cursor), bracketed=False)
    if kind in _UPDATES or kind in _STEPS:
        return _updated(cursor, as_reference(cursor, left))
    span = Span(start, cursor.last_end)
    return ExpressionStatement(span, left, end_of_statement(cursor))


def as_reference(cursor: Cursor, node: Expression) -> Reference:
    """The node, if a value can be assigned to it; its variable begins no command from now on."""
    root = node
    while isinstance(root, Index | CellIndex | Field | DynamicField):
        root = root.target
    if not isinstance(root, Name):
        cursor.fail("cannot assign to this: expected a variable or a part of one", node.span)
    cursor.variables.add(root.name)
    assert isinstance(node, Name | Index | CellIndex | Field | DynamicField), "its root is a name"
    return node


def declaration(cursor: Cursor) -> Global | Persistent:
    """``global a b`` or ``persistent a b``."""
    keyword = cursor.advance()
    names: list[str] = []
    while not cursor.at_separator():
        names.append(cursor.expect(NAME, f"of a variable after '{keyword.text}'").text)
    if not names:
        cursor.fail(f"expected the name of a variable after '{keyword.text}'")
    cursor.variables.update(names)
    node = Global if keyword.kind == "global" else Persistent
    return node(Span(keyword.start, cursor.last_end), tuple(names))


def jump(cursor: Cursor) -> Return | Break | Continue:
    """``return``, ``break`` or ``continue``."""
    keyword = cursor.advance()
    if keyword.kind == "return":
        return Return(keyword.span)
    if not cursor.loops:
        cursor.fail(f"'{keyword.text}' stands in no loop", keyword.span)
    return Break(keyword.span) if keyword.kind == "break" else Continue(keyword.span)


def end_of_statement(cursor: Cursor) -> bool:
    """Check that a statement ends here; tell whether a semicolon says to display nothing."""
    kind = cursor.token.kind
    if kind == ";":
        return True
    if not cursor.at_separator():
        _fail_within_statement(cursor)
    return False


def _targets(cursor: Cursor) -> tuple[Target, ...]:
    cursor.advance()
    targets: list[Target] = []
    while cursor.token.kind != "]":
        token = cursor.token
        if token.kind == "~":
            cursor.advance()
            targets.append(Placeholder(token.span))
        elif token.kind == NAME:
            targets.append(as_reference(cursor, reference(cursor)))
        else:
            cursor.fail(f"expected a variable or '~' as a target, found {token.describe()}")
        if cursor.token.kind == ",":
            cursor.advance()
    if not targets:
        cursor.fail("expected a variable or '~' between '[' and ']' before '='")
    cursor.advance()
    return tuple(targets)


def _assigned(
    cursor: Cursor,
    start: int,
    targets: tuple[Target, ...],
    value: Expression,
    *,
    bracketed: bool,
) -> Assignment | Deletion:
    span = Span(start, cursor.last_end)
    if cursor.token.kind == "=":
        cursor.fail("an assignment has no value; to compare, write '=='")
    suppressed = end_of_statement(cursor)
    if not bracketed and isinstance(targets[0], Index) and _deletes(value):
        return Deletion(span, targets[0], suppressed)
    return Assignment(span, targets, value, suppressed, bracketed)


def _deletes(value: Expression) -> bool:
    """True if assigning a value to elements removes them: ``[]``, or ``''``."""
    if isinstance(value, Matrix):
        return not value.rows
    return isinstance(value, CharLiteral) and not value.text


def _updated(cursor: Cursor, target: Reference) -> Assignment:
    operator = cursor.advance()
    if operator.kind in _UPDATES:
        symbol, operand = _UPDATES[operator.kind], expression(cursor)
    else:
        symbol, operand = _STEPS[operator.kind], Number(operator.span, 1.0, imaginary=False)
    span = Span(target.span.start, cursor.last_end)
    value = Binary(span, symbol, target, operand)
    return Assignment(span, (target,), value, end_of_statement(cursor), bracketed=False)


def _fail_within_statement(cursor: Cursor) -> NoReturn:
    token = cursor.token
    if cursor.source.text.startswith("!=", token.start):
        cursor.fail("'!=' is no operator: write '~='", Span(token.start, token.start + 2))
    if token.kind in KEYWORDS:
        cursor.fail(f"expected ',', ';' or a new line before '{token.text}'")
    found = "" if token.kind == FINISH else f", found {token.describe()}"
    cursor.fail(f"expected an operator or the end of the statement{found}")
