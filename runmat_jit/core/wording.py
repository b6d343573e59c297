"""Numbers and lines as messages show them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence


def wrapped(line: str, width: int = 80) -> list[str]:
    """Return a line in parts of at most ``width`` characters, indented as its text is."""
    text = line.lstrip(" -")
    indent = " " * (len(line) - len(text))
    parts = textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return parts or [""]


def count(number: int, noun: str) -> str:
    """Return a number and a noun: ``1 region``, ``2 regions``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def listed(numbers: Sequence[int], most: int = 6) -> str:
    """Return numbers with commas, at most ``most`` of them, and how many more there are."""
    shown = ", ".join(map(str, numbers[:most]))
    return shown + (f" and {len(numbers) - most} more" if len(numbers) > most else "")


def size(nbytes: int) -> str:
    """Return bytes for people: ``1.6 MB``."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= scale:
            return f"{nbytes / scale:.3g} {unit}"
    return f"{nbytes} B"
