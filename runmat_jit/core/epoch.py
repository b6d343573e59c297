"""What native code asks of the whole process before it makes a call by itself.

Whatever decides for all decorated functions at once how calls are made (another session, other
options) begins another epoch. Calls that are plain for a while on some thread, or recordings under
way there, are counted: while there are any, Python looks at each call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

from runmat_jit.core.locks import new_lock

_WORDS: Final = np.zeros(2, np.int64)
_LOCK: Final = new_lock()


class _State:
    """``token``: an object of the epoch that runs; None while Python looks at each call."""

    __slots__ = ("of_epoch", "token")

    def __init__(self) -> None:
        self.token: object | None = object()
        self.of_epoch = self.token


class Depth(threading.local):
    """Blocks of some sort that this thread is within."""

    depth: int = 0


DISABLED: Final = Depth()
"""Blocks in which decorated functions are plain Python."""

STATE: Final = _State()
"""Compared by plain calls: nothing has changed while the token is the one that they know."""
_of_thread: Final = Depth()
EPOCH_ADDRESS: Final = _WORDS.ctypes.data
EXCEPTIONS_ADDRESS: Final = EPOCH_ADDRESS + _WORDS.itemsize
"""Of a word that is 0 while no thread has a reason to look at its calls itself."""


def epoch() -> int:
    """The number of the epoch."""
    return int(_WORDS[0])


def begin_epoch() -> None:
    """Have what native code has been told no longer hold."""
    with _LOCK:
        _WORDS[0] += 1
        STATE.of_epoch = object()
        if not _WORDS[1]:
            STATE.token = STATE.of_epoch


@contextmanager
def exception() -> Iterator[None]:
    """Within the block Python looks at each call, on all threads."""
    with _LOCK:
        _WORDS[1] += 1
        STATE.token = None
    _of_thread.depth += 1
    try:
        yield
    finally:
        _of_thread.depth -= 1
        with _LOCK:
            _WORDS[1] -= 1
            if not _WORDS[1]:
                STATE.token = STATE.of_epoch


def is_exception() -> bool:
    """True if this thread is in such a block."""
    return bool(_of_thread.depth)
