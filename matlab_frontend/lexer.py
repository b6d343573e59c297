"""Tokens of one statement at a time.

What a character means depends on what stands before it: a quote after a value is a transpose, a
blank between values in brackets is a comma, ``end`` in brackets is a value. So the lexer keeps the
open brackets and whether the token before ends a value, and the parser asks for the tokens of a
statement when it knows that one begins.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from matlab_frontend.comments import end_of_block_comment
from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.pattern import pattern
from matlab_frontend.source import Source, Span
from matlab_frontend.tokens import (
    CHAR,
    CONTINUED,
    FINISH,
    INDEX_END,
    KEYWORDS,
    NAME,
    NEWLINE,
    NUMBER,
    OCTAVE_KEYWORDS,
    STRING,
    Token,
)

_TEMPLATE = r"""
[ \t\f\v]*(?:\.\.\.[^\n]*(?:\n|\Z)[ \t\f\v]*)*      # blanks and continued lines
(?:
  (?P<name>[A-Za-z]\w*)
| (?P<number>
    0[xX][0-9A-Fa-f]+(?:[su](?:8|16|32|64))? | 0[bB][01]+(?:[su](?:8|16|32|64))?
  | (?:\d+(?:\.(?![*/\\^']|\.\.)\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?[ij]?
  )
| (?P<close>[)\]}])
| (?P<open>[(\[{])
| (?P<quote>['"])
| (?P<operator>%(operators)s\.[*/\\^']|[=~<>]=|&&|\|\||[-+*/\\^<>=&|~:.@,?!])
| (?P<semicolon>;)
| (?P<newline>\n)
| (?P<comment>[%(comments)s][^\n]*)
| (?P<finish>\Z)
| (?P<unknown>.)
)
"""


def _pattern(operators: str, comments: str) -> re.Pattern[str]:
    text = _TEMPLATE.replace("%(operators)s", operators).replace("%(comments)s", comments)
    return pattern(text, re.VERBOSE | re.ASCII)


_MATLAB = _pattern("", "%")
# In Octave `x++` and `x--` are statements; elsewhere `++` is a sum with a sign.
_OCTAVE = _pattern(r"(?:\+\+|--)(?=[ \t]*(?:[;,\n]|\Z))|!=|[-+*/^|&]=|\*\*|", "%#")
_LITERALS = {
    "'": (CHAR, pattern(r"'(?:[^'\n]|'')*+'")),
    '"': (STRING, pattern(r'"(?:[^"\n]|"")*+"')),
}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_STANDS_ALONE = frozenset({"else", "try", "otherwise", "return", "break", "continue", "end", "do"})
_BEGINS_AN_ELEMENT = frozenset({NAME, NUMBER, "open", "quote"})
_MAY_BEGIN_AN_ELEMENT = frozenset("@~!+-")
_TYPOGRAPHIC_QUOTES = "\u2018\u2019\u201c\u201d"
_NORMALIZED = {"!=": "~=", "!": "~", "**": "^"}


class _Bracket(NamedTuple):
    """An open bracket; in a ``separating`` one blanks and line ends separate elements."""

    text: str
    start: int
    separating: bool
    is_header: bool  # of an anonymous function: what follows it is no new element


def statement_tokens(source: Source, offset: int, *, octave: bool = False) -> list[Token]:
    """The tokens of the statement, or of the part of a compound one, that begins at an offset.

    The last one is a semicolon, comma or line end outside brackets, or ``FINISH`` after a keyword
    and at the end of the text: nothing that belongs to the statement comes after it, but the
    statement may be complete before it.

    Raises:
        MatlabSyntaxError: A bracket, literal or block comment is not closed, or a character has no
            meaning.

    """
    return _Lexer(source, octave=octave).run(offset)


class _Lexer:
    """State of reading one statement."""

    def __init__(self, source: Source, *, octave: bool) -> None:
        self.source = source
        self.octave = octave
        self.keywords = OCTAVE_KEYWORDS if octave else KEYWORDS
        self.tokens: list[Token] = []
        self.brackets: list[_Bracket] = []
        self.separating = False  # whether the innermost bracket is

    def run(self, offset: int) -> list[Token]:  # noqa: C901  # one branch a kind of token
        text, tokens = self.source.text, self.tokens
        match = (_OCTAVE if self.octave else _MATLAB).match
        after_value = False
        while True:
            found = match(text, offset)
            assert found is not None, "the last alternatives match whatever is left"
            kind = found.lastgroup
            assert kind is not None, "every alternative is a named group"
            start = found.start(kind)
            before, after_blank = offset, start > offset
            offset = found.end()
            if (
                after_value
                and after_blank
                and self.separating
                and (kind in _BEGINS_AN_ELEMENT or self.begins(start, offset))
            ):
                tokens.append(Token(",", " ", start, start))
                after_value = False
            word = text[start:offset]
            if kind == NAME:
                after_value = self.name(word, start, offset)
                # A keyword begins or ends a statement; what follows it is read when that is known.
                if not after_value and (len(tokens) > 1 or tokens[0].kind in _STANDS_ALONE):
                    tokens.append(Token(FINISH, "", offset, offset))
                    return tokens
            elif kind == NUMBER:
                tokens.append(Token(NUMBER, word, start, offset))
                after_value = True
            elif kind == "operator":
                word = _NORMALIZED.get(word, word) if self.octave else word
                tokens.append(Token(word, word, start, offset))
                if word == "," and not self.brackets:
                    return tokens
                after_value = word == ".'"
            elif kind == "open":
                self.open(word, start, after_value=after_value)
                after_value = False
            elif kind == "close":
                after_value = self.close(word, start)
            elif kind == "quote":
                offset = self.quote(start, after_value=after_value)
                after_value = True
            elif kind == "comment":
                offset = end_of_block_comment(self.source, start, octave=self.octave) or offset
            elif self.separator(kind, start, offset):
                if kind == "finish" and text.find("...", before) >= 0:
                    tokens[-1] = Token(FINISH, CONTINUED, start, offset)
                return tokens
            else:
                after_value = after_value and not self.separating

    def name(self, word: str, start: int, end: int) -> bool:
        """Add a name or keyword; tell whether it ends a value."""
        tokens = self.tokens
        kind = self.keywords.get(word)
        if kind is None or (tokens and tokens[-1].kind == "."):
            tokens.append(Token(NAME, word, start, end))
            return True
        if not self.brackets:
            tokens.append(Token(kind, word, start, end))
            return False
        if kind != "end":
            self.fail_unclosed(f"'{word}' begins")
        tokens.append(Token(INDEX_END, word, start, end))
        return True

    def begins(self, start: int, end: int) -> bool:
        """True if a sign or mark after a value and a blank begins a new element of the brackets."""
        word = self.source.text[start:end]
        if word not in _MAY_BEGIN_AN_ELEMENT:
            return False
        if word in "+-":
            following = self.source.text[end : end + 3]
            return following[:1] not in {" ", "\t", "\n", ""} and following != "..."
        return True

    def open(self, word: str, start: int, *, after_value: bool) -> None:
        is_header = word == "(" and bool(self.tokens) and self.tokens[-1].kind == "@"
        self.separating = word == "[" or (word == "{" and not after_value)
        self.brackets.append(_Bracket(word, start, self.separating, is_header))
        self.tokens.append(Token(word, word, start, start + 1))

    def close(self, word: str, start: int) -> bool:
        """Close the innermost bracket; tell whether a value ends with it."""
        if not self.brackets:
            self.fail(f"'{word}' closes no bracket", start, start + 1)
        bracket = self.brackets.pop()
        if word != _CLOSING[bracket.text]:
            self.brackets.append(bracket)
            self.fail_unclosed(f"'{word}' is found")
        self.separating = bool(self.brackets) and self.brackets[-1].separating
        self.tokens.append(Token(word, word, start, start + 1))
        return not bracket.is_header

    def quote(self, start: int, *, after_value: bool) -> int:
        """Add a transpose or a literal; return where it ends."""
        text = self.source.text
        mark = text[start]
        if mark == "'" and after_value:
            self.tokens.append(Token("'", "'", start, start + 1))
            return start + 1
        kind, pattern = _LITERALS[mark]
        found = pattern.match(text, start)
        if found is None:
            line_end = text.find("\n", start)
            self.fail(f"{mark} is not closed on its line", start, max(line_end, start + 1))
        self.tokens.append(Token(kind, found.group(), start, found.end()))
        return found.end()

    def separator(self, kind: str, start: int, end: int) -> bool:
        """Treat the end of a line, of the text or of a statement; tell whether all is read."""
        if kind == "unknown":
            self.fail_unknown(start)
        if self.brackets:
            if kind == "finish":
                self.fail_unclosed("the text ends", unfinished=True)
            if not self.separating:
                if kind == "semicolon":
                    self.fail_unclosed("';' is found")
                return False  # a line end in parentheses
        token = {"finish": FINISH, "newline": NEWLINE, "semicolon": ";"}[kind]
        self.tokens.append(Token(token, self.source.text[start:end], start, end))
        return not self.brackets

    def fail_unclosed(self, what: str, *, unfinished: bool = False) -> NoReturn:
        bracket = self.brackets[-1]
        closing = _CLOSING[bracket.text]
        line = self.source.position(bracket.start).line
        raise MatlabSyntaxError(
            f"'{bracket.text}' of line {line} is not closed: expected '{closing}' before {what}",
            self.source,
            Span(bracket.start, bracket.start + 1),
            unfinished=unfinished,
        )

    def fail_unknown(self, start: int) -> NoReturn:
        character = self.source.text[start]
        hint = ""
        if character == "#":
            hint = "; a comment begins with '%'"
        elif character in _TYPOGRAPHIC_QUOTES:
            hint = "; a text stands between straight quotes, ' or \""
        self.fail(f"{character!r} has no meaning here{hint}", start, start + 1)

    def fail(self, message: str, start: int, end: int) -> NoReturn:
        raise MatlabSyntaxError(message, self.source, Span(start, end))
