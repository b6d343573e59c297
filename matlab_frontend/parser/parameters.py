"""Names in the head of a function."""

from __future__ import annotations

from matlab_frontend.nodes import IGNORED
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.tokens import NAME


def parameters(cursor: Cursor) -> tuple[str, ...]:
    """``(x, ~, varargin)``: what a function or an anonymous function takes."""
    cursor.expect("(", "before the parameters")
    names: list[str] = []
    while cursor.token.kind != ")":
        if names:
            cursor.expect(",", "between parameters")
        if cursor.token.kind == "~":
            cursor.advance()
            names.append(IGNORED)
        else:
            names.append(_new_name(cursor, names))
    cursor.advance()
    return tuple(names)


def outputs(cursor: Cursor) -> tuple[str, ...]:
    """``[y, varargout]``: what a function gives back."""
    cursor.expect("[", "before the outputs")
    names: list[str] = []
    while cursor.token.kind != "]":
        if names:
            cursor.expect(",", "between outputs")
        names.append(_new_name(cursor, names))
    cursor.advance()
    return tuple(names)


def _new_name(cursor: Cursor, names: list[str]) -> str:
    token = cursor.token
    name = cursor.expect(NAME, "of a parameter").text
    if name in names:
        cursor.fail(f"'{name}' is named twice", token.span)
    return name
