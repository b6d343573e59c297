"""Command syntax: ``hold on`` stands for ``hold('on')``."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from matlab_frontend.pattern import pattern
from matlab_frontend.source import Span
from matlab_frontend.tokens import OCTAVE_KEYWORDS

# A name and blanks; then a word that is neither `=`, `(`, the end of the statement, nor an
# operator with a blank after it. `x -1` is a command where x is no variable.
_COMMAND = pattern(
    r"""([A-Za-z]\w*)[ \t]++
    (?![=(;,%)\]}\n]|\Z|\.\.\.)
    (?!(?:\.[*/\\^']|[~!<>+\-*/^&|]=|&&|\|\||\+\+|--|\*\*|[-+*/\\^<>&|:]|\.')(?:[ \t;,\n]|\Z))
    """,
    re.VERBOSE | re.ASCII,
)
_WORD = r"""(?:'(?:[^'\n]|'')*+'|"(?:[^"\n]|"")*+"|[^\s;,{comment}'"])+"""
_WORD_MATLAB = pattern(_WORD.format(comment="%"))
_WORD_OCTAVE = pattern(_WORD.format(comment="%#"))
_QUOTED = pattern(r"""'((?:[^'\n]|'')*+)'|"((?:[^"\n]|"")*+)\"""")
_BLANKS = pattern(r"(?:[ \t]|\.\.\.[^\n]*\n)*")


class CommandText(NamedTuple):
    """A command as it is written."""

    name: str
    words: tuple[str, ...]
    span: Span


def command_at(
    text: str, offset: int, variables: Container[str], *, octave: bool = False
) -> CommandText | None:
    """The command that begins at an offset, where a statement begins; None if none does.

    A name in ``variables`` begins an expression. A quote that is not closed ends the command.
    """
    found = _COMMAND.match(text, offset)
    if found is None:
        return None
    name = found.group(1)
    if name in OCTAVE_KEYWORDS or name in variables:
        return None
    match = (_WORD_OCTAVE if octave else _WORD_MATLAB).match
    words = []
    end = offset = found.end()
    while word := match(text, offset):
        words.append(_QUOTED.sub(_unquoted, word.group()))
        end = word.end()
        blanks = _BLANKS.match(text, end)
        assert blanks is not None, "the pattern matches nothing at all, too"
        offset = blanks.end()
    return CommandText(name, tuple(words), Span(found.start(), end))


def _unquoted(literal: re.Match[str]) -> str:
    single, double = literal.groups()
    return single.replace("''", "'") if double is None else double.replace('""', '"')
