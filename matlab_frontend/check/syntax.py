"""All syntax errors of a text: after each, reading goes on at the next statement."""

from __future__ import annotations

from matlab_frontend.check.finding import Finding
from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.nodes import Program
from matlab_frontend.parser import parse
from matlab_frontend.pattern import pattern
from matlab_frontend.source import Source

MOST = 50
"""Errors of a file that are told."""
_WORD = pattern(r"\s*([a-z]*)")
_HEADS = {
    **dict.fromkeys(("if", "elseif", "while", "switch", "case"), "1"),
    **dict.fromkeys(("for", "parfor"), "k=1"),
}
"""What stands for the head of a block that cannot be read, so that its ``end`` has a beginning."""


def read(source: Source) -> tuple[Program | None, list[Finding]]:
    """The program, or None and its syntax errors.

    The line at fault is left out and the rest read again. That stops where a line is but a part of
    its statement, as errors further down may then come of leaving it out.
    """
    found: list[Finding] = []
    lines = source.text.split("\n")
    while len(found) < MOST:
        try:
            program = parse(Source("\n".join(lines), source.name))
        except MatlabSyntaxError as error:
            at = error.lineno or 1
            if found and at <= found[-1].line:
                return None, found
            found.append(Finding(source.name, at, error.offset or 1, False, error.message))
            if not _stands_alone(lines, at):
                return None, found
            lines[at - 1] = _replaced(lines[at - 1])
        else:
            return (None if found else program), found
    return None, found


def _replaced(line: str) -> str:
    """What stands for a line that cannot be read."""
    word = _WORD.match(line)
    head = _HEADS.get(word.group(1)) if word is not None else None
    return f"{word.group(1)} {head}" if word is not None and head is not None else ""


def _stands_alone(lines: list[str], number: int) -> bool:
    """True if a line is no part of a statement or comment of several lines."""
    before, line = lines[: number - 1], lines[number - 1]
    if "..." in line or (before and "..." in before[-1]):
        return False
    return not _is_open("\n".join(before)) and not _is_open(line)


def _is_open(text: str) -> bool:
    """True if a bracket or a comment is open at the end of a text."""
    try:
        parse(Source(text))
    except MatlabSyntaxError as error:
        return error.unfinished and text[error.span.start] in "([{%"
    return False
