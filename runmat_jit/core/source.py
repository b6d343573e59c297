"""Where in the user's program something was asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the user's code."""

    filename: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}"
