"""Regular expressions that are compiled at their first use, not where they are written down.

Compiling those of all modules that a short program loads takes longer than running it.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic


class _Pattern(Generic[AnyStr]):
    """Stands for a compiled pattern, whose methods it takes over as they are asked for."""

    def __init__(self, text: AnyStr, flags: int) -> None:
        self._text: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._text, self._flags), name)  # compiled once: ``re`` keeps it
        setattr(self, name, found)
        return found


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    r"""What ``re.compile(text, flags)`` gives, compiled when it is first used.

    >>> pattern(r"\d+").sub("#", "12 and 3")
    '# and #'
    """
    return _Pattern(text, flags)  # type: ignore[return-value]  # has all that a pattern has
