"""An expression as ``func2str`` and the display of a function handle write it."""

from __future__ import annotations

from matlab_frontend.lexer import statement_tokens
from matlab_frontend.source import Source, Span
from matlab_frontend.tokens import NEWLINE, NUMBER, Token


def compact(source: Source, span: Span, *, octave: bool = False) -> str:
    """The text of an expression without blanks and comments; its literals as they are written.

    Blanks and line ends that separate elements become commas and semicolons:
    ``@(x) [x -1]`` is ``@(x)[x,-1]``.
    """
    # In parentheses a line end is nothing, as it was where the expression stood.
    enclosed = Source(f"({source.excerpt(span)}\n)", source.name)
    written = [""]
    for token in statement_tokens(enclosed, 0, octave=octave)[1:-2]:
        if token.kind in {NEWLINE, ";"}:
            if written[-1] == ",":
                written.pop()
            if written[-1] not in {";", "[", "{"}:
                written.append(";")
            continue
        if token.kind in {"]", "}"} and written[-1] == ";":
            written.pop()
        written.append(_text(token))
    return "".join(written)


def _text(token: Token) -> str:
    if token.kind == ",":
        return ","  # also for a blank
    # The dot of `1. / x` would otherwise become one of the operator's.
    return token.text.removesuffix(".") if token.kind == NUMBER else token.text
