"""The filters of warnings as they were where a ``with`` statement began."""

from __future__ import annotations

import warnings
from typing import Any


class Filters:
    """The filters as they were, until they are put back."""

    def __init__(self) -> None:
        self._saved: warnings.catch_warnings[None] | None = warnings.catch_warnings()
        self._saved.__enter__()

    def put_back(self) -> None:
        """Put them back, once."""
        saved, self._saved = self._saved, None
        if saved is not None:
            saved.__exit__(None, None, None)


def enter() -> Filters:
    """What a replay does where a ``with`` statement begins."""
    return Filters()


def leave(filters: Filters) -> None:
    """What a replay does where it ends."""
    filters.put_back()


def put_back(slots: list[Any]) -> None:
    """Leave all that a replay has entered: it was interrupted."""
    for value in reversed(slots):
        if type(value) is Filters:
            value.put_back()
