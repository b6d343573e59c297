"""An expression as ``func2str`` and the display of a function handle write it."""

from __future__ import annotations

from matlab_frontend.lexer import statement_tokens
from matlab_frontend.source import Source, Span
from matlab_frontend.tokens import NEWLINE


def compact(source: Source, span: Span, *, octave: bool = False) -> str:
    """The text of an expression without blanks and comments; its literals as they are written.

    Blanks and line ends that separate elements become commas and semicolons:
    ``@(x) [x -1]`` is ``@(x)[x,-1]``.
    """
    # In parentheses a line end is nothing, as it was where the expression stood.
    enclosed = Source(f"({source.excerpt(span)}\n)", source.name)
    tokens = statement_tokens(enclosed, 0, octave=octave)[1:-2]
    return "".join(_written(token.kind, token.text) for token in tokens)


def _written(kind: str, text: str) -> str:
    return {NEWLINE: ";", ",": ","}.get(kind, text)
