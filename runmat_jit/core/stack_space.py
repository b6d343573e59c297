"""Stack space: several of our frames may stand where the user's function has one.

Python's limit of recursion stays what the user has set, here and for other threads: what is raised
is the thread's own count of the frames that are left. Where Python keeps no such count that can be
found, nothing is raised.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Final

FRAMES_FOR_ONE: Final = 8
"""Of a recursion that is recorded: the function's frame and seven of ours."""
_OF_CALL: Final = 1 if sys.version_info < (3, 12) else 0
"""What Python counts where an object that is no function is called."""
_WORDS: Final = range(6, 48)
"""Where CPython's state of a thread may hold the frames that are left, with the limit behind it."""


class Room:
    """Room for the frames of a recording; entered again, it stays as it is."""

    def __init__(self) -> None:
        self._own = _Own()

    def for_frames(self, frames: int) -> RoomForFrames:
        """Room for some frames of ours behind a decorated function, each time it is entered."""
        return RoomForFrames(self._own, frames + _OF_CALL)

    def __enter__(self) -> None:
        own = self._own
        extra = (FRAMES_FOR_ONE - 1) * sys.getrecursionlimit()
        own.entered += 1  # from here on no call, so that no signal handler comes in between
        if own.entered == 1:
            own.extra = extra
            own.left.value += extra

    def __exit__(self, *_: object) -> None:
        own = self._own
        own.entered -= 1
        if not own.entered:
            own.left.value -= own.extra


class RoomForFrames:
    """Gives back what frames of ours take: a recursion gets just as deep as without them."""

    __slots__ = ("_frames", "_own")

    def __init__(self, own: _Own, frames: int) -> None:
        self._own, self._frames = own, frames

    def __enter__(self) -> None:
        self._own.left.value += self._frames

    def __exit__(self, *_: object) -> None:
        self._own.left.value -= self._frames


class _Own(threading.local):
    """What a thread has been given."""

    def __init__(self) -> None:
        self.entered = self.extra = 0
        self.left = frames_left() or ctypes.c_int()


def frames_left() -> ctypes.c_int | None:
    """CPython's own count of the frames that this thread may still push; None if it is not found.

    It is found by what it does: it stands before the limit, and every frame takes one of it.
    """
    state = ctypes.pythonapi["PyThreadState_Get"]
    state.restype, state.argtypes = ctypes.c_void_p, []
    address: int = state()
    limit = sys.getrecursionlimit()
    for word in _WORDS:
        at = address + word * ctypes.sizeof(ctypes.c_int)
        left, behind = (ctypes.c_int.from_address(at + 4 * n) for n in (0, 1))
        if behind.value == limit and all(_read(left, 0) - _read(left, n) == n for n in (1, 5)):
            return left
    return None


def _read(word: ctypes.c_int, deeper: int) -> int:
    """The value of a word, some frames deeper."""
    return _read(word, deeper - 1) if deeper else word.value
