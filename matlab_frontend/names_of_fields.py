"""Names of fields and variables from any texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from matlab_frontend.tokens import KEYWORDS

_LONGEST = 63


def valid_name(shown: str) -> str:
    """A name made of a text, as ``matlab.lang.makeValidName`` makes it."""
    if shown in KEYWORDS:
        return f"x{shown.capitalize()}"
    made = re.sub(r"\s+(\w)", lambda found: found[1].upper(), shown.strip(), flags=re.ASCII)
    made = re.sub(r"\W", "_", made, flags=re.ASCII)
    return (made if re.match(r"[A-Za-z]", made) else f"x{made}")[:_LONGEST]


def unique_names(shown: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Names made of texts, those that are met again with a number behind them."""
    made: list[str] = []
    for name in map(valid_name, shown):
        number, found = 0, name
        while found in made or found in taken:
            number += 1
            found = f"{name}_{number}"
        made.append(found)
    return made
