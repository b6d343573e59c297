"""Comments over several lines: ``%{`` and ``%}``, each alone on its line, may be nested."""

from __future__ import annotations

import re

from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.pattern import pattern
from matlab_frontend.source import Source, Span

_MATLAB = pattern(r"^[ \t]*%([{}])[ \t]*$", re.MULTILINE)
_OCTAVE = pattern(r"^[ \t]*[%#]([{}])[ \t]*$", re.MULTILINE)


def end_of_block_comment(source: Source, start: int, *, octave: bool = False) -> int | None:
    """Where the block comment ends that the comment sign at ``start`` opens; None if it opens none.

    The line end after the closing ``%}`` is no part of the comment.

    Raises:
        MatlabSyntaxError: The block comment is not closed.

    """
    text = source.text
    pattern = _OCTAVE if octave else _MATLAB
    line_start = text.rfind("\n", 0, start) + 1
    opening = pattern.match(text, line_start)
    if opening is None or opening.group(1) == "}" or opening.start(1) != start + 1:
        return None
    depth = 0
    for mark in pattern.finditer(text, line_start):
        depth += 1 if mark.group(1) == "{" else -1
        if depth == 0:
            return mark.end()
    message = "the block comment is not closed: expected '%}' alone on a line"
    raise MatlabSyntaxError(message, source, Span(start, start + 2), unfinished=True)
