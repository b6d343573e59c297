"""Expressions, by the binding power of their operators (Pratt's method)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from matlab_frontend.nodes import (
    AnonymousFunction,
    Binary,
    CellArray,
    CellIndex,
    Colon,
    DynamicField,
    End,
    Expression,
    Field,
    FunctionHandle,
    Index,
    Matrix,
    Name,
    NamedArgument,
    Parenthesized,
    Postfix,
    Range,
    ShortCircuit,
    Unary,
)
from matlab_frontend.parser import literals
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.parser.parameters import parameters
from matlab_frontend.source import Span
from matlab_frontend.tokens import CHAR, INDEX_END, NAME, NEWLINE, NUMBER, STRING

_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("&",),
    ("<", "<=", ">", ">=", "==", "~="),
    (":",),
    ("+", "-"),
    ("*", "/", "\\", ".*", "./", ".\\"),
    ("sign",),  # of an operand: -x, ~x
    ("^", ".^", "'", ".'"),
)
"""Operators from the weakest to the strongest; all are grouped from the left."""

_POWERS = {symbol: power for power, level in enumerate(_LEVELS, 1) for symbol in level}
_SIGN = _POWERS["sign"]
_STRONGEST = _POWERS["^"]
_SIGNS = frozenset("+-~")
_TRANSPOSES = frozenset({"'", ".'"})
_SHORT_CIRCUITS = frozenset({"&&", "||"})
_AFTER_COLON = frozenset({",", ")", "}"})


def expression(cursor: Cursor, minimum: int = 0) -> Expression:
    """Read an expression whose operators bind stronger than ``minimum``.

    Raises:
        MatlabSyntaxError: The text is no expression; it says what was expected.

    """
    cursor.enter()
    left = _operand(cursor)
    while (power := _POWERS.get(cursor.token.kind, 0)) > minimum:
        symbol = cursor.advance().kind
        if power == _STRONGEST:
            left = _strongest(cursor, symbol, left)
        elif symbol == ":":
            left = _range(cursor, left, power)
        else:
            right = expression(cursor, power)
            node = ShortCircuit if symbol in _SHORT_CIRCUITS else Binary
            left = node(Span(left.span.start, cursor.last_end), symbol, left, right)
    cursor.depth -= 1
    return left


def reference(cursor: Cursor) -> Expression:
    """Read a name and what is indexed of it: ``a(1).b{2}.(c)``."""
    token = cursor.advance()
    return _indexed(cursor, Name(token.span, token.text))


def arguments(cursor: Cursor, closing: str) -> tuple[Expression, ...]:
    """Read arguments and the bracket that closes them; the opening one is the next token."""
    cursor.advance()
    cursor.indices += 1
    found: list[Expression] = []
    while cursor.token.kind != closing:
        if found:
            cursor.expect(",", f"or '{closing}' after an argument")
        found.append(_argument(cursor, closing))
    cursor.advance()
    cursor.indices -= 1
    return tuple(found)


def _operand(cursor: Cursor) -> Expression:
    kind = cursor.token.kind
    if kind == NAME:
        return reference(cursor)
    read = _OPERANDS.get(kind)
    if read is None:
        _fail_without_operand(cursor)
    operand = read(cursor)
    if cursor.token.kind in {"(", "{", "."} and kind in {"(", "[", "{"}:
        if not cursor.octave:
            cursor.fail("only a name can be indexed: assign the value to a variable first")
        return _indexed(cursor, operand)
    return operand


def _strongest(cursor: Cursor, symbol: str, left: Expression) -> Expression:
    if symbol in _TRANSPOSES:
        return Postfix(Span(left.span.start, cursor.last_end), symbol, left)
    right = _exponent(cursor)
    return Binary(Span(left.span.start, cursor.last_end), symbol, left, right)


def _exponent(cursor: Cursor) -> Expression:
    """An operand with signs, but no power or transpose: ``2^-1^2`` is ``(2^(-1))^2``."""
    if cursor.token.kind not in _SIGNS:
        return _operand(cursor)
    cursor.enter()
    sign = cursor.advance()
    operand = _exponent(cursor)
    cursor.depth -= 1
    return Unary(Span(sign.start, cursor.last_end), sign.kind, operand)


def _range(cursor: Cursor, start: Expression, power: int) -> Range:
    step = None
    stop = expression(cursor, power)
    if cursor.token.kind == ":":
        cursor.advance()
        step, stop = stop, expression(cursor, power)
    return Range(Span(start.span.start, cursor.last_end), start, step, stop)


def _indexed(cursor: Cursor, target: Expression) -> Expression:
    start = target.span.start
    while True:
        kind = cursor.token.kind
        if kind == "(":
            found = literals.exact_arguments(target, arguments(cursor, ")"))
            target = Index(Span(start, cursor.last_end), target, found)
        elif kind == "{":
            found = arguments(cursor, "}")
            target = CellIndex(Span(start, cursor.last_end), target, found)
        elif kind == ".":
            target = _field(cursor, target)
        elif kind == "@" and cursor.token.start == cursor.last_end and isinstance(target, Name):
            target = _of_superclass(cursor, target)
        else:
            return target


def _of_superclass(cursor: Cursor, name: Name) -> Name:
    """``name@superclass``, which is called as a function of that name."""
    cursor.advance()
    parent = _dotted(cursor, "of a superclass after '@'")
    return Name(Span(name.span.start, cursor.last_end), f"{name.name}@{parent}")


def _dotted(cursor: Cursor, purpose: str) -> str:
    name = cursor.expect(NAME, purpose).text
    while cursor.token.kind == ".":
        cursor.advance()
        name += "." + cursor.expect(NAME, "of what is in a package").text
    return name


def _field(cursor: Cursor, target: Expression) -> Field | DynamicField:
    cursor.advance()
    if cursor.token.kind != "(":
        name = cursor.expect(NAME, "of a field")
        return Field(Span(target.span.start, name.end), target, name.text)
    cursor.advance()
    computed = expression(cursor)
    cursor.expect(")", "after the computed name of a field")
    return DynamicField(Span(target.span.start, cursor.last_end), target, computed)


def _argument(cursor: Cursor, closing: str) -> Expression:
    token = cursor.token
    following = cursor.peek() if token.kind in {":", NAME} else ""
    if token.kind == ":" and following in _AFTER_COLON:
        cursor.advance()
        return Colon(token.span)
    if token.kind == NAME and following == "=" and closing == ")":
        cursor.advance()
        cursor.advance()
        value = expression(cursor)
        return NamedArgument(Span(token.start, cursor.last_end), token.text, value)
    return expression(cursor)


def _parenthesized(cursor: Cursor) -> Parenthesized:
    opening = cursor.advance()
    inner = expression(cursor)
    cursor.expect(")", "after the expression in parentheses")
    return Parenthesized(Span(opening.start, cursor.last_end), inner)


def _matrix(cursor: Cursor) -> Matrix:
    opening = cursor.advance()
    rows = _rows(cursor, "]")
    return Matrix(Span(opening.start, cursor.last_end), rows)


def _cell_array(cursor: Cursor) -> CellArray:
    opening = cursor.advance()
    rows = _rows(cursor, "}")
    return CellArray(Span(opening.start, cursor.last_end), rows)


def _rows(cursor: Cursor, closing: str) -> tuple[tuple[Expression, ...], ...]:
    rows: list[tuple[Expression, ...]] = []
    row: list[Expression] = []
    while True:
        kind = cursor.token.kind
        if kind in {";", NEWLINE, closing}:
            cursor.advance()
            if row:
                rows.append(tuple(row))
                row = []
            if kind == closing:
                return tuple(rows)
            continue
        row.append(expression(cursor))
        if cursor.token.kind == ",":
            cursor.advance()
        elif cursor.token.kind not in {";", NEWLINE, closing}:
            found = cursor.token.describe()
            cursor.fail(f"expected ',', ';' or '{closing}' after an element, found {found}")


def _signed(cursor: Cursor) -> Unary:
    sign = cursor.advance()
    operand = expression(cursor, _SIGN)
    return Unary(Span(sign.start, cursor.last_end), sign.kind, operand)


def _handle(cursor: Cursor) -> FunctionHandle | AnonymousFunction:
    at = cursor.advance()
    if cursor.token.kind == "(":
        names = parameters(cursor)
        body = expression(cursor)
        return AnonymousFunction(Span(at.start, cursor.last_end), names, body)
    name = _dotted(cursor, "of a function, or '(', after '@'")
    return FunctionHandle(Span(at.start, cursor.last_end), name)


def _index_end(cursor: Cursor) -> End:
    if not cursor.indices:
        cursor.fail("'end' has a value only among the arguments of an index")
    return End(cursor.advance().span)


def _meta_class(cursor: Cursor) -> NoReturn:
    cursor.fail("metaclasses ('?name') are not supported yet")


_OPERANDS: dict[str, Callable[[Cursor], Expression]] = {
    NUMBER: literals.number,
    CHAR: literals.char_literal,
    STRING: literals.string_literal,
    INDEX_END: _index_end,
    "(": _parenthesized,
    "[": _matrix,
    "{": _cell_array,
    "@": _handle,
    "+": _signed,
    "-": _signed,
    "~": _signed,
    "?": _meta_class,
}


def _fail_without_operand(cursor: Cursor) -> NoReturn:
    token = cursor.token
    before = cursor.previous
    if token.kind == "=" and before.end == token.start and before.kind in set("+-*/^&|!"):
        written = before.kind + token.kind
        instead = "'~='" if before.kind == "!" else f"'x = x {before.kind} ...'"
        cursor.fail(f"{written!r} is no operator: write {instead}", Span(before.start, token.end))
    if token.kind == "!":
        cursor.fail("'!' is no operator: write '~'")
    cursor.fail(f"expected a value, found {token.describe()}")
