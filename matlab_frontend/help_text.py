"""The comment with which a function says what it does."""

from __future__ import annotations

from collections.abc import Iterator

from matlab_frontend.nodes import Function
from matlab_frontend.source import Source


def help_of(source: Source, function: Function | None) -> str:
    """The first comment of a function or a script, without its comment signs.

    It follows the function's head, or else stands at the top of the file, as that of a script
    does. Nothing where there is none.
    """
    comment: list[str] = []
    if function is not None:
        comment = _comment(_below(source, function))
    return "".join(f"{line}\n" for line in comment or _comment(iter(source.text.split("\n"))))


def _below(source: Source, function: Function) -> Iterator[str]:
    """The lines below a function's head, which may be continued over several lines."""
    lines = iter(source.text[function.span.start :].split("\n"))
    for line in lines:
        if not line.partition("%")[0].rstrip().endswith("..."):
            break
    return lines


def _comment(lines: Iterator[str]) -> list[str]:
    """The comment that comes first in some lines, empty ones before it left out."""
    made: list[str] = []
    block = False
    for line in lines:
        shown = line.strip()
        if shown == "%{" and not made:
            block = True
        elif block and shown == "%}":
            break
        elif block:
            made.append(f" {shown}")
        elif shown.startswith("%"):
            made.append(f" {shown[1:].rstrip()}")
        elif made or shown:
            break
    return made
