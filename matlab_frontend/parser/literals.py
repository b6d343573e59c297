"""Numbers and texts as they are written."""

from __future__ import annotations

from matlab_frontend.nodes import (
    CharLiteral,
    Expression,
    IntegerLiteral,
    Name,
    Number,
    StringLiteral,
    Unary,
)
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.source import Span

_WIDTHS = (8, 16, 32, 64)
_EXPONENTS = str.maketrans("dD", "ee")


def number(cursor: Cursor) -> Number | IntegerLiteral:
    """``1``, ``2.5e3``, ``1d3``, ``3i``, ``0x1F``, ``0b101s16``."""
    token = cursor.advance()
    text = token.text
    if text.isdigit():  # most numbers
        exact = int(text) if len(text) > 15 else None
        return Number(Span(token.start, token.end), float(text), imaginary=False, digits=exact)
    if text[:2] in {"0x", "0X", "0b", "0B"}:
        return _integer(cursor, text)
    imaginary = text[-1] in "ij"
    digits = text[:-1] if imaginary else text
    return Number(token.span, float(digits.translate(_EXPONENTS)), imaginary)


def exact_arguments(
    target: Expression, arguments: tuple[Expression, ...]
) -> tuple[Expression, ...]:
    """Arguments of a call; of ``int64(81997179153022975)`` the number as it is written.

    As a double it would lose its last digits, and MATLAB keeps them.
    """
    if not isinstance(target, Name) or target.name not in _LONG or len(arguments) != 1:
        return arguments
    (given,) = arguments
    sign, literal = 1, given
    if isinstance(given, Unary) and given.operator in ("+", "-"):
        sign, literal = (-1 if given.operator == "-" else 1), given.operand
    if not isinstance(literal, Number) or literal.digits is None:
        return arguments
    least, most = _LONG[target.name]
    value = min(max(sign * literal.digits, least), most)
    return (IntegerLiteral(given.span, value, target.name),)


_LONG = {"int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1)}
"""The classes with numbers that no double is, and their ranges."""


def _integer(cursor: Cursor, text: str) -> IntegerLiteral:
    """The smallest unsigned class that holds the value, or the class that the suffix names.

    The digits of a signed number are its bits: ``0xFFs8`` is -1.
    """
    span = cursor.previous.span
    digits, sign, suffix = text[2:].partition("s") if "s" in text else text[2:].partition("u")
    value = int(digits, 16 if text[1] in "xX" else 2)
    needed = next((width for width in _WIDTHS if value < 2**width), None)
    width = int(suffix) if suffix else needed
    if needed is None or width is None or needed > width:
        cursor.fail(f"{text} does not fit into {width or 64} bits", span)
    if sign == "s":
        value -= 2**width if value >= 2 ** (width - 1) else 0
        return IntegerLiteral(span, value, f"int{width}")
    return IntegerLiteral(span, value, f"uint{width}")


def char_literal(cursor: Cursor) -> CharLiteral:
    token = cursor.advance()
    return CharLiteral(token.span, token.text[1:-1].replace("''", "'"))


def string_literal(cursor: Cursor) -> StringLiteral:
    token = cursor.advance()
    return StringLiteral(token.span, token.text[1:-1].replace('""', '"'))
