"""Text in rows and columns: how it is split, and what of it is numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from matlab_frontend.errors import MatlabError
from matlab_frontend.pattern import pattern

_NAMES = {
    "comma": ",",
    "space": " ",
    "tab": "\t",
    "semi": ";",
    "bar": "|",
    "\\t": "\t",
}
_GUESSED = (",", "\t", ";", "|", " ")
_NUMBER = pattern(
    r"[+-]?(?:\d+\.?\d*(?:[eEdD][+-]?\d+)?|\.\d+(?:[eEdD][+-]?\d+)?|inf(?:inity)?|nan)"
    r"(?:\s*[+-]\s*(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[ij])?",
    re.IGNORECASE,
)


def delimiter_of(name: str) -> str:
    """The character of ``comma``, ``tab`` or a delimiter itself.

    Raises:
        MatlabError: it is longer than a character.

    """
    made = _NAMES.get(name, name)
    if len(made) != 1:
        raise MatlabError("MATLAB:textio:InvalidDelimiter", f"'{name}' is no delimiter.")
    return made


def guess_delimiter(lines: Sequence[str]) -> str:
    """What separates the fields of most of some lines; blanks where nothing else does."""
    sample = [line for line in lines if line.strip()][:50]
    counts = {mark: sum(mark in line for line in sample) for mark in _GUESSED[:-1]}
    best = max(counts, key=lambda mark: counts[mark])
    return best if sample and counts[best] * 2 > len(sample) else " "


def fields_of(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The fields of lines, without quotes and blanks around them; lines of blanks are left out."""
    if delimiter == " ":
        return [line.split() for line in lines if line.strip()]
    rows = csv.reader((line for line in lines if line.strip()), delimiter=delimiter)
    return [[item.strip() for item in row] for row in rows]


def number_in(shown: str) -> complex | None:
    """The number that a field is; None where it is none."""
    if not _NUMBER.fullmatch(shown):
        return None
    plain = shown.lower().replace(" ", "").replace("i", "j") if shown[-1] in "iIjJ" else shown
    if plain is not shown:
        return complex(plain)
    if "n" in shown.lower():
        return float(shown)
    return float(shown.lower().replace("d", "e"))


def header_count(rows: Sequence[Sequence[str]]) -> int:
    """Number of rows that stand before the first one that holds a number."""
    for at, row in enumerate(rows):
        if any(number_in(item) is not None for item in row):
            return at
    return 0
