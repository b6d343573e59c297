"""Numbers outside a function that differ from call to call: then they are data, as arguments are.

A trace holds for the numbers that it has read, which become constants of its kernels. Where
replays have left traces for the sake of one number several times, later recordings read it as a
value that is not known.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from runmat_jit.capture.tape.entries import Read
from runmat_jit.capture.tape.values import is_number

ALIKE: Final = 3
"""Calls that found another number than before, until it is taken for data."""
MARK: Final = ", whatever it is"
"""Ends what a tape says of such a read."""
_SOURCES: Final = ("attribute", "global", "cell", "item", "__defaults__", "__kwdefaults__")
"""Beginnings of the names of reads whose value the program gets; others are facts of a trace."""


class UnspecializedScalars:
    """Unspecialized scalars of one function, by the name of the read."""

    def __init__(self) -> None:
        self.sources: frozenset[str] = frozenset()
        self._misses: Counter[str] = Counter()

    def miss(self, read: Read) -> None:
        """A replay has found another value than that of a trace."""
        source = read.source
        if is_of_program(source) and not source.endswith(MARK):
            self._misses[source] += 1
            if self._misses[source] >= ALIKE:
                self.sources |= {source}


def is_of_program(source: str) -> bool:
    """True if the program gets the value of a read, by what the read is called."""
    return source.startswith(_SOURCES)


def is_variable(value: Any) -> bool:
    """True if a value from outside can be data: a number, or a tuple that holds one."""
    if type(value) is tuple:
        return any(map(is_variable, value))
    return type(value) in (int, float, complex) or is_number(value)
