"""What an implementation has to offer to be measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.cases.case import Arrays


class PeerUnavailableError(Exception):
    """The peer cannot be measured here; the message says why."""


@dataclass(frozen=True, slots=True)
class Implementation:
    peer: str
    versions: dict[str, str]
    threads: int
    run: Callable[..., Any]  # returns when the result is complete in memory
    prepare: Callable[[Arrays], tuple[Any, ...]] = tuple  # once for each input, never timed
    to_numpy: Callable[[Any], Any] = lambda result: result  # for the check, never timed
    has_compiled: Callable[[], bool] = lambda: True  # after a call: did compiled code run?
    note: str = ""


def select(peer: str, functions: dict[str, Callable[..., Any]], case: str) -> Callable[..., Any]:
    """The peer's function for a case, or an error that names what is missing."""
    if case not in functions:
        raise PeerUnavailableError(f"{peer}: no version of {case}; see its module for the reason")
    return functions[case]
