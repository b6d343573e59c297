"""How often is often: the counts by which what has happened is taken for what will happen.

No clock is asked here, so that a program does the same in every process.
"""

from __future__ import annotations

from typing import Final

AGAIN: Final = 2
"""Times: what has come twice comes again, and is worth code of its own."""
FAILURES: Final = 4
"""In a row, after which nothing is tried any more, or rarely."""
OFTEN: Final = 8
"""Times from which on code is made that serves some calls of many, or one form more."""
LOOKS: Final = 64
"""Calls between two looks at what was given up."""
ENTRIES: Final = 32
"""Pieces of code that are kept for one function, by kinds of calls."""
KINDS: Final = 2 * ENTRIES
"""Kinds of calls, or of their arguments, that are counted; then others are forgotten."""

FEW: Final = 4
"""Iterations of a loop of which nothing is known, at least."""
ELEMENTS: Final = 1536
"""Elements that NumPy computes, in cache, in the time that a call of it takes."""


def is_due(times: int) -> bool:
    """True if it is time for another try: at the second time, the fourth, the eighth and so on."""
    return times >= AGAIN and not times & (times - 1)
