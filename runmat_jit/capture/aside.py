"""Calls from which nothing is gained: after some of them the decorator steps aside."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

FRUITLESS: Final = 16
"""Calls in a row, with arguments of one kind, in none of which a kernel ran or Python did not."""
_KINDS: Final = 4


class Aside:
    """The kinds of arguments with which a function is plain Python from now on.

    A kind lists the dtypes of arrays and the classes of the rest: found in some 0.2 microseconds.
    """

    def __init__(self) -> None:
        self.kinds: tuple[list[Any], ...] = ()
        self._recent: list[Any] | None = None
        self._count = 0

    def fruitless(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Count a call: whether it was the last that is recorded."""
        kinds = [arg.dtype if type(arg) is np.ndarray else type(arg) for arg in args]
        if kwargs or kinds != self._recent:
            self._recent, self._count = None if kwargs else kinds, 0
        self._count += 1
        if self._recent is None or self._count < FRUITLESS:
            return False
        self.kinds = (kinds, *self.kinds[: _KINDS - 1])
        self._recent = None
        return True

    def holds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call with such arguments is plain Python."""
        kinds = [arg.dtype if type(arg) is np.ndarray else type(arg) for arg in args]
        return kinds in self.kinds and not kwargs

    def fruitful(self) -> None:
        """A call in which a kernel ran, or Python did not."""
        self._recent = None
