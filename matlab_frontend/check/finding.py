"""What a check finds."""

from __future__ import annotations

from typing import NamedTuple

from matlab_frontend.source import Source, Span


class Finding(NamedTuple):
    """A mistake, or with ``is_warning`` what may be one; in the order of files and lines."""

    file: str
    line: int
    column: int
    is_warning: bool
    message: str

    def __str__(self) -> str:
        kind = "warning: " if self.is_warning else ""
        return f"{self.file}:{self.line}:{self.column}: {kind}{self.message}"


def finding(source: Source, span: Span, message: str, *, is_warning: bool = False) -> Finding:
    """A finding where a span starts."""
    at = source.position(span.start)
    return Finding(source.name, at.line, at.column, is_warning, message)
