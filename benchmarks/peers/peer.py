"""What an implementation has to offer to be measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.program import Arguments, copied


class PeerUnavailableError(Exception):
    """The peer cannot be measured here; the message says why."""


def copies(arguments: Arguments) -> tuple[Any, ...]:
    """Return the arguments of one call, which may write to them."""
    return tuple(map(copied, arguments))


@dataclass(frozen=True, slots=True)
class Implementation:
    """A program as one peer runs it."""

    peer: str
    versions: dict[str, str]
    run: Callable[..., Any]
    """Returns when the result is complete in memory."""
    threads: int = 1
    """Threads that it may use; 0: its own choice."""
    prepare: Callable[[Arguments], tuple[Any, ...]] = copies
    """Makes the arguments of one call, never timed."""
    to_numpy: Callable[[Any], Any] = lambda result: result
    """Makes NumPy arrays of a result, for the check, never timed."""
    squeezes: bool = False
    """Results have other axes of extent 1, as MATLAB's."""
    wait: Callable[[], object] = lambda: None
    """Returns when all calls so far are complete, where calls return before they are."""
    resident: bool = False
    """Arguments lie on a device, which slows when it idles; no call writes to them."""
    note: str = ""
