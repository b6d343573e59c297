"""Errors of MATLAB programs: those of the text, and those that ``catch`` sees."""

from __future__ import annotations

from typing import Any, NamedTuple

from matlab_frontend.source import Source, Span
from runmat_jit.core.errors import RunMatError


class Place(NamedTuple):
    """A line of a function or a script that was running."""

    file: str
    name: str
    line: int


_SHOWN = 100  # characters of a line


class MatlabError(RunMatError):
    """An error of a running program, as ``error(identifier, message)`` raises it.

    Args:
        identifier: MATLAB's name of the error, such as ``MATLAB:UndefinedFunction``; may be empty.
        message: The text that the program's user reads.

    """

    def __init__(self, identifier: str, message: str) -> None:
        super().__init__(identifier, message)
        self.identifier = identifier
        self.message = message
        self.stack: tuple[Place, ...] = ()
        self.causes: tuple[Any, ...] = ()
        """The errors that led to this one, as ``addCause`` put them together."""

    def __str__(self) -> str:
        return self.message


class ProgramExit(BaseException):
    """``exit`` ends the program, through every ``try`` of its own."""


class MatlabSyntaxError(MatlabError, SyntaxError):
    """A text that is no program: says where, shows the line, and says what was expected.

    It is Python's ``SyntaxError`` too: ``filename``, ``lineno``, ``offset`` and ``text`` are set.

    Args:
        message: What is wrong, and what was expected instead.
        source: The text.
        span: The characters at fault; they are underlined as far as they stand on the first line.
        unfinished: Whether the text ends where more is expected, so that further lines may make a
            program of it: a bracket, block or comment is open.

    """

    def __init__(
        self, message: str, source: Source, span: Span, *, unfinished: bool = False
    ) -> None:
        # Not by super(): SyntaxError takes a message, or a message and a tuple of details.
        SyntaxError.__init__(self, message)
        self.identifier = "MATLAB:m_syntax"
        self.message = message
        self.stack, self.causes = (), ()
        start = source.position(span.start)
        text = source.line(start.line)
        self.source = source
        self.span = span
        self.unfinished = unfinished
        self.filename = source.name
        self.lineno = start.line
        self.offset = start.column
        self.end_lineno = start.line
        self.end_offset = min(start.column + span.end - span.start, len(text) + 1)
        self.text = text

    def __reduce__(self) -> tuple[type[MatlabSyntaxError], tuple[str, Source, Span]]:
        return type(self), (self.message, self.source, self.span)

    def __str__(self) -> str:
        return f"{self.filename}:{self.lineno}:{self.offset}: {self.message}\n{self.excerpt()}"

    def excerpt(self) -> str:
        """The line at fault, and a caret under each character at fault."""
        return underlined(self.source, self.span)


def underlined(source: Source, span: Span) -> str:
    """The line where a span starts, over carets below the characters of the span.

    Of a line that is too long for a screen, the part around the span's start.
    """
    start = source.position(span.start)
    line = source.line(start.line)
    first = max(start.column - 1 - _SHOWN // 2, 0) if len(line) > _SHOWN else 0
    text = "".join(map(_visible, line[first : first + _SHOWN]))
    column = start.column - 1 - first
    # Tabs stay tabs, so that the caret stands below its character whatever their width.
    blanks = "".join("\t" if c == "\t" else " " for c in text[:column])
    width = min(span.end - span.start, len(text) - column)
    return f"  {text}\n  {blanks}{'^' * max(width, 1)}"


def _visible(character: str) -> str:
    """A character that a terminal shows in one column and does not act upon."""
    return (
        character if character.isprintable() or character == "\t" else "\N{REPLACEMENT CHARACTER}"
    )
