"""What a text is made of: the lexer's output and the parser's input."""

from __future__ import annotations

from typing import NamedTuple

from matlab_frontend.source import Span

NAME = "name"
NUMBER = "number"
CHAR = "char"
STRING = "string"
INDEX_END = "index end"
COMMAND = "command"
NEWLINE = "newline"
FINISH = "finish"
"""After the last token of the text, and after a keyword behind which a statement begins."""

CONTINUED = "..."
"""Text of ``FINISH`` where the line before it is continued."""

SEPARATORS = frozenset({NEWLINE, ";", ",", FINISH})
"""What stands between statements."""

KEYWORDS = {
    word: word
    for word in (
        *("if", "elseif", "else", "end", "for", "parfor", "while", "switch", "case", "otherwise"),
        *("try", "catch", "function", "global", "persistent", "return", "break", "continue"),
        *("classdef", "spmd"),
    )
}
"""A reserved word and the kind of its token."""

OCTAVE_KEYWORDS = KEYWORDS | {
    **dict.fromkeys(
        ("endif", "endfor", "endparfor", "endwhile", "endswitch", "endfunction"),
        "end",
    ),
    **dict.fromkeys(("end_try_catch", "end_unwind_protect"), "end"),
    **{word: word for word in ("do", "until", "unwind_protect", "unwind_protect_cleanup")},
}


class Token(NamedTuple):
    """A piece of text. The kind of an operator or keyword is the operator or keyword itself.

    A tuple rather than a dataclass, as there are many of them.
    """

    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def describe(self) -> str:
        """What an error message calls it."""
        if self.kind == NEWLINE:
            return "the end of the line"
        if self.kind == FINISH:
            return "the end of the text"
        return f"'{self.text}'" if "'" not in self.text else self.text
