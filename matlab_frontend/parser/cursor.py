"""The parser's state: where it is in the text, and what it has to remember."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from matlab_frontend.comments import end_of_block_comment
from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.lexer import statement_tokens
from matlab_frontend.pattern import pattern
from matlab_frontend.source import Source, Span
from matlab_frontend.tokens import CONTINUED, FINISH, NAME, SEPARATORS, Token

DEEPEST = 80
"""Brackets, blocks and operands may be nested this deep.

A level costs the parser six calls at most, so that Python's own limit is not met; public programs
come to twenty levels.
"""

_BLANKS = pattern(r"(?:[ \t\f\v]|\.\.\.[^\n]*(?:\n|\Z))*")
_BETWEEN = r"(?:[ \t\f\v;,\n]++|\.\.\.[^\n]*(?:\n|\Z)|[{comment}](?!\{{[ \t]*$)[^\n]*)*"
"""Not possessive: Python 3.11.2 then overlooks what must not follow."""
_BETWEEN_MATLAB = pattern(_BETWEEN.format(comment="%"), re.MULTILINE)
_BETWEEN_OCTAVE = pattern(_BETWEEN.format(comment="%#"), re.MULTILINE)


class Cursor:
    """The token to be read next, in the tokens of one statement.

    Attributes:
        token: The next token; reading goes on behind it with ``advance``.
        previous: The token before it.
        last_end: Offset behind the previous token.
        variables: Names that begin no command: they were assigned before.
        depth: How many levels of nesting are open, at most ``DEEPEST``.
        indices: How many arguments of an index are open, in which ``end`` has a value.
        loops: How many loops are open, which ``break`` may leave.
        expects_more: Whether the text ends within a continued line, or a function without ``end``:
            further lines would belong to its last statement or function.

    """

    def __init__(self, source: Source, variables: Iterable[str], *, octave: bool) -> None:
        self.source = source
        self.octave = octave
        self.variables = set(variables)
        self.depth = 0
        self.indices = 0
        self.loops = 0
        self.expects_more = False
        self.last_end = 0
        self._between = _BETWEEN_OCTAVE if octave else _BETWEEN_MATLAB
        self._tokens: list[Token] = []
        self._at = 0
        self.token = self.previous = Token(FINISH, "", 0, 0)

    def skip_to_statement(self) -> int:
        """Go over blanks, comments and separators; return the offset of what follows."""
        text = self.source.text
        offset = self.last_end
        while True:
            found = self._between.match(text, offset)
            assert found is not None, "the pattern matches nothing at all, too"
            offset = found.end()
            if text[offset : offset + 2] not in {"%{", "#{"}:
                break
            end = end_of_block_comment(self.source, offset, octave=self.octave)
            # Behind a statement on its line the sign opens a comment of one line.
            offset = end if end is not None else _line_end(text, offset)
        if offset == len(text):
            last_line = text[self.last_end :].rpartition("\n")[2]
            self.expects_more |= last_line.lstrip(" \t\f\v;,").startswith(CONTINUED)
        self.last_end = offset
        return offset

    def skip_blanks(self) -> int:
        """Offset of what follows the previous token on its line."""
        found = _BLANKS.match(self.source.text, self.last_end)
        assert found is not None, "the pattern matches nothing at all, too"
        return found.end()

    def read_statement(self, offset: int) -> None:
        """Read the tokens of the statement at an offset."""
        self._tokens = statement_tokens(self.source, offset, octave=self.octave)
        self._at = 0
        self.token = self._tokens[0]
        self.expects_more |= self._tokens[-1].text == CONTINUED

    def advance(self) -> Token:
        """Return the next token and go on to the one behind it."""
        self.previous = token = self.token
        self.last_end = token.end
        self._at += 1
        # The last token is a separator, behind which nothing is read before the next statement.
        if self._at < len(self._tokens):
            self.token = self._tokens[self._at]
        return token

    def peek(self) -> str:
        """Kind of the token behind the next one."""
        at = self._at + 1
        return self._tokens[at].kind if at < len(self._tokens) else FINISH

    def peek_is_separator(self) -> bool:
        return self.peek() in SEPARATORS

    def kind_after_brackets(self) -> str:
        """Kind of the token behind the bracket that closes the next token, an opening one."""
        depth = 0
        for at in range(self._at, len(self._tokens) - 1):
            kind = self._tokens[at].kind
            if kind in {"(", "[", "{"}:
                depth += 1
            elif kind in {")", "]", "}"}:
                depth -= 1
                if depth == 0:
                    return self._tokens[at + 1].kind
        return FINISH

    def expect(self, kind: str, purpose: str) -> Token:
        """Read a token of a kind; ``purpose`` says in the error what it is expected for."""
        if self.token.kind != kind:
            self.fail(f"expected {_named(kind)} {purpose}, found {self.token.describe()}")
        return self.advance()

    def at_separator(self) -> bool:
        return self.token.kind in SEPARATORS

    def enter(self) -> None:
        """Open a level of nesting, to be closed by ``depth -= 1``."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"the text is nested more than {DEEPEST} levels deep")

    def fail(self, message: str, span: Span | None = None) -> NoReturn:
        """Raise an error at the next token, or at a span."""
        raise MatlabSyntaxError(message, self.source, self.token.span if span is None else span)

    def fail_unclosed(self, message: str, span: Span) -> NoReturn:
        """Raise an error at what should be closed here; at the end of the text it may follow."""
        ended = self.token.kind == FINISH
        raise MatlabSyntaxError(message, self.source, span, unfinished=ended)


def _named(kind: str) -> str:
    return "the name" if kind == NAME else f"'{kind}'"


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end
