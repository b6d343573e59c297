"""From text to tree: recursive descent, with binding powers for the operators."""

from __future__ import annotations

from collections.abc import Iterable

from matlab_frontend.collection import paused_collection
from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.nodes import Program
from matlab_frontend.parser.cursor import Cursor
from matlab_frontend.parser.functions import program
from matlab_frontend.source import Source

__all__ = ["is_unfinished", "parse"]


def parse(source: Source, *, variables: Iterable[str] = (), octave: bool = False) -> Program:
    """Read a script or a file of functions.

    Args:
        source: The text.
        variables: Names that are variables already when a script begins, as in a prompt: they
            begin no command, so that ``x -1`` is a difference.
        octave: Whether to accept what Octave adds: ``#`` comments, ``!``, ``!=``, ``**``, ``+=``,
            ``x++``, ``endif`` and its like, ``do ... until``, ``unwind_protect``, and an index
            right after a bracket.

    Raises:
        MatlabSyntaxError: The text is no program, or nested deeper than the parser goes; the error
            has line and column, shows the line, and says what was expected. An unclosed bracket or
            block is reported where it opens.

    """
    with paused_collection():
        return program(Cursor(source, variables, octave=octave))


def is_unfinished(source: Source, variables: Iterable[str] = ()) -> bool:
    """True if more lines are expected after those of a text, as a prompt asks after each.

    A bracket, block or comment is open, the last line is continued by ``...``, or a function was
    begun: it ends with its ``end``, or else with an empty line. A text that no further line can
    make a program is not unfinished but wrong.
    """
    cursor = Cursor(source, variables, octave=False)
    try:
        program(cursor)
    except MatlabSyntaxError as error:
        return error.unfinished or cursor.expects_more
    return cursor.expects_more and not source.text.endswith("\n")
