"""What a loop demands of its numbers: where it is not met, it does not run natively.

Front ends of other languages write these calls into the loops that they translate. As Python
functions they say what the kernels do: a loop with them runs as plain Python, too.
"""

from __future__ import annotations

import math
from typing import Any, Final

LIMIT: Final = 1 << 52
"""Floats below are whole numbers and their halves; integers up to here are such floats."""


class NotMetError(Exception):
    """The loop is to run as it stands in its own language."""


def demand(holds: Any, value: Any) -> Any:
    """The value.

    Raises:
        NotMetError: the condition does not hold.

    """
    if not holds:
        raise NotMetError
    return value


def position(number: float) -> int:
    """The place, counted from 0, that a float counts from 1.

    Raises:
        NotMetError: it is no whole number, or none from 1 to :data:`LIMIT`.

    """
    found = whole(number) - 1
    return demand(found >= 0, found)  # type: ignore[no-any-return]  # what was given


def whole(number: float) -> int:
    """The integer that a float is.

    Raises:
        NotMetError: it is no whole number within :data:`LIMIT`.

    """
    return int(demand(abs(number) <= LIMIT and number == math.floor(number), number))


def natural(number: int) -> int:
    """The integer.

    Raises:
        NotMetError: it is negative.

    """
    return demand(number >= 0, number)  # type: ignore[no-any-return]  # what was given
